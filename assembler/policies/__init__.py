"""What gives way when it does not fit: one file a policy. Adding one is a file beside these and a line here.

Each is loaded when it is first named: most programs use one.
"""

import typing

from budgets.later import load_later as _load_later

if typing.TYPE_CHECKING:
    from assembler.conversation.pins import first_user as first_user
    from assembler.policies.clear_reasoning import ClearReasoning as ClearReasoning
    from assembler.policies.clear_tool_results import ClearToolResults as ClearToolResults
    from assembler.policies.fetch import Fetch as Fetch
    from assembler.policies.keep_relevant import KeepRelevant as KeepRelevant
    from assembler.policies.offload import Offload as Offload
    from assembler.policies.passage import Change as Change
    from assembler.policies.policy import OverflowPolicy as OverflowPolicy
    from assembler.policies.policy import Policy as Policy
    from assembler.policies.policy import RewritingPolicy as RewritingPolicy
    from assembler.policies.refuse import Refuse as Refuse
    from assembler.policies.relevance import BM25 as BM25
    from assembler.policies.relevance import Cosine as Cosine
    from assembler.policies.relevance import Score as Score
    from assembler.policies.shown import Passage as Passage
    from assembler.policies.shown import PricedTurns as PricedTurns
    from assembler.policies.summarize import Summarize as Summarize
    from assembler.policies.traits import KeepsAll as KeepsAll
    from assembler.policies.traits import KeepsChosen as KeepsChosen
    from assembler.policies.traits import KeepsNewest as KeepsNewest
    from assembler.policies.traits import Traits as Traits
    from assembler.policies.trim_oldest import TrimOldest as TrimOldest
    from assembler.policies.trim_steps import TrimSteps as TrimSteps
    from assembler.policies.truncate import Truncate as Truncate
    from assembler.pricing.ledger import Cut as Cut

_load_later(
    __name__,
    {
        "assembler.conversation.pins": "first_user",
        "assembler.policies.clear_reasoning": "ClearReasoning",
        "assembler.policies.clear_tool_results": "ClearToolResults",
        "assembler.policies.fetch": "Fetch",
        "assembler.policies.keep_relevant": "KeepRelevant",
        "assembler.policies.offload": "Offload",
        "assembler.policies.passage": "Change",
        "assembler.policies.policy": "OverflowPolicy Policy RewritingPolicy",
        "assembler.policies.refuse": "Refuse",
        "assembler.policies.relevance": "BM25 Cosine Score",
        "assembler.policies.shown": "Passage PricedTurns",
        "assembler.policies.summarize": "Summarize",
        "assembler.policies.traits": "KeepsAll KeepsChosen KeepsNewest Traits",
        "assembler.policies.trim_oldest": "TrimOldest",
        "assembler.policies.trim_steps": "TrimSteps",
        "assembler.policies.truncate": "Truncate",
        "assembler.pricing.ledger": "Cut",
    },
)
