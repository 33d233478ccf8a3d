"""Finds invisible characters by place and kind, and removes them on request.

They can spell instructions that a model reads and people do not see. Characters that a script needs are not reported
(`assembler.text.scripts`). A run of invisible characters is judged by the two visible ones around it, so removing what
was found never uncovers more. Linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Generic, Literal, TypeAlias, TypeVar, cast

import attrs

from assembler.errors import MarkupError
from assembler.text.scripts import count_needed
from assembler.validation import wrong
from budgets.lazy_patterns import compile_later

Kind: TypeAlias = Literal["tag characters", "direction", "zero width", "joiner", "variation selectors", "filler"]

_KINDS: dict[Kind, str] = {
    "tag characters": "\U000e0000-\U000e007f",
    "direction": "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069",
    "joiner": "\u200c\u200d",
    "variation selectors": "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef",
    "filler": "\u115f\u1160\u2800\u3164\uffa0",
    "zero width": (
        "\u00ad\u034f\u17b4\u17b5\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff0-\ufffb"
        "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0080-\U000e00ff\U000e01f0-\U000e0fff"
    ),
}
"""Default_Ignorable_Code_Point of the Unicode Character Database (DerivedCoreProperties.txt, version 16.0, read
2026-11), the interlinear annotation marks, and the blank cell of Braille."""

UNSEEN = "".join(_KINDS.values())
"""All of them, as the inside of a regular expression's character class."""

_RUN = compile_later(f"[{UNSEEN}]++")
_KIND = compile_later("|".join(f"(?P<{kind.replace(' ', '_')}>[{held}]++)" for kind, held in _KINDS.items()))


Found = TypeVar("Found", bound=str)


@attrs.frozen
class Finding(Generic[Found]):
    """A kind of text in one item: the offset of the first one, in characters, and their number."""

    region: str
    name: str
    kind: Found
    offset: int
    times: int = 1


class Invisible(Finding[Kind]):
    """A kind of invisible characters in one item: the offset of the first one, and their number."""

    __slots__ = ()


def invisible_texts(items: Iterable[tuple[str, str, str]]) -> Iterator[Invisible]:
    """The invisible characters in these `(region, name, text)`: one value for each item and kind. O(characters).

    An ASCII text is skipped at once.
    """
    for region, name, text in items:
        if text.isascii():
            continue
        runs = ((run, len(run[0])) for start, stop in _find_hidden(text) for run in _KIND.finditer(text, start, stop))
        for kind, (offset, times) in by_kind(runs).items():
            yield Invisible(region, name, cast(Kind, kind), offset, times)


def by_kind(found: Iterable[tuple[re.Match[str], int]]) -> dict[str, tuple[int, int]]:
    """The offset of the first match of each kind, and the sum of the numbers given with the matches.

    The kind is the name of the group that matched, with blanks for `_`. In the order of the matches.
    """
    places: dict[str, tuple[int, int]] = {}
    for match, times in found:
        kind = (match.lastgroup or "").replace("_", " ")
        first, before = places.get(kind, (match.start(), 0))
        places[kind] = first, before + times
    return places


def without_invisible(text: str) -> str:
    """The text without the characters that `invisible_texts` finds. O(characters).

    Raises MarkupError if `text` is not a text.
    """
    if not isinstance(cast(object, text), str):
        raise MarkupError(wrong("text", "a text (str)", text), field="text")
    if text.isascii():
        return text
    kept: list[str] = []
    position = 0
    for start, stop in _find_hidden(text):
        kept.append(text[position:start])
        position = stop
    return "".join(kept) + text[position:]


def _find_hidden(text: str) -> Iterator[tuple[int, int]]:
    """The spans of invisible characters that no script needs, in order."""
    for run in _RUN.finditer(text):
        start, stop = run.span()
        start += count_needed(text, start, stop)
        if start < stop:
            yield start, stop
