"""Open calls equal a list that is searched from its start, in whatever order they are made and answered."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, ConversationError, TrimOldest, verify
from assembler.conversation.call_queue import CallQueue, asked_by
from assembler.conversation.messages import Call, Result
from assembler.conversation.messages.read import read_message
from assembler.conversation.turns import NOTHING_OPEN, OpenCalls, open_calls_at_the_end
from assembler.dialects import DIALECTS
from budgets import Budget

IDS = st.sampled_from([None, None, "a", "b", "c"])
NAMES = st.sampled_from(["f", "g"])
ASKED = st.builds(Call, id=IDS, name=NAMES, arguments=st.just("{}"))
HEARD = st.builds(Result, call_id=IDS, name=st.none() | NAMES, parts=st.just(()))


def answered(waiting: list[Call], result: Result) -> Call | None:
    """The law, by a search from the start: the call of its id; without one, of its name, else the next without one."""
    fitting = [call for call in waiting if call.id == result.call_id]
    if result.call_id is None:
        fitting.sort(key=lambda call: call.name != result.name)
    return fitting[0] if fitting else None


def heard(waiting: list[Call], result: Result) -> list[Call] | None:
    """What is left of the open calls."""
    found = answered(waiting, result)
    return None if found is None else [call for call in waiting if call is not found]


@given(st.data())
def test_open_calls_are_those_that_a_search_from_the_start_finds_in_every_fork(data: st.DataObject) -> None:
    branches: list[tuple[OpenCalls, list[Call]]] = [(NOTHING_OPEN, [])]
    for _ in range(data.draw(st.integers(1, 25), label="steps")):
        waiting, by_hand = data.draw(st.sampled_from(branches), label="branch")
        step = data.draw(ASKED | HEARD, label="step")
        if isinstance(step, Call):
            if step.id is not None and any(call.id == step.id for call in by_hand):
                assert waiting.holds(step.id)
                continue
            # As the law has it: where nothing waits, the next calls begin anew.
            branches.append(((waiting or OpenCalls()).with_calls([step]), [*by_hand, step]))
        else:
            left, left_by_hand = waiting.without(step), heard(by_hand, step)
            assert (left is None) == (left_by_hand is None)
            if left is not None and left_by_hand is not None:
                branches.append((left, left_by_hand))
        for one, other in branches:
            assert list(one) == other
            assert len(one) == len(other)
            assert bool(one) == bool(other)


@given(st.lists(ASKED | HEARD, max_size=30))
def test_open_calls_in_a_dialect_are_answered_in_the_order_of_a_search_from_the_start(
    steps: list[Call | Result],
) -> None:
    waiting: CallQueue[Call] = CallQueue()
    by_hand: list[Call] = []
    for step in steps:
        if isinstance(step, Call):
            waiting.add(step, asked_by(step.id, step.name))
            by_hand.append(step)
            continue
        wanted = answered(by_hand, step)
        assert waiting.answered(step.call_id, step.name) is wanted
        by_hand = [call for call in by_hand if call is not wanted]
        assert list(waiting) == by_hand
        assert len(waiting) == len(by_hand)


def parallel(number: int, *, backwards: bool, ids: bool = True) -> list[dict[str, Any]]:
    places = range(number)
    calls = [{"id": f"call{n:05d}", "type": "function", "function": {"name": "f", "arguments": "{}"}} for n in places]
    results = [{"role": "tool", "tool_call_id": f"call{n:05d}", "content": "r"} for n in places]
    return [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        *(reversed(results) if backwards else results),
    ]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_hundreds_of_parallel_results_backwards_are_built(dialect: str) -> None:
    messages = parallel(150, backwards=True)
    assembler = Assembler(Budget(10**7, counter=len), on_overflow=TrimOldest(), dialect=dialect)
    request = assembler.add_capability([{"name": "f"}]).add_messages(messages).build().request()
    assert not verify(request, dialect=dialect)


@pytest.mark.timeout(60)
def test_thousands_of_calls_item_by_item_obey_the_law_in_one_pass() -> None:
    calls = [{"type": "function_call", "call_id": f"c{n}", "name": "f", "arguments": "{}"} for n in range(20_000)]
    outputs = [{"type": "function_call_output", "call_id": f"c{n}", "output": "r"} for n in reversed(range(20_000))]
    messages = [
        read_message(raw, index) for index, raw in enumerate([{"role": "user", "content": "q"}, *calls, *outputs])
    ]
    assert not open_calls_at_the_end(enumerate(messages))
    with pytest.raises(ConversationError, match="answers no open call"):
        open_calls_at_the_end(enumerate([*messages, messages[-1]]))
    assert len(open_calls_at_the_end(enumerate(messages[:20_002]))) == 19_999
