"""What a report says, as values: rows, the cache, what was found."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import attrs

from assembler.pipeline.steps import Step, Steps
from assembler.report.cache.volatile import Volatile
from assembler.text.invisible import Invisible
from budgets import Budget, Count, RegionCosts, Tokens

Outcome: TypeAlias = Literal["kept", "shortened", "dropped"]


@attrs.frozen
class Row:
    """One item of a region: tokens before and after the policy, what became of it, and why.

    `messages` is how many messages the item stands for: a run of dropped turns shares a row. `before` is None where a
    dropped item could not be read, so that nothing is known of its size.
    """

    region: str
    name: str
    before: Tokens | None
    after: Tokens
    outcome: Outcome = "kept"
    reason: str = ""
    messages: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The fields by name. (A report has a row for each turn, and `attrs.asdict` takes twenty times as long.)"""
        return {
            "region": self.region,
            "name": self.name,
            "before": self.before,
            "after": self.after,
            "outcome": self.outcome,
            "reason": self.reason,
            "messages": self.messages,
        }


@attrs.frozen
class CacheRow:
    """The prefix cache: tokens before the newest turn, and what of them the next such request may be served.

    `served` is an estimate and `upper` its bound. `least` and `step` are the provider's rule in tokens and `source`
    where it was read: `least` is None where nothing is cached, `source` where no rule is known.
    """

    stable_prefix: Tokens
    served: Tokens
    upper: Tokens
    least: Tokens | None = None
    step: Tokens | None = None
    source: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The fields by name."""
        return {
            "stable_prefix": self.stable_prefix,
            "served": self.served,
            "upper": self.upper,
            "least": self.least,
            "step": self.step,
            "source": self.source,
        }


@attrs.frozen
class Reported:
    """Every item of one request, and the regions against the budget. Holds no text of any prompt."""

    rows: tuple[Row, ...]
    costs: RegionCosts
    count: Count
    budget: Budget | None
    dialect: str
    model: str | None
    notes: tuple[str, ...] = ()
    """A line each: what the dialect folds or leaves out, what the counter fell back on, marks that are not set, how far
    off an anchored bill was, and policies that could not help."""
    cache: CacheRow | None = None
    """What a provider's prefix cache may serve."""
    volatile: tuple[Volatile, ...] = ()
    """What changes from call to call inside the part that a cache could serve, by place and kind, never by text."""

    invisible: tuple[Invisible, ...] = ()
    """What costs tokens and shows nothing in knowledge, tools and what tools said, by place and kind, never by text."""

    _steps: Steps = attrs.field(default=Steps(None, ()), eq=False, repr=False, alias="steps")

    def steps(self) -> tuple[Step, ...]:
        """The windows at which the outcome changes, smallest first, found in one pass over the turns."""
        return self._steps()

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data that JSON can carry."""
        return {
            "dialect": self.dialect,
            "model": self.model,
            "tokens": self.count.tokens,
            "upper": self.count.upper,
            "grade": str(self.count.grade),
            "input_limit": None if self.budget is None else self.budget.input_limit,
            "context_window": None if self.budget is None else self.budget.context_window,
            "regions": self.costs.to_dict(),
            "notes": list(self.notes),
            "cache": None if self.cache is None else self.cache.to_dict(),
            "volatile": [attrs.asdict(found) for found in self.volatile],
            "invisible": [attrs.asdict(found) for found in self.invisible],
            "rows": [row.to_dict() for row in self.rows],
        }
