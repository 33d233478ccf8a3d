"""Characters that cost tokens and show nothing, by place and kind. Finds them; takes them out only when asked to.

Instructions can be spelled in them that no reader sees and a model reads. What a script needs to be written is left in
peace (`assembler.text.scripts`). A run of such characters stands between two that can be seen, and is judged by
those two: so taking out what is found never uncovers more of it. Linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Generic, Literal, TypeAlias, TypeVar, cast

import attrs

from assembler.errors import MarkupError
from assembler.text.scripts import count_needed
from assembler.validation import wrong
from budgets.patterns import compile_later

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
"""All of them, as the inside of a class of a regular expression."""

_RUN = compile_later(f"[{UNSEEN}]++")
_KIND = compile_later("|".join(f"(?P<{kind.replace(' ', '_')}>[{held}]++)" for kind, held in _KINDS.items()))


Found = TypeVar("Found", bound=str)


@attrs.frozen
class Finding(Generic[Found]):
    """A kind of text in one item: where it first stands, in characters of that item, and how often it does."""

    region: str
    name: str
    kind: Found
    offset: int
    times: int = 1


class Invisible(Finding[Kind]):
    """A kind of invisible characters in one item: the character where they begin, and how many there are."""

    __slots__ = ()


def invisible_texts(items: Iterable[tuple[str, str, str]]) -> Iterator[Invisible]:
    """What cannot be seen in these `(region, name, text)`: one value an item and kind. O(characters).

    An ASCII text is passed over without a look at its characters.
    """
    for region, name, text in items:
        if text.isascii():
            continue
        runs = ((run, len(run[0])) for start, stop in _hidden(text) for run in _KIND.finditer(text, start, stop))
        for kind, (offset, times) in by_kind(runs).items():
            yield Invisible(region, name, cast(Kind, kind), offset, times)


def by_kind(found: Iterable[tuple[re.Match[str], int]]) -> dict[str, tuple[int, int]]:
    """Where each kind of match first stands and how often it does, each match counted as often as it is said to.

    The kind is the name of the group that matched, with blanks for `_`. In the order of the matches.
    """
    places: dict[str, tuple[int, int]] = {}
    for match, times in found:
        kind = (match.lastgroup or "").replace("_", " ")
        first, before = places.get(kind, (match.start(), 0))
        places[kind] = first, before + times
    return places


def without_invisible(text: str) -> str:
    """The text without the characters that `invisible_texts` finds; all others stay as they are. O(characters).

    Raises MarkupError for what is no text.
    """
    if not isinstance(cast(object, text), str):
        raise MarkupError(wrong("text", "a text (str)", text), field="text")
    if text.isascii():
        return text
    kept: list[str] = []
    position = 0
    for start, stop in _hidden(text):
        kept.append(text[position:start])
        position = stop
    return "".join(kept) + text[position:]


def _hidden(text: str) -> Iterator[tuple[int, int]]:
    """Where characters stand that show nothing and that nothing needs, in order."""
    for run in _RUN.finditer(text):
        start, stop = run.span()
        start += count_needed(text, start, stop)
        if start < stop:
            yield start, stop
