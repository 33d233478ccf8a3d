"""Writes drawn conversations for Mistral's chat API, and breaks its rules."""

from __future__ import annotations

from assembler.drawn.chat import MISTRAL as SPELLING
from assembler.drawn.chat_breaches import MISTRAL as BREACHES

__all__ = ["BREACHES", "SPELLING"]
