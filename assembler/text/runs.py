"""Sequences: neighbours grouped by how each goes on from the one before, and two compared object by object."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def runs(items: Iterable[Item], goes_on: Callable[[Item, Item], bool]) -> list[list[Item]]:
    """The items in runs: `goes_on(item, before)` says whether one belongs to the run of the one before. O(items)."""
    found: list[list[Item]] = []
    for item in items:
        if found and goes_on(item, found[-1][-1]):
            found[-1].append(item)
        else:
            found.append([item])
    return found


def are_the_same(some: Sequence[object], others: Sequence[object]) -> bool:
    """Whether two sequences hold the very same objects."""
    return len(some) == len(others) and all(map(operator.is_, some, others))
