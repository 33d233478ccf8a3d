"""What a policy remembers about a history and cannot recompute, such as a summary that a model wrote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, cast

import attrs

from assembler.errors import ConversationError
from budgets.value import Value

if TYPE_CHECKING:
    from assembler.conversation.history import HistoryView


@attrs.frozen(eq=False, repr=False)
class Keepsake(Value):
    """A memory about the messages from `start` to before `stop`.

    It survives an edit of a later message, a fork, a change of settings and a pickle. If one of its messages changes,
    it is forgotten.
    """

    start: int
    stop: int


Kind = TypeVar("Kind", bound=Keepsake)


class Keepsakes:
    """What policies remember about one history: one keepsake of each kind for each policy.

    A keepsake may be about messages that a shorter fork lacks. Threads share it without a lock, since each step is one
    dict operation. Holds at most `MOST` entries; the oldest are forgotten first.
    """

    __slots__ = ("entries",)

    MOST: ClassVar = 64

    def __init__(self, entries: Iterable[tuple[object, Keepsake]] = ()) -> None:
        self.entries = {(policy, type(keepsake)): keepsake for policy, keepsake in entries}

    def __iter__(self) -> Iterator[tuple[object, Keepsake]]:
        """Each policy with its keepsake, oldest first."""
        return iter([(policy, keepsake) for (policy, _), keepsake in list(self.entries.items())])

    def find(self, policy: object, kind: type[Kind]) -> Kind | None:
        """The policy's keepsake of this kind, or None. O(1)."""
        return cast("Kind | None", self.entries.get((policy, kind)))

    def keep(self, policy: object, keepsake: Keepsake) -> None:
        """Store a policy's keepsake in place of its last one of this kind."""
        self.forget(policy, type(keepsake))
        self.entries[policy, type(keepsake)] = keepsake
        for oldest in list(self.entries)[: -self.MOST]:
            self.entries.pop(oldest, None)

    def forget(self, policy: object, kind: type[Keepsake]) -> None:
        """Remove the policy's keepsake of this kind."""
        self.entries.pop((policy, kind), None)

    def spans(self, length: int) -> tuple[tuple[int, int], ...]:
        """The stretches of messages that keepsakes are about, of the first `length` messages."""
        return tuple({(keepsake.start, keepsake.stop): None for _, keepsake in self if keepsake.stop <= length})

    def until(self, stop: int) -> Keepsakes:
        """The keepsakes that are only about messages before `stop`."""
        return Keepsakes((policy, keepsake) for policy, keepsake in self if keepsake.stop <= stop)


def read_remembered(view: HistoryView) -> None:
    """Read the messages that policies remember something about: only in messages that were read is a change noticed.

    O(messages that were not read).
    """
    for start, stop in view.readings.keepsakes.spans(view.length):
        if all(view.readings.messages[start:stop]):  # a message is never false
            continue
        for index in range(max(start, 0), stop):
            with suppress(ConversationError):  # a policy may have dropped a message that is invalid
                view.message(index)


class Memory(Protocol):
    """Saves and restores a policy's keepsakes as JSON. A policy declares it by `Traits(memory=…)`."""

    def as_json(self, keepsakes: Keepsakes) -> Iterable[tuple[Keepsake, dict[str, Any]]]:
        """Each keepsake of this policy, with its fields beyond `start` and `stop`."""
        ...

    def remembered(self, start: int, stop: int, what: Mapping[str, Any]) -> tuple[object, Keepsake]:
        """The policy and a keepsake from its fields. Raises `KeyError`, `TypeError` or `ValueError` for others."""
        ...
