"""Writes drawn conversations as plain requests, and breaks their rules."""

from __future__ import annotations

from assembler.drawn.chat import PLAIN as SPELLING
from assembler.drawn.chat_breaches import PLAIN as BREACHES

__all__ = ["BREACHES", "SPELLING"]
