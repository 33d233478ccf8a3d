"""Pages of a PDF, from the counts that its page tree keeps.

Layout: ISO 32000-1, 7.5.7 (object streams) and 7.7.3 (page tree); read 2026-11. Limits, each of which ends in None:
object streams that are encrypted or packed by another filter than Flate, a count given by reference, nothing found,
more than 32 MB unpacked, more than 100,000 objects in object streams.
A file that was changed since keeps its old trees, and the largest wins: it may say too many pages, never too few.
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
"""Digits of an offset at most: a longer one points behind any file."""
MOST_UNPACKED = 1 << 25
"""Bytes unpacked in all, 32 MB: what is larger is hostile, or too long to read for a number."""
MOST_OBJECTS = 100_000
"""Objects of all object streams together. A file of a thousand pages has some ten thousand; 32 kB can claim millions,
each of which would cost memory."""


class _TooLargeError(Exception):
    """The file claims more than is read for a number."""


@attrs.define
class _Allowance:
    """What may still be unpacked of one file, in bytes and in objects."""

    bytes: int = MOST_UNPACKED
    objects: int = MOST_OBJECTS


def pdf_pages(content: bytes) -> int | None:
    """How many pages the PDF says it has, or None. O(bytes): the tree may stand anywhere in the file."""
    if b"%PDF-" not in content[:1024]:
        return None
    try:
        counts = [int(count) for body in _bodies(content) if (count := _count_of(body)) is not None]
    except _TooLargeError:
        return None
    return max((0, *counts)) or None


def _count_of(body: bytes) -> bytes | None:
    if _TREE.search(body) is None:
        return None
    found = _COUNT.search(body)
    return None if found is None else found.group(1)


def _bodies(content: bytes) -> Iterator[bytes]:
    """The objects that may be page trees: plain ones, and those inside object streams."""
    left = _Allowance()
    for head, packed in _objects(content):
        if packed is None:
            yield head
        elif _PACKED.search(head):
            yield from _objects_in(head, _unpacked(head, packed, left), left)


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


def _unpacked(head: bytes, packed: bytes, left: _Allowance) -> bytes:
    """The content of an object stream, nothing where it cannot be read. Raises where it is larger than what is left."""
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


def _objects_in(head: bytes, unpacked: bytes, left: _Allowance) -> Iterator[bytes]:
    """The objects of one object stream: numbers and offsets stand before the first of them."""
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
