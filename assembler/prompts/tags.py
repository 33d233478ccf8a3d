"""Finds the markers `<tag>` and `</tag>` of supported tags.

A marker has no attributes or blanks, and may be in upper or lower case: `<question>`, `</Question>`. A marker in a
value, or partly in a value, is text and stays. Every scan is linear: after each `<` at most the length of the longest
marker is read.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Set

import attrs

from assembler.prompts.marked_text import Marked


@attrs.frozen
class Marker:
    """One marker: its place, its tag in lower case, and whether it closes."""

    start: int
    stop: int
    tag: str
    closes: bool


@attrs.frozen
class Section:
    """A part of the prompt: the inside of one tag, or text outside of all tags (`tag` is None)."""

    tag: str | None
    content: Marked


def longest(tags: Set[str]) -> int:
    """The length of the longest marker: `</`, the name, `>`."""
    return max(map(len, tags), default=0) + 3


def markers(marked: Marked, tags: Set[str]) -> Iterator[Marker]:
    """Every marker that the template wrote, in order. O(characters)."""
    text, reach = marked.text, longest(tags)
    start = text.find("<")
    while start != -1:
        stop = text.find(">", start, start + reach) + 1
        name = text[start + 1 : stop - 1].lower() if stop else ""
        closes = name.startswith("/")
        tag = name.removeprefix("/")
        if tag in tags and marked.is_owned(start, stop):
            yield Marker(start, stop, tag, closes)
            start = text.find("<", stop)
        else:
            start = text.find("<", start + 1)


def sections(marked: Marked, tags: Set[str]) -> list[Section]:
    """Split the prompt at its outermost tags, in order. Only those markers are removed. O(characters).

    A tag ends at the first closing marker of the same name. An opening marker that is never closed is text. Markers
    inside a section stay, for `without_markers`.
    """
    found = list(markers(marked, tags))
    closing: defaultdict[str, deque[int]] = defaultdict(deque)
    for index, marker in enumerate(found):
        if marker.closes:
            closing[marker.tag].append(index)
    cut: list[Section] = []
    position = index = 0
    while index < len(found):
        opener, ends = found[index], closing[found[index].tag]
        while ends and ends[0] <= index:
            ends.popleft()
        index += 1
        if opener.closes or not ends:
            continue
        closer = found[ends[0]]
        cut.append(Section(None, marked.cut(position, opener.start)))
        cut.append(Section(opener.tag, marked.cut(opener.stop, closer.start)))
        position, index = closer.stop, ends[0] + 1
    cut.append(Section(None, marked.cut(position, len(marked.text))))
    return cut


def without_markers(marked: Marked, tags: Set[str]) -> Marked:
    """Remove all markers, also those that the removal of another creates. O(characters).

    The kept ranges are a stack. A marker ends at a `>`, so it is enough to look back from each.
    """
    if next(markers(marked, tags), None) is None:
        return marked
    reach = longest(tags)
    kept: list[tuple[int, int]] = []
    position = 0
    while (end := marked.text.find(">", position)) != -1:
        _push(kept, position, end + 1)
        tail = _keep_tail(marked, kept, reach)
        opening = tail.text.rfind("<")
        name = tail.text[opening + 1 : -1].lower().removeprefix("/")
        if opening != -1 and name in tags and tail.is_owned(opening, len(tail.text)):
            _pop(kept, len(tail.text) - opening)
        position = end + 1
    _push(kept, position, len(marked.text))
    return marked.keep(kept)


def _push(kept: list[tuple[int, int]], start: int, stop: int) -> None:
    if kept and kept[-1][1] == start:
        kept[-1] = (kept[-1][0], stop)
    elif start < stop:
        kept.append((start, stop))


def _pop(kept: list[tuple[int, int]], characters: int) -> None:
    while characters:
        start, stop = kept.pop()
        if stop - start > characters:
            kept.append((start, stop - characters))
            return
        characters -= stop - start


def _keep_tail(marked: Marked, kept: list[tuple[int, int]], characters: int) -> Marked:
    ranges: list[tuple[int, int]] = []
    for start, stop in reversed(kept):
        ranges.append((max(start, stop - characters), stop))
        characters -= stop - start
        if characters <= 0:
            break
    return marked.keep(reversed(ranges))
