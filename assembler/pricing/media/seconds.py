"""Reads the length of audio or video from its head.

WAV: RIFF WAVE, chunks `fmt ` and `data` (Microsoft and IBM, 1991). MP4: boxes of a length, a name and a body; `moov`
holds `mvhd` with the length of the whole (ISO/IEC 14496-12, sections 4.2 and 8.2.2; also in QuickTime and M4A files).
Read 2026-11.
"""

from __future__ import annotations

from assembler.pricing.media.facts import LARGEST
from assembler.pricing.media.window import Window, find_box

_MOST_CHUNKS = 64
_STREAMED = (0, 0xFFFF_FFFF)
"""The length that a writer states before it knows it. Then the data runs to the end."""


def wav_seconds(content: Window) -> float | None:
    """The seconds of a WAV file: its data over the bytes of a second. None for anything else."""
    if content.at(0, 4) != b"RIFF" or content.at(8, 4) != b"WAVE":
        return None
    place, rate = 12, 0
    for _ in range(_MOST_CHUNKS):
        head = content.at(place, 8)
        if len(head) < 8:
            return None
        length = int.from_bytes(head[4:], "little")
        if head[:4] == b"fmt ":
            rate = int.from_bytes(content.at(place + 16, 4), "little")
        elif head[:4] == b"data":
            left = len(content) - place - 8
            return (left if length in _STREAMED else min(length, left)) / rate if rate else None
        place += 8 + length + length % 2
    return None


def mp4_seconds(content: Window) -> float | None:
    """The seconds of an MP4 file. None for anything else, for one in fragments, and for an impossible length."""
    if content.at(4, 4) != b"ftyp":
        return None
    start, stop = find_box(content, b"moov", 0, len(content))
    start, stop = find_box(content, b"mvhd", start, stop)
    if start >= stop:
        return None
    scale, length = (20, 8) if content.at(start, 1) == b"\1" else (12, 4)
    a_second = int.from_bytes(content.at(start + scale, 4))
    units = content.at(start + scale + 4, length)
    unknown = not units.strip(b"\xff")
    seconds = 0.0 if unknown or not a_second else int.from_bytes(units) / a_second
    return seconds if 0 < seconds <= LARGEST else None
