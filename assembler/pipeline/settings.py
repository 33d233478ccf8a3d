"""The settings of an assembler: budget, dialect, policies, strategy. Frozen and shared by every fork."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import EllipsisType
from typing import TYPE_CHECKING, Any, cast

import attrs

from assembler.conversation.pins import NO_PINS, Pins
from assembler.dialects import DIALECTS, Dialect
from assembler.dialects.by_name import read_dialect
from assembler.errors import WrongTypeError
from assembler.pipeline.found_once import found_once
from assembler.policies.policy import Policy
from assembler.policies.refuse import Refuse
from assembler.policies.traits import Rung, active_rungs, rung_of, stand_in
from assembler.pricing.pricer import FormattingPricer, MergingPricer, Pricer, WholePricer, is_merging, is_whole
from assembler.regions.regions import Regions
from assembler.strategies.chat_regions import ChatRegions
from assembler.strategies.strategy import ChoosingStrategy, Strategy, chooser
from assembler.validation import iterates, must_be
from budgets import Budget, BudgetError, Tokens, tiktoken_counter
from budgets.counters.guard import Guarded

if TYPE_CHECKING:
    from assembler.dialects.caching.marks import CacheMarks
    from assembler.pricing.calibration import CalibratedCounter

_REFUSE = Refuse()
_CHAT_REGIONS = ChatRegions()


class Session:
    """The identity of an assembler's settings under any bill. Settings of other sessions decide independently."""

    __slots__ = ("__weakref__",)


@attrs.frozen(eq=False, slots=False)
class Settings:
    """What the caller chose for every build. `pricer` follows from the rest."""

    budget: Budget | None
    dialect: Dialect
    rungs: tuple[Rung, ...]
    strategy: Strategy
    pricer: Pricer = attrs.field(repr=False)
    cache_marks: CacheMarks | None = None
    calibration: CalibratedCounter | None = None
    session: Session = attrs.field(factory=Session, repr=False)

    @found_once
    def whole_pricer(self) -> WholePricer | None:
        """The pricer, if only its counts of whole requests are exact: that of a chat template."""
        return self.pricer if is_whole(self.pricer) else None

    @found_once
    def merging_pricer(self) -> MergingPricer | None:
        """The pricer, if the API merges neighbouring messages, so that it prices requests as they are sent."""
        return self.pricer if is_merging(self.pricer) else None

    @found_once
    def chooser(self) -> ChoosingStrategy | None:
        """The strategy, if it chooses documents."""
        return chooser(self.strategy)

    @property
    def model(self) -> str | None:
        """The model that the budget names, or None."""
        return None if self.budget is None else self.budget.model

    @property
    def limit(self) -> Tokens | None:
        """The budget's `input_limit`, or what the provider accepts if that is less; None without a budget."""
        if self.budget is None:
            return None
        limit = self.budget.input_limit
        return limit if self.calibration is None else self.calibration.allowed(limit)

    def longest_answer(self, used: Tokens) -> Tokens | None:
        """How long the answer to a request of `used` tokens may be; None without a budget."""
        if self.budget is None:
            return None
        reserved = self.budget.reasoning_tokens + self.budget.overhead + self.budget.safety_margin
        left = max(0, self.budget.context_window - reserved - used)
        most = self.budget.longest_answer
        return left if most is None else min(most, left)

    @property
    def adds_up(self) -> bool:
        """Whether the prices of the parts decide what fits: not for a template, nor if a bill is known."""
        return self.calibration is None and self.whole_pricer is None

    @property
    def by_rule(self) -> Settings:
        """The settings without the bill, with a budget that is smaller by the bill's margin. Made once.

        If the floors no longer fit, they are dropped.
        """
        return self if self.calibration is None else self._unbilled

    @found_once
    def _unbilled(self) -> Settings:
        assert self.calibration is not None
        if self.budget is None:
            return attrs.evolve(self, calibration=None)
        limit = self.budget.input_limit
        margin = self.budget.safety_margin + limit - self.calibration.tokens_left(self.calibration.allowed(limit))
        try:
            budget = attrs.evolve(self.budget, safety_margin=margin)
        except BudgetError:
            limits = {name: attrs.evolve(limit, floor=0) for name, limit in self.budget.limits.items()}
            budget = attrs.evolve(self.budget, safety_margin=margin, limits=limits)
        return attrs.evolve(self, budget=budget, calibration=None)

    def priced_for(self, regions: Regions) -> Settings:
        """The settings with the prices for these regions: an output schema may change them."""
        return self if regions.output is None else self._formatted_settings

    @found_once
    def _formatted_settings(self) -> Settings:
        pricer = self.pricer.formatted() if isinstance(self.pricer, FormattingPricer) else self.pricer
        return self if pricer is self.pricer else attrs.evolve(self, pricer=pricer)

    @found_once
    def active_rungs(self) -> tuple[Rung, ...]:
        """The rungs that may drop or change something; the first rung if there is none."""
        return active_rungs(self.rungs)

    @found_once
    def without_asking_models(self) -> Settings:
        """The same settings, with the stand-ins of policies that ask a model. Made once."""
        return attrs.evolve(self, rungs=tuple(map(stand_in, self.rungs)), session=Session())

    @found_once
    def with_unpriced_as_free(self) -> Settings:
        """The same settings, under which a message without a price costs nothing. Made once."""
        from assembler.dialects.prices.graded import lenient_pricer  # for messages without a price alone

        return attrs.evolve(self, pricer=lenient_pricer(self.pricer, counter_for(self.budget)))

    @found_once
    def with_own_session(self) -> Settings:
        """The same settings with a session of their own, which remembers nothing of any build. Made once."""
        return attrs.evolve(self, session=Session())

    @found_once
    def awaits(self) -> bool:
        """Whether a policy asks a model through an async function."""
        return any(rung.traits.awaited for rung in self.rungs)

    @property
    def policies(self) -> tuple[Policy, ...]:
        """The policies that the caller passed."""
        return tuple(rung.policy for rung in self.rungs)

    @found_once
    def pins(self) -> tuple[Pins, ...]:
        """The pins of all policies: each holds for the whole ladder."""
        return tuple(rung.traits.pins for rung in self.rungs if rung.traits.pins != NO_PINS)

    @classmethod
    def of(
        cls,
        budget: Budget | None,
        dialect: Dialect | str | None,
        on_overflow: Policy | Iterable[Policy] | EllipsisType,
        strategy: Strategy | EllipsisType,
        cache_marks: CacheMarks | None = None,
    ) -> Settings:
        """Settings from the caller's arguments; `...` stands for the default. Raises `BudgetError`."""
        if budget is not None and not isinstance(cast(object, budget), Budget):
            step = "Budget.for_model(name)" if isinstance(budget, str) else "Budget(context_window=…)"
            raise BudgetError(f"budget: expected a Budget, got {type(budget).__name__}; pass {step}")
        strategy = _CHAT_REGIONS if isinstance(strategy, EllipsisType) else strategy
        chooser(strategy)  # raises unless it is a strategy
        if cache_marks is not None:
            from assembler.dialects.caching.marks import CacheMarks

            must_be("cache_marks", cast(object, cache_marks), (CacheMarks,), "CacheMarks()")
        resolved = _choose_dialect(budget) if dialect is None else read_dialect(dialect)
        model = budget.model if budget is not None else None
        pricer = resolved.pricer(model, counter_for(budget))
        rungs = _read_ladder(_REFUSE if isinstance(on_overflow, EllipsisType) else on_overflow)
        return cls(budget, resolved, rungs, strategy, pricer, cache_marks)

    def anchored(self, calibration: CalibratedCounter | None) -> Settings:
        """The same settings with another bill, and the same known prices. Raises `WrongTypeError`."""
        if calibration is not None:
            from assembler.pricing.calibration import CalibratedCounter

            if not isinstance(cast(object, calibration), CalibratedCounter):
                kind = type(calibration).__name__
                raise WrongTypeError(
                    f"anchor: expected what calibrate(context, usage) returns, got {kind}; "
                    "write anchor(calibrate(context, response.usage))"
                )
        return attrs.evolve(self, calibration=calibration)

    def billed(self, bill: CalibratedCounter | None, ignored: Callable[[str, str], None]) -> Settings:
        """The same settings with another bill. A bill of another dialect or model is ignored, since its tokens differ:
        `ignored(what, why)` reports that. Raises `WrongTypeError`.
        """
        settings = self.anchored(bill)
        if bill is None or bill.is_of(self.dialect.name, self.model):
            return settings
        ignored("a provider's bill", "it is of another model or dialect")
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore_settings, self.choices()

    def choices(self) -> tuple[Any, ...]:
        """The caller's choices. Settings with equal choices build equal contexts."""
        return (self.budget, self.dialect, self.policies, self.strategy, self.cache_marks, self.calibration)


def _restore_settings(
    budget: Budget | None,
    dialect: Dialect,
    policies: tuple[Policy, ...],
    strategy: Strategy,
    cache_marks: CacheMarks | None,
    calibration: CalibratedCounter | None,
) -> Settings:
    return Settings.of(budget, dialect, policies, strategy, cache_marks).anchored(calibration)


def counter_for(budget: Budget | None) -> Guarded:
    """The counter of a budget; without one, exact o200k_base."""
    return tiktoken_counter() if budget is None else budget.token_counter


def _read_ladder(on_overflow: Policy | Iterable[Policy]) -> tuple[Rung, ...]:
    several = iterates(on_overflow) and not isinstance(cast(object, on_overflow), str)
    rungs = tuple(map(rung_of, cast("Iterable[Policy]", on_overflow) if several else (on_overflow,)))
    if not rungs:
        raise BudgetError("on_overflow: expected at least one policy, got an empty ladder; pass Refuse()")
    return rungs


def _choose_dialect(budget: Budget | None) -> Dialect:
    """The dialect of the budget's model; `plain` if there is no model or it is unknown."""
    if budget is None or budget.model is None:
        return DIALECTS["plain"]
    from budgets import models

    return DIALECTS[models.dialect_of(budget.model) or "plain"]
