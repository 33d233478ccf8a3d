"""How a drawn conversation is spelled for Chat Completions."""

from __future__ import annotations

from assembler.drawn.chat import OPENAI_CHAT as SPELLING

__all__ = ["SPELLING"]
