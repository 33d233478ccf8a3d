"""A plan as its owner reads it: the decision, its report, its manifest, and what another window would do."""

from __future__ import annotations

from typing import Any

import attrs

from assembler.conversation.wanted import Wanted
from assembler.pipeline.answers import unasked
from assembler.pipeline.draft import Draft
from assembler.pipeline.otherwise import refitted
from assembler.pipeline.planned import Dropped, Planned
from assembler.pipeline.settings import Settings
from assembler.report.manifest.writing import manifest_of
from assembler.report.report import Report, report_of
from budgets import AssemblyError, Count, RegionCosts, Tokens


@attrs.frozen(eq=False, repr=False)
class Plan:
    """What a build would keep and drop, and why. It holds no request."""

    inside: Planned
    """The decision itself: for this library's own packages, and no public contract."""

    @property
    def count(self) -> Count:
        """What the request costs: tokens, grade, upper bound."""
        return self.inside.count

    @property
    def costs(self) -> RegionCosts:
        """Tokens by region: instruction, capability, knowledge, conversation, framing; their sum is `count.tokens`."""
        return self.inside.costs

    @property
    def kept(self) -> list[int]:
        """The indexes of the messages that stay, in order."""
        return self.inside.kept

    @property
    def dropped(self) -> list[Dropped]:
        """The messages that are left out or shortened, oldest first."""
        return self.inside.dropped

    @property
    def warnings(self) -> tuple[AssemblyError, ...]:
        """Errors that the plan survived, such as a summarizer that failed. They quote no message."""
        return self.inside.warnings

    @property
    def wanted(self) -> Wanted | None:
        """The summary that would help, if no summarizer was called. Without it the plan may be too large."""
        return self.inside.wanted

    @property
    def report(self) -> Report:
        """Every item that stays or goes, with its tokens and the reason."""
        return report_of(self.inside)

    def __rich__(self) -> Report:
        return self.report

    def _repr_html_(self) -> str:
        return self.report._repr_html_()  # pyright: ignore[reportPrivateUsage]  # the notebooks' own protocol

    def manifest(self) -> dict[str, Any]:
        """The decisions as JSON-ready data for `Assembler.replay`: ids, hashes, tokens, versions, no text."""
        return manifest_of(self.inside)

    def what_if(self, *, context_window: Tokens) -> Plan:
        """The same plan for another window.

        It counts no text again and calls no summarizer: an existing summary stays, and if a new one were needed, the
        next policy is asked instead. Raises what a build would raise, such as `ContextLengthError` for a window that is
        too small.
        """
        return Plan(refitted(self.inside, context_window))

    def __reduce__(self) -> tuple[object, ...]:
        return _found_again, (self.inside.draft, self.inside.settings)

    def __deepcopy__(self, memo: dict[int, object]) -> Plan:
        return self  # frozen

    def __repr__(self) -> str:
        return f"Plan(kept={len(self.kept)}, of={self.inside.sight.length}, tokens={self.count.tokens})"


def _found_again(draft: Draft, settings: Settings) -> Plan:
    """A plan follows from these: it is found again, not carried."""
    return Plan(unasked(draft, settings))
