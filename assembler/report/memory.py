"""What reports remember, so that a turn that has ended and regions that stay are looked at once.

It lives beside what it follows from: with the prices of a history, and with the measured regions. Threads share it, and
each entry is a finished value that any of them would find.
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
    """What there is to say of a turn, whatever else is in the request."""

    called: tuple[str, ...]
    """The names of the tools that it calls, each once."""
    invisible: tuple[Invisible, ...]
    """What cannot be seen in the results of its tools."""
    row: Row | None = None
    """Its row where it stays as it is; None before a report needed it."""


class FixedFacts:
    """What there is to say of the regions that do not grow; None before the first report."""

    __slots__ = ("framing", "invisible", "prefix", "rows", "volatile")

    def __init__(self) -> None:
        self.rows: tuple[Row, ...] | None = None
        self.framing: Row | None = None
        self.invisible: tuple[Invisible, ...] | None = None
        self.volatile: tuple[Volatile, ...] | None = None
        self.prefix: Count | None = None
        """What system text, head and tools cost."""


def turn_facts(plan: Planned) -> list[TurnFacts]:
    """The facts of each turn that stays. A turn that has ended is read once in its life: O(turns) and new messages."""
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
                # An ASCII text has nothing that cannot be seen.
                texts = [text for text in part.parts if isinstance(text, str) and not text.isascii()]
                results += [("conversation", f"message {index}", text) for text in texts]
    return TurnFacts(tuple(called), tuple(invisible_texts(results)) if results else ())


def fixed_facts(measured: Measured) -> FixedFacts:
    """What is known of measured regions."""
    if measured.facts is None:
        measured.facts = FixedFacts()
    return measured.facts
