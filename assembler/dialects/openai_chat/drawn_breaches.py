"""How a valid request of Chat Completions is made to break one rule."""

from __future__ import annotations

from assembler.drawn.chat_breaches import OPENAI_CHAT as BREACHES

__all__ = ["BREACHES"]
