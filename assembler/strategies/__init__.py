"""How knowledge is chosen and laid out: one file a strategy. Adding one is a file beside these and a line here.

Strategies that choose are loaded when they are first named: their rules would double the time of the import.
"""

import typing

from assembler.pricing.pricer import Piece
from assembler.regions.regions import Regions
from assembler.strategies.chat_regions import REMINDER, ChatRegions
from assembler.strategies.strategy import (
    Around,
    ChoosingStrategy,
    Continued,
    Needs,
    NotingStrategy,
    Omitted,
    Placement,
    Rendered,
    Space,
    Strategy,
)
from budgets.later import load_later as _load_later

if typing.TYPE_CHECKING:
    from assembler.strategies.cited_sources import CitedSources
    from assembler.strategies.question_chunks import QuestionChunks

__all__ = [
    "REMINDER",
    "Around",
    "ChatRegions",
    "ChoosingStrategy",
    "CitedSources",
    "Continued",
    "Needs",
    "NotingStrategy",
    "Omitted",
    "Piece",
    "Placement",
    "QuestionChunks",
    "Regions",
    "Rendered",
    "Space",
    "Strategy",
]

_load_later(
    __name__,
    {
        "assembler.strategies.cited_sources": "CitedSources",
        "assembler.strategies.question_chunks": "QuestionChunks",
    },
)
