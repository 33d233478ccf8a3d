"""The boxes of an ISO media file, an AVIF or an MP4: each has a length, a name and a body, which may hold boxes.

Layout: ISO/IEC 14496-12, 4.2; read 2026-11.
"""

from __future__ import annotations

from collections.abc import Iterator

from assembler.pricing.media.window import Window

_MOST_BOXES = 4_096
"""What holds more is not looked through."""


def inside(content: Window, wanted: bytes, start: int, stop: int) -> tuple[int, int]:
    """Where the body of the first box of a name begins and ends; an empty stretch where there is none."""
    return next(((begin, end) for name, begin, end in boxes(content, start, stop) if name == wanted), (stop, stop))


def boxes(content: Window, start: int, stop: int) -> Iterator[tuple[bytes, int, int]]:
    """The boxes from `start` to `stop`: name, and where the body begins and ends."""
    for _ in range(_MOST_BOXES):
        head = content.at(start, 16)
        if start + 8 > stop:
            return
        length, begin = int.from_bytes(head[:4]), start + 8
        if length == 1:  # it stands behind the name
            length, begin = int.from_bytes(head[8:]), start + 16
        end = stop if length == 0 else start + length
        if end < begin:
            return
        yield head[4:8], begin, min(end, stop)
        start = end
