"""What was decided last about a history, for later builds to go on from: one entry for each settings that asked."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import ref

from assembler.conversation.messages.copies import Copiers
from assembler.pricing.ledger import Ledger

if TYPE_CHECKING:
    from assembler.pipeline.ladder import Kept
    from assembler.pipeline.seal import Sealed
    from assembler.pipeline.settings import Settings
    from assembler.pipeline.standing import Standing
    from budgets import Tokens

_CROWDED = 16
"""Entries from which on those of settings that are gone are taken out."""


class Decided:
    """What some settings decided last. Each field says for how many messages it holds: a fork may have fewer."""

    __slots__ = ("copiers", "held", "lived", "sealed", "settings", "standing")

    def __init__(self, settings: Settings) -> None:
        self.settings = ref(settings)  # those of a what-if are gone soon, and a history may live for days
        self.lived: tuple[Tokens, int, Kept] | None = None
        """What a ladder with a low-water mark left at its last overflow: the room, the length then, and what stayed."""
        self.copiers = Copiers()
        """How the entries of the last request are copied."""
        self.held: tuple[int, Kept] | None = None
        """The same of a ladder that asks a model: the length of the history when it was asked, and what stayed."""
        self.sealed: Sealed | None = None
        """What was found by counting the whole request."""
        self.standing: Standing | None = None
        """The decision that a build goes on from while it fits."""

    def copy(self, settings: Settings) -> Decided:
        """The same, to go another way from here."""
        copy = Decided(settings)
        copy.lived, copy.held, copy.sealed, copy.standing = self.lived, self.held, self.sealed, self.standing
        copy.copiers = self.copiers
        return copy


class Decisions:
    """What was decided about one history under one pricer. Shared by threads as the `Prices` that hold it are."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: list[Decided] = []

    def of(self, settings: Settings) -> Decided:
        """What these settings decided last. O(settings that live)."""
        found = self.known(settings)
        if found is None:
            if len(self._entries) >= _CROWDED:
                self._entries = [entry for entry in self._entries if entry.settings() is not None]
            self._entries.append(mine := Decided(settings))
            found = self.known(settings) or mine  # another thread's, if that was first
        return found

    def copy(self) -> Decisions:
        """The same decisions, for another history that says the same."""
        copy = Decisions()
        copy._entries = [entry.copy(settings) for entry in self._entries if (settings := entry.settings()) is not None]
        return copy

    def known(self, settings: Settings) -> Decided | None:
        """The same; None where they decided nothing yet."""
        for entry in self._entries:
            if entry.settings() is settings:
                return entry
        return None


def decided_by(settings: Settings, ledger: Ledger) -> Decided:
    """What these settings decided last about the history of a ledger."""
    prices = ledger.prices
    if prices.decisions is None:
        prices.decisions = Decisions()
    return prices.decisions.of(settings)
