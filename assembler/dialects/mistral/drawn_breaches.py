"""How a valid request of Mistral's chat API is made to break one rule."""

from __future__ import annotations

from assembler.drawn.chat_breaches import MISTRAL as BREACHES

__all__ = ["BREACHES"]
