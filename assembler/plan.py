"""The public view of a plan: the decision, its report, its manifest, and plans for other windows."""

from __future__ import annotations

from typing import Any

import attrs

from assembler.pipeline.draft import Draft
from assembler.pipeline.planned import Planned
from assembler.pipeline.settings import Settings
from assembler.pipeline.summarizing import plan_without_awaiting
from assembler.pipeline.what_if import refit
from assembler.report.manifest.writing import manifest_of
from assembler.report.plan_view import PlanView
from budgets import Tokens


@attrs.frozen(eq=False, repr=False)
class Plan(PlanView):
    """What a build would keep and drop, and why. It holds no request."""

    inside: Planned
    """The plan itself. Private to this library."""

    @property
    def kept(self) -> list[int]:
        """The indexes of the messages that stay, in order."""
        return self.inside.kept

    def manifest(self) -> dict[str, Any]:
        """The decisions as JSON-ready data for `Assembler.replay`: ids, hashes, tokens, versions, no text."""
        return manifest_of(self.inside)

    def what_if(self, *, context_window: Tokens) -> Plan:
        """The plan of this draft for another window.

        It counts no text again and calls no summarizer: an existing summary stays, and if a new one were needed, the
        next policy is asked instead. Raises what a build would raise, such as `ContextLengthError` for a window that is
        too small. To find its advice, that error also counts texts of the newest turn as `Truncate` would leave them.
        """
        return Plan(refit(self.inside, context_window))

    def __reduce__(self) -> tuple[object, ...]:
        return _plan_again, (self.inside.draft, self.inside.settings)

    def __deepcopy__(self, memo: dict[int, object]) -> Plan:
        return self  # frozen

    def __repr__(self) -> str:
        return f"Plan(kept={len(self.kept)}, of={self.inside.view.length}, tokens={self.count.tokens})"


def _plan_again(draft: Draft, settings: Settings) -> Plan:
    """Unpickle a plan by planning again."""
    return Plan(plan_without_awaiting(draft, settings))
