from assembler.pricing.pricer import Piece as Piece
from assembler.regions.knowledge import Document as Document
from assembler.regions.regions import Regions as Regions
from assembler.strategies.built_in import *
from assembler.strategies.chat_regions import REMINDER as REMINDER
from assembler.strategies.source_block import SourceBlock as SourceBlock
from assembler.strategies.strategy import Around as Around
from assembler.strategies.strategy import ChoosingStrategy as ChoosingStrategy
from assembler.strategies.strategy import Continued as Continued
from assembler.strategies.strategy import Needs as Needs
from assembler.strategies.strategy import NotingStrategy as NotingStrategy
from assembler.strategies.strategy import Omitted as Omitted
from assembler.strategies.strategy import Placement as Placement
from assembler.strategies.strategy import Rendered as Rendered
from assembler.strategies.strategy import Space as Space
from assembler.strategies.strategy import Strategy as Strategy
