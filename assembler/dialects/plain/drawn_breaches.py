"""How a valid request of a plain request is made to break one rule."""

from __future__ import annotations

from assembler.drawn.chat_breaches import PLAIN as BREACHES

__all__ = ["BREACHES"]
