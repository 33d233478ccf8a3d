"""Orders sources for reading."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, TypeAlias, TypeVar, cast

import attrs

from assembler.errors import PromptError
from assembler.regions.knowledge import Document
from assembler.strategies.sources.source import Source, identity, position
from assembler.validation import iterates, wrong
from budgets import BudgetError

_T = TypeVar("_T")


class Order(enum.Enum):
    """The order in which the model reads the sources that were chosen."""

    GIVEN = "as they were given"
    SCORE = "best first"
    DOCUMENT = "in document order, the document with the best source first"
    STABLE = "by identity, not by score: requests with the same documents begin alike, as a prefix cache needs"
    EDGES_FIRST = "best first, second best last, the weakest in the middle (Liu et al., Lost in the Middle, 2023)"


ReadingOrder: TypeAlias = Callable[[Sequence[Document]], Iterable[Document]]
"""A custom order: a function from the chosen documents, best first, to the same objects in reading order."""


def an_order(owner: object, field: attrs.Attribute[Any], value: object) -> None:
    """Raise `BudgetError` unless the value is an `Order` or a function."""
    if not isinstance(value, Order) and (isinstance(value, type) or not callable(value)):
        name = f"{type(owner).__name__}: {field.name}"
        raise BudgetError(wrong(name, "an Order such as Order.SCORE, or a function", value))


def edges_first(ranked: Sequence[_T]) -> list[_T]:
    """Best first, second best last, and so on: six become 1st 3rd 5th 6th 4th 2nd. O(n)."""
    return [*ranked[0::2], *ranked[1::2][::-1]]


def order_sources(sources: Sequence[Source], order: Order | ReadingOrder) -> list[Source]:
    """The sources in reading order. Equal scores keep the order given. O(n log n).

    Raises `PromptError` if a custom order does not return the documents that it was given.
    """
    ranked = sorted(sources, key=attrgetter("place"))
    if order is Order.GIVEN:
        return ranked
    ranked.sort(key=attrgetter("score"), reverse=True)  # stable, also in reverse: equal scores stay ordered by place
    if not isinstance(order, Order):
        return _order_by_function(ranked, order)
    if order is Order.SCORE:
        return ranked
    if order is Order.EDGES_FIRST:
        return edges_first(ranked)
    if order is Order.STABLE:
        return sorted(ranked, key=lambda source: identity(source.document))
    first: dict[object, int] = {}
    for rank, source in enumerate(ranked):
        first.setdefault(source.origin, rank)
    return sorted(ranked, key=lambda source: (first[source.origin], position(source.document), source.place))


def _order_by_function(ranked: Sequence[Source], order: ReadingOrder) -> list[Source]:
    by_document: dict[int, list[Source]] = {}
    for source in reversed(ranked):
        by_document.setdefault(id(source.document), []).append(source)
    reordered = cast(object, order([source.document for source in ranked]))
    documents = list(cast("Iterable[Document]", reordered)) if iterates(reordered) else []
    found = [left.pop() for document in documents if (left := by_document.get(id(document)))]
    if len(found) != len(documents) or len(found) != len(ranked):
        raise PromptError(
            f"order returned {len(found)} of {len(ranked)} documents, and {len(documents) - len(found)} others: "
            "return the same document objects that it was given, each once"
        )
    return found
