"""Sets cache marks for providers that cache only what is marked.

A request has at most four marks, including the caller's own. By priority they go to: the end of the request (the next
call of a growing conversation reads all of it), the end of the turn before the newest (for when the newest turn is
asked again), the end of the system text, the end of the tools. From a mark, a provider looks back at most 20 blocks for
an older entry (Claude docs, Prompt caching, read 2026-11): the second mark serves entries that are further back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import attrs

from assembler.dialects import Dialect
from assembler.dialects.blocks.turns import MOST_MARKS
from assembler.dialects.by_name import read_dialect
from assembler.dialects.caching.mark_places import (
    END,
    MESSAGES,
    SYSTEM,
    TOOLS,
    Lifetime,
    Marks,
    Place,
    Run,
    opens_newest_turn,
)
from assembler.errors import MessageTypeError
from assembler.validation import OneOf, must_be

_LIFETIMES: tuple[Lifetime, ...] = ("5m", "1h")


@attrs.frozen
class CacheMarks:
    """Marks for the stable prefix of a request. `ttl` is the lifetime: five minutes, or one hour at a higher price.

    The API wants marks of one hour before those of five minutes. If your own marks have the other lifetime, a mark
    takes it where this order demands it. Raises `BudgetError`, a `ValueError`, for an unknown lifetime.
    """

    ttl: Lifetime = attrs.field(default="5m", validator=OneOf(_LIFETIMES))


@attrs.frozen
class Marked:
    """A request with its marks, and notes on marks that were not set."""

    request: dict[str, Any] = attrs.field(repr=False)
    notes: tuple[str, ...] = ()


def marked(request: Mapping[str, Any], dialect: Dialect, marks: CacheMarks, *, model: str | None = None) -> Marked:
    """A copy of the request with cache marks. It shares unchanged parts with the original.

    If the dialect or the model has no marks, the request is returned unchanged, with a note. There are never more than
    four marks, and never one on an empty text. O(blocks).
    """
    must_be("cache_marks", cast(object, marks), (CacheMarks,), "CacheMarks()")
    must_be("request", cast(object, request), (Mapping,), "the body of the API's call (a dict)", MessageTypeError)
    must_be("model", model, (str, type(None)), "a model's name (str) or None")
    dialect = read_dialect(dialect)
    reason, spelling = no_marks(dialect, model), dialect.api.marks
    if spelling is None or reason is not None:
        return Marked(dict(request), () if reason is None else (reason,))
    ttl, places = spelling.lifetime(marks.ttl, model), _choose_places(request, spelling, model)
    own_marks = spelling.marks(request)
    free = max(0, MOST_MARKS - len(own_marks))
    taken = {place for place, _ in own_marks}
    chosen = [place for place in dict.fromkeys(places) if place not in taken][:free]
    return Marked(spelling.put(request, {place: _choose_lifetime(place, ttl, own_marks) for place in chosen}))


def no_marks(dialect: Dialect, model: str | None) -> str | None:
    """Why a request of this dialect for this model gets no marks, for the report; None if it gets them."""
    if dialect.api.marks is None:
        return f"{dialect.name} takes no cache marks: none set"
    return dialect.api.marks.refusal(model)


def _choose_places(request: Mapping[str, Any], spelling: Marks, model: str | None) -> Iterator[Place]:
    """The places for marks, by priority."""
    runs = list(spelling.runs(request))
    newest = opens_newest_turn(request, spelling)
    in_messages = [run for run in runs if run[0] == MESSAGES]
    whole = any(place[0] == END for place, _ in spelling.marks(request))
    ends = [
        None if whole else _find_last_place(in_messages, spelling, model),
        _find_last_place(in_messages[:newest], spelling, model),
        _find_last_place([run for run in runs if run[0] == SYSTEM], spelling, model),
        _find_last_place([run for run in runs if run[0] == TOOLS], spelling, model),
    ]
    yield from (place for place in ends if place is not None)


def _find_last_place(runs: Sequence[Run], spelling: Marks, model: str | None) -> Place | None:
    """The last of these blocks that accepts a mark."""
    for region, index, blocks in reversed(runs):
        for at in range(len(blocks) - 1, -1, -1):
            if spelling.takes_mark(region, blocks[at], model):
                return region, index, at
    return None


def _choose_lifetime(place: Place, ttl: Lifetime, given: Sequence[tuple[Place, str | None]]) -> Lifetime:
    """`ttl`, or the other lifetime if the caller's marks demand it: one hour always precedes five minutes."""
    if ttl == "1h" and any(before < place and theirs != "1h" for before, theirs in given):
        return "5m"
    if ttl == "5m" and any(after > place and theirs == "1h" for after, theirs in given):
        return "1h"
    return ttl


__all__ = ["CacheMarks", "Lifetime", "Marked", "marked"]
