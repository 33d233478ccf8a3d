"""How APIs spell a request: one file a dialect, three faces each (parse, price, emit).

Adding one is a file beside these and a line here.
"""

from assembler.dialects.dialect import Dialect, Opening
from assembler.dialects.openai_chat import openai_chat
from assembler.dialects.plain import plain

DIALECTS: dict[str, Dialect] = {
    "openai_chat": openai_chat,
    "plain": plain,
}
"""Every dialect by the name that a model's facts and the command line use."""

__all__ = ["DIALECTS", "Dialect", "Opening", "openai_chat", "plain"]
