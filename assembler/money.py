"""The price of a request in dollars, and what the same draft would cost with other models.

Prices come from the package genai-prices (MIT, extra `models`). It is asked for each bill, so updating the package
updates the prices. Each bill names the version.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any, Final

import attrs

from assembler.assembler import Assembler
from assembler.context import Context
from assembler.dialects import DIALECTS, Dialect
from assembler.errors import ToolError, UnsupportedContentError
from assembler.pipeline.planned import Dropped, Planned
from assembler.pipeline.settings import Settings
from assembler.pipeline.summarizing import plan_without_awaiting
from assembler.plan import Plan
from assembler.validation import as_tuple, must_be, wrong
from budgets import Budget, BudgetError, ContextLengthError, Count, Tokens, UnknownModelError
from budgets.errors import from_extra
from budgets.models import dialect_of, facts_or_none
from budgets.models.names import checked_name

_LISTED_AS = {"xai": "x-ai", "bedrock": "aws"}
"""Names of providers that differ in genai-prices."""
_LATEST: Final = date(9999, 12, 31)
_HOUR: Final = 2
"""A token cached for an hour costs twice the price of an uncached one. genai-prices only lists the premium for five
minutes. Anthropic, "Prompt caching", section Pricing; read 2026-11.
"""


class UnpricedModelError(BudgetError):
    """A model whose price genai-prices does not list; `model` names it."""

    def __init__(self, model: str) -> None:
        self.model = model
        super().__init__(
            f"no price is listed for model {model!r}: update genai-prices, or use another spelling of the name"
        )


@attrs.frozen
class Bill:
    """The price of one request in US dollars. `answer` is what the longest answer would add, its reasoning included.

    `cold` is the price if nothing of the request is in the provider's prefix cache, and `warm` if its stable prefix is
    there, up to `served` tokens. Both are estimates, since no provider guarantees its cache. If the request marks what
    to cache, the cold request writes `written` tokens at the premium for five minutes, or for an hour if `CacheMarks`
    says so.
    """

    model: str
    tokens: Tokens
    served: Tokens
    written: Tokens
    cold: Decimal
    warm: Decimal
    answer: Decimal
    prices: str
    """The source of the prices: the package and its version."""
    on: date | None
    """The day of the prices; None for the latest."""

    def to_dict(self) -> dict[str, str | int | None]:
        """The bill as JSON-ready data, with amounts as decimal texts."""
        fields = attrs.asdict(self)
        return {
            name: value if isinstance(value, int | None) else f"{value:f}" if isinstance(value, Decimal) else str(value)
            for name, value in fields.items()
        }

    def __str__(self) -> str:
        when = "listed last" if self.on is None else f"of {self.on.isoformat()}"
        return (
            f"{self.model}: {self.tokens:,} tokens, ${self.cold:f} with nothing in the cache, "
            f"${self.warm:f} with {self.served:,} served ({self.prices}, prices {when})"
        )


def bill(request: Context[Any] | Plan, *, on: date | None = None) -> Bill:
    """The price of a context or a plan with its budget's model. The input is priced by its count, not its upper bound.

    Needs the extra `models`: `MissingExtraError` without it. Raises `BudgetError` if the budget names no model, and
    `UnpricedModelError` if no price is listed.
    """
    must_be("request", request, (Context, Plan), "a context or a plan")
    _must_be_day(on)
    return _make_bill(request.inside, on)


@attrs.frozen(eq=False)
class Offer:
    """What a draft would cost with another model. If it cannot carry the draft, `error` says why and `bill` is None.

    The error is an `UnknownModelError` for a model without a published window, a `BudgetError` if its window or its
    longest answer is too small for the reserves, and a `ToolError` for a tool that its API does not take.
    """

    model: str
    dialect: str | None
    """None for a name that no API is known for."""
    count: Count | None
    dropped: tuple[Dropped, ...]
    """What the policies would leave out or shorten, oldest first."""
    bill: Bill | None
    """None if the request cannot be made or no price is listed."""
    error: ContextLengthError | UnsupportedContentError | ToolError | UnknownModelError | BudgetError | None = None

    @property
    def drops_nothing(self) -> bool:
        """Whether everything gathered is sent."""
        return self.error is None and not self.dropped


def fits(assembler: Assembler[Any], models: Iterable[str], *, on: date | None = None) -> tuple[Offer, ...]:
    """The draft priced for each model: those that drop nothing first, then those that drop something, then the rest.

    Within each group the cheapest comes first, by `bill.cold`; one without a price comes last. Each model has its
    published window, counter and API; reserves, margins, limits, policies and strategy are the assembler's, and so is
    the dialect with its settings, such as `thinking`, for a model of the same API as the assembler's own. Calls no
    summarizer. Each text is counted once for each vocabulary: O(models × draft).

    A model that cannot be priced, such as one without a published window, has an offer with the error; for such a
    model plan the draft with a budget of your own. Raises `BudgetError` for anything but names, and
    `ConversationError` for a history that no API would accept.
    """
    must_be("assembler", assembler, (Assembler,), "an Assembler(budget=…)")
    _must_be_day(on)
    if isinstance(models, str | bytes):
        raise BudgetError(wrong("models", "a list of models' names", models))
    names = [checked_name(name) for name in as_tuple("models", models, "models' names")]
    return tuple(sorted((_make_offer(assembler, name, on) for name in names), key=_rank_offer))


def _must_be_day(on: object) -> None:
    must_be("on", on, (date, type(None)), "a date or None")


def _make_offer(assembler: Assembler[Any], model: str, on: date | None) -> Offer:
    draft, own = assembler.inside
    try:
        settings = _make_settings(own, model)
    except (UnknownModelError, BudgetError) as error:
        dialect = _find_own_dialect(own, model)
        return Offer(model, dialect_of(model) if dialect is None else dialect.name, None, (), None, error)
    try:
        plan = plan_without_awaiting(draft, settings.without_asking_models)
    except (ContextLengthError, UnsupportedContentError, ToolError) as error:
        return Offer(model, settings.dialect.name, None, (), None, error)
    try:
        price = _make_bill(plan, on)
    except UnpricedModelError:
        price = None
    return Offer(model, settings.dialect.name, plan.count, tuple(plan.dropped), price)


def _make_settings(own: Settings, model: str) -> Settings:
    if own.budget is None:
        budget = Budget.for_model(model)
    else:
        budget = Budget.for_model(
            model,
            max_output_tokens=own.budget.max_output_tokens,
            least_output_tokens=own.budget.least_output_tokens,
            reasoning_tokens=own.budget.reasoning_tokens,
            overhead=own.budget.overhead,
            safety_margin=own.budget.safety_margin,
            limits=own.budget.limits,
        )
    return Settings.of(budget, _find_own_dialect(own, model), own.policies, own.strategy, own.cache_marks)


def _find_own_dialect(own: Settings, model: str) -> Dialect | None:
    """The assembler's dialect, if it is that of the model's API, or the assembler's own model is of the same API."""
    name, api = own.dialect.name, dialect_of(model)
    # A template has one model's vocabulary, and `plain` is no API.
    sends_alike = own.model is not None and dialect_of(own.model) == api and name in DIALECTS and name != "plain"
    return own.dialect if api is not None and (name == api or sends_alike) else None


def _rank_offer(offer: Offer) -> tuple[int, bool, Decimal]:
    group = 2 if offer.error is not None else int(not offer.drops_nothing)
    return group, offer.bill is None, Decimal(0) if offer.bill is None else offer.bill.cold


def _make_bill(plan: Planned, on: date | None) -> Bill:
    from assembler.report.cache.estimate import rule_of, servable, stable_prefix

    budget = plan.settings.budget
    if budget is None or budget.model is None:
        raise BudgetError("bill: the budget names no model; pass Budget.for_model(name) or Budget(…, model=name)")
    rule, tokens = rule_of(plan), plan.count.tokens
    marks = rule is not None and rule.marked
    caches = not marks or plan.settings.cache_marks is not None
    served = min(servable(stable_prefix(plan), rule).tokens, tokens) if caches else 0
    written = served if marks else 0
    asked = _Prices(budget.model, on)
    hour = plan.settings.cache_marks is not None and plan.settings.cache_marks.ttl == "1h"
    writing = _HOUR * asked.dollars(written) if hour else asked.dollars(written=written)
    return Bill(
        model=budget.model,
        tokens=tokens,
        served=served,
        written=written,
        cold=asked.dollars(tokens - written) + writing,
        warm=asked.dollars(tokens - served, read=served),
        answer=asked.dollars(answered=(plan.settings.longest_answer(plan.count.upper) or 0) + budget.reasoning_tokens),
        prices=asked.source,
        on=on,
    )


class _Prices:
    """The published prices of one model on one day."""

    def __init__(self, model: str, on: date | None) -> None:
        with from_extra("models", needed_for="bill"):
            import genai_prices
        self._package = genai_prices
        known = facts_or_none(model)
        if known is None:
            raise UnpricedModelError(model)
        self._model, self._asked = known.name, model
        self._provider = _LISTED_AS.get(known.provider, known.provider)
        self._noon = datetime.combine(on or _LATEST, time(12), UTC)
        self.source = f"genai-prices {genai_prices.__version__}"

    def dollars(self, fresh: Tokens = 0, *, read: Tokens = 0, written: Tokens = 0, answered: Tokens = 0) -> Decimal:
        """The price of so many tokens: uncached, read from the cache, written into it, and answered."""
        usage = self._package.Usage(
            input_tokens=fresh + read + written,
            cache_read_tokens=read,
            cache_write_tokens=written,
            output_tokens=answered,
        )
        try:
            found = self._package.calc_price(
                usage, self._model, provider_id=self._provider, genai_request_timestamp=self._noon
            )
        except LookupError:
            raise UnpricedModelError(self._asked) from None
        return found.total_price
