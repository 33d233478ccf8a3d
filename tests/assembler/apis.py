"""The APIs of the registry, for laws that hold for each of them: a new dialect is tested without a line here."""

from __future__ import annotations

from assembler.conversation.messages.shapes import SHAPES
from assembler.dialects import DIALECTS
from assembler.drawn.spelling import SPELLINGS

TAKE_PICTURES = [name for name, spelling in SPELLINGS.items() if "image" in spelling.media]
"""As their `drawn.py` says."""

TYPED = [name for name in TAKE_PICTURES if SHAPES[DIALECTS[name].api.shape].named_by == "type"]
"""The APIs whose parts and tools say their type, so that an unknown one may be any of theirs."""
