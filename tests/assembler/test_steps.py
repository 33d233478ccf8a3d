"""The outcome at every window, found in one pass, is what a build at that window keeps."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, BudgetError, ContextLengthError, TrimOldest, first_user
from assembler.dialects import plain
from budgets import Budget, Limit
from tests.typing.a_policy import NewestTurns

from . import by_hand
from .drawn import histories, words

policies = st.sampled_from(
    [
        TrimOldest(),
        TrimOldest(keep_turns=2),
        TrimOldest(pins=first_user),
        TrimOldest(note="something is left out"),
        TrimOldest(pins={0, 3}, keep_turns=2),
    ]
)


def kept(history: list[dict[str, Any]], rules: str, window: int, policy: TrimOldest) -> int | None:
    """How many messages a build at this window leaves out, by a new assembler."""
    assembler = Assembler(Budget(window, counter=len), dialect=plain, on_overflow=policy)
    try:
        return len(assembler.add_instruction(rules).add_messages(history).build().dropped)
    except ContextLengthError:
        return None


@given(histories(), words, policies, st.integers(-1, 1))
def test_each_step_is_where_the_outcome_of_a_build_changes(
    history: list[dict[str, Any]], rules: str, policy: TrimOldest, nudge: int
) -> None:
    assembler = Assembler(Budget(10**6, counter=len), dialect=plain, on_overflow=policy)
    report = assembler.add_instruction(rules).add_messages(history).plan().report
    steps = report.steps()
    windows = [step.context_window for step in steps]
    assert windows == sorted(set(windows))
    if windows[0] > 1:
        assert kept(history, rules, windows[0] - 1, policy) is None
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        window = step.context_window
        if window < 1:
            continue
        assert kept(history, rules, window, policy) == step.left_out
        if following is not None and following.context_window - 1 > window:
            assert kept(history, rules, following.context_window - 1, policy) == step.left_out
    assert pickle.loads(pickle.dumps(report)).steps() == steps


@given(histories(), st.integers(1, 400), policies)
def test_what_if_returns_what_a_build_at_that_window_gives(
    history: list[dict[str, Any]], window: int, policy: TrimOldest
) -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text)

    assembler = Assembler(Budget(10**6, counter=count), dialect=plain, on_overflow=policy).add_messages(history)
    plan = assembler.plan()
    assert len(plan.costs.to_dict()) == 5
    counted.clear()
    left_out: int | None = None
    try:
        left_out = len(plan.what_if(context_window=window).dropped)
        assert set(counted) <= {"something is left out"}
    except ContextLengthError:  # whose advice tries shorter texts, and counts none that stands in the history
        texts = {text for message in history if isinstance(text := message["content"], str)}
        assert not texts.intersection(counted) - {""}
    assert left_out == kept(history, "", window, policy)


@given(histories(), st.integers(1, 400))
def test_no_step_is_beyond_the_providers_limit(history: list[dict[str, Any]], cap: int) -> None:
    budget = Budget(10**6, counter=len, max_input_tokens=cap, overhead=1, safety_margin=1) if cap > 2 else None
    if budget is None:
        return
    assembler = Assembler(budget, dialect=plain, on_overflow=TrimOldest()).add_messages(history)
    try:
        plan = assembler.plan()
    except ContextLengthError:
        return
    steps = plan.report.steps()
    assert steps[-1].left_out == len(plan.dropped)
    assert all(step.tokens <= budget.input_limit for step in steps)


def test_there_are_no_steps_if_the_fixed_regions_depend_on_the_window() -> None:
    budget = Budget(10**6, counter=len, limits={"knowledge": Limit(cap=0.1)})
    plan = Assembler(budget, on_overflow=TrimOldest()).add_messages([("user", "hi")]).plan()
    assert plan.report.steps() == ()


@pytest.mark.parametrize("policy", [TrimOldest(), NewestTurns()])
def test_a_dropped_film_that_has_no_price_is_in_no_step(policy: Any) -> None:
    film = {"type": "video_url", "video_url": {"url": "https://a.b/c.mp4"}}
    history: list[dict[str, Any]] = [{"role": "user", "content": "o" * 9}, {"role": "user", "content": [film]}]
    history += [{"role": "user", "content": text} for text in ("a" * 20, "b" * 30, "c" * 40)]
    budget = Budget(87, model="gpt-4o", counter=len)
    assembler = Assembler(budget, on_overflow=policy).add_messages(history)
    steps = assembler.build().report.steps()
    assert [(step.context_window, step.left_out) for step in steps][:2] == [(47, 4), (81, 3)]
    assert all(step.first_kept > 1 for step in steps)


@pytest.mark.parametrize("reserved", [{}, {"max_output_tokens": 7}, {"overhead": 3, "safety_margin": 2}], ids=str)
@pytest.mark.parametrize(
    "policy",
    [TrimOldest(), NewestTurns(), [TrimOldest(keep_turns=2), TrimOldest()]],
    ids=lambda policy: type(policy).__name__,
)
def test_a_step_counts_what_a_budget_keeps_free(policy: Any, reserved: dict[str, int]) -> None:
    history = by_hand.talk("a" * 9, "b" * 9, "c" * 9, "d" * 9, "e" * 5)

    def built(window: int) -> tuple[int, int] | None:
        made = Assembler(Budget(window, counter=len, **reserved), dialect=plain, on_overflow=policy)
        try:
            context = made.add_instruction("rules").add_messages(history).build()
        except (ContextLengthError, BudgetError):
            return None
        return sum(item.outcome == "dropped" for item in context.dropped), context.count.upper

    steps = (
        Assembler(Budget(1_000, counter=len, **reserved), dialect=plain, on_overflow=policy)
        .add_instruction("rules")
        .add_messages(history)
        .plan()
        .report.steps()
    )
    assert len(steps) > 2
    before = None
    for step in steps:
        window = step.context_window
        assert built(window) == (step.left_out, step.tokens)
        assert built(window - 1) == before
        before = (step.left_out, step.tokens)
