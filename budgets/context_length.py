"""The error of a request that cannot be made to fit."""

from __future__ import annotations

from budgets.budget import Budget
from budgets.costs import RegionCosts
from budgets.count import Tokens
from budgets.errors import Evidence
from budgets.numbers import in_tokens


class ContextLengthError(Evidence):
    """The request cannot be made to fit: `required` tokens against `available`, `excess` too many.

    At `smallest_window` the same request builds, and costs `required` unless a summary is written there; at one token
    less it does not build. It is None where no `context_window` can be named: where `max_input_tokens` or a limit in
    tokens binds, where what is laid out grows with the window, or where only a summarizer could say how short a summary
    would be. `advice` says which.

    `required` is the smallest request that the policies can make, `costs` its region table. `available` is the budget's
    `input_limit`, or less where the limit of one `region` binds: then it is what its limits let the request cost.
    """

    required: Tokens
    available: Tokens
    excess: Tokens
    costs: RegionCosts
    budget: Budget
    smallest_window: Tokens | None
    region: str | None
    advice: str

    def __init__(
        self,
        *,
        required: Tokens,
        costs: RegionCosts,
        budget: Budget,
        smallest_window: Tokens | None,
        advice: str,
        available: Tokens | None = None,
        region: str | None = None,
    ) -> None:
        self.required = required
        self.available = budget.input_limit if available is None else available
        self.excess = required - self.available
        self.costs = costs
        self.budget = budget
        self.smallest_window = smallest_window
        self.region = region
        self.advice = advice
        held = budget.input_limit - self.available
        limits = f", less {held} that limits keep from it" if held else ""
        free = f"{self.available} are free ({budget.arithmetic()}{limits})"
        super().__init__(
            f"context needs {in_tokens(required)} but only {free}: {self.excess} too many.\n"
            f"  {costs}{_doubt(costs, required)}\n  {advice}"
        )


def _doubt(costs: RegionCosts, required: Tokens) -> str:
    """Why the regions of an estimate add up to less than is required."""
    return "" if costs.total == required else f": {costs.total} expected, at most {required}"
