"""Pages of a PDF, from the counts that its page tree keeps. Knows objects and object streams; renders nothing.

Layout: ISO 32000-1, 7.5.7 (object streams) and 7.7.3 (page tree); read 2026-11. Limits, each of which ends in None:
object streams that are encrypted or packed by another filter than Flate, a count given by reference, nothing found.
A file that was changed since keeps its old trees, and the largest wins: it may say too many pages, never too few.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from itertools import pairwise

_BEGIN = re.compile(rb"\bobj\b")
_END = re.compile(rb"\bendobj\b")
_TREE = re.compile(rb"/Type\s*/Pages(?![A-Za-z])")
_COUNT = re.compile(rb"/Count\s+(\d{1,9})(?!\d|\s+\d+\s+R\b)")
_PACKED = re.compile(rb"/Type\s*/ObjStm(?![A-Za-z])")
_FLATE_ALONE = re.compile(rb"/Filter\s*\[?\s*/FlateDecode\s*(?:\]|/|>)")
_STREAM = re.compile(rb"\bstream\r?\n")
_OFFSET = re.compile(rb"\d{1,9}")
_MOST_UNPACKED = 1 << 25
"""Bytes unpacked in all, 32 MB: what is larger is hostile, or too long to read for a number."""


def pdf_pages(content: bytes) -> int | None:
    """How many pages the PDF says it has, or None. O(bytes): the tree may stand anywhere in the file."""
    if b"%PDF-" not in content[:1024]:
        return None
    counts = [int(count) for body in _bodies(content) if (count := _count_of(body)) is not None]
    return max(counts, default=0) or None


def _count_of(body: bytes) -> bytes | None:
    if _TREE.search(body) is None:
        return None
    found = _COUNT.search(body)
    return None if found is None else found.group(1)


def _bodies(content: bytes) -> Iterator[bytes]:
    """The objects that may be page trees: plain ones, and those inside object streams."""
    room = _MOST_UNPACKED
    for head, packed in _objects(content):
        if packed is None:
            yield head
        elif _PACKED.search(head) and room > 0:
            unpacked = _unpacked(head, packed, room)
            room -= len(unpacked)
            yield from _objects_in(head, unpacked)


def _objects(content: bytes) -> Iterator[tuple[bytes, bytes | None]]:
    """Each object's dictionary, and its stream if it has one. Each byte is looked at once."""
    start = 0
    for closed in _END.finditer(content):
        opened = _BEGIN.search(content, start, closed.start())
        if opened is not None:
            stream = _STREAM.search(content, opened.end(), closed.start())
            head = content[opened.end() : closed.start() if stream is None else stream.start()]
            yield head, None if stream is None else content[stream.end() : closed.start()]
        start = closed.end()


def _unpacked(head: bytes, packed: bytes, room: int) -> bytes:
    if b"/Filter" not in head:
        return packed
    if _FLATE_ALONE.search(head) is None:
        return b""
    try:
        return zlib.decompressobj().decompress(packed, room)
    except zlib.error:
        return b""


def _objects_in(head: bytes, unpacked: bytes) -> Iterator[bytes]:
    """The objects of one object stream: numbers and offsets stand before the first of them."""
    first = re.search(rb"/First\s+(\d{1,9})", head)
    if first is None:
        return
    start = int(first.group(1))
    offsets = sorted(start + int(number) for number in unpacked[:start].split()[1::2] if _OFFSET.fullmatch(number))
    for begin, end in pairwise([*offsets, len(unpacked)]):
        yield unpacked[begin:end]
