"""Reads width and height from the head of an image file.

Layouts: PNG (RFC 2083, IHDR), JPEG (ITU T.81, frame headers), GIF89a (logical screen), WebP (RFC 9649), BMP (both
headers), AVIF and HEIC (ISO/IEC 23008-12, `ispe`); read 2026-11.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Literal, TypeAlias

from assembler.pricing.media.window import Window, boxes, find_box

Size: TypeAlias = tuple[int, int]

_MOST_SEGMENTS = 4_096
"""The most segments of a JPEG that are searched for its frame."""


def image_size(content: Window) -> tuple[str | None, Size | None]:
    """The MIME type by the first bytes, and width and height, each or both None if unknown.

    The stated size is not checked. It is None if a side is 0.
    """
    head = content.at(0, 16)
    for mime, recognised, read in _FORMATS:
        if recognised(head):
            size = read(content)
            return mime, size if size is not None and min(size) > 0 else None
    return None, None


def _read_number(content: Window, start: int, length: int, order: Literal["big", "little"]) -> int | None:
    taken = content.at(start, length)
    return int.from_bytes(taken, order) if len(taken) == length else None


def _read_pair(content: Window, start: int, length: int, order: Literal["big", "little"]) -> Size | None:
    """Two numbers side by side: width, then height."""
    width, height = _read_number(content, start, length, order), _read_number(content, start + length, length, order)
    return None if width is None or height is None else (width, height)


def _measure_png(content: Window) -> Size | None:
    return _read_pair(content, 16, 4, "big") if content.at(12, 4) == b"IHDR" else None


def _measure_gif(content: Window) -> Size | None:
    return _read_pair(content, 6, 2, "little")


def _measure_bmp(content: Window) -> Size | None:
    if _read_number(content, 14, 4, "little") == 12:
        return _read_pair(content, 18, 2, "little")
    taken = content.at(18, 8)
    if len(taken) < 8:
        return None
    width, height = struct.unpack("<ii", taken)
    return abs(width), abs(height)  # a negative height means that rows run from the top


def _measure_webp(content: Window) -> Size | None:
    kind = content.at(12, 4)
    if kind == b"VP8X" and (size := _read_pair(content, 24, 3, "little")) is not None:
        return size[0] + 1, size[1] + 1
    if (
        kind == b"VP8L"
        and content.at(20, 1) == b"\x2f"
        and (bits := _read_number(content, 21, 4, "little")) is not None
    ):
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if (
        kind == b"VP8 "
        and content.at(23, 3) == b"\x9d\x01\x2a"
        and (size := _read_pair(content, 26, 2, "little")) is not None
    ):
        return size[0] & 0x3FFF, size[1] & 0x3FFF  # the two highest bits of each are a display scale
    return None


_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""SOF0 to SOF15, without the Huffman table, the reserved marker and the arithmetic table."""
_BARE = frozenset({0x01, *range(0xD0, 0xD9)})
"""Markers without a length."""


def _measure_jpeg(content: Window) -> Size | None:
    place = 2
    for _ in range(_MOST_SEGMENTS):
        segment = content.at(place, 9)
        if len(segment) < 9 or segment[0] != 0xFF:  # a frame states its size in nine bytes
            return None
        marker = segment[1]
        if marker == 0xFF:  # a fill byte
            place += 1
        elif marker in _BARE:
            place += 2
        elif marker in _FRAMES:
            return int.from_bytes(segment[7:]), int.from_bytes(segment[5:7])
        elif marker in (0xD9, 0xDA):  # the end, or pixels before any frame
            return None
        else:
            place += 2 + int.from_bytes(segment[2:4])
    return None


def _measure_isobmff(content: Window) -> Size | None:
    """The largest `ispe` of the item properties. Smaller ones are thumbnails and tiles."""
    start, stop = find_box(content, b"meta", 0, len(content))
    start, stop = find_box(content, b"iprp", start + 4, stop)  # `meta` has version and flags before its boxes
    start, stop = find_box(content, b"ipco", start, stop)
    found = (
        _read_pair(content, begin + 4, 4, "big") for kind, begin, _ in boxes(content, start, stop) if kind == b"ispe"
    )
    return max((size for size in found if size is not None), key=lambda size: size[0] * size[1], default=None)


_BRANDS_AVIF = (b"avif", b"avis")
_BRANDS_HEIC = (b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1")

_FORMATS: tuple[tuple[str, Callable[[bytes], bool], Callable[[Window], Size | None]], ...] = (
    ("image/png", lambda head: head.startswith(b"\x89PNG\r\n\x1a\n"), _measure_png),
    ("image/jpeg", lambda head: head.startswith(b"\xff\xd8\xff"), _measure_jpeg),
    ("image/gif", lambda head: head.startswith((b"GIF87a", b"GIF89a")), _measure_gif),
    ("image/webp", lambda head: head[:4] == b"RIFF" and head[8:12] == b"WEBP", _measure_webp),
    ("image/bmp", lambda head: head.startswith(b"BM"), _measure_bmp),
    ("image/avif", lambda head: head[4:8] == b"ftyp" and head[8:12] in _BRANDS_AVIF, _measure_isobmff),
    ("image/heic", lambda head: head[4:8] == b"ftyp" and head[8:12] in _BRANDS_HEIC, _measure_isobmff),
)
