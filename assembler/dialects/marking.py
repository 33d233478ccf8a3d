"""Cache marks: where a provider that caches only what is marked is told to.

At most four marks stand in a request, the caller's own included. In the order of their worth: the end of the request
(the next call of a growing conversation reads all of it), the end of the last turn before the newest (what stays when
the newest is asked anew), the end of the system text, the end of the tools. Looking back for an older entry, a provider
goes at most 20 blocks from a mark (Claude docs, Prompt caching, read 2026-11): the second mark is met beyond that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import attrs

from assembler.dialects import Dialect
from assembler.dialects.blocks.blocks import MOST_MARKS
from assembler.dialects.by_name import read_dialect
from assembler.dialects.mark_places import END, MESSAGES, SYSTEM, TOOLS, Lifetime, Marks, Place, Run, opens_newest_turn
from assembler.errors import MessageTypeError
from assembler.validation import OneOf, must_be

_LIFETIMES: tuple[Lifetime, ...] = ("5m", "1h")


@attrs.frozen
class CacheMarks:
    """Marks for the stable prefix of a request. `ttl` is how long a cache keeps it: five minutes, or a dearer hour.

    If you set marks of your own with the other lifetime, a mark takes that lifetime where the API demands it: marks of
    an hour come before those of five minutes. Raises `BudgetError`, a `ValueError`, for a lifetime that no provider
    has.
    """

    ttl: Lifetime = attrs.field(default="5m", validator=OneOf(_LIFETIMES))


@attrs.frozen
class Marked:
    """A request with its marks, and what was not done, a line each."""

    request: dict[str, Any] = attrs.field(repr=False)
    notes: tuple[str, ...] = ()


def marked(request: Mapping[str, Any], dialect: Dialect, marks: CacheMarks, *, model: str | None = None) -> Marked:
    """A copy of the request with cache marks; what was given stays as it was and is shared where nothing changed.

    A dialect that has no marks, or a model that takes none, leaves the request as it is and says so in `notes`.
    Never more than four marks, never one on an empty text. O(blocks).
    """
    must_be("cache_marks", cast(object, marks), (CacheMarks,), "CacheMarks()")
    must_be("request", cast(object, request), (Mapping,), "the body of the API's call (a dict)", MessageTypeError)
    must_be("model", model, (str, type(None)), "a model's name (str) or None")
    dialect = read_dialect(dialect)
    reason, spelling = no_marks(dialect, model), dialect.api.marks
    if spelling is None or reason is not None:
        return Marked(dict(request), () if reason is None else (reason,))
    ttl, places = spelling.lifetime(marks.ttl, model), _wanted(request, spelling, model)
    given = spelling.marks(request)
    free = max(0, MOST_MARKS - len(given))
    taken = {place for place, _ in given}
    chosen = [place for place in dict.fromkeys(places) if place not in taken][:free]
    return Marked(spelling.put(request, {place: _lifetime(place, ttl, given) for place in chosen}))


def no_marks(dialect: Dialect, model: str | None) -> str | None:
    """Why a request of this dialect for this model gets no marks, for the report; None where it does."""
    if dialect.api.marks is None:
        return f"{dialect.name} takes no cache marks: none set"
    return dialect.api.marks.refusal(model)


def _wanted(request: Mapping[str, Any], spelling: Marks, model: str | None) -> Iterator[Place]:
    """The places worth a mark, the worthiest first."""
    runs = list(spelling.runs(request))
    newest = opens_newest_turn(request, spelling)
    spoken = [run for run in runs if run[0] == MESSAGES]
    whole = any(place[0] == END for place, _ in spelling.marks(request))
    ends = [
        None if whole else _last(spoken, spelling, model),
        _last(spoken[:newest], spelling, model),
        _last([run for run in runs if run[0] == SYSTEM], spelling, model),
        _last([run for run in runs if run[0] == TOOLS], spelling, model),
    ]
    yield from (place for place in ends if place is not None)


def _last(runs: Sequence[Run], spelling: Marks, model: str | None) -> Place | None:
    """The last block of these that takes a mark."""
    for region, index, blocks in reversed(runs):
        for at in range(len(blocks) - 1, -1, -1):
            if spelling.takes_mark(region, blocks[at], model):
                return region, index, at
    return None


def _lifetime(place: Place, ttl: Lifetime, given: Sequence[tuple[Place, str | None]]) -> Lifetime:
    """`ttl`, unless a mark of the caller's makes it out of order: an hour stands before five minutes, never after."""
    if ttl == "1h" and any(before < place and theirs != "1h" for before, theirs in given):
        return "5m"
    if ttl == "5m" and any(after > place and theirs == "1h" for after, theirs in given):
        return "1h"
    return ttl


__all__ = ["CacheMarks", "Lifetime", "Marked", "marked"]
