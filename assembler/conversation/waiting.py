"""The calls that wait for an answer, each found in one step by what an answer names."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Generic, TypeAlias, TypeVar

T = TypeVar("T")

Key: TypeAlias = tuple[str, str]
"""What an answer may know a call by: its id, its name, or nothing but that it is the next."""

NEXT: Key = ("next", "")


def by_id(call_id: str) -> Key:
    """The key of calls with this id."""
    return "id", call_id


def asked_by(call_id: str | None, name: str) -> tuple[Key, ...]:
    """What a call may be answered by: its id, or where it has none its name and order. `turns.Open` has it so."""
    return (by_id(call_id),) if call_id is not None else (("name", name), NEXT)


def answer_to(call_id: str | None, name: str | None) -> Key:
    """What an answer looks for: a call's id, or where it has none a name, or where it has none either the next."""
    if call_id is not None:
        return by_id(call_id)
    return NEXT if name is None else ("name", name)


class Waiting(Generic[T]):
    """Values in the order in which they were added, each taken once. O(1) a value and a key, however they are taken."""

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
            filed.popleft()  # it was taken under another key
        return bool(filed)

    def add(self, value: T, keys: Iterable[Key]) -> None:
        """File a value under each of the keys."""
        self._open[self._added] = value
        for key in keys:
            self._filed.setdefault(key, deque()).append(self._added)
        self._added += 1

    def take(self, key: Key) -> T | None:
        """Take the first value left under a key; None where there is none."""
        return self._open.pop(self._filed[key].popleft()) if key in self else None
