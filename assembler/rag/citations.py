"""Finds the citations in an answer.

A marker counts only if its number was issued, so markers that a source's text contains, and an answer repeats, do not
count. Linear in the answer, even for hostile input.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from typing import cast

import attrs

from assembler.errors import PromptError
from assembler.validation import must_be, wrong

MAX_RANGE = 100
"""The longest range of sources. A longer one, such as `[Source 1-1000]`, is no real citation."""

YEARS = 1_000
"""A bare number in brackets from here on is only a citation if it was issued: `[2024]` is a year."""

# A bracket that contains no other of its kind. The search for the closing one ends at the next opening one, so each
# part of the answer is read at most once for each kind.
_BRACKETS = tuple(
    re.compile(rf"{re.escape(one)}([^{re.escape(one + other)}]*){re.escape(other)}")
    for one, other in ("[]", "\u3010\u3011", "\uff3b\uff3d", "()", "\uff08\uff09")
)
_ROUND = "(\uff08"
# A code span or a fenced block, in which a number in brackets is an index.
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_DIGITS = str.maketrans("\uff10\uff11\uff12\uff13\uff14\uff15\uff16\uff17\uff18\uff19", "0123456789")
# A hyphen, one that no line breaks at (which models write), dashes, a minus.
_DASH = "\u2010-\u2014\u2212-"
# A bare marker: numbers alone, perhaps with a footnote's mark before them or OpenAI's dagger and label after them.
_BARE = re.compile(
    rf"\s*+\^?#?[0-9]{{1,9}}(?:\s*+(?:[,;&{_DASH}]|and|to)\s*+#?[0-9]{{1,9}})*+\s*+(?:[:\u2020].*)?", re.DOTALL
)
_OURS = re.compile(r"sources?(?![^\W\d_])", re.IGNORECASE)
# A label ends before the next source: "[Source 1: a.pdf, Source 2: b.pdf]".
_NEXT = re.compile(r"(?:[,;&]|\band\b)\s*+(?=sources?\s*+#?[0-9])", re.IGNORECASE)
_NO_NUMBER = re.compile(r"sources?\s*+:", re.IGNORECASE)
_BETWEEN = re.compile(r"[,;&]|\band\b", re.IGNORECASE)
# Matched against an item with single blanks. Models add a label after a colon.
_ITEM = re.compile(
    rf"(?:sources? ?)?#?([0-9]{{1,9}})(?: ?(?:[{_DASH}]|to) ?(?:source ?)?#?([0-9]{{1,9}}))?(?: ?:.*)?",
    re.IGNORECASE | re.DOTALL,
)


@attrs.frozen
class Citation:
    """One marker: its span in characters, the numbers that were issued, and those that were not.

    `unread` counts the items of the marker without a number, or with a range of more than `MAX_RANGE`.
    """

    start: int
    end: int
    sources: tuple[int, ...]
    unknown: tuple[int, ...] = ()
    unread: int = 0


def parse_citations(answer: str, issued: Collection[int] | None = None) -> list[Citation]:
    """Find the markers of an answer, in order: `[Source 1]`, `[Source 1, Source 3]`, `[Sources 2-4]`, `[Source 1; 2]`.

    Models also write `(Source 3)`, `[1]` and `【1】`: bare numbers count outside code, if they are below `YEARS` or
    were issued. With `issued`, other numbers are `unknown`; without it, all numbers from 1 on count as issued. Raises
    PromptError if `answer` is not a text, or `issued` is not a collection.
    """
    must_be("answer", answer, (str,), "a text (str)", PromptError)
    if isinstance(issued, str) or not isinstance(cast(object, issued), Collection | None):
        raise PromptError(wrong("issued", "the numbers of the sources, or None", issued))
    code = [span.span() for span in _CODE.finditer(answer)] if "`" in answer else []
    found = [one for brackets in _BRACKETS for one in _find_markers(answer, brackets, issued, code)]
    found.sort(key=lambda one: one.start)
    apart: list[Citation] = []
    for one in found:
        if not apart or one.start >= apart[-1].end:
            apart.append(one)
    return apart


def _find_markers(
    answer: str, brackets: re.Pattern[str], issued: Collection[int] | None, code: Sequence[tuple[int, int]]
) -> Iterator[Citation]:
    for bracket in brackets.finditer(answer):
        inside = bracket[1].lstrip().translate(_DIGITS)
        if _OURS.match(inside):
            citation = _make_citation(bracket.start(), bracket.end(), inside, issued)
            # Round brackets may also hold prose: "(source: Reuters)".
            if bracket[0][0] not in _ROUND or citation.sources or citation.unknown:
                yield citation
        elif bracket[0][0] not in _ROUND and _BARE.fullmatch(inside) and not _is_within(bracket.start(), code):
            numbers = re.split("[:\u2020]", inside, maxsplit=1)[0].strip().removeprefix("^")
            citation = _make_citation(bracket.start(), bracket.end(), numbers, issued)
            if _is_citation(citation, issued):
                yield citation


def _is_citation(bare: Citation, issued: Collection[int] | None) -> bool:
    """Whether numbers in brackets are a citation: one of them was issued, or all of them could have been."""
    if issued is not None and bare.sources:
        return True
    numbers = (*bare.sources, *bare.unknown)
    return bool(numbers) and all(0 < number < YEARS for number in numbers)


def _is_within(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    at = bisect_right(spans, (place, sys.maxsize)) - 1
    return at >= 0 and place < spans[at][1]


def _make_citation(start: int, end: int, inside: str, issued: Collection[int] | None) -> Citation:
    sources: dict[int, None] = {}
    unknown: dict[int, None] = {}
    unread = 0
    for item in _split_items(inside):
        numbers = _read_numbers(item)
        if not numbers:
            unread += 1
        for number in numbers:
            known = number > 0 if issued is None else number in issued
            (sources if known else unknown)[number] = None
    return Citation(start, end, tuple(sources), tuple(unknown), unread)


def _split_items(inside: str) -> list[str]:
    """Split a marker at commas, but not inside a label after a colon."""
    items: list[str] = []
    for named in _NEXT.split(inside):
        bare = _NO_NUMBER.match(named)  # "[Source: 1]"
        numbers, _, _ = (named[bare.end() :] if bare else named).partition(":")
        items += _BETWEEN.split(numbers)
    return [" ".join(item.split()) for item in items]


def _read_numbers(item: str) -> range:
    match = _ITEM.fullmatch(item)
    if match is None:
        return range(0)
    first = int(match[1])
    last = first if match[2] is None else int(match[2])
    return range(first, last + 1) if 0 <= last - first < MAX_RANGE else range(0)
