"""The error of a request that cannot be made to fit."""

from __future__ import annotations

from budgets.budget import Budget
from budgets.costs import RegionCosts
from budgets.count import Tokens
from budgets.errors import Evidence
from budgets.numbers import in_tokens


class ContextLengthError(Evidence):
    """The request cannot be made to fit: `required` tokens against `available`, `excess` too many.

    With `smallest_window` the same request builds, and costs `required` unless a summary is written; with one token
    less it does not. It is None if no `context_window` helps, because of `max_input_tokens`, of a limit in tokens, of a
    refusal, or of content that grows with the window; or if it depends on how short a new summary is. `advice` says
    which.

    `required` is the size of the smallest request that the policies can make, and `costs` its regions. A ladder with a
    low-water mark cuts as the history grows, so it may come to a smaller one in another window. `available` is
    the budget's `input_limit`, or less if the limit of one `region` is exceeded: then it is the largest request that
    this limit allows. It is less too if the provider has refused a request: then it is what the provider accepts.
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
        keeps = "a refusal of the provider keeps" if region is None else "limits keep"
        less = f", less {held} that {keeps} from it" if held else ""
        free = f"{self.available} are free ({budget.arithmetic()}{less})"
        super().__init__(
            f"context needs {in_tokens(required)} but only {free}: {self.excess} too many.\n"
            f"  {costs}{_note_bound(costs, required)}\n  {advice}"
        )


def _note_bound(costs: RegionCosts, required: Tokens) -> str:
    """A note that the regions are expected values and `required` is an upper bound, if they differ."""
    return "" if costs.total == required else f": {costs.total} expected, at most {required}"
