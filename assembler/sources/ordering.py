"""In which order sources are read. Knows ranks and positions; knows no text and no tokens."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TypeVar

from assembler.sources.source import Source, of

_T = TypeVar("_T")


class Order(enum.Enum):
    """The order in which the model reads the sources that were chosen."""

    GIVEN = "as they were given"
    SCORE = "best first"
    DOCUMENT = "as they stand in their documents, the document with the best source first"
    EDGES_FIRST = "best first, second best last, the weakest in the middle (Liu et al., Lost in the Middle, 2023)"


def edges_first(ranked: Sequence[_T]) -> list[_T]:
    """Six by rank come out 1st 3rd 5th 6th 4th 2nd. O(n)."""
    return [*ranked[0::2], *ranked[1::2][::-1]]


def ordered(sources: Sequence[Source], order: Order) -> list[Source]:
    """The sources in reading order; equal scores in the order given. O(n log n)."""
    if order is Order.GIVEN:
        return sorted(sources, key=attrgetter("place"))
    ranked = sorted(sources, key=attrgetter("place"))
    ranked.sort(key=attrgetter("score"), reverse=True)  # stable, backwards too: equal scores keep their places' order
    if order is Order.SCORE:
        return ranked
    if order is Order.EDGES_FIRST:
        return edges_first(ranked)
    first: dict[object, int] = {}
    for rank, source in enumerate(ranked):
        first.setdefault(source.origin, rank)
    return sorted(ranked, key=_by_position(first))


def _by_position(first: dict[object, int]) -> Callable[[Source], tuple[int, float, int]]:
    return lambda source: (first[source.origin], position(source), source.place)


def position(source: Source) -> float:
    """Where a source stands in its document: its chunk's index, else its page; last where neither is known."""
    for key in ("chunk_index", "page_number"):
        value = of(source.document, key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return float("inf")
