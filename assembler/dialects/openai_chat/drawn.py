"""How a drawn conversation is spelled for Chat Completions, and what breaks its rules."""

from __future__ import annotations

from assembler.drawn.chat import OPENAI_CHAT as SPELLING
from assembler.drawn.chat_breaches import OPENAI_CHAT as BREACHES

__all__ = ["BREACHES", "SPELLING"]
