"""Groups neighbours in a sequence."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")


def runs(items: Iterable[Item], goes_on: Callable[[Item, Item], bool]) -> list[list[Item]]:
    """Split the items into runs. `goes_on(item, before)` is True if an item continues the run of `before`. O(items)."""
    found: list[list[Item]] = []
    for item in items:
        if found and goes_on(item, found[-1][-1]):
            found[-1].append(item)
        else:
            found.append([item])
    return found
