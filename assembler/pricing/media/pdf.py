"""Reads the number of pages of a PDF from its page tree.

Layout: ISO 32000-1, 7.5.7 (object streams) and 7.7.3 (page tree); read 2026-11. The result is None for object streams
that are encrypted or use another filter than Flate, for a count given by reference, for more than 32 MB unpacked or
100,000 objects in object streams, and if nothing is found. An edited file keeps its old trees. The largest count is
used, so it may be too high but not too low.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from itertools import islice, pairwise

import attrs

_BEGIN = re.compile(rb"\bobj\b")
_END = re.compile(rb"\bendobj\b")
_TREE = re.compile(rb"/Type\s*+/Pages(?![A-Za-z])")
_COUNT = re.compile(rb"/Count\s++(\d{1,9}+)(?!\d|\s++\d++\s++R\b)")
_PACKED = re.compile(rb"/Type\s*+/ObjStm(?![A-Za-z])")
_FLATE_ALONE = re.compile(rb"/Filter\s*+(?:\[\s*+)?/FlateDecode\s*+(?:\]|/|>)")
_STREAM = re.compile(rb"\bstream\r?\n")
_FIRST = re.compile(rb"/First\s++(\d{1,9}+)")
_OFFSET = re.compile(rb"(?<!\S)\S++\s++(\S++)")
_DIGITS = 9
"""The most digits of an offset. A longer one is beyond any file."""
MOST_UNPACKED = 1 << 25
"""The most bytes to unpack, 32 MB. A larger file is hostile, or too slow to read for one number."""
MOST_OBJECTS = 100_000
"""The most objects in all object streams. A file of a thousand pages has some ten thousand, but 32 kB can claim
millions, each of which would take memory."""


class _TooLargeError(Exception):
    """The file is too large to be read for its pages."""


@attrs.define
class _Allowance:
    """The bytes and objects that may still be unpacked from one file."""

    bytes: int = MOST_UNPACKED
    objects: int = MOST_OBJECTS


def pdf_pages(content: bytes) -> int | None:
    """The number of pages that the PDF states, or None. O(bytes), because the tree may be anywhere in the file."""
    if b"%PDF-" not in content[:1024]:
        return None
    try:
        counts = [int(count) for body in _find_page_trees(content) if (count := _read_count(body)) is not None]
    except _TooLargeError:
        return None
    return max((0, *counts)) or None


def _read_count(body: bytes) -> bytes | None:
    if _TREE.search(body) is None:
        return None
    found = _COUNT.search(body)
    return None if found is None else found.group(1)


def _find_page_trees(content: bytes) -> Iterator[bytes]:
    """The objects that may be page trees: plain ones, and those inside object streams."""
    left = _Allowance()
    for head, packed in _find_objects(content):
        if packed is None:
            yield head
        elif _PACKED.search(head):
            yield from _find_objects_in_stream(head, _unpack_stream(head, packed, left), left)


def _find_objects(content: bytes) -> Iterator[tuple[bytes, bytes | None]]:
    """The dictionary of each object, and its stream if it has one. Reads each byte once."""
    start = 0
    for closed in _END.finditer(content):
        opened = _BEGIN.search(content, start, closed.start())
        if opened is not None:
            stream = _STREAM.search(content, opened.end(), closed.start())
            head = content[opened.end() : closed.start() if stream is None else stream.start()]
            yield head, None if stream is None else content[stream.end() : closed.start()]
        start = closed.end()


def _unpack_stream(head: bytes, packed: bytes, left: _Allowance) -> bytes:
    """The content of an object stream, empty if it cannot be read. Raises if it is larger than what is left."""
    if b"/Filter" not in head:
        return packed  # as many bytes as the file itself has
    if _FLATE_ALONE.search(head) is None:
        return b""
    try:
        unpacked = zlib.decompressobj().decompress(packed, left.bytes + 1)
    except zlib.error:
        return b""
    if len(unpacked) > left.bytes:
        raise _TooLargeError
    left.bytes -= len(unpacked)
    return unpacked


def _find_objects_in_stream(head: bytes, unpacked: bytes, left: _Allowance) -> Iterator[bytes]:
    """The objects of one object stream. Their numbers and offsets come before the first of them."""
    first = _FIRST.search(head)
    if first is None:
        return
    start = int(first.group(1))
    pairs = list(islice(_OFFSET.finditer(unpacked, 0, min(start, len(unpacked))), left.objects + 1))
    if len(pairs) > left.objects:
        raise _TooLargeError
    left.objects -= len(pairs)
    numbers = [pair.group(1) for pair in pairs]
    offsets = sorted({start + int(number) for number in numbers if number.isdigit() and len(number) <= _DIGITS})
    for begin, end in pairwise([*offsets, len(unpacked)]):
        yield unpacked[begin:end]
