"""A ledger answers as adding up by hand does, whatever was asked before and however the history grew."""

from __future__ import annotations

from typing import Any

import attrs
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler
from assembler.conversation.messages import read_message, user_message
from assembler.conversation.readings import MANY, most_tokens
from assembler.dialects import plain
from assembler.pipeline.choose import (
    _note_costs_more as note_costs_more,  # pyright: ignore[reportPrivateUsage]
)
from assembler.pipeline.ladder import keep_all, trim_by_rungs
from assembler.pricing.ledger import Cut, Ledger, TurnCost
from budgets import Budget, BudgetError, Count, Grade
from budgets.count import Difference


@attrs.frozen
class ByHand:
    """What messages cost, which of them begin a turn, which are pinned, and what was saved in a turn."""

    costs: list[int]
    begins: list[int]
    pins: frozenset[int]
    saved: dict[int, int]

    @property
    def turns(self) -> list[tuple[int, int]]:
        return list(zip(self.begins, [*self.begins[1:], len(self.costs)], strict=True))

    def turn(self, start: int) -> int:
        stop = dict(self.turns)[start]
        return sum(self.costs[start:stop]) - self.saved.get(start, 0)

    def pinned(self, before: int) -> list[int]:
        return [start for start, stop in self.turns if start < before and not self.pins.isdisjoint(range(start, stop))]

    def kept(self, first: int) -> int:
        return sum(self.turn(start) for start in {*self.pinned(first), *(at for at in self.begins if at >= first)})

    def newest_that_fit(self, tokens: int, least: int) -> int:
        return min([self.begins[-least:][0], *(at for at in self.begins if self.kept(at) <= tokens)])

    def shorter(self, length: int) -> ByHand:
        begins = [start for start in self.begins if start < length]
        return ByHand(self.costs[:length], begins, frozenset(pin for pin in self.pins if pin < length), self.saved)


def found(ledger: Ledger, tokens: int, least: int, at: int) -> list[Any]:
    turns = list(ledger.newest_first())
    first = turns[at % len(turns)].start
    return [
        ledger.newest_that_fit(tokens, least),
        ledger.since(first).upper,
        ledger.newest_turns(least),
        ledger.kept(Cut(first, "")).tokens,
        turns,
        ledger.turn(first, turns[at % len(turns)].stop).tokens,
        ledger.turn_span(ledger.length - 1),
        [start for start, _ in ledger.pinned_turns(first)],
        ledger.dropped_tokens(first, ledger.length),
        ledger.newest_that_fit(tokens + 1, least),
        ledger.newest_that_fit(tokens, least),
    ]


def expected(hand: ByHand, tokens: int, least: int, at: int) -> list[Any]:
    turns = [TurnCost(start, stop, hand.turn(start)) for start, stop in reversed(hand.turns)]
    first = turns[at % len(turns)].start
    return [
        hand.newest_that_fit(tokens, least),
        sum(hand.turn(start) for start in hand.begins if start >= first),
        hand.begins[-least:][0],
        hand.kept(first),
        turns,
        hand.turn(first),
        hand.turns[-1],
        hand.pinned(first),
        sum(hand.costs[first:]),
        hand.newest_that_fit(tokens + 1, least),
        hand.newest_that_fit(tokens, least),
    ]


def replayed(hand: ByHand, tokens: int, start: int, stop: int) -> list[Any]:
    """The messages left after a cut at `start`, and the place at which they exceed so many tokens."""

    def left(first: int, until: int) -> int:
        gone = sum(sum(hand.costs[begin:end]) for begin, end in hand.turns if begin in hand.pinned(first))
        return gone + sum(hand.costs[first:until])

    lengths, cuts = range(start + 1, len(hand.costs) + 1), [at for at in hand.begins if start <= at < stop]
    return [
        left(start, stop),
        next((length for length in lengths if left(start, length) > tokens), None),
        next((at for at in cuts if left(at, stop) <= tokens), stop),
        sum(left(start, length) for length in range(start, stop)),
        next((length for length in lengths if sum(hand.costs[start:length]) > tokens), None),
        next((at for at in hand.begins if start < at < stop), stop),
    ]


@given(
    messages=st.lists(st.tuples(st.booleans(), st.integers(0, 9)), min_size=2, max_size=12),
    asked=st.lists(
        st.tuples(
            st.integers(0, 60),
            st.integers(1, 3),
            st.integers(0, 11),
            st.frozensets(st.integers(0, 11), max_size=2),
            st.dictionaries(st.integers(0, 11), st.integers(0, 3), max_size=2),
        ),
        min_size=1,
        max_size=8,
    ),
)
def test_a_ledger_answers_as_adding_up_does_whatever_was_asked_before(
    messages: list[tuple[bool, int]], asked: list[Any]
) -> None:
    assembler, costs, begins = Assembler(Budget(10_000, counter=len), dialect=plain), list[int](), list[int]()
    for place, (begun, size) in enumerate(messages):
        begins += [place] if begun or not place else []
        costs.append(size)
        assembler.add_message({"role": "user" if place in begins else "assistant", "content": "x" * size})
        tokens, least, at, pins, savings = asked[place % len(asked)]
        draft, settings = assembler.inside
        saved = {start: min(less, costs[start]) for start, less in savings.items() if start in begins}
        hand = ByHand(costs, begins, frozenset(pin for pin in pins if pin <= place), saved)
        bare = Ledger.of(draft.history.view(), settings.pricer)
        assert bare.fits(tokens) == bare.fits(tokens) == (sum(costs) <= tokens)
        assert found(bare, tokens, least, at) == expected(
            attrs.evolve(hand, pins=frozenset(), saved={}), tokens, least, at
        )
        pinned = attrs.evolve(bare, pins=tuple(sorted(hand.pins)))
        ledger = pinned.with_savings({start: Difference(-less, Grade.EXACT, -less) for start, less in saved.items()})
        assert found(ledger, tokens, least, at) == expected(hand, tokens, least, at)
        before = pinned.until(max(place - at, 1))
        earlier = attrs.evolve(hand, saved={}).shorter(before.length)
        assert found(before, tokens, least, at) == expected(earlier, tokens, least, at)
        assert bare.fits(tokens) == (sum(costs) <= tokens)
        start, line = begins[at % len(begins)], pinned.timeline()
        stop = max(len(costs) - at, start + 1)
        assert replayed(attrs.evolve(hand, saved={}), tokens, start, stop) == [
            line.tokens(start, stop),
            line.overflow(start, start, tokens),
            line.lowest(start, stop, tokens),
            line.kept_after_each(start, start, stop),
            line.grown_by(start, start, tokens),
            line.next_turn(start + 1, stop),
        ]
    assert Ledger.of(assembler.inside[0].history.view(), assembler.inside[1].pricer).since(0) == Count(sum(costs))


CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


def test_a_text_costs_at_most_its_characters_and_an_item_any_number() -> None:
    text = read_message({"role": "user", "content": "x" * 30}, 0)
    assert most_tokens([text, text]) == 2 * (30 + 16)
    item = read_message({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "x"}]}, 0)
    assert most_tokens([text, item]) == MANY
    assert most_tokens([read_message({"role": "assistant", "content": None, "tool_calls": [CALL]}, 0)]) == MANY


def test_a_note_costs_more_than_what_goes_until_the_turns_that_are_not_pinned_cost_as_much() -> None:
    history = [
        {"role": "user", "content": "x" * 30, "pinned": True},
        *({"role": "user", "content": "x" * size} for size in (9, 5)),
    ]
    ledger = Assembler(Budget(1_000, counter=len), dialect=plain).add_messages(history).plan().inside.ledger
    ledger = attrs.evolve(ledger, pins=(0,))
    for length in range(7, 12):
        assert note_costs_more(ledger, Cut(2, "", user_message("n" * length))) is (length > 9)


def test_a_ladder_that_goes_on_wants_no_summary_that_was_wanted_before() -> None:
    history = [{"role": "user", "content": "x"}]
    ledger = Assembler(Budget(1_000, counter=len), dialect=plain).add_messages(history).plan().inside.ledger
    wanted: Any = object()
    start = attrs.evolve(keep_all(ledger), wanted=wanted, failures=(BudgetError("too late"),))
    kept = trim_by_rungs(ledger, [], 1_000, start)
    assert (kept.wanted, kept.failures) == (None, ())
