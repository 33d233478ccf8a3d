"""How knowledge is chosen and laid out: one file a strategy. Adding one is a file beside these and a line here.

Each is loaded when it is first named.
"""

import typing

from budgets.later import load_later as _load_later

if typing.TYPE_CHECKING:
    from assembler.pricing.pricer import Piece
    from assembler.regions.regions import Regions
    from assembler.strategies.chat_regions import REMINDER, ChatRegions
    from assembler.strategies.cited_sources import CitedSources
    from assembler.strategies.question_chunks import QuestionChunks
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
        "assembler.pricing.pricer": "Piece",
        "assembler.regions.regions": "Regions",
        "assembler.strategies.chat_regions": "REMINDER ChatRegions",
        "assembler.strategies.cited_sources": "CitedSources",
        "assembler.strategies.question_chunks": "QuestionChunks",
        "assembler.strategies.strategy": (
            "Around ChoosingStrategy Continued Needs NotingStrategy Omitted Placement Rendered Space Strategy"
        ),
    },
)
