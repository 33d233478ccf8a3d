"""The last calls of many conversations. Each is recognised by its run and by its first messages."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import attrs

from assembler.assembler import Assembler
from assembler.context import Context
from assembler.pipeline.state import state_of
from assembler.pricing.calibration import CalibratedCounter


@attrs.frozen(eq=False)
class KnownCall:
    """The last call of a conversation: its assembler and its context."""

    run: Hashable
    asked: object
    messages: Sequence[object]
    assembler: Assembler
    context: Context
    bill: CalibratedCounter | None = None
    """Of that very context."""
    stored: Mapping[str, Any] | None = None
    """The conversation's state in the framework's store when the call was made."""
    earlier: tuple[Mapping[str, Any] | None, ...] = ()
    """An older state that the store may still hold, since most stores keep nothing of a refused call."""
    refused: int = 0
    """How often the provider refused this call as too long."""
    is_open: bool = True
    """Whether neither its bill nor its refusal has come."""

    @property
    def state(self) -> dict[str, Any]:
        """Return what a new process needs besides the messages."""
        return state_of(self.context.inside, self.bill)

    @property
    def anchor(self) -> CalibratedCounter | None:
        """The newest bill, this call's or one before."""
        return self.bill or self.assembler.inside[1].calibration

    def is_stored_as(self, state: Mapping[str, Any] | None) -> bool:
        """Whether a store with this `state` has no later call than this one."""
        return state is None or state == self.state or state in self.earlier

    def shared(self, messages: Sequence[object]) -> int:
        """Return how many messages at the front are the same. O(those)."""
        alike = (old is new or old == new for old, new in zip(self.messages, messages, strict=False))
        return sum(1 for _ in itertools.takewhile(bool, alike))

    def is_continued_by(self, other: KnownCall) -> bool:
        """Whether the other is a later call of this conversation."""
        longer = len(other.messages) > len(self.messages)
        return longer and self.run == other.run and self.shared(other.messages) == len(self.messages)


class KnownCalls:
    """The last call of each of the most recent conversations, and calls that another one has replaced.

    Two conversations without a name that begin alike replace each other's calls. A replaced call is kept too, because
    its bill, or its refusal, may still come. No method needs a lock, which a forked child could inherit closed: each
    step is a single operation of a dict or a deque.
    """

    def __init__(self, conversations: int) -> None:
        self.conversations = conversations
        self._last: dict[KnownCall, None] = {}
        """The most recently called conversation is the last one."""
        self._replaced: deque[KnownCall] = deque(maxlen=conversations)

    def __iter__(self) -> Iterator[KnownCall]:
        """Yield the last call of each conversation, the most recent one first."""
        return reversed(list(self._last))

    def alike(self, messages: Sequence[object], run: Hashable) -> KnownCall | None:
        """Return the call of this run with the longest common beginning, the latest of several; None without any."""
        same_run = [known for known in self if known.run == run]
        found = max(same_run, key=lambda known: known.shared(messages), default=None)
        return found if found is not None and found.shared(messages) else None

    def add(self, new: KnownCall, before: KnownCall | None) -> None:
        """Put a new call last, in place of the conversation's old one. One that branched off early stays."""
        if before is not None and before.refused and before.messages == new.messages:
            new = attrs.evolve(new, refused=before.refused)
        if before is not None and 2 * before.shared(new.messages) > len(before.messages):
            self._last.pop(before, None)
            if before.is_open:
                self._replaced.append(before)
        self._put_last(new)

    def called_with(self, context: Context) -> KnownCall | None:
        """Return the call of this context; None if it is forgotten."""
        return next((known for known in (*self, *list(self._replaced)) if known.context is context), None)

    def has_gone_on(self, known: KnownCall) -> bool:
        """Whether the conversation of a call has made a later one."""
        return any(known.is_continued_by(last) for last in self)

    def exchange(self, known: KnownCall, new: KnownCall) -> None:
        """Put what is now known of a call in place of what was."""
        self._put_last(new)
        self._last.pop(known, None)
        with suppress(ValueError):
            self._replaced.remove(known)

    def _put_last(self, new: KnownCall) -> None:
        self._last[new] = None
        for oldest in list(self._last)[: -self.conversations]:
            self._last.pop(oldest, None)
