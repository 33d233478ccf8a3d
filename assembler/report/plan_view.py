"""The members that `Plan` and `Context` share: what their caller sees of the internal plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assembler.conversation.summary_request import Wanted
from assembler.pipeline.planned import Dropped, Planned
from budgets import AssemblyError, Count, RegionCosts

if TYPE_CHECKING:
    from assembler.report.report import Report


class PlanView:
    """What a plan drops, what the request costs, and why."""

    __slots__ = ()
    inside: Planned
    """The plan itself. Private to this library."""

    @property
    def costs(self) -> RegionCosts:
        """Tokens by region: instruction, capability, knowledge, conversation, framing; their sum is `count.tokens`."""
        return self.inside.costs

    @property
    def count(self) -> Count:
        """The tokens of the whole request, their grade, and the upper bound that was checked against the budget."""
        return self.inside.count

    @property
    def dropped(self) -> list[Dropped]:
        """The messages that were dropped or shortened, oldest first, with ids that stay the same."""
        return self.inside.dropped

    @property
    def warnings(self) -> tuple[AssemblyError, ...]:
        """Errors that did not stop the build, such as a summarizer's `SummaryError`. They quote no message."""
        return self.inside.trimmed.failures

    @property
    def wanted(self) -> Wanted | None:
        """The summary that `Summarize(None)` waits for, or None. Pass it to `add_summary` with your text."""
        return self.inside.trimmed.wanted

    @property
    def report(self) -> Report:
        """Every item kept or dropped, its tokens, and why. `print(context.report)`."""
        from assembler.report.report import report_of

        return report_of(self.inside)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name != "inside"]

    def __rich__(self) -> Report:
        return self.report

    def _repr_html_(self) -> str:
        return self.report._repr_html_()  # pyright: ignore[reportPrivateUsage]  # the notebooks' own protocol
