"""How knowledge is chosen and laid out: one file a strategy. Adding one is a file beside these and a line here.

Strategies that choose are loaded when they are first named: their rules would double the time of the import.
"""

import importlib
import typing

from assembler.strategies.chat_regions import REMINDER, ChatRegions
from assembler.strategies.strategy import Around, ChoosingStrategy, Omitted, Rendered, Space, Strategy

if typing.TYPE_CHECKING:
    from assembler.strategies.cited_sources import CitedSources, Placement
    from assembler.strategies.question_chunks import QuestionChunks

__all__ = [
    "REMINDER",
    "Around",
    "ChatRegions",
    "ChoosingStrategy",
    "CitedSources",
    "Omitted",
    "Placement",
    "QuestionChunks",
    "Rendered",
    "Space",
    "Strategy",
]

_LATER = {
    "CitedSources": "assembler.strategies.cited_sources",
    "Placement": "assembler.strategies.cited_sources",
    "QuestionChunks": "assembler.strategies.question_chunks",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(_LATER[name]), name)
    return found
