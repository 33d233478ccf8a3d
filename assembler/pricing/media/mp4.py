"""Seconds of a film or a sound in an MP4 file, from its head.

Layout: boxes of a length, a name and a body; `moov` holds `mvhd`, which says the length of the whole (ISO/IEC 14496-12,
sections 4.2 and 8.2.2; QuickTime files and M4A have it too); read 2026-11.
"""

from __future__ import annotations

from assembler.pricing.media.boxes import inside
from assembler.pricing.media.facts import LARGEST
from assembler.pricing.media.window import Window


def mp4_seconds(content: Window) -> float | None:
    """Length of a file in seconds; None for anything else, for one in fragments, and for a length that no film has."""
    if content.at(4, 4) != b"ftyp":
        return None
    start, stop = inside(content, b"moov", 0, len(content))
    start, stop = inside(content, b"mvhd", start, stop)
    if start >= stop:
        return None
    scale, length = (20, 8) if content.at(start, 1) == b"\1" else (12, 4)
    a_second = int.from_bytes(content.at(start + scale, 4))
    units = content.at(start + scale + 4, length)
    unknown = not units.strip(b"\xff")
    seconds = 0.0 if unknown or not a_second else int.from_bytes(units) / a_second
    return seconds if 0 < seconds <= LARGEST else None
