"""A plan as its owner reads it: its report, its manifest, and what another window would do. Decides nothing itself."""

from __future__ import annotations

from typing import Any, Self

import attrs

from assembler.pipeline.draft import Draft
from assembler.pipeline.fit import fit, refitted
from assembler.pipeline.planned import Planned
from assembler.pipeline.settings import Settings
from assembler.report.manifest.writing import manifest_of
from assembler.report.report import Report, report_of
from budgets import Tokens


@attrs.frozen(eq=False, repr=False, slots=False)
class Plan(Planned):
    """What a build would keep and drop, and why. Spells no request."""

    @classmethod
    def of(cls, planned: Planned) -> Self:
        """The same decision; what was found out about it stays found. O(1)."""
        plan = cls.__new__(cls)
        plan.__dict__.update(planned.__dict__)
        return plan

    def what_if(self, *, context_window: Tokens) -> Plan:
        """The plan for another window, everything else as it is. Counts no text again and asks no summarizer: one that
        was written stays, and where a new one would be wanted the next policy is asked.

        Raises what a build would, `ContextLengthError` for a window that is too small.
        """
        return Plan.of(refitted(self, context_window))

    @property
    def report(self) -> Report:
        """Every item that stays or goes, with its tokens and the reason."""
        return report_of(self)

    def manifest(self) -> dict[str, Any]:
        """What was decided, JSON-ready and without text, for `Assembler.replay`: ids, hashes, tokens, versions."""
        return manifest_of(self)

    def __reduce__(self) -> tuple[object, ...]:
        return _found_again, (self.draft, self.settings)


def _found_again(draft: Draft, settings: Settings) -> Plan:
    """A plan follows from these: it is found again, not carried."""
    return Plan.of(fit(draft, settings))
