"""What reports remember, so that a turn that has ended and regions that stay are looked at once.

It lives beside what it follows from: with the prices of a history, and with the measured regions. Threads share it, and
each entry is a finished value that would be the same whoever found it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assembler.conversation.history import Span
from assembler.pipeline.measure import Measured
from assembler.pipeline.planned import Planned
from budgets import Count

if TYPE_CHECKING:
    from assembler.report.cache.volatile import Volatile
    from assembler.report.rows import Row
    from assembler.text.invisible import Invisible


class EndedTurns:
    """What there is to say of turns that have ended, by where they begin and end. One entry a turn at most."""

    __slots__ = ("called", "invisible", "rows")

    def __init__(self) -> None:
        self.rows: dict[Span, Row] = {}
        """The row of a turn that stays as it is."""
        self.invisible: dict[Span, tuple[Invisible, ...]] = {}
        """What cannot be seen in the results of tools."""
        self.called: dict[Span, tuple[str, ...]] = {}
        """The names of the tools that were called, each once."""

    def copy(self) -> EndedTurns:
        """The same, for another history that says the same."""
        copy = EndedTurns()
        copy.rows, copy.invisible, copy.called = self.rows.copy(), self.invisible.copy(), self.called.copy()
        return copy


class FixedFacts:
    """What there is to say of the regions that do not grow; None where nobody asked yet."""

    __slots__ = ("framing", "invisible", "prefix", "rows", "volatile")

    def __init__(self) -> None:
        self.rows: tuple[Row, ...] | None = None
        self.framing: Row | None = None
        self.invisible: tuple[Invisible, ...] | None = None
        self.volatile: tuple[Volatile, ...] | None = None
        self.prefix: Count | None = None
        """What system text, head and tools cost."""


def ended_turns(plan: Planned) -> EndedTurns:
    """What is known of the ended turns of a plan's history."""
    prices = plan.ledger.prices
    if prices.ended is None:
        prices.ended = EndedTurns()
    return prices.ended


def fixed_facts(measured: Measured) -> FixedFacts:
    """What is known of measured regions."""
    if measured.facts is None:
        measured.facts = FixedFacts()
    return measured.facts
