"""How knowledge is chosen and laid out: one file a strategy. Adding one is a file beside these and a line here."""

from assembler.strategies.chat_regions import REMINDER, ChatRegions
from assembler.strategies.strategy import Rendered, Strategy

__all__ = ["REMINDER", "ChatRegions", "Rendered", "Strategy"]
