"""The citations in an answer. Knows the marker `[Source 1]` in the spellings that models use; knows no prompt.

Only markers in an answer are citations. One that stands in a source's text was never issued by us, and what an answer
repeats of it counts for nothing unless its number was. Linear in the answer, whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import cast

import attrs

from assembler.errors import PromptError
from assembler.given import must_be, wrong

MAX_RANGE = 100
"""Sources. No answer means a longer `[Source 1-1000]`: it would only make a small text a large list."""

# A bracket without another in it. Each search for the closing one ends at the next opening one, so no part of the
# answer is read twice.
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_OURS = re.compile(r"sources?(?![^\W\d_])", re.IGNORECASE)
# A label ends where another source is named: "[Source 1: a.pdf, Source 2: b.pdf]".
_NEXT = re.compile(r"(?:[,;&]|\band\b)\s*+(?=sources?\s*+#?[0-9])", re.IGNORECASE)
_NO_NUMBER = re.compile(r"sources?\s*+:", re.IGNORECASE)
_BETWEEN = re.compile(r"[,;&]|\band\b", re.IGNORECASE)
# Matched against an item whose runs of blanks are one blank. A label after a colon is the model's own decoration.
_ITEM = re.compile(
    r"(?:sources? ?)?#?([0-9]{1,9})(?: ?(?:[-–—]|to) ?(?:source ?)?#?([0-9]{1,9}))?(?: ?:.*)?",
    re.IGNORECASE | re.DOTALL,
)


@attrs.frozen
class Citation:
    """One marker: where it stands (characters), the numbers that were issued, and those that were not.

    `unread` counts the items of the marker that name no number, or a range of more than `MAX_RANGE`.
    """

    start: int
    end: int
    sources: tuple[int, ...]
    unknown: tuple[int, ...] = ()
    unread: int = 0


def parse_citations(answer: str, issued: Collection[int] | None = None) -> list[Citation]:
    """The markers of an answer, in order: `[Source 1]`, `[Source 1, Source 3]`, `[Sources 2-4]`, `[Source 1; 2]`.

    With `issued`, numbers not in it are `unknown`; without, all from 1 on are taken for issued. `[1]` is no marker of
    ours. Raises PromptError for an answer that is no text, and for numbers that are no collection.
    """
    must_be("answer", answer, (str,), "a text (str)", PromptError)
    if isinstance(issued, str) or not isinstance(cast(object, issued), Collection | None):
        raise PromptError(wrong("issued", "the numbers of the sources, or None", issued))
    found: list[Citation] = []
    for bracket in _BRACKETS.finditer(answer):
        inside = bracket[1].lstrip()
        if _OURS.match(inside):
            found.append(_citation(bracket.start(), bracket.end(), inside, issued))
    return found


def _citation(start: int, end: int, inside: str, issued: Collection[int] | None) -> Citation:
    sources: dict[int, None] = {}
    unknown: dict[int, None] = {}
    unread = 0
    for item in _items(inside):
        numbers = _numbers(item)
        if not numbers:
            unread += 1
        for number in numbers:
            known = number > 0 if issued is None else number in issued
            (sources if known else unknown)[number] = None
    return Citation(start, end, tuple(sources), tuple(unknown), unread)


def _items(inside: str) -> list[str]:
    """The items between commas; a label after a colon is one with what it follows, its own commas and all."""
    items: list[str] = []
    for named in _NEXT.split(inside):
        bare = _NO_NUMBER.match(named)  # "[Source: 1]"
        numbers, _, _ = (named[bare.end() :] if bare else named).partition(":")
        items += _BETWEEN.split(numbers)
    return [" ".join(item.split()) for item in items]


def _numbers(item: str) -> range:
    match = _ITEM.fullmatch(item)
    if match is None:
        return range(0)
    first = int(match[1])
    last = first if match[2] is None else int(match[2])
    return range(first, last + 1) if 0 <= last - first < MAX_RANGE else range(0)
