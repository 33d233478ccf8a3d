"""Remembers facts for reports, so that finished turns and unchanged regions are examined once.

The facts are stored with the prices of a history, and with the measured regions. Threads share them: each entry is a
finished value, and every thread would compute the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs

from assembler.conversation.messages import Call, Message, Result
from assembler.pipeline.measure import Measured
from assembler.pipeline.planned import Planned
from assembler.text.invisible import Invisible, invisible_texts
from budgets import Count

if TYPE_CHECKING:
    from assembler.report.cache.volatile import Volatile
    from assembler.report.rows import Row


@attrs.define(eq=False)
class TurnFacts:
    """Facts of a turn that do not depend on the rest of the request."""

    called: tuple[str, ...]
    """The names of the tools that it calls, each once."""
    invisible: tuple[Invisible, ...]
    """The invisible characters in its tool results."""
    row: Row | None = None
    """Its row if it stays unchanged; None before a report needed it."""


class FixedFacts:
    """Facts of the fixed regions; None before the first report."""

    __slots__ = ("framing", "invisible", "prefix", "rows", "volatile")

    def __init__(self) -> None:
        self.rows: tuple[Row, ...] | None = None
        self.framing: Row | None = None
        self.invisible: tuple[Invisible, ...] | None = None
        self.volatile: tuple[Volatile, ...] | None = None
        self.prefix: Count | None = None
        """The price of system text, head and tools."""


def turn_facts(plan: Planned) -> list[TurnFacts]:
    """Return the facts of each turn that stays. A finished turn is read only once: O(turns + new messages)."""
    ended, length = plan.ledger.prices.ended, plan.sight.length
    facts: list[TurnFacts] = []
    for turn in plan.turns:
        found = ended.get(turn)
        if found is None:
            found = _read(plan.sight.messages(*turn), turn[0])
            if turn[1] < length:
                ended[turn] = found
        facts.append(found)
    return facts


def _read(messages: Sequence[Message], start: int) -> TurnFacts:
    called: dict[str, None] = {}
    results: list[tuple[str, str, str]] = []
    for index, message in enumerate(messages, start):
        for part in message.parts:
            if type(part) is Call:
                called[part.name] = None
            elif type(part) is Result:
                # An ASCII text has no invisible characters.
                texts = [text for text in part.parts if isinstance(text, str) and not text.isascii()]
                results += [("conversation", f"message {index}", text) for text in texts]
    return TurnFacts(tuple(called), tuple(invisible_texts(results)) if results else ())


def fixed_facts(measured: Measured) -> FixedFacts:
    """Return the facts of measured regions."""
    if measured.facts is None:
        measured.facts = FixedFacts()
    return measured.facts
