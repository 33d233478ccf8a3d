"""The evidence of an error when nothing fits: the least window that would do, found by deciding again at others.

There is no second formula here. Every number and every piece of advice was tried with the same decision, under other
settings: that costs a few decisions in most cases, and about forty at worst, once an error is due.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from assembler.pipeline.planned import Planned
from assembler.pipeline.settings import Session, Settings
from assembler.policies.traits import Rung, asks, briefest, stand_in
from budgets import Budget, BudgetError, ContextLengthError, RegionCosts, TokenCounter, Tokens
from budgets.allotment import most_available
from budgets.count import AwaitedCounter
from budgets.value import Value

Decide = Callable[[Settings], Planned]
"""The plan of one draft under any settings. Raises `TooLarge` where none fits."""

_GUESSES = 3
"""Windows that are taken from what an overflow says it needs, before each is twice the one before."""

_WIDENINGS = 12
"""Windows that are tried until one does: limits in shares of the window may ask for a hundred times as much."""

_WIDENINGS_OF_A_CHOICE = 5
"""The same where a strategy lays out as much as it is given, so that each is dearer than the one before."""


class TooLarge(ContextLengthError):  # noqa: N818 - what `fit` makes an error of, never seen outside
    """A decision that leaves too much: the evidence, and nothing yet of what to do about it."""

    plan: Planned
    """The least that was left, by rule."""

    def __init__(
        self,
        plan: Planned,
        budget: Budget,
        *,
        required: Tokens,
        available: Tokens,
        costs: RegionCosts,
        region: str | None = None,
        remark: str = "",
    ) -> None:
        """`remark` is what to say beside the next step."""
        self.plan = plan
        super().__init__(
            required=required,
            costs=costs,
            budget=budget,
            smallest_window=None,
            advice=remark,
            available=available,
            region=region,
        )


@attrs.frozen(eq=False)
class Trial:
    """Decides about one draft under other settings."""

    settings: Settings
    decide: Decide
    budget: Budget

    def under(self, rungs: tuple[Rung, ...], budget: Budget | None = None) -> Planned | TooLarge | None:
        """What is decided, how it overflows, or None for settings under which nothing can be decided."""
        try:
            other = attrs.evolve(self.settings, rungs=rungs, budget=budget or self.budget, session=Session())
            return self.decide(other)
        except TooLarge as overflow:
            return overflow
        except Exception:  # what a policy of the caller's raises at another window is not the error that is due
            return None

    def at(self, window: Tokens, rungs: tuple[Rung, ...]) -> Planned | TooLarge | None:
        """What `under` gives at another window; None where the budget itself is impossible there."""
        try:
            return self.under(rungs, attrs.evolve(self.budget, context_window=window, counter=self._counter))
        except BudgetError:
            return None

    @property
    def _counter(self) -> TokenCounter | AwaitedCounter | None:
        """The counter as it was checked when it came in: no other window looks at its signature again."""
        return None if self.budget.counter is None else self.budget.token_counter


@attrs.frozen(eq=False, repr=False)
class Smallest(Value):
    """The least window that was found: at one token less nothing fits, unless `asking` might make it."""

    window: Tokens
    plan: Planned
    asking: bool = False
    """Whether a summarizer would be asked at one token less, so that its answer is not known."""


def smallest(overflow: TooLarge, trial: Trial) -> Smallest | None:
    """The least window that does, or None. Between one that does not and one that does, halved: O(log window)."""
    stand_ins = tuple(map(stand_in, trial.settings.rungs))
    found = _widen(overflow, trial, stand_ins)
    if found is None:
        return None
    low, high, plan = found
    middle = high - 1  # most often it is what was needed, and one less settles it
    while high - low > 1:
        tried = trial.at(middle, stand_ins)
        if isinstance(tried, Planned):
            high, plan = middle, tried
        else:
            low = middle
        middle = (low + high) // 2
    return Smallest(high, plan, _might_do(trial, high - 1))


def _widen(overflow: TooLarge, trial: Trial, rungs: tuple[Rung, ...]) -> tuple[Tokens, Tokens, Planned] | None:
    """A window that does not do, and a larger one that does, with its plan."""
    budget, needed = trial.budget, overflow.required
    most = _largest_of_use(budget)
    chooses = overflow.plan.measured.choice is not None
    low = budget.context_window
    for widening in range(_WIDENINGS_OF_A_CHOICE if chooses and not budget.limits else _WIDENINGS):
        needed_window = needed + budget.kept_free
        high = needed_window if widening < _GUESSES and needed_window > low else max(2 * low, needed_window)
        high = high if most is None else min(high, most)
        if high <= low:
            return None
        tried = trial.at(high, rungs)
        if isinstance(tried, Planned):
            return low, high, tried
        needed = needed if tried is None else tried.required
        low = high
    return None


def _largest_of_use(budget: Budget) -> Tokens | None:
    """The window beyond which `max_input_tokens` lets nothing more in, or floors are above their caps; or None."""
    capped, within_caps = budget.max_input_tokens, most_available(budget.limits)
    most = [] if capped is None else [capped + budget.answer_reserve]
    most += [] if within_caps is None else [within_caps + budget.kept_free]
    return min(most, default=None)


def a_summary_might_do(trial: Trial) -> bool:
    """Whether some larger window could do with a new summary, where none does without."""
    return _might_do(trial, _largest_of_use(trial.budget) or trial.budget.context_window << _WIDENINGS)


def _might_do(trial: Trial, window: Tokens) -> bool:
    """Whether a summary could be so short that this window does. Where it was asked already, it was not."""
    rungs = trial.settings.rungs
    if window <= trial.budget.context_window or not any(map(asks, rungs)):
        return False
    brief = [rung.traits.briefest for rung in rungs if asks(rung)]
    if any(policy is None for policy in brief):
        return True
    return isinstance(trial.at(window, tuple(map(briefest, rungs))), Planned)
