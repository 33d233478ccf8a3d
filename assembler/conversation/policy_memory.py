"""What a policy remembers about a history and cannot find out again, such as a summary that a model wrote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Protocol, TypeVar, cast

import attrs

from budgets.value import Value


@attrs.frozen(eq=False, repr=False)
class Keepsake(Value):
    """Says something of the messages from `start` to before `stop`, and of no others.

    It outlives an edit of a later message, a fork, a change of settings and a pickle. When one of the messages that it
    speaks of changes, it is forgotten.
    """

    start: int
    stop: int


Kind = TypeVar("Kind", bound=Keepsake)


class Keepsakes:
    """What the policies left with one history: one keepsake of each kind for each policy.

    A fork may be shorter than what a keepsake speaks of. Threads share it without a lock, since each step is one
    operation of a dict. `MOST` entries: those kept longest ago are forgotten first.
    """

    __slots__ = ("_kept",)

    MOST: ClassVar = 64

    def __init__(self, entries: Iterable[tuple[object, Keepsake]] = ()) -> None:
        self._kept = {(policy, type(keepsake)): keepsake for policy, keepsake in entries}

    def __iter__(self) -> Iterator[tuple[object, Keepsake]]:
        """Each policy with its keepsake, those kept longest ago first."""
        return iter([(policy, keepsake) for (policy, _), keepsake in list(self._kept.items())])

    def find(self, policy: object, kind: type[Kind]) -> Kind | None:
        """What a policy left of this kind. O(1)."""
        return cast("Kind | None", self._kept.get((policy, kind)))

    def keep(self, policy: object, keepsake: Keepsake) -> None:
        """Keep what a policy leaves, in place of what it left of this kind before."""
        self.forget(policy, type(keepsake))
        self._kept[policy, type(keepsake)] = keepsake
        for oldest in list(self._kept)[: -self.MOST]:
            self._kept.pop(oldest, None)

    def forget(self, policy: object, kind: type[Keepsake]) -> None:
        """Forget what a policy left of this kind."""
        self._kept.pop((policy, kind), None)

    def until(self, stop: int) -> Keepsakes:
        """Those that speak of the messages before `stop` alone."""
        return Keepsakes((policy, keepsake) for policy, keepsake in self if keepsake.stop <= stop)


class Memory(Protocol):
    """How what one policy remembers of a history goes through JSON: `Traits(memory=…)` declares it."""

    def as_json(self, keepsakes: Keepsakes) -> Iterable[tuple[Keepsake, dict[str, Any]]]:
        """Each keepsake of this policy in a history, with the fields that JSON must carry in addition to its place."""
        ...

    def remembered(self, start: int, stop: int, what: Mapping[str, Any]) -> tuple[object, Keepsake]:
        """Whose keepsake it is, and the keepsake. Raises `KeyError`, `TypeError` or `ValueError` for no such."""
        ...
