"""What was decided last about a history, for later builds to go on from: one entry for each owner that asked.

The owner is the settings, or the session that they belong to for what outlives a new bill.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import ref

from assembler.conversation.messages.copies import Copiers
from assembler.pricing.ledger import Ledger

if TYPE_CHECKING:
    from assembler.pipeline.fit_by_whole import Sealed
    from assembler.pipeline.ladder import Trimmed
    from assembler.pipeline.planned import Spelled
    from assembler.pipeline.recipe import Recipe
    from assembler.pipeline.sent import PricedRequest
    from assembler.pipeline.standing_decision import Standing
    from budgets import Tokens

_CROWDED = 16
"""Entries from which on those of settings that are gone are taken out."""


class Decided:
    """What one owner decided last. Each field says for how many messages it holds: a fork may have fewer."""

    __slots__ = (
        "copiers",
        "held",
        "owner",
        "remembered",
        "replayed",
        "restored",
        "sealed",
        "sent",
        "spelled",
        "standing",
    )

    def __init__(self, owner: object) -> None:
        self.owner = ref(owner)  # the settings of a what-if are gone soon, and a history may live for days
        self.replayed: tuple[Tokens, int, Trimmed] | None = None
        """The last overflow of a ladder with a low-water mark: the tokens left, the length then, and what stayed."""
        self.copiers = Copiers()
        """How the entries of the last request are copied."""
        self.held: tuple[int, Trimmed] | None = None
        """The same of a ladder that asks a model: the length of the history when it was asked, and what stayed."""
        self.restored: Recipe | None = None
        """What another process held, until a build makes it again."""
        self.sealed: Sealed | None = None
        """What was found by counting the whole request."""
        self.sent: PricedRequest | None = None
        """The last request that was priced as it is sent."""
        self.standing: Standing | None = None
        """The decision that a build goes on from while it fits."""
        self.remembered: Decided | None = None
        """What the session of these settings remembers, where it was looked for."""
        self.spelled: Spelled | None = None
        """The request that a build goes on from."""

    def copy(self, owner: object) -> Decided:
        """A copy for another owner, which decides on its own from here."""
        copy = Decided(owner)
        copy.restored = self.restored
        copy.replayed, copy.held, copy.sealed, copy.standing = self.replayed, self.held, self.sealed, self.standing
        copy.copiers, copy.spelled, copy.sent = self.copiers, self.spelled, self.sent
        return copy


class Decisions:
    """What was decided about one history under one pricer. Shared by threads as the `Prices` that hold it are."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: list[Decided] = []

    def of(self, owner: object) -> Decided:
        """What this owner decided last. O(owners that live)."""
        found = self.known(owner)
        if found is None:
            if len(self._entries) >= _CROWDED:
                self._entries = [entry for entry in self._entries if entry.owner() is not None]
            self._entries.append(mine := Decided(owner))
            found = self.known(owner) or mine  # another thread's, if that was first
        return found

    def copy(self) -> Decisions:
        """A copy of the decisions, for another history with the same messages."""
        copy = Decisions()
        copy._entries = [entry.copy(owner) for entry in self._entries if (owner := entry.owner()) is not None]
        return copy

    def known(self, owner: object) -> Decided | None:
        """What this owner decided last; None where it decided nothing yet."""
        for entry in self._entries:
            if entry.owner() is owner:
                return entry
        return None


def decisions_of(owner: object, ledger: Ledger) -> Decided:
    """What settings, or their session, decided last about the history of a ledger."""
    prices = ledger.prices
    if prices.decisions is None:
        prices.decisions = Decisions()
    return prices.decisions.of(owner)
