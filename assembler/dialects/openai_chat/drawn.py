"""Writes drawn conversations for Chat Completions, and breaks its rules."""

from __future__ import annotations

from assembler.drawn.chat import OPENAI_CHAT as SPELLING
from assembler.drawn.chat_breaches import OPENAI_CHAT as BREACHES

__all__ = ["BREACHES", "SPELLING"]
