"""How a drawn conversation is spelled for Mistral's chat API, and what breaks its rules."""

from __future__ import annotations

from assembler.drawn.chat import MISTRAL as SPELLING
from assembler.drawn.chat_breaches import MISTRAL as BREACHES

__all__ = ["BREACHES", "SPELLING"]
