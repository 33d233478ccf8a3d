"""`TrimSteps` drops the oldest complete steps of the newest turn, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, ContextLengthError
from assembler.dialects import plain
from assembler.policies import TrimOldest, TrimSteps
from assembler.policies.passage import PassageView
from assembler.policies.trim_steps import complete_steps
from budgets import Budget
from tests.assembler import by_hand
from tests.assembler.by_hand import History

from .build import built, check, left, sent, wanted
from .drawn import forms, sessions

long_turns = forms.flatmap(lambda form: sessions(form, max_turns=2, max_steps=6, marks=(0,)))


@given(long_turns, st.integers(0, 3), st.data())
def test_only_the_oldest_steps_of_the_newest_turn_go_and_as_few_as_needed(
    history: History, keep: int, data: st.DataObject
) -> None:
    whole = by_hand.cost(history)
    limit = max(whole - data.draw(st.integers(0, whole)), 1)
    assert left(history, limit, TrimSteps(keep)) == wanted(by_hand.without_steps(history, limit, keep))


@given(long_turns, st.integers(0, 3))
def test_one_token_below_the_edge_one_more_step_is_dropped(history: History, keep: int) -> None:
    turns = by_hand.turns_of(history)
    steps = by_hand.steps_of(turns[-1])
    for gone in range(len(steps) - keep):
        places = {place for step in steps[:gone] for place in step}
        edge = by_hand.cost(by_hand.flat(turns[:-1])) + by_hand.cost(
            [message for place, message in enumerate(turns[-1]) if place not in places]
        )
        for limit in (edge, edge - 1):
            context = built(history, limit, TrimSteps(keep))
            assert context is not None
            check(context, history, limit)
            assert len(context.dropped) == sum(map(len, steps[: gone + edge - limit]))


@pytest.mark.parametrize("keep", [0, 1, 2, 50, 100, 101])
def test_one_question_followed_by_a_hundred_steps(keep: int) -> None:
    history: History = [{"role": "user", "content": "q"}]
    for number in range(100):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        history += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "x" * 7},
        ]
    for limit in (1, 21, 500, 999, 1000, 1001):
        expected = by_hand.without_steps(history, limit, keep)
        context = built(history, limit, [TrimOldest(), TrimSteps(keep)])
        assert (None if context is None else sent(context)) == expected


def test_a_pinned_step_stays_and_its_neighbours_are_dropped() -> None:
    history: History = [{"role": "user", "content": "q"}]
    for name in "abc":
        call = {"id": name, "type": "function", "function": {"name": "f", "arguments": "{}"}}
        answer = {"role": "tool", "tool_call_id": name, "content": "x" * 7, "pinned": name == "b"}
        history += [{"role": "assistant", "content": None, "tool_calls": [call]}, answer]
    assert left(history, 11, TrimSteps(0)) == by_hand.public([history[0], *history[3:5]])


def test_user_words_with_results_are_not_dropped_with_their_step() -> None:
    def step(name: str, *words: Any) -> History:
        call = {"type": "tool_use", "id": name, "name": "f", "input": {}}
        answer = {"type": "tool_result", "tool_use_id": name, "content": "x" * 7}
        return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [answer, *words]}]

    history: History = [
        {"role": "user", "content": "q"},
        *step("a"),
        *step("b", {"type": "text", "text": "stop"}),
        *step("c"),
    ]
    assert left(history, 15, TrimSteps(0)) == [history[0], *history[3:5]]


@pytest.mark.parametrize("keep", [2, 3, 9])
def test_no_step_is_dropped_if_there_are_no_more_than_to_keep(keep: int) -> None:
    history: History = [{"role": "user", "content": "q"}]
    for number in range(2):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        history.append({"role": "assistant", "content": None, "tool_calls": [call]})
        history.append({"role": "tool", "tool_call_id": f"c{number}", "content": "r"})
    assert built(history, by_hand.cost(history) - 1, TrimSteps(keep)) is None


def test_an_unanswered_step_is_incomplete_and_all_before_it_are_complete() -> None:
    def asked(*names: str) -> dict[str, Any]:
        calls = [{"id": name, "type": "function", "function": {"name": "f", "arguments": "{}"}} for name in names]
        return {"role": "assistant", "content": None, "tool_calls": calls}

    def answered(name: str) -> dict[str, Any]:
        return {"role": "tool", "tool_call_id": name, "content": "x"}

    history: History = [
        {"role": "user", "content": "earlier"},
        asked("z"),
        answered("z"),
        {"role": "user", "content": "q"},
    ]
    history += [
        asked("a"),
        answered("a"),
        asked("b", "c"),
        answered("b"),
        answered("c"),
        asked("d", "e"),
        answered("d"),
    ]
    found = []
    for length in range(4, len(history) + 1):
        ledger = Assembler(Budget(999, counter=len), dialect=plain).add_messages(history[:length]).plan().inside.ledger
        found.append(complete_steps(PassageView(ledger, {}, None, [(0, length)], ledger.newest_turns(1))))
    a, b = [4, 5], [6, 7, 8]
    assert found == [[], [], [a], [a], [a], [a, b], [a, b], [a, b]]


TOOL = {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}


@pytest.mark.parametrize("question", ["", " ", "\n"])
@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "gpt-4o"])
def test_the_last_step_of_a_question_without_words_stays_at_every_window(model: str, question: str) -> None:
    """Claude got a request of nothing, which was refused as a conversation without a user message."""
    history: History = [{"role": "user", "content": question}]
    for number in range(2):
        history += by_hand.step(f"c{number}", "r " * 50)

    def built_at(window: int) -> Any:
        made = Assembler(Budget(window, model=model), on_overflow=TrimSteps(keep=0)).add_capability([TOOL])
        return made.add_messages(history).build()

    whole = built_at(100_000).count.upper
    with pytest.raises(ContextLengthError) as caught:
        built_at(1)
    least = caught.value.smallest_window
    assert least is not None
    for window in (*range(least, whole, 7), whole):
        context = built_at(window)
        assert context.count.upper <= window
        assert len(context.messages) == (5 if window == whole else 3)
    with pytest.raises(ContextLengthError):
        built_at(least - 1)
