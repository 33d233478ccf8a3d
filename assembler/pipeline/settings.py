"""What a request is assembled by: budget, dialect, policies, strategy. Frozen, shared by every fork."""

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
from assembler.policies.traits import Rung, rung_of, stand_in, willing
from assembler.pricing.pricer import FormattingPricer, MergingPricer, Pricer, WholePricer
from assembler.regions.regions import Regions
from assembler.strategies.chat_regions import ChatRegions
from assembler.strategies.strategy import ChoosingStrategy, Strategy, chooser
from assembler.validation import iterates, must_be
from budgets import Budget, BudgetError, tiktoken_counter
from budgets.counters.guard import Guarded

if TYPE_CHECKING:
    from assembler.dialects.marking import CacheMarks
    from assembler.pricing.calibration import CalibratedCounter

_REFUSE = Refuse()
_CHAT_REGIONS = ChatRegions()


class Session:
    """What the settings of one assembler have in common, whatever bill they count from. Others decide apart."""

    __slots__ = ("__weakref__",)


@attrs.frozen(eq=False, slots=False)
class Settings:
    """What was asked for once and holds for every build. `pricer` follows from the rest."""

    budget: Budget | None
    dialect: Dialect
    rungs: tuple[Rung, ...]
    strategy: Strategy
    pricer: Pricer = attrs.field(repr=False)
    cache_marks: CacheMarks | None = None
    calibration: CalibratedCounter | None = None
    session: Session = attrs.field(factory=Session, repr=False)

    @found_once
    def whole(self) -> WholePricer | None:
        """The pricer of whole requests, where prices of parts are estimates: a template's."""
        return self.pricer if isinstance(self.pricer, WholePricer) else None

    @found_once
    def merging(self) -> MergingPricer | None:
        """The pricer of requests as they are sent, where neighbouring messages go out as one."""
        return self.pricer if isinstance(self.pricer, MergingPricer) else None

    @found_once
    def chooser(self) -> ChoosingStrategy | None:
        """The strategy, where it declares that it must know more than the regions."""
        return chooser(self.strategy)

    @property
    def model(self) -> str | None:
        """The model that the budget names, or None."""
        return None if self.budget is None else self.budget.model

    @property
    def adds_up(self) -> bool:
        """Whether the prices of the parts decide: of a template they do not, nor where a bill is known."""
        return self.calibration is None and self.whole is None

    @found_once
    def by_rule(self) -> Settings:
        """The settings without the known bill, under what its margin leaves of the limit. Made once.

        Floors that do not fit any more promise nothing.
        """
        if self.calibration is None:
            return self
        if self.budget is None:
            return attrs.evolve(self, calibration=None)
        held = self.budget.input_limit - self.calibration.tokens_left(self.calibration.allowed(self.budget.input_limit))
        margin = self.budget.safety_margin + held
        try:
            budget = attrs.evolve(self.budget, safety_margin=margin)
        except BudgetError:
            limits = {name: attrs.evolve(limit, floor=0) for name, limit in self.budget.limits.items()}
            budget = attrs.evolve(self.budget, safety_margin=margin, limits=limits)
        return attrs.evolve(self, budget=budget, calibration=None)

    def asking(self, regions: Regions) -> Settings:
        """The settings whose prices hold for a request that asks for what these regions do."""
        return self if regions.output is None else self._formatted

    @found_once
    def _formatted(self) -> Settings:
        pricer = self.pricer.formatted() if isinstance(self.pricer, FormattingPricer) else self.pricer
        return self if pricer is self.pricer else attrs.evolve(self, pricer=pricer)

    @found_once
    def willing(self) -> tuple[Rung, ...]:
        """The rungs that may let something give way; the first alone where there is none."""
        return willing(self.rungs)

    @found_once
    def unasking(self) -> Settings:
        """The same settings with what stands in for policies that ask a model. Made once."""
        return attrs.evolve(self, rungs=tuple(map(stand_in, self.rungs)), session=Session())

    @found_once
    def awaits(self) -> bool:
        """Whether a policy asks a model that must be awaited."""
        return any(rung.traits.awaited for rung in self.rungs)

    @property
    def policies(self) -> tuple[Policy, ...]:
        """The policies as they were given."""
        return tuple(rung.policy for rung in self.rungs)

    @found_once
    def pins(self) -> tuple[Pins, ...]:
        """What the policies pin: a rung's pins hold for its whole ladder."""
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
        """Settings from what the caller passed; `...` stands for what is taken by default. Raises `BudgetError`."""
        if budget is not None and not isinstance(cast(object, budget), Budget):
            step = "Budget.for_model(name)" if isinstance(budget, str) else "Budget(context_window=…)"
            raise BudgetError(f"budget: expected a Budget, got {type(budget).__name__}; pass {step}")
        strategy = _CHAT_REGIONS if isinstance(strategy, EllipsisType) else strategy
        chooser(strategy)  # refuses what is no strategy
        if cache_marks is not None:
            from assembler.dialects.marking import CacheMarks

            must_be("cache_marks", cast(object, cache_marks), (CacheMarks,), "CacheMarks()")
        spoken = _dialect_for(budget) if dialect is None else read_dialect(dialect)
        model = budget.model if budget is not None else None
        pricer = spoken.pricer(model, counter_for(budget))
        rungs = _ladder(_REFUSE if isinstance(on_overflow, EllipsisType) else on_overflow)
        return cls(budget, spoken, rungs, strategy, pricer, cache_marks)

    def anchored(self, calibration: CalibratedCounter | None) -> Settings:
        """The same settings, counting from another bill. What was priced stays priced. Raises `WrongTypeError`."""
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
        """The same settings, counting from another bill. One of another dialect or model, whose tokens are others, is
        ignored: `ignored` is told what, and why. Raises `WrongTypeError`.
        """
        settings = self.anchored(bill)
        if bill is None or bill.is_of(self.dialect.name, self.model):
            return settings
        ignored("a provider's bill", "it is of another model or dialect")
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, self.asked()

    def asked(self) -> tuple[Any, ...]:
        """What the caller asked for: settings with equal requests build equal contexts."""
        return (self.budget, self.dialect, self.policies, self.strategy, self.cache_marks, self.calibration)


def _restored(
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


def _ladder(on_overflow: Policy | Iterable[Policy]) -> tuple[Rung, ...]:
    several = iterates(on_overflow) and not isinstance(cast(object, on_overflow), str)
    rungs = tuple(map(rung_of, cast("Iterable[Policy]", on_overflow) if several else (on_overflow,)))
    if not rungs:
        raise BudgetError("on_overflow: expected at least one policy, got an empty ladder; pass Refuse()")
    return rungs


def _dialect_for(budget: Budget | None) -> Dialect:
    """The dialect that the budget's model is spoken to in; `plain` without a model or for an unknown one."""
    if budget is None or budget.model is None:
        return DIALECTS["plain"]
    from budgets import models

    return DIALECTS.get(models.dialect_of(budget.model) or "plain", DIALECTS["plain"])
