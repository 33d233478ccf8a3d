"""Costs add up by published prices, and offers are sorted by cost. The price list is the tests' own."""

from __future__ import annotations

import sys
import types
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from assembler import (
    Assembler,
    AssemblyError,
    BudgetError,
    CacheMarks,
    MissingExtraError,
    ToolError,
    TrimOldest,
    UnknownModelError,
    UnpricedModelError,
    bill,
    fits,
)
from assembler.dialects import Anthropic, Bedrock
from assembler.money import Bill
from budgets import Budget, ContextLengthError

LISTED = {"gpt-4o": ("2", "1", "0"), "gpt-4o-mini": ("1", "0.5", "0"), "claude-sonnet-4-5": ("3", "0.3", "3.75")}
"""Dollars for a token read anew, read from the cache, written into it; an answer's token is 10."""


class Usage:
    def __init__(self, **kinds: int) -> None:
        self.kinds = kinds


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, datetime]]:
    """What the price list was asked for."""
    seen: list[tuple[str, str, datetime]] = []

    def calc_price(usage: Usage, model: str, *, provider_id: str, genai_request_timestamp: datetime) -> Any:
        seen.append((model, provider_id, genai_request_timestamp))
        if model not in LISTED:
            raise LookupError(model)
        fresh, read, written = map(Decimal, LISTED[model])
        of_cache, into_cache = usage.kinds["cache_read_tokens"], usage.kinds["cache_write_tokens"]
        anew = usage.kinds["input_tokens"] - of_cache - into_cache
        total = anew * fresh + of_cache * read + into_cache * written + usage.kinds["output_tokens"] * 10
        return types.SimpleNamespace(total_price=total)

    listed = types.SimpleNamespace(Usage=Usage, calc_price=calc_price, __version__="9.9")
    monkeypatch.setitem(sys.modules, "genai_prices", listed)
    return seen


def chat(model: str, turns: int = 40, marks: CacheMarks | None = None) -> Assembler[Any]:
    budget = Budget.for_model(model, max_output_tokens=100)
    assembler = Assembler(budget, on_overflow=TrimOldest(), cache_marks=marks).add_instruction("Be brief. " * 700)
    for turn in range(turns):
        assembler.add_message({"role": "user", "content": f"Question {turn}? " * 40})
        assembler.add_message({"role": "assistant", "content": f"Answer {turn}. " * 40})
    return assembler.add_message({"role": "user", "content": "And now?"})


@pytest.mark.usefixtures("asked")
def test_a_bill_is_the_count_times_the_price_minus_the_cache_discount() -> None:
    context = chat("gpt-4o").build()
    found = bill(context)
    served = context.report.cache.served  # type: ignore[union-attr]
    assert served > 5_000
    assert (found.tokens, found.served, found.written) == (context.count.tokens, served, 0)
    assert found.cold == 2 * found.tokens
    assert found.warm == 2 * found.tokens - served
    assert found.answer == 100 * 10
    assert f"${found.cold} with nothing in the cache" in str(found)
    assert "genai-prices 9.9" in str(found)


@pytest.mark.usefixtures("asked")
def test_an_api_with_cache_marks_bills_the_write() -> None:
    unmarked, marked = (bill(chat("claude-sonnet-4-5", marks=marks).plan()) for marks in (None, CacheMarks()))
    assert (unmarked.served, unmarked.written) == (0, 0)
    assert unmarked.cold == unmarked.warm == 3 * unmarked.tokens
    assert marked.written == marked.served > 5_000
    assert marked.cold == 3 * marked.tokens + Decimal("0.75") * marked.written
    assert marked.warm == 3 * marked.tokens - Decimal("2.7") * marked.served


@pytest.mark.usefixtures("asked")
def test_an_hour_long_cache_write_costs_twice_the_input_price() -> None:
    hour = bill(chat("claude-sonnet-4-5", marks=CacheMarks(ttl="1h")).plan())
    assert hour.written > 5_000
    assert hour.cold == 3 * hour.tokens + 3 * hour.written
    assert hour.warm == 3 * hour.tokens - Decimal("2.7") * hour.served


def test_a_bill_of_a_day_uses_the_prices_of_that_day(asked: list[tuple[str, str, datetime]]) -> None:
    found = bill(chat("gpt-4o", turns=1).plan(), on=date(2026, 3, 4))
    assert {moment.date() for _, _, moment in asked} == {date(2026, 3, 4)}
    assert found.on == date(2026, 3, 4)
    assert found.to_dict()["on"] == "2026-03-04"
    asked.clear()
    bill(chat("gpt-4o", turns=1).plan())
    assert {moment.year for _, _, moment in asked} == {9999}


@pytest.mark.usefixtures("asked")
def test_the_longest_answer_is_priced_with_its_reasoning_and_is_not_free_where_none_is_asked_for() -> None:
    asked_for = Budget.for_model("gpt-4o", max_output_tokens=100, reasoning_tokens=40)
    assert bill(Assembler(asked_for).add_message(("user", "Hi")).build()).answer == 140 * 10
    published = Assembler(Budget.for_model("gpt-4o")).add_message(("user", "Hi")).build()
    assert bill(published).answer == published.max_output_tokens * 10 > 0


def test_an_amount_below_a_millionth_is_written_without_an_exponent() -> None:
    least = Decimal("6E-7")
    found = Bill("m", 1, 0, 0, least, least, least, prices="a list", on=None)
    assert "$0.0000006 with nothing in the cache, $0.0000006 with 0 served" in str(found)
    assert [found.to_dict()[name] for name in ("cold", "warm", "answer")] == ["0.0000006"] * 3


def test_a_provider_is_asked_for_by_the_name_that_the_list_has_for_it(asked: list[tuple[str, str, datetime]]) -> None:
    with pytest.raises(UnpricedModelError, match="no price is listed for model 'grok-4'") as caught:
        bill(chat("grok-4", turns=1).plan())
    assert caught.value.model == "grok-4"
    assert asked[0][:2] == ("grok-4", "x-ai")


def test_a_model_of_ones_own_has_no_listed_price() -> None:
    """The error asked for the window that the budget had, and was not the one that the docstring names."""
    context = Assembler(Budget(900, model="my-own-model")).add_message(("user", "Hi")).build()
    with pytest.raises(UnpricedModelError, match="no price is listed for model 'my-own-model'") as caught:
        bill(context)
    assert caught.value.model == "my-own-model"


@pytest.mark.usefixtures("asked")
def test_offers_that_drop_nothing_come_first_and_the_cheapest_before_the_others() -> None:
    models = ["gpt-4", "grok-4", "claude-sonnet-4-5", "gpt-4o", "gpt-4o-mini"]
    offers = fits(chat("gpt-4o"), models)
    assert [offer.model for offer in offers] == ["gpt-4o-mini", "gpt-4o", "claude-sonnet-4-5", "grok-4", "gpt-4"]
    assert [offer.drops_nothing for offer in offers] == [True] * 4 + [False]
    assert [offer.bill is None for offer in offers] == [False] * 3 + [True] * 2  # no price is listed here
    assert offers[2].dialect == "anthropic"
    for offer in offers[:2]:
        alone = bill(chat(offer.model).plan())
        assert offer.bill == alone
    dropped = chat("gpt-4").plan().dropped
    assert [message.index for message in offers[-1].dropped] == [message.index for message in dropped]
    assert dropped


@pytest.mark.usefixtures("asked")
def test_a_model_that_cannot_carry_the_request_is_offered_last_with_its_error() -> None:
    assembler = chat("gpt-4o", turns=0).add_instruction("Be brief. " * 6_000)
    *_, last = fits(assembler, ["gpt-4", "gpt-4o"])
    assert (last.model, last.bill, last.count, last.drops_nothing) == ("gpt-4", None, None, False)
    assert isinstance(last.error, ContextLengthError)


THINKING = {"type": "enabled", "budget_tokens": 1_024}


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(
    ("dialect", "own", "other"),
    [
        (Anthropic(thinking=THINKING), "claude-sonnet-4-5", "claude-opus-4-5"),
        (Bedrock(thinking=THINKING), "claude-sonnet-4-5", "claude-opus-4-5"),
        ("openai_responses", "gpt-5", "gpt-4o"),
        ("openai_chat", "claude-sonnet-4-5", "claude-opus-4-5"),  # through a gateway
    ],
)
def test_a_model_of_the_same_api_costs_what_the_assemblers_own_dialect_sends(
    dialect: Any, own: str, other: str
) -> None:
    """An offer for Claude with thinking was 29 tokens lower than the build, and its bound 179."""

    def made(model: str) -> Assembler[Any]:
        budget = Budget.for_model(model, max_output_tokens=2_000)
        return Assembler(budget, dialect=dialect).set_tools([LOOK]).add_message(("user", "Hi"))

    for offer in fits(made(own), [own, other]):
        plan = made(offer.model).plan()
        assert (offer.count, offer.dialect) == (plan.count, plan.report.dialect)


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize("dialect", ["plain", "anthropic"])
def test_a_model_of_another_api_costs_what_its_own_api_bills(dialect: str) -> None:
    budget = Budget.for_model("claude-sonnet-4-5", max_output_tokens=2_000)
    (offer,) = fits(Assembler(budget, dialect=dialect).add_message(("user", "Hi")), ["gpt-4o"])
    own = Assembler(Budget.for_model("gpt-4o", max_output_tokens=2_000)).add_message(("user", "Hi")).plan()
    assert (offer.count, offer.dialect) == (own.count, "openai_chat")


LOOK = {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}
ILL_NAMED = {"name": "7_days", "description": "The weather.", "parameters": {"type": "object", "properties": {}}}


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(
    ("model", "dialect", "kind"),
    [
        ("no-such-model", None, UnknownModelError),
        ("gpt-4", "openai_chat", BudgetError),  # answers with 8,192 tokens at most
        ("gemini-2.5-pro", "gemini", ToolError),
    ],
)
def test_one_model_that_cannot_be_priced_loses_no_offer_of_another(
    model: str, dialect: str | None, kind: type[AssemblyError]
) -> None:
    assembler = Assembler(Budget.for_model("gpt-4o", max_output_tokens=9_000)).set_tools([ILL_NAMED])
    first, last = fits(assembler.add_message(("user", "Hi")), [model, "gpt-4o"])
    assert (first.model, first.drops_nothing, first.error) == ("gpt-4o", True, None)
    assert (last.model, last.dialect, last.count, last.bill) == (model, dialect, None, None)
    assert isinstance(last.error, kind)


def test_what_is_no_name_of_a_model_is_refused() -> None:
    with pytest.raises(BudgetError, match="model is an int, not a name"):
        fits(chat("gpt-4o", turns=0), ["gpt-4o", 5])  # type: ignore[list-item]


@pytest.mark.usefixtures("asked")
def test_offers_leave_the_assembler_as_it_was_and_keep_its_reserves() -> None:
    assembler = chat("gpt-4o", turns=2)
    before = assembler.inside
    (offer,) = fits(assembler, ["gpt-4o-mini"])
    assert assembler.inside == before
    assert offer.bill is not None
    assert offer.bill.answer == 1_000
    (free,) = fits(Assembler().add_messages(assembler.build().messages), ["gpt-4o-mini"])
    assert free.drops_nothing


@pytest.mark.usefixtures("asked")
def test_a_model_without_a_price_raises_an_error_that_says_what_to_pass() -> None:
    with pytest.raises(BudgetError, match=r"pass Budget\.for_model\(name\)"):
        bill(Assembler(Budget(1_000)).add_message({"role": "user", "content": "Hi"}).build())
    with pytest.raises(BudgetError, match="a context or a plan"):
        bill("gpt-4o")  # type: ignore[arg-type]


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    with pytest.raises(MissingExtraError, match=r"context-assembler\[models\]"):
        bill(chat("gpt-4o", turns=0).plan())


def test_the_published_list_prices_a_cached_prefix_lower() -> None:
    pytest.importorskip("genai_prices")
    found = bill(chat("gpt-4o").plan(), on=date(2026, 11, 1))
    assert 0 < found.warm < found.cold < 1


@pytest.mark.usefixtures("asked")
def test_an_offer_keeps_as_much_free_for_an_answer_as_the_assembler_does() -> None:
    """An answer that may be shorter was offered only windows with all its tokens."""
    budget = Budget.for_model("gpt-4o", max_output_tokens=16_000, least_output_tokens=500)
    assembler = Assembler(budget).add_message({"role": "user", "content": "word " * 115_000})
    (offer,) = fits(assembler, ["gpt-4o"])
    assert offer.error is None
    assert offer.count == assembler.build().count
