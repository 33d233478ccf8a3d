"""What will be sent and what will not, decided but not yet spelled. Knows indexes and tokens; emits nothing."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import attrs

from assembler.draft import Draft
from assembler.history import Sight
from assembler.layout import Layout
from assembler.ledger import Ledger
from assembler.measure import Measured
from assembler.messages import Message
from assembler.terms import Terms
from budgets import Count, RegionCosts

if TYPE_CHECKING:
    from assembler.report import Report


@attrs.frozen
class Decision:
    """Which policy cut, from where it keeps, and its reason in a few words."""

    policy: str
    first: int
    reason: str


@attrs.frozen(eq=False)
class Dropped:
    """One message that was left out: where it stands in the history, and the caller's very object."""

    id: str
    index: int
    message: object = attrs.field(repr=False)


@attrs.frozen(eq=False, repr=False, slots=False)
class Plan:
    """A decision about one draft: the head of the history stays, and every message from `first` on."""

    draft: Draft
    terms: Terms
    sight: Sight
    measured: Measured
    fixed: Count
    ledger: Ledger
    first: int
    decision: Decision | None = None

    @cached_property
    def layout(self) -> Layout:
        """What goes into the request, in neutral form. O(messages that stay)."""
        return Layout(
            system=self.measured.rendered.system,
            head=self.measured.head,
            messages=self._asked(self.sight.messages(self.first, self.sight.length)),
            tools=self.measured.regions.tools,
        )

    def _asked(self, messages: list[Message]) -> list[Message]:
        asked = self.measured.asked
        if asked is not None:
            messages[asked.index - self.first] = asked.message
        return messages

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What the dialect folds or leaves out. Raises for what it cannot express."""
        return self.terms.dialect.notes(self.layout)

    @cached_property
    def conversation(self) -> Count:
        """What the turns that stay cost."""
        return self.ledger.since(self.first)

    @cached_property
    def count(self) -> Count:
        """What the request costs: tokens, grade, upper bound."""
        return self.fixed + self.conversation

    @cached_property
    def costs(self) -> RegionCosts:
        """What the request costs, by region, in tokens."""
        return self.measured.costs(self.conversation)

    @property
    def kept(self) -> list[int]:
        """The indexes of the messages that stay, in order."""
        return [*range(self.sight.head), *range(self.first, self.sight.length)]

    @property
    def dropped(self) -> list[Dropped]:
        """The messages that are left out, oldest first, with ids that stay the same while the history grows."""
        head = self.sight.head
        raws = self.draft.history.raws(head, self.first)
        return [Dropped(f"message-{index}", index, raw) for index, raw in enumerate(raws, head)]

    @property
    def report(self) -> Report:
        """Every item that stays or goes, with its tokens and the reason."""
        from assembler.report import report_of

        return report_of(self)

    def __repr__(self) -> str:
        gone = self.first - self.sight.head
        return f"Plan(kept={self.sight.length - gone}, dropped={gone}, tokens={self.count.tokens})"
