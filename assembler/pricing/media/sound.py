"""Seconds of a sound from its head.

Layout: RIFF WAVE, chunks `fmt ` and `data` (Microsoft and IBM, 1991); read 2026-11.
"""

from __future__ import annotations

from assembler.pricing.media.window import Window

_MOST_CHUNKS = 64
_STREAMED = (0, 0xFFFF_FFFF)
"""What a writer that does not know the length yet puts in its place: the data runs to the end."""


def wav_seconds(content: Window) -> float | None:
    """Length of a WAV file in seconds: bytes of sound over bytes a second. None for anything else."""
    if content.at(0, 4) != b"RIFF" or content.at(8, 4) != b"WAVE":
        return None
    place, rate = 12, 0
    for _ in range(_MOST_CHUNKS):
        head = content.at(place, 8)
        if len(head) < 8:
            return None
        length = int.from_bytes(head[4:8], "little")
        if head[:4] == b"fmt ":
            rate = int.from_bytes(content.at(place + 16, 4), "little")
        elif head[:4] == b"data":
            left = len(content) - place - 8
            return (left if length in _STREAMED else min(length, left)) / rate if rate else None
        place += 8 + length + length % 2
    return None
