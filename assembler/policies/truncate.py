"""`Truncate`: shortens the longest texts. Head and tail stay, with a marker between them."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Literal, TypeAlias, cast

import attrs

from assembler.conversation.messages import Call, Part, Result
from assembler.conversation.messages.parts import compact_json
from assembler.policies.part_edits import together, with_parts
from assembler.policies.passage import Change
from assembler.policies.policy_views import Passage
from assembler.validation import OneOf, as_int, at_least_one
from budgets import Tokens

Where: TypeAlias = Literal["ends", "head", "tail"]

MARKER = "\n[… shortened …]\n"
"""Replaces the text that was taken out. It holds no number, so that a text shortened twice reads the same."""

EMPTIED = compact_json({"shortened": True})
"""Replaces arguments of which no part fits."""

NOTHING_ASKED = "{}"
"""Replaces arguments if not even `EMPTIED` fits."""

_LONGEST_LEAF = 4096
"""How many characters of each text inside JSON arguments the first attempt keeps. Halved until the arguments fit."""


@attrs.frozen
class Truncate:
    """Shortens texts that cost more than `max_tokens`, the longest first, until the conversation fits.

    A shortened text, with its marker, costs at most `max_tokens` as the dialect counts (by the upper bound if that is
    an estimate). It is cut between graphemes, so no accent, flag or emoji is split. `where` says what stays: both
    "ends", the "head" or the "tail". Call arguments, and results that are objects, stay valid JSON, because only the
    texts inside them are shortened. Thinking is never touched. No text is emptied: if the marker alone costs more than
    `max_tokens`, the text stays as it is.
    """

    max_tokens: int = attrs.field(converter=as_int, validator=at_least_one)
    where: Where = attrs.field(default="ends", validator=OneOf(("ends", "head", "tail")))

    def rewrites(self, passage: Passage, /) -> Iterator[Change]:
        """One change for each text, the longest first. A message with more than 16 of them gets several in one change.

        O(messages that stay), and O(log graphemes) counts for each text.
        """
        long = [
            (tokens, index, place)
            for index, message in passage
            for place, part in enumerate(message.parts)
            if (tokens := self._measure_excess(part, passage))
        ]
        longest_first = sorted(long, key=lambda found: (-found[0], found[1], found[2]))
        for index, places in together((index, place) for _, index, place in longest_first):
            message = passage.current(index)
            shorter = {
                place: short for place in places if (short := self._recall_shortened(passage, index, place)) is not None
            }
            if shorter:
                reason = "text shortened" if len(shorter) == 1 else f"{len(shorter)} texts shortened"
                yield Change({index: with_parts(message, shorter)}, reason)

    def _recall_shortened(self, passage: Passage, index: int, place: int) -> Part | None:
        part = passage.current(index).parts[place]
        return passage.once((index, place), part, partial(self._shorten_part, part, passage.count))

    def _measure_excess(self, part: Part, passage: Passage) -> Tokens:
        """The cost of a part if that is too much, else 0. A text never costs more tokens than it has bytes."""
        text = _find_text(part)
        if text is None or len(text) * 4 <= self.max_tokens:
            return 0
        tokens = passage.count(text)
        return tokens if tokens > self.max_tokens else 0

    def _shorten_part(self, part: Part, count: Callable[[str], Tokens]) -> Part | None:
        """The part with less text; None if no replacement is cheap enough."""
        text = _find_text(part)
        assert text is not None
        cut = cut_json if _is_json(part, text) else cut_text
        shorter = cut(text, self.max_tokens, count, self.where)
        if shorter is None or isinstance(part, str):
            return shorter
        if isinstance(part, Call):
            return attrs.evolve(part, arguments=shorter, given=None)
        given: Mapping[str, Any] | None = json.loads(shorter) if _is_json(part, text) else None
        return attrs.evolve(cast(Result, part), parts=(shorter,), given=given)


def _is_json(part: Part, text: str) -> bool:
    """Whether the API expects a JSON object: the arguments of a call, or a result that came as an object."""
    return isinstance(part, Call) or (isinstance(part, Result) and part.given is not None and text[:1] == "{")


def _find_text(part: Part) -> str | None:
    """The text of a part that may be shortened: not thinking, and not a result with more than text."""
    if isinstance(part, str):
        return part
    if isinstance(part, Call):
        return part.arguments
    if isinstance(part, Result) and all(isinstance(inner, str) for inner in part.parts):
        return "\n".join(inner for inner in part.parts if isinstance(inner, str))
    return None


def cut_text(text: str, limit: Tokens, count: Callable[[str], Tokens], where: Where = "ends") -> str | None:
    """As much of `text` as fits into `limit` with the marker; None if the marker alone does not fit.

    Bisects over the graphemes that stay. Counts are not strictly monotone, so a longer text might also fit, but the
    result itself was counted. O(log graphemes) counts.
    """
    if count(text) <= limit:
        return text
    pieces = graphemes(text)
    lengths = range(1, len(pieces) + 1)
    most = bisect_right(lengths, limit, key=lambda length: count(_keep_ends(pieces, length, where)))
    kept = _keep_ends(pieces, most, where)
    return kept if count(kept) <= limit else None


def _keep_ends(pieces: list[str], number: int, where: Where) -> str:
    if where == "head":
        return "".join(pieces[:number]) + MARKER
    if where == "tail":
        return MARKER + "".join(pieces[len(pieces) - number :])
    head = (number + 1) // 2
    return "".join(pieces[:head]) + MARKER + "".join(pieces[len(pieces) - (number - head) :])


_GRAPHEME = r"\p{GCB=RI}{2}(?![\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}])|\X"
r"""A flag is two regional indicators. At each of them `\X` looks back over the whole row, which is quadratic. So this
matches a pair by itself, unless a character follows that may join it, which happens once in a row."""


def graphemes(text: str) -> list[str]:
    """The characters that a reader sees (Unicode Annex 29, extended grapheme clusters). O(characters)."""
    import regex  # what tiktoken splits text with; the standard library cannot split graphemes

    found: list[str] = regex.findall(_GRAPHEME, text)
    return found


def cut_json(text: str, limit: Tokens, count: Callable[[str], Tokens], where: Where = "ends") -> str | None:
    """JSON that costs at most `limit`: with all texts in it shortened alike, or `EMPTIED`, or `NOTHING_ASKED`.

    None if even that costs more. A text that is not a JSON object, or one that no API can carry (NaN, half a surrogate
    pair, nested too deeply), is emptied.
    """
    with suppress(ValueError, RecursionError):
        if shorter := _cut_leaves(text, limit, count, where):
            return shorter
    return next((least for least in (EMPTIED, NOTHING_ASKED) if count(least) <= limit), None)


def _cut_leaves(text: str, limit: Tokens, count: Callable[[str], Tokens], where: Where) -> str | None:
    value: object = json.loads(text)
    longest = min(_LONGEST_LEAF, len(text))
    while longest >= 1 and isinstance(value, dict):
        shorter = compact_json(_shorten_leaves(value, longest, where))
        shorter.encode()  # raises ValueError for half a surrogate pair, which an escape could spell before
        if count(shorter) <= limit:
            return shorter
        longest //= 2
    return None


def _shorten_leaves(value: Any, longest: int, where: Where) -> Any:
    if isinstance(value, str):
        pieces = graphemes(value)
        return value if len(pieces) <= longest else _keep_ends(pieces, longest, where)
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {key: _shorten_leaves(item, longest, where) for key, item in fields.items()}
    if isinstance(value, list):
        items = cast("list[object]", value)
        return [_shorten_leaves(item, longest, where) for item in items]
    return value
