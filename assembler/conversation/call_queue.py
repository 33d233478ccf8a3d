"""A queue of open calls: each is found in one step by the id or name in its result."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Generic, TypeAlias, TypeVar

T = TypeVar("T")

Key: TypeAlias = tuple[str, str]
"""How a result refers to its call: by id, by name, or as the next one."""

NEXT: Key = ("next", "")


def by_id(call_id: str) -> Key:
    """The key of calls with this id."""
    return "id", call_id


def asked_by(call_id: str | None, name: str) -> tuple[Key, ...]:
    """The keys of a call: its id, or, without one, its name and its order. The same rule as `turns.OpenCalls`."""
    return (by_id(call_id),) if call_id is not None else (("name", name), NEXT)


def answer_to(call_id: str | None, name: str | None) -> Key:
    """The key of a result: the call's id, else its name, else the next call."""
    if call_id is not None:
        return by_id(call_id)
    return NEXT if name is None else ("name", name)


class CallQueue(Generic[T]):
    """Values in the order in which they were added, each taken once. O(1) for each value and key."""

    __slots__ = ("_added", "_filed", "_open")

    def __init__(self) -> None:
        self._open: dict[int, T] = {}
        self._filed: dict[Key, deque[int]] = {}
        self._added = 0

    def __len__(self) -> int:
        return len(self._open)

    def __iter__(self) -> Iterator[T]:
        return iter(self._open.values())

    def __contains__(self, key: Key) -> bool:
        filed = self._filed.get(key)
        while filed and filed[0] not in self._open:
            filed.popleft()  # already taken under another key
        return bool(filed)

    def add(self, value: T, keys: Iterable[Key]) -> None:
        """Add a value under each of the keys."""
        self._open[self._added] = value
        for key in keys:
            self._filed.setdefault(key, deque()).append(self._added)
        self._added += 1

    def answered(self, call_id: str | None, name: str | None) -> T | None:
        """Remove and return the first call that a result with this id or name answers, or None.

        A name that no open call has is ignored. Some clients send such answers, and Google accepts them (recorded
        2026-08).
        """
        key = answer_to(call_id, name)
        if call_id is None and key not in self:
            key = NEXT
        return self._open.pop(self._filed[key].popleft()) if key in self else None
