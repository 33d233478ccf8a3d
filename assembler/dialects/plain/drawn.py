"""How a drawn conversation is spelled for a plain request, and what breaks its rules."""

from __future__ import annotations

from assembler.drawn.chat import PLAIN as SPELLING
from assembler.drawn.chat_breaches import PLAIN as BREACHES

__all__ = ["BREACHES", "SPELLING"]
