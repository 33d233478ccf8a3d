"""Remembers what policies wrote in place of old messages of a history, so that they are the same in each request."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, ClassVar, TypeVar, cast

import attrs

T = TypeVar("T")


@attrs.frozen(eq=False)
class _Made:
    """What one policy wrote, by its own key: the source and the result."""

    policy: object
    by_key: dict[Hashable, tuple[object, Any]] = attrs.field(factory=dict[Hashable, tuple[object, Any]])


class Rewritten:
    """What each of the last `MOST` policies wrote. Threads may share it, since they write the same."""

    __slots__ = ("_made",)

    MOST: ClassVar = 8

    def __init__(self, made: tuple[_Made, ...] = ()) -> None:
        self._made = made

    def once(self, policy: object, key: Hashable, source: object, make: Callable[[], T]) -> T:
        """The result of `make`, called once for this policy, key and `source`. O(policies)."""
        made = next((made for made in self._made if made.policy is policy), None)
        if made is None:
            made = _Made(policy)
            self._made = (*self._made[1 - self.MOST :], made)
        found = made.by_key.get(key)
        if found is None or found[0] is not source:
            found = made.by_key[key] = (source, make())
        return cast(T, found[1])

    def copy(self) -> Rewritten:
        """An independent copy."""
        return Rewritten(tuple(_Made(made.policy, made.by_key.copy()) for made in self._made))
