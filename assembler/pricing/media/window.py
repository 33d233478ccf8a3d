"""Reads bytes from base64 without decoding the rest, and finds the boxes of an ISO media file.

An AVIF or MP4 file consists of boxes. Each has a length, a name and a body, which may hold more boxes (ISO/IEC
14496-12, 4.2; read 2026-11).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import TypeAlias

import attrs

_QUAD, _TRIPLE = 4, 3
"""Four characters of base64 encode three bytes."""


@attrs.frozen(repr=False)
class PlainBytes:
    """Content given as bytes."""

    content: bytes

    def __len__(self) -> int:
        return len(self.content)

    def at(self, start: int, length: int) -> bytes:
        """`length` bytes from `start`; fewer at the end."""
        return self.content[start : start + length]

    def as_base64(self) -> str:
        """The content as base64. O(bytes)."""
        return base64.b64encode(self.content).decode()


@attrs.frozen(repr=False)
class Base64Text:
    """Content given as base64 in one line, in either alphabet. `at` decodes only the groups that it needs."""

    text: str

    @classmethod
    def of(cls, text: str) -> Base64Text:
        """Accepts base64 with or without line breaks and padding. O(1) without line breaks, else one pass."""
        head = text[:_SHORT]
        if head.split() != [head] or text[-1].isspace():
            text = "".join(text.split())
        return cls(text)

    def __len__(self) -> int:
        return len(self.text.rstrip("=")) * _TRIPLE // _QUAD

    def at(self, start: int, length: int) -> bytes:
        """`length` bytes from `start`; fewer at the end, none if the text is not base64. O(length)."""
        first = start // _TRIPLE
        last = -(-(start + length) // _TRIPLE)
        taken = self.text[first * _QUAD : last * _QUAD].rstrip("=")
        padded = taken + "=" * (-len(taken) % _QUAD)
        try:
            decoded = base64.b64decode(padded.replace("-", "+").replace("_", "/"), validate=True)
        except (binascii.Error, ValueError):
            return b""
        skipped = start - first * _TRIPLE
        return decoded[skipped : skipped + length]

    def as_base64(self) -> str:
        """The text itself."""
        return self.text


_SHORT = 4096
"""Encoders break lines after 64 or 76 characters, so a text without a break in its first 4,096 has none."""

Window: TypeAlias = PlainBytes | Base64Text
"""Content that can be read at any offset."""


_MOST_BOXES = 4_096
"""The most boxes that are searched."""


def find_box(content: Window, wanted: bytes, start: int, stop: int) -> tuple[int, int]:
    """The beginning and end of the body of the first box with this name; an empty span if there is none."""
    return next(((begin, end) for name, begin, end in boxes(content, start, stop) if name == wanted), (stop, stop))


def boxes(content: Window, start: int, stop: int) -> Iterator[tuple[bytes, int, int]]:
    """The boxes from `start` to `stop`: the name, and the beginning and end of the body."""
    for _ in range(_MOST_BOXES):
        head = content.at(start, 16)
        if start + 8 > stop:
            return
        length, begin = int.from_bytes(head[:4]), start + 8
        if length == 1:  # the length follows the name
            length, begin = int.from_bytes(head[8:]), start + 16
        end = stop if length == 0 else start + length
        if end < begin:
            return
        yield head[4:8], begin, min(end, stop)
        start = end
