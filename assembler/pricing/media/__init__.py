"""Reads the type and size of media, from their first bytes if possible, and prices them."""

from __future__ import annotations

from assembler.pricing.media.facts import MediaFacts, Source
from assembler.pricing.media.reading import read_media

__all__ = ["MediaFacts", "Source", "read_media"]
