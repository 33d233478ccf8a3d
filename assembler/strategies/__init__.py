"""How knowledge is chosen and laid out: one file a strategy. Adding one is a file beside these and a line here."""

from assembler.strategies.chat_regions import REMINDER, ChatRegions
from assembler.strategies.strategy import Around, ChoosingStrategy, Omitted, Rendered, Space, Strategy

__all__ = [
    "REMINDER",
    "Around",
    "ChatRegions",
    "ChoosingStrategy",
    "Omitted",
    "Rendered",
    "Space",
    "Strategy",
]
