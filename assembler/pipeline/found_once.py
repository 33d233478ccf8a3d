"""A cached property without a lock, for frozen values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

Owner = TypeVar("Owner", contravariant=True)
Found = TypeVar("Found", covariant=True)


class found_once(Generic[Owner, Found]):  # noqa: N801 - read as a decorator, as property is
    """`functools.cached_property` without its lock, which costs a microsecond at each first use in Python 3.11.

    Several threads may compute the value at once: on a frozen owner they all get the same. An owner that is its own
    value computes it each time: it would hold itself until Python's collector runs.
    """

    def __init__(self, find: Callable[[Owner], Found]) -> None:
        self._find = find
        self._name = find.__name__
        self.__doc__ = find.__doc__

    @overload
    def __get__(self, owner: None, kind: type[Any]) -> Self: ...
    @overload
    def __get__(self, owner: Owner, kind: type[Any]) -> Found: ...
    def __get__(self, owner: Owner | None, kind: type[Any]) -> Self | Found:
        if owner is None:
            return self
        found = self._find(owner)
        if found is not owner:
            owner.__dict__[self._name] = found  # from now on this hides the descriptor
        return found


def keep(owner: object, **found: object) -> None:
    """Store values that are already known, so that the owner does not compute them."""
    owner.__dict__.update(found)
