"""Finds the smallest window that would work when nothing fits.

There is no second formula: every number and every piece of advice is tried by planning again under other settings. That
takes a few plans in most cases and about forty at worst, and only when an error is due.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias

import attrs

from assembler.pipeline.planned import Planned
from assembler.pipeline.settings import Session, Settings
from assembler.policies.traits import Rung, asks, make_briefest, stand_in
from budgets import Budget, BudgetError, ContextLengthError, RegionCosts, TokenCounter, Tokens
from budgets.allotment import most_available
from budgets.count import AwaitedCounter
from budgets.value import Value

Decide = Callable[[Settings], Planned]
"""A function that plans one draft under any settings. Raises `TooLarge` if nothing fits."""

_GUESSES = 3
"""The first windows tried are what the last overflow needed. After so many, each is twice the one before."""

_WIDENINGS = 12
"""The most windows tried. Limits that are shares of the window may need a window a hundred times as large."""

_WIDENINGS_OF_A_CHOICE = 5
"""The same for a strategy that fills the tokens left: there each larger window is slower to plan."""


OverLimit: TypeAlias = tuple[str, Tokens, Tokens]
"""A region, the tokens it needs, and the fewer that its limits leave it."""


class TooLarge(ContextLengthError):  # noqa: N818 - never leaves the package
    """Nothing fits. Carries the evidence; `advice` adds what to do about it."""

    plan: Planned
    """The smallest plan, by our own prices."""
    over: Sequence[OverLimit]
    """The fixed regions over their limits of which nothing can be left out, `region` first."""
    lacking: Tokens
    """By how much to shorten the request. A bill is exact for the billed request alone, so it may exceed `excess`."""

    def __init__(
        self,
        plan: Planned,
        budget: Budget,
        *,
        required: Tokens,
        available: Tokens,
        costs: RegionCosts,
        region: str | None = None,
        over: Sequence[OverLimit] = (),
        changed: Tokens | None = None,
        remark: str = "",
    ) -> None:
        """`remark` is added to the advice. `changed` is the bound by a bill of a request that was changed."""
        self.plan = plan
        self.over = over
        self.lacking = (required if changed is None else changed) - available
        super().__init__(
            required=required,
            costs=costs,
            budget=budget,
            smallest_window=None,
            advice=remark,
            available=available,
            region=region,
        )

    @property
    def of_turns(self) -> Tokens:
        """What the turns cost that stay."""
        return self.required - self.plan.fixed.upper


@attrs.frozen(eq=False)
class Trial:
    """Plans one draft under other settings."""

    settings: Settings
    decide: Decide
    budget: Budget
    declaring: Callable[[Collection[int], int], Decide] | None = None
    """Makes the function that plans the draft as if the callers had declared a length for the files in these messages.
    """

    def under(self, rungs: tuple[Rung, ...], budget: Budget | None = None) -> Planned | TooLarge | None:
        """The plan under other policies and another budget, or the overflow; None if planning raises anything else."""
        try:
            settings = attrs.evolve(self.settings, rungs=rungs, budget=budget or self.budget, session=Session())
            return self.decide(settings)
        except TooLarge as overflow:
            # Without the frames in which it is then held: they would hold the conversation until the collector runs.
            return overflow.with_traceback(None)
        except Exception:  # a caller's policy may raise anything at another window; that must not hide the overflow
            return None

    def at(self, window: Tokens, rungs: tuple[Rung, ...]) -> Planned | TooLarge | None:
        """The result of `under` at another window; None if the budget is impossible there."""
        try:
            return self.under(rungs, attrs.evolve(self.budget, context_window=window, counter=self._wrapped_counter))
        except BudgetError:
            return None

    @property
    def _wrapped_counter(self) -> TokenCounter | AwaitedCounter | None:
        """The counter as it was wrapped once, so that no other window inspects its signature again."""
        return None if self.budget.counter is None else self.budget.token_counter


@attrs.frozen(eq=False, repr=False)
class Smallest(Value):
    """The smallest window that works without a model call."""

    window: Tokens
    plan: Planned
    asking: bool = False
    """Whether a smaller window may work, with a summary that no one has asked for yet."""


def find_smallest_window(overflow: TooLarge, trial: Trial) -> Smallest | None:
    """The smallest window that works, or None. Found by bisection: O(log window) plans."""
    stand_ins = tuple(map(stand_in, trial.settings.rungs))
    found = _find_larger_window(overflow, trial, stand_ins)
    if found is None:
        return None
    low, high, plan = found
    middle = high - 1  # usually `high` is exactly what is needed, and one try below it proves that
    while high - low > 1:
        tried = trial.at(middle, stand_ins)
        if isinstance(tried, Planned):
            high, plan = middle, tried
        else:
            low = middle
        middle = (low + high) // 2
    return Smallest(high, plan, _could_work_at(trial, high - 1))


def _find_larger_window(
    overflow: TooLarge, trial: Trial, rungs: tuple[Rung, ...]
) -> tuple[Tokens, Tokens, Planned] | None:
    """A window that is too small, a larger one that works, and the plan there; None if none was found."""
    budget, needed = trial.budget, overflow.required
    most = _find_largest_useful_window(budget)
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


def _find_largest_useful_window(budget: Budget) -> Tokens | None:
    """The window beyond which `max_input_tokens` lets nothing more in or a floor exceeds its cap, or None."""
    capped, within_caps = budget.max_input_tokens, most_available(budget.limits)
    most = [] if capped is None else [capped + budget.answer_reserve]
    most += [] if within_caps is None else [within_caps + budget.kept_free]
    return min(most, default=None)


def could_work_with_summary(trial: Trial) -> bool:
    """Whether a larger window could work with a new summary, given that none works without."""
    return _could_work_at(trial, _find_largest_useful_window(trial.budget) or trial.budget.context_window << _WIDENINGS)


def _could_work_at(trial: Trial, window: Tokens) -> bool:
    """Whether this window could work with a short enough summary. At the present window it was asked in vain."""
    rungs = trial.settings.rungs
    if window <= trial.budget.context_window or not any(map(asks, rungs)):
        return False
    brief = [rung.traits.briefest for rung in rungs if asks(rung)]
    if any(policy is None for policy in brief):
        return True
    return isinstance(trial.at(window, tuple(map(make_briefest, rungs))), Planned)
