"""What a part that is no text holds, and how large it is: read from its first bytes, decoded no further than needed."""

from __future__ import annotations

from assembler.pricing.media.facts import MediaFacts, Source
from assembler.pricing.media.reading import read_media

__all__ = ["MediaFacts", "Source", "read_media"]
