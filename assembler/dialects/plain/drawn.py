"""How a drawn conversation is spelled for a plain request."""

from __future__ import annotations

from assembler.drawn.chat import PLAIN as SPELLING

__all__ = ["SPELLING"]
