"""The prices that a policy's replay reads equal the messages' prices added up one by one."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import attrs
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler
from assembler.pricing.ledger import Ledger
from assembler.pricing.timeline import Timeline
from budgets import Budget, Grade

turns = st.lists(st.lists(st.integers(1, 30), min_size=1, max_size=4), min_size=1, max_size=6)


@given(turns, st.sets(st.integers(0, 5), max_size=3), st.integers(0, 200))
def test_a_timeline_agrees_with_adding_up_the_messages_that_stay(
    drawn: list[list[int]], pins: set[int], tokens: int
) -> None:
    starts = [0, *accumulate(map(len, drawn))]
    line, prices = timeline(drawn, sorted({starts[pin] for pin in pins if pin < len(drawn)}))
    length = len(prices)
    of_turn = dict(zip(starts, map(range, starts, starts[1:]), strict=False))
    pinned = [of_turn[starts[pin]] for pin in pins if pin < len(drawn)]

    def stays(start: int, stop: int) -> int:
        return sum(prices[start:stop]) + sum(prices[i] for turn in pinned if turn.start < start for i in turn)

    def first(found: list[int], otherwise: int | None = None) -> int | None:
        return found[0] if found else otherwise

    for start in starts:
        stops = range(start, length + 1)
        assert [line.tokens(start, stop) for stop in stops] == [stays(start, stop) for stop in stops]
        later = stops[1:]
        assert line.overflow(start, start, tokens) == first([stop for stop in later if stays(start, stop) > tokens])
        grown = [stop for stop in later if sum(prices[start:stop]) > tokens]
        assert line.grown_by(start, start, tokens) == first(grown)
        for stop in stops:
            at = [turn for turn in starts if start <= turn < stop and stays(turn, stop) <= tokens]
            assert line.lowest(start, stop, tokens) == first(at, stop)
            assert line.kept_after_each(start, start, stop) == sum(stays(start, each) for each in range(start, stop))
            assert line.next_turn(stop, length) == first([turn for turn in starts if turn >= stop])


def test_turns_begin_with_a_question_or_right_after_the_head() -> None:
    roles = ["system", "developer", "assistant", "assistant", "user", "assistant", "user", "user", "assistant"]
    history = [{"role": role, "content": "a"} for role in roles]
    starts = [2, 2, 4, 4, 6, 7, 7]
    for asked in (range(2, 9), reversed(range(2, 9))):
        line = Assembler(Budget(1_000, counter=len)).add_messages(history).build().inside.ledger.timeline()
        assert {index: line.turn_start(index) for index in asked} == dict(enumerate(starts, 2))
    line = Assembler(Budget(1_000, counter=len)).add_messages(history).build().inside.ledger.timeline()
    assert [line.next_turn(index, 9) for index in range(2, 10)] == [2, 4, 4, 6, 6, 7, 9, 9]
    assert [line.next_turn(index, 5) for index in range(2, 6)] == [2, 4, 4, 5]


def timeline(drawn: list[list[int]], pins: list[int]) -> tuple[Timeline, list[int]]:
    """The timeline of turns with messages of so many letters, and what each message costs."""
    history = [
        {"role": "assistant" if place else "user", "content": "a" * letters}
        for turn in drawn
        for place, letters in enumerate(turn)
    ]
    assembler = Assembler(Budget(1_000_000, counter=len)).add_messages(history)
    ledger = attrs.evolve(assembler.build().inside.ledger, pins=tuple(pins))
    return ledger.timeline(), [ledger.message(index).upper for index in range(ledger.length)]


def test_a_text_that_continues_an_item_costs_as_much_however_many_texts_follow() -> None:
    """From 128 texts on they are priced in one loop, which sees no neighbours."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"text {place}"} for place in range(127)]
    call = {"type": "mcp_call", "id": "w", "name": "f", "arguments": "{}", "output": "ab", "server_label": "s"}
    more = [{"role": "user", "content": f"more {place}"} for place in range(200)]

    def cost(*after: dict[str, Any]) -> int:
        assembler = Assembler(Budget.for_model("gpt-4o")).add_messages([*messages, *after])
        draft, settings = assembler.inside
        return Ledger.of(draft.history.view(), settings.pricer).timeline().tokens(128, 129)

    answer = {"role": "assistant", "content": "b"}
    assert (cost(call, answer), cost(call, answer, *more)) == (1, 1)
    assert cost(messages[0], answer, *more) == 5  # with its role, and the control tokens around it


def test_the_kept_messages_are_as_exact_as_the_least_exact_of_them() -> None:
    seen = {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}
    asked: list[dict[str, Any]] = [{"role": "user", "content": "a"}, {"role": "user", "content": [seen]}]
    asked += [{"role": "user", "content": "b"}, {"role": "user", "content": [seen]}, {"role": "user", "content": "c"}]
    ledger = Assembler(Budget.for_model("gpt-4o")).add_messages(asked).build().inside.ledger
    grades = [ledger.since(first).grade for first in range(5)]  # each from what is known of the one before
    assert grades == [Grade.ESTIMATED] * 4 + [Grade.EXACT]
