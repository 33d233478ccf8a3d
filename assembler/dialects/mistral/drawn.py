"""How a drawn conversation is spelled for Mistral's chat API."""

from __future__ import annotations

from assembler.drawn.chat import MISTRAL as SPELLING

__all__ = ["SPELLING"]
