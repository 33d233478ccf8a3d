"""The page shows at each window what `what_if` keeps there, for every policy that allows it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import (
    Assembler,
    ClearToolResults,
    ContextLengthError,
    Plan,
    QuestionChunks,
    Refuse,
    TrimOldest,
    TrimSteps,
    Truncate,
    first_user,
)  # fmt: skip
from assembler.dialects import anthropic, openai_chat, plain
from assembler.report.page import items as page_items
from budgets import Budget, BudgetError, Limit
from tests.scaled import scaled

from ..drawn import histories, steps, words
from .reading import Page, left_at

turns_alone = st.sampled_from(
    [
        Refuse(),
        TrimOldest(),
        TrimOldest(keep_turns=2),
        TrimOldest(pins=first_user),
        TrimOldest(note="something is left out"),
        TrimOldest(pins={0, 3}, keep_turns=2),
    ]
)

others = st.sampled_from(
    [
        TrimOldest(low_water=0.5),
        [TrimSteps(keep=1), TrimOldest()],
        [ClearToolResults(keep=1), TrimOldest(low_water=0.5)],
        [Truncate(10), TrimOldest(pins=first_user)],
    ]
)
SPARE = [Limit(cap=0.9), Limit(cap=0.5)]


def kept_at(plan: Plan, window: int) -> tuple[set[int], dict[str, int]] | None:
    """The messages that are dropped at that window, and the tokens of each region."""
    try:
        other = plan.what_if(context_window=window)
    except (ContextLengthError, BudgetError):
        return None
    dropped = {message.index for message in other.dropped if message.outcome == "dropped"}
    return dropped, dict(other.costs.to_dict())


def drawn_at(data: dict[str, Any], plan: Plan, window: int) -> tuple[set[int], dict[str, int]] | None:
    left = left_at(data, window)
    if left is None:
        return None
    size = [size for size in data["sizes"] if size["window"] <= window][-1]
    spans = [item.span for item in page_items.items_of(plan.inside)]
    gone = {
        index
        for span, tokens in zip(spans, left, strict=True)
        if span is not None and tokens is None
        for index in range(*span)
    }
    regions = dict(zip(page_items.REGIONS, size["regions"], strict=True))
    if plan.inside.settings.whole_pricer is None:
        by_item: dict[str, int] = dict.fromkeys(page_items.REGIONS, 0)
        for item, tokens in zip(page_items.items_of(plan.inside), left, strict=True):
            by_item[item.region] += tokens or 0
        assert by_item == regions
    assert sum(regions.values()) == size["tokens"] <= size["upper"] <= window
    return gone, regions


def data_of(plan: Plan) -> dict[str, Any]:
    return Page(plan.report.to_html()).data


@scaled(0.5)
@given(histories(), words, turns_alone, st.integers(40, 900), st.data())
def test_every_window_shows_the_result_of_what_if(
    history: list[dict[str, Any]], rules: str, policy: Any, window: int, data: st.DataObject
) -> None:
    budget = Budget(window, max_output_tokens=7, overhead=3, counter=len)
    try:
        plan = Assembler(budget, dialect=plain, on_overflow=policy).add_instruction(rules).add_messages(history).plan()
    except ContextLengthError:
        return
    drawn = data_of(plan)
    assert drawn["every"]
    assert drawn_at(drawn, plan, window) == kept_at(plan, window)
    edges = [size["window"] for size in drawn["sizes"]]
    for edge in data.draw(st.lists(st.sampled_from(edges), max_size=3)):
        for nearby in range(max(edge - 1, 8), min(edge + 1, drawn["most"]) + 1):
            assert drawn_at(drawn, plan, nearby) == kept_at(plan, nearby)
    anywhere = data.draw(st.integers(8, drawn["most"]))
    assert drawn_at(drawn, plan, anywhere) == kept_at(plan, anywhere)


@scaled(0.3)
@given(steps("a"), histories(min_turns=2), others, st.integers(60, 600), st.data())
def test_every_drawn_window_shows_the_result_of_what_if(
    step: list[dict[str, Any]], history: list[dict[str, Any]], policy: Any, window: int, data: st.DataObject
) -> None:
    messages = [{"role": "user", "content": "go"}, *step, {"role": "assistant", "content": "done"}, *history]
    messages = [message for message in messages if message["role"] != "system"]
    try:
        plan = Assembler(Budget(window, counter=len), dialect=plain, on_overflow=policy).add_messages(messages).plan()
    except ContextLengthError:
        return
    drawn = data_of(plan)
    assert not drawn["every"]
    edges = [size["window"] for size in drawn["sizes"]]
    assert window in edges
    for edge in {window, edges[0], *data.draw(st.lists(st.sampled_from(edges), max_size=4))}:
        found, expected = drawn_at(drawn, plan, edge), kept_at(plan, edge)
        assert found is not None
        assert expected is not None
        assert found[1] == expected[1]
        assert found[0] <= expected[0]  # a step that goes leaves its turn


def test_a_greeting_that_no_api_takes_is_gone_at_every_window() -> None:
    history = [("assistant", "hello"), ("user", "a" * 40), ("assistant", "b" * 40), ("user", "c" * 40)]
    budget = Budget(100_000, model="claude-sonnet-4-5")
    plan = Assembler(budget, dialect=anthropic, on_overflow=TrimOldest()).add_messages(history).plan()
    drawn = data_of(plan)
    assert drawn["every"]
    for size in drawn["sizes"]:
        assert drawn_at(drawn, plan, size["window"]) == kept_at(plan, size["window"])
        assert left_at(drawn, size["window"])[0] is None  # type: ignore[index]


@pytest.mark.parametrize("cap", [150, None])
def test_a_cap_on_the_input_holds_at_every_window_that_is_drawn(cap: int | None) -> None:
    budget = Budget(400, max_input_tokens=cap, counter=len)
    assembler = Assembler(budget, dialect=plain, on_overflow=TrimOldest())
    plan = assembler.add_messages([("user", "x" * 40)] * 8).plan()
    drawn = data_of(plan)
    assert drawn["every"] is True
    for size in drawn["sizes"]:
        assert drawn_at(drawn, plan, size["window"]) == kept_at(plan, size["window"])
    assert len(drawn["sizes"]) == (8 if cap is None else 3)


def test_only_windows_with_the_same_knowledge_are_drawn_under_limits() -> None:
    budget = Budget(1_000, limits={"knowledge": Limit(cap=0.4)}, counter=len)
    assembler = Assembler(budget, dialect=plain, on_overflow=TrimOldest())
    for number in range(5):
        assembler.add_knowledge("k" * 100, type="rag", score=number / 10, source=f"d{number}")
    plan = assembler.add_messages([("user", "x" * 60)] * 8).plan()
    report = plan.report
    drawn = Page(report.to_html()).data
    assert [size["window"] for size in drawn["sizes"]][-1] == 1_000
    assert "the same knowledge" in drawn["below"]
    for size in drawn["sizes"]:
        found, expected = drawn_at(drawn, plan, size["window"]), kept_at(plan, size["window"])
        assert found == expected


def test_a_strategy_that_chooses_is_asked_window_by_window() -> None:
    assembler = Assembler(Budget(200, counter=len), dialect=plain, strategy=QuestionChunks(), on_overflow=TrimOldest())
    for number in range(6):
        assembler.add_knowledge("c" * 30, type="chunk", source=f"d{number}")
    plan = assembler.add_messages([("user", "why?")]).plan()
    drawn = data_of(plan)
    assert not drawn["every"]
    assert drawn["sizes"]


def test_every_turn_of_a_long_history_is_a_row_and_every_window_is_known() -> None:
    assembler = Assembler(Budget(40_000, counter=len), dialect=plain, on_overflow=TrimOldest(pins={17}))
    plan = assembler.add_messages([("user", "x" * (20 + n % 7)) for n in range(3_000)]).plan()
    drawn = data_of(plan)
    assert drawn["every"]
    assert sum(item["turn"] for item in drawn["items"]) == 3_000
    for size in drawn["sizes"][::500]:
        assert drawn_at(drawn, plan, size["window"]) == kept_at(plan, size["window"])


def test_no_window_above_four_times_the_budgets_is_drawn() -> None:
    assembler = Assembler(Budget(100, counter=len), dialect=plain, on_overflow=TrimOldest())
    drawn = data_of(assembler.add_messages([("user", "x" * 30)] * 90).plan())
    assert drawn["most"] == 400
    assert all(size["window"] <= 400 for size in drawn["sizes"])


def test_the_smallest_window_is_drawn() -> None:
    for policy in (TrimOldest(), TrimOldest(low_water=0.5)):
        assembler = Assembler(
            Budget(3_000, max_output_tokens=100, counter=len), dialect=openai_chat, on_overflow=policy
        )
        plan = assembler.add_messages([("user", "x" * 55)] * 30).plan()
        least = data_of(plan)["sizes"][0]["window"]
        assert kept_at(plan, least) is not None
        assert kept_at(plan, least - 1) is None
