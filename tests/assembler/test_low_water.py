"""A cut that goes down to the low-water mark, found by replay."""

from __future__ import annotations

from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from assembler import Assembler, TrimOldest
from assembler.dialects import plain
from budgets import Budget, ContextLengthError

from . import by_hand

# Each turn is a list of message sizes: the user's, then the assistant's.
sessions = st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=5), min_size=1, max_size=14)
shares = st.sampled_from([0.1, 0.3, 0.5, 0.8, 1.0])


def history_of(costs: list[list[int]]) -> list[dict[str, Any]]:
    history: list[dict[str, Any]] = []
    for turn in costs:
        for place, size in enumerate(turn):
            history.append({"role": "assistant" if place else "user", "content": "x" * size})
    return history


def kept_from(history: list[dict[str, Any]], room: int, low: float) -> int | None:
    policy = TrimOldest(low_water=low)
    assembler = Assembler(Budget(room, counter=len), dialect=plain, on_overflow=policy).add_messages(history)
    try:
        return len(assembler.build().dropped)
    except ContextLengthError:
        return None


@given(sessions, st.integers(5, 60), shares)
def test_the_cut_is_the_one_that_living_through_the_session_gives(
    costs: list[list[int]], room: int, low: float
) -> None:
    found = kept_from(history_of(costs), room, low)
    turn = by_hand.replayed_cut(costs, room, int(low * room))
    if sum(sum(sizes) for sizes in costs[turn:]) > room:
        assert found is None
    else:
        assert found == sum(len(sizes) for sizes in costs[:turn])


@given(sessions, st.integers(5, 60), shares)
def test_a_growing_history_keeps_its_first_message_until_it_overflows(
    costs: list[list[int]], room: int, low: float
) -> None:
    history = history_of(costs)
    before: int | None = 0
    for stop in range(1, len(history) + 1):
        now = kept_from(history[:stop], room, low)
        assume(now is not None)
        assert now is not None
        assert before is not None
        assert now >= before
        if now > before:
            overflowing = by_hand.plain_cost(history[before:stop])
            assert overflowing > room
            left = by_hand.plain_cost(history[now:stop])
            assert left <= int(low * room) or by_hand.turns_of(history[now:stop]) == [history[now:stop]]
        before = now


@given(sessions, st.integers(5, 60), shares, st.data())
def test_the_cut_does_not_depend_on_which_builds_came_before(
    costs: list[list[int]], room: int, low: float, data: st.DataObject
) -> None:
    history = history_of(costs)
    policy = TrimOldest(low_water=low)
    lived = Assembler(Budget(room, counter=len), dialect=plain, on_overflow=policy)
    for message in history:
        lived.add_message(message)
        if data.draw(st.booleans()):
            try:
                lived.build()
            except ContextLengthError:
                pass
    try:
        found = len(lived.build().dropped)
    except ContextLengthError:
        found = None
    assert found == kept_from(history, room, low)
