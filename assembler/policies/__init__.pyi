from assembler.conversation.pins import first_user as first_user
from assembler.policies.built_in import *
from assembler.policies.fetch import Fetch as Fetch
from assembler.policies.passage import Change as Change
from assembler.policies.policy import OverflowPolicy as OverflowPolicy
from assembler.policies.policy import Policy as Policy
from assembler.policies.policy import RewritingPolicy as RewritingPolicy
from assembler.policies.relevance import BM25 as BM25
from assembler.policies.relevance import Cosine as Cosine
from assembler.policies.relevance import Score as Score
from assembler.policies.shown import Passage as Passage
from assembler.policies.shown import PricedTurns as PricedTurns
from assembler.policies.traits import KeepsAll as KeepsAll
from assembler.policies.traits import KeepsChosen as KeepsChosen
from assembler.policies.traits import KeepsNewest as KeepsNewest
from assembler.policies.traits import Traits as Traits
from assembler.pricing.ledger import Cut as Cut
