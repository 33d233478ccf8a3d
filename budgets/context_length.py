"""The error of a request that cannot be made to fit. Knows a budget and what each region costs; knows no message."""

from __future__ import annotations

from budgets.budget import Budget
from budgets.costs import RegionCosts
from budgets.errors import Evidence


class ContextLengthError(Evidence):
    """The request cannot be made to fit: `required` tokens against `available`, `excess` too many.

    `required` is the smallest request that the policy can make, `available` the budget's `input_limit`,
    `smallest_window` the least `context_window` that would do, `costs` the region table of that smallest request.
    """

    required: int
    available: int
    excess: int
    costs: RegionCosts
    budget: Budget
    smallest_window: int
    advice: str

    def __init__(self, *, required: int, costs: RegionCosts, budget: Budget, smallest_window: int, advice: str) -> None:
        self.required = required
        self.available = budget.input_limit
        self.excess = required - budget.input_limit
        self.costs = costs
        self.budget = budget
        self.smallest_window = smallest_window
        self.advice = advice
        super().__init__(
            f"context needs {required} tokens but only {self.available} are free ({budget.arithmetic()}): "
            f"{self.excess} too many.\n  {costs}\n  {advice}"
        )
