"""Remembers what the last builds of a history found, so that later builds can continue from it.

There is one memory for each owner: the settings, or their session for what stays valid under a new bill.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import ref

from assembler.conversation.messages.copies import Copiers
from assembler.pricing.ledger import Ledger

if TYPE_CHECKING:
    from assembler.pipeline.fit_by_whole import Sealed
    from assembler.pipeline.ladder import Replayed, Trimmed
    from assembler.pipeline.last_decision import LastDecision
    from assembler.pipeline.measure import Measured
    from assembler.pipeline.planned import Emitted
    from assembler.pipeline.price_as_sent import PricedRequest
    from assembler.pipeline.recipe import Recipe
    from assembler.report.turns import TurnRows
    from budgets import Tokens

_MANY = 16
"""From this many memories on, those whose owner is gone are removed."""


class BuildMemory:
    """What the builds of one owner found. Each field records the length of the history then: a fork may be shorter."""

    __slots__ = (
        "bare",
        "copiers",
        "emitted",
        "held",
        "last_decision",
        "owner",
        "remade",
        "replayed",
        "restored",
        "sealed",
        "sent",
        "session_memory",
        "turn_rows",
    )

    def __init__(self, owner: object) -> None:
        self.owner = ref(owner)  # the settings of a what-if are gone soon, and a history may live for days
        self.bare: Measured | None = None
        """The fixed regions without knowledge, for the smallest conversation by itself."""
        self.replayed: tuple[Tokens, Replayed] | None = None
        """The tokens left at the last replay of a ladder with a low-water mark, and how far it came."""
        self.copiers = Copiers()
        """How the entries of the last request are copied."""
        self.held: tuple[int, Trimmed] | None = None
        """For a ladder that asks a model: the length of the history when it was asked, and what stayed."""
        self.remade: tuple[tuple[object, ...], Trimmed] | None = None
        """The changes that a billed request had, repeated, and what decides which they are."""
        self.restored: Recipe | None = None
        """A decision from another process, until a build repeats it."""
        self.sealed: Sealed | None = None
        """What counting the whole request found."""
        self.sent: PricedRequest | None = None
        """The last request that was priced as it is sent."""
        self.last_decision: LastDecision | None = None
        """The decision that a build keeps while it fits."""
        self.session_memory: BuildMemory | None = None
        """The memory of the settings' session, once it was looked up."""
        self.emitted: Emitted | None = None
        """The last request, for the next one to extend."""
        self.turn_rows: TurnRows | None = None
        """What the last report said of the turns that had ended, for the next one to extend."""

    def copy(self, owner: object) -> BuildMemory:
        """A copy for another owner. From here on the two decide independently."""
        copy = BuildMemory(owner)
        copy.restored, copy.bare, copy.last_decision = self.restored, self.bare, self.last_decision
        copy.replayed, copy.held, copy.sealed, copy.remade = self.replayed, self.held, self.sealed, self.remade
        copy.copiers, copy.emitted, copy.sent, copy.turn_rows = self.copiers, self.emitted, self.sent, self.turn_rows
        return copy


class BuildMemories:
    """What each owner remembers of one history under one pricer. Threads share it, as they share the `Prices`."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: list[BuildMemory] = []

    def of(self, owner: object) -> BuildMemory:
        """The memory of this owner, made if there is none. O(living owners)."""
        found = self.known(owner)
        if found is None:
            if len(self._entries) >= _MANY:
                self._entries = [entry for entry in self._entries if entry.owner() is not None]
            self._entries.append(made := BuildMemory(owner))
            found = self.known(owner) or made  # another thread's, if that was first
        return found

    def copy(self) -> BuildMemories:
        """A copy of the memories, for another history with the same messages."""
        copy = BuildMemories()
        copy._entries = [entry.copy(owner) for entry in self._entries if (owner := entry.owner()) is not None]
        return copy

    def known(self, owner: object) -> BuildMemory | None:
        """The memory of this owner, or None."""
        for entry in self._entries:
            if entry.owner() is owner:
                return entry
        return None


def memory_of(owner: object, ledger: Ledger) -> BuildMemory:
    """The memory of an owner for the history of a ledger, made if there is none."""
    prices = ledger.prices
    if prices.memories is None:
        prices.memories = BuildMemories()
    return prices.memories.of(owner)
