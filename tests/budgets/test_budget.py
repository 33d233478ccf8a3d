"""A budget's arithmetic: the formula, its boundaries, and what is refused at construction."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgets import Budget, BudgetError, Limit, UnknownModelError, memoised, tiktoken_counter
from budgets.models import facts
from tests.budgets.raw_engines import tokens_of

small = st.integers(0, 40)
optional = st.one_of(st.none(), small)
NUMBERS = [
    "context_window",
    "max_output_tokens",
    "least_output_tokens",
    "reasoning_tokens",
    "max_input_tokens",
    "overhead",
    "safety_margin",
]


def by_hand(window: int, output: int, reasoning: int, cap: int | None, overhead: int, margin: int) -> int:
    """The formula in words: count the tokens of the window one by one that are left to the request."""
    left = 0
    for place in range(window):
        reserved = place >= window - output - reasoning
        if not reserved and (cap is None or left < cap):
            left += 1
    for _ in range(overhead + margin):
        left -= left > 0
    return left


@given(window=small, output=small, reasoning=small, cap=optional, overhead=small, margin=small, used=small)
def test_input_limit_is_what_the_formula_leaves(
    window: int, output: int, reasoning: int, cap: int | None, overhead: int, margin: int, used: int
) -> None:
    numbers: dict[str, Any] = {
        "max_output_tokens": output,
        "reasoning_tokens": reasoning,
        "max_input_tokens": cap,
        "overhead": overhead,
        "safety_margin": margin,
    }
    if output + reasoning >= window:
        with pytest.raises(BudgetError, match="no tokens are left"):
            Budget(window, **numbers)
        return
    budget = Budget(window, **numbers)
    left = by_hand(window, output, reasoning, cap, overhead, margin)
    assert budget.input_limit == budget.available() == left
    assert budget.available(used) == (left - used if used < left else 0)
    assert _sum_of(budget.arithmetic()) == left or (left == 0 and _sum_of(budget.arithmetic()) < 0)
    assert not re.search(r"(?<!^)\b0 ", budget.arithmetic())


def _sum_of(arithmetic: str) -> int:
    first, *rest = (int(number) for number in re.findall(r"\d+", arithmetic.replace(",", "")))
    return first - sum(rest)


def test_the_arithmetic_reads_as_in_the_docs() -> None:
    assert Budget(12_000, max_output_tokens=4_000).arithmetic() == "12000 context_window - 4000 max_output_tokens"
    assert Budget(12_000).arithmetic() == "12000 context_window"
    everything = Budget(
        100, max_output_tokens=10, reasoning_tokens=20, max_input_tokens=70, overhead=1, safety_margin=2
    )
    assert everything.arithmetic() == (
        "100 context_window - 10 max_output_tokens - 20 reasoning_tokens - 1 overhead - 2 safety_margin"
    )
    capped = attrs.evolve(everything, max_input_tokens=69)
    assert capped.arithmetic() == "69 max_input_tokens - 1 overhead - 2 safety_margin"


@pytest.mark.parametrize(("reserve", "room"), [(98, 2), (99, 1)])
def test_a_reserve_just_below_the_window_leaves_the_rest(reserve: int, room: int) -> None:
    assert Budget(100, max_output_tokens=reserve).input_limit == room
    assert Budget(100, max_output_tokens=1, reasoning_tokens=reserve - 1).input_limit == room


@pytest.mark.parametrize(("window", "reserve"), [(100, 100), (100, 101), (0, 0), (1, 1)])
def test_a_reserve_that_leaves_no_tokens_is_refused_with_the_arithmetic(window: int, reserve: int) -> None:
    minus = f" - {reserve} max_output_tokens" if reserve else ""
    with pytest.raises(BudgetError, match=f"{window} context_window{minus} is not above 0"):
        Budget(window, max_output_tokens=reserve)


@given(window=small, most=small, least=optional, reasoning=small, cap=optional, overhead=small)
def test_only_the_least_answer_is_kept_free(
    window: int, most: int, least: int | None, reasoning: int, cap: int | None, overhead: int
) -> None:
    numbers: dict[str, Any] = {"reasoning_tokens": reasoning, "max_input_tokens": cap, "overhead": overhead}
    kept_free = most if least is None else least
    if (most and kept_free > most) or kept_free + reasoning >= window:
        with pytest.raises(BudgetError):
            Budget(window, max_output_tokens=most, least_output_tokens=least, **numbers)
        return
    budget = Budget(window, max_output_tokens=most, least_output_tokens=least, **numbers)
    assert budget.input_limit == by_hand(window, kept_free, reasoning, cap, overhead, 0)
    assert budget.input_limit == Budget(window, max_output_tokens=kept_free, **numbers).input_limit
    assert (budget.answer_reserve, budget.kept_free) == (kept_free + reasoning, kept_free + reasoning + overhead)
    assert _sum_of(budget.arithmetic()) == budget.input_limit or _sum_of(budget.arithmetic()) < 0 == budget.input_limit


def test_the_arithmetic_names_the_least_that_is_kept_free() -> None:
    budget = Budget(12_000, max_output_tokens=4_000, least_output_tokens=500, reasoning_tokens=100)
    assert budget.arithmetic() == "12000 context_window - 500 least_output_tokens - 100 reasoning_tokens"
    assert Budget(12_000, max_output_tokens=4_000, least_output_tokens=0).arithmetic() == "12000 context_window"


@pytest.mark.parametrize("nudge", [-1, 0, 1])
def test_the_least_answer_may_not_exceed_the_most(nudge: int) -> None:
    if nudge <= 0:
        assert Budget(100, max_output_tokens=20, least_output_tokens=20 + nudge).input_limit == 80 - nudge
    else:
        with pytest.raises(BudgetError, match="least_output_tokens is 21, above the 20 of max_output_tokens"):
            Budget(100, max_output_tokens=20, least_output_tokens=21)
    assert Budget(100, least_output_tokens=99).input_limit == 1
    with pytest.raises(BudgetError, match="100 context_window - 100 least_output_tokens is not above 0"):
        Budget(100, least_output_tokens=100)


def test_an_overhead_above_the_window_leaves_no_tokens() -> None:
    assert Budget(10, overhead=10).input_limit == Budget(10, overhead=11).input_limit == 0
    assert Budget(10, max_input_tokens=0).input_limit == 0


def test_numbers_have_no_upper_bound() -> None:
    assert Budget(2**63, max_output_tokens=1).input_limit == 2**63 - 1


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize(
    ("wrong", "shown"),
    [
        (-1, "-1"),
        (np.int64(-1), "-1"),
        (True, "True"),
        (np.bool_(True), f"a {np.bool_.__name__}"),  # bool_ in numpy 1
        (1.0, "1.0"),
        (float("nan"), "nan"),
        ("100", "a str"),
        ([100], "a list"),
        (np.array([1, 2]), "a ndarray"),
    ],
    ids=repr,
)
def test_a_wrong_number_of_tokens_is_refused_by_name(name: str, wrong: Any, shown: str) -> None:
    numbers = {"context_window": 1_000, name: wrong}
    with pytest.raises(BudgetError, match=f"^{name} is {re.escape(shown)}: whole tokens, 0 or more, are expected$"):
        Budget(numbers.pop("context_window"), **numbers)


@pytest.mark.parametrize("name", NUMBERS)
def test_numpy_numbers_become_ints(name: str) -> None:
    numbers: dict[str, Any] = {"context_window": 1_000, name: np.int32(500)}
    budget = Budget(numbers.pop("context_window"), **numbers)
    assert type(getattr(budget, name)) is int
    assert getattr(budget, name) == 500


@pytest.mark.parametrize(("model", "problem"), [("", "empty"), ("  ", "empty"), (7, "an int, not a name")])
def test_a_model_is_a_name(model: Any, problem: str) -> None:
    with pytest.raises(BudgetError, match=f"model is {problem}"):
        Budget(9, model=model)


def test_a_budget_error_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="no tokens"):
        Budget(0)


def test_a_budget_is_frozen_equal_by_value_and_hashable() -> None:
    budget = Budget(100, max_output_tokens=10, counter=len, model="gpt-4o")
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        budget.overhead = 5  # type: ignore[misc]
    assert budget == Budget(100, max_output_tokens=10, counter=len, model="gpt-4o")
    assert budget != attrs.evolve(budget, overhead=1)
    assert len({budget, attrs.evolve(budget), attrs.evolve(budget, overhead=1)}) == 2
    least = attrs.evolve(budget, least_output_tokens=10)
    assert budget != least
    assert "least_output_tokens=10" in repr(least)

    class Unhashable:
        __hash__ = None  # type: ignore[assignment]

        def __call__(self, text: str) -> int:
            return len(text)

    assert isinstance(hash(Budget(100, counter=Unhashable())), int)


class TestCounting:
    def test_without_a_counter_the_models_own_vocabulary_counts(self) -> None:
        text = "Der Auftrag wurde verschickt; 東京都."
        assert tokens_of("cl100k_base", text) != tokens_of("o200k_base", text)
        for model, encoding in [("gpt-4", "cl100k_base"), ("gpt-4o", "o200k_base"), ("no-such-model", "o200k_base")]:
            budget = Budget(100, model=model)
            assert budget.token_counter.name == f"tiktoken:{encoding}"
            assert budget.token_counter(text) == tokens_of(encoding, text)
        assert Budget(100).token_counter.name == "tiktoken:o200k_base"

    def test_budgets_without_a_counter_share_one_memory(self) -> None:
        assert Budget(100).token_counter is Budget(200, overhead=1).token_counter

    def test_an_own_counter_is_guarded_and_memoised(self) -> None:
        asked: list[str] = []

        def count(text: str) -> int:
            asked.append(text)
            return len(text)

        budget = Budget(100, counter=count)
        assert [budget.token_counter("four") for _ in range(3)] == [4, 4, 4]
        assert asked == ["four"]
        assert budget.token_counter is budget.token_counter

    def test_a_shared_memory_is_taken_as_it_is(self) -> None:
        shared = memoised(len)
        assert Budget(100, counter=shared).token_counter is shared is Budget(50, counter=shared).token_counter


class TestForModel:
    @pytest.mark.parametrize("name", ["gpt-4o", "gpt-4", "o3", "claude-sonnet-4-5", "gemini-2.5-pro"])
    def test_the_published_numbers_are_its_numbers(self, name: str) -> None:
        published, budget = facts(name), Budget.for_model(name)
        assert budget.context_window == published.window
        assert budget.max_input_tokens == published.max_input
        assert (budget.max_output_tokens, budget.model, budget.counter) == (0, name, None)

    def test_every_keyword_overrides(self) -> None:
        given_numbers: dict[str, Any] = {
            "context_window": 9_000,
            "max_output_tokens": 3,
            "least_output_tokens": 1,
            "reasoning_tokens": 2,
            "max_input_tokens": 3_000,
            "overhead": 4,
            "safety_margin": 5,
            "counter": len,
        }
        budget = Budget.for_model("gpt-4o", **given_numbers)
        assert {name: getattr(budget, name) for name in given_numbers} == given_numbers

    @pytest.mark.parametrize("nudge", [-1, 0, 1])
    def test_no_more_can_be_reserved_than_the_model_answers(self, nudge: int) -> None:
        most = facts("gpt-4o").max_output
        assert most is not None
        if nudge <= 0:
            assert Budget.for_model("gpt-4o", max_output_tokens=most + nudge).max_output_tokens == most + nudge
        else:
            with pytest.raises(BudgetError, match=f"max_output_tokens is {most + 1}, but gpt-4o answers with at"):
                Budget.for_model("gpt-4o", max_output_tokens=most + 1)
            with pytest.raises(BudgetError, match=f"least_output_tokens is {most + 1}, but gpt-4o answers with at"):
                Budget.for_model("gpt-4o", least_output_tokens=most + 1)

    def test_an_unknown_name_is_refused(self) -> None:
        with pytest.raises(UnknownModelError):
            Budget.for_model("gpt-4o-enormous-2031")

    def test_an_unknown_name_is_taken_with_the_window_that_the_caller_knows(self) -> None:
        budget = Budget.for_model("gpt-4o-enormous-2031", context_window=32_768, max_output_tokens=9_999)
        assert budget == Budget(32_768, model="gpt-4o-enormous-2031", max_output_tokens=9_999)

    def test_a_reserve_that_is_not_a_number_is_refused(self) -> None:
        with pytest.raises(BudgetError, match="max_output_tokens is True"):
            Budget.for_model("gpt-4o", max_output_tokens=True)


class TestCopies:
    @pytest.mark.parametrize("counter", [None, len, tiktoken_counter("r50k_base"), memoised(len)], ids=str)
    def test_a_budget_survives_pickling(self, counter: Any) -> None:
        budget = Budget(
            100, max_output_tokens=7, least_output_tokens=3, counter=counter, model="gpt-4o", max_input_tokens=90
        )
        budget.token_counter("warm")
        copied = pickle.loads(pickle.dumps(budget))
        assert copied == budget
        assert copied.token_counter("four") == budget.token_counter("four")

    def test_a_counter_that_cannot_be_pickled_is_named_at_dumps(self) -> None:
        budget = Budget(100, counter=lambda text: len(text))
        with pytest.raises(BudgetError, match=r"its counter .*<lambda> cannot: pass a function defined at the top"):
            pickle.dumps(budget)

    def test_a_copy_of_a_budget_is_the_budget_itself(self) -> None:
        budget = Budget(100, counter=lambda text: len(text))
        assert copy.copy(budget) is copy.deepcopy(budget) is budget

    def test_evolving_starts_a_memory_of_its_own(self) -> None:
        budget = Budget(100, counter=len)
        budget.token_counter("text")
        other = attrs.evolve(budget, counter=lambda text: 2 * len(text))
        assert (budget.token_counter("text"), other.token_counter("text")) == (4, 8)


class TestLimits:
    def test_none_are_the_default(self) -> None:
        assert Budget(9).limits == Budget(9, limits={}).limits == {}

    @pytest.mark.parametrize("reserve", [0, 40])
    @pytest.mark.parametrize("shares", [[0.5, 0.2], [0.9], [0.25, 0.25, 0.25]])
    @pytest.mark.parametrize("tokens", [2, 60, 999])
    def test_floors_that_do_not_fit_name_the_smallest_window_that_holds_them(
        self, reserve: int, shares: list[float], tokens: int
    ) -> None:
        regions = ("knowledge", "conversation", "capability")
        limits = {region: Limit(floor=share) for region, share in zip(regions, shares, strict=False)}
        limits["instruction"] = Limit(floor=tokens)
        with pytest.raises(BudgetError, match="smallest context_window that works is") as raised:
            Budget(reserve + 1, max_output_tokens=reserve, limits=limits)
        least = int(str(raised.value).rsplit(" ", 1)[1].replace(",", ""))
        assert Budget(least, max_output_tokens=reserve, limits=limits).input_limit == least - reserve
        with pytest.raises(BudgetError):
            Budget(least - 1, max_output_tokens=reserve, limits=limits)

    def test_floors_that_no_window_holds_say_so(self) -> None:
        with pytest.raises(BudgetError, match="no window holds that"):
            Budget(9, limits={"knowledge": Limit(floor=1.0), "conversation": Limit(floor=1)})

    def test_a_floor_above_a_cap_of_another_kind_is_refused_by_the_budget(self) -> None:
        with pytest.raises(BudgetError, match="floor of 60 tokens is above its cap of 50"):
            Budget(100, limits={"knowledge": Limit(cap=0.5, floor=60)})

    @pytest.mark.parametrize(
        ("limits", "problem"),
        [
            ({"tools": Limit()}, "has 'tools', which is not a region: choose instruction, capability, knowledge, conv"),
            ({"framing": Limit()}, "has 'framing', which is not a region"),
            ({7: Limit()}, "has an int, which is not a region"),
            ({"knowledge": 500}, r"limits\['knowledge'\] is an int: a Limit is expected"),
            ([("knowledge", Limit())], "limits is a list: a mapping"),
            (None, "limits is a NoneType"),
        ],
    )
    def test_wrong_ones_are_refused_for_what_is_wrong(self, limits: Any, problem: str) -> None:
        with pytest.raises(BudgetError, match=problem):
            Budget(9_000, limits=limits)

    def test_limits_are_kept_apart_from_the_callers(self) -> None:
        mine: dict[str, Limit] = {"knowledge": Limit(cap=5)}
        kept: Mapping[str, Limit] = Budget(9, limits=mine).limits
        mine.clear()
        assert kept == {"knowledge": Limit(cap=5)}
        assert isinstance(hash(Budget(9, limits=kept)), int)


def test_a_notebook_shows_the_arithmetic_and_no_markup_of_a_name() -> None:
    shown = Budget(1_000, max_output_tokens=100, model="<b>mine</b>", counter=len)._repr_html_()
    assert "<b>900</b>" in shown
    assert "1000 context_window - 100 max_output_tokens" in shown
    assert "&lt;b&gt;mine&lt;/b&gt;" in shown
