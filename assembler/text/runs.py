"""Neighbours in a sequence, grouped by how each goes on from the one before."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
