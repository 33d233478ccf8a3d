"""A ledger of a model that forgets reasoning answers as adding up by hand does: of each message its lasting price, and
what its reasoning costs if no question came after it.
"""

from __future__ import annotations

import itertools
import random
from typing import Any

import attrs
import pytest

from assembler import Assembler
from assembler.conversation.messages import read_message
from assembler.pricing.ledger import Cut, Ledger, TurnCost
from budgets import Budget

Message = dict[str, Any]


def drawn(seed: int) -> list[Message]:
    """Turns of a question or two, and steps with and without reasoning and calls."""
    chance, messages = random.Random(seed), list[Message]()
    for _ in range(4):
        for _ in range(chance.choice([1, 1, 2])):
            messages.append({"role": "user", "content": "q" * chance.randint(1, 9)})
        for _ in range(chance.randint(0, 2)):
            call: Message = {"type": "tool_use", "id": f"c{len(messages)}", "name": "f", "input": {}}
            messages.append({"role": "assistant", "content": [*thoughts(chance), call]})
            result: Message = {"type": "tool_result", "tool_use_id": call["id"], "content": "r" * chance.randint(1, 9)}
            messages.append({"role": "user", "content": [result]})
        answer = {"type": "text", "text": "a" * chance.randint(1, 9)}
        messages.append({"role": "assistant", "content": [*thoughts(chance), answer]})
    return messages if seed % 2 else [one for one in messages[:2] if one["role"] == "assistant"] + messages[2:]


def thoughts(chance: random.Random) -> list[Message]:
    thought = {"type": "thinking", "thinking": "t" * chance.randint(1, 30), "signature": "c2ln"}
    return [thought] if chance.random() < 0.7 else []


@attrs.frozen
class ByHand:
    """What each message costs for good and by its reasoning, where questions end, and where turns begin."""

    lasting: list[int]
    thought: list[int]
    asks: list[int]
    begins: list[int]

    def asked(self, length: int) -> int:
        return max([0, *(index + 1 for index in self.asks if index < length)])

    def reasoning(self, start: int, stop: int, length: int) -> int:
        return sum(self.thought[max(start, self.asked(length)) : stop])

    def cost(self, start: int, stop: int, length: int) -> int:
        return sum(self.lasting[start:stop]) + self.reasoning(start, stop, length)


def made(history: list[Message], pins: tuple[int, ...] = ()) -> tuple[Ledger, ByHand]:
    budget = Budget(10**6, model="claude-sonnet-4-5", counter=len)
    draft, settings = Assembler(budget).add_messages(history).inside
    ledger = Ledger.of(draft.history.view(), settings.pricer, pins=pins)

    def price(raw: Message) -> int:
        return settings.pricer.message(read_message(raw, 0)).upper

    def without(raw: Message) -> Message:
        if isinstance(raw["content"], str):
            return raw
        return {**raw, "content": [part for part in raw["content"] if part["type"] != "thinking"]}

    lasting = [price(without(raw)) for raw in history]
    thought = [price(raw) - less for raw, less in zip(history, lasting, strict=True)]
    asks = [index for index, raw in enumerate(history) if isinstance(raw["content"], str)]
    return ledger, ByHand(lasting, thought, asks, sorted({0, *asks}))


@pytest.mark.parametrize("seed", range(6))
def test_reasoning_is_billed_from_the_last_question_on_at_every_length(seed: int) -> None:
    history = drawn(seed)
    whole, hand = made(history)
    for length in [*range(1, len(history) + 1), 3, len(history)]:
        for ledger in (whole.until(length), made(history)[0].until(length)):
            asked = hand.asked(length)
            assert ledger.billed_reasoning().after_question == asked
            assert ledger.billed_reasoning().cost.upper == hand.reasoning(0, length, length)
            found = [(ledger.message(index).upper, ledger.lasting(index).upper) for index in range(length)]
            assert found == [(hand.cost(at, at + 1, length), hand.lasting[at]) for at in range(length)]
            assert [ledger.price_at(at, ledger.reading(at)) for at in range(length)] == [
                ledger.message(at) for at in range(length)
            ]
            for start, stop in itertools.combinations(range(length + 1), 2):
                assert ledger.reasoning(start, stop).upper == hand.reasoning(start, stop, length), (start, stop)
            assert list(ledger.newest_first()) == [
                TurnCost(start, stop, hand.cost(start, stop, length)) for start, stop in ledger.turns()
            ]
            for start, stop in ledger.turns():
                assert ledger.turn(start, stop).upper == hand.cost(start, stop, length)
                assert ledger.since(start).upper == hand.cost(start, length, length)
                assert ledger.kept(Cut(start, "")).upper == hand.cost(start, length, length)
        assert whole.has_forgotten(length) == (
            hand.asked(len(history)) > length and hand.reasoning(0, length, length) > 0
        )
    most = max(hand.reasoning(0, length, length) for length in range(len(history) + 1))
    assert (whole.most_reasoning(), whole.until(2).most_reasoning(), whole.most_reasoning()) == (most, most, most)


@pytest.mark.parametrize("seed", range(6))
def test_as_many_turns_fit_as_the_reasoning_that_is_billed_leaves_tokens_for(seed: int) -> None:
    history = drawn(seed)
    whole, hand = made(history)
    for length in range(1, len(history) + 1):
        begins = [at for at in hand.begins if at < length]
        costs = [hand.cost(start, length, length) for start in begins]
        for ledger in (whole.until(length), made(history)[0].until(length)):
            for tokens in (*costs, *(cost - 1 for cost in costs), *(cost + 1 for cost in costs), costs[0]):
                assert ledger.fits(tokens) == (costs[0] <= tokens)
                for least in (1, 2):
                    fitting = [start for start, cost in zip(begins, costs, strict=True) if cost <= tokens]
                    assert ledger.newest_that_fit(tokens, least) == min([*fitting, begins[-least:][0]])


@pytest.mark.parametrize("seed", range(6))
def test_a_replay_adds_the_reasoning_that_was_billed_then(seed: int) -> None:
    history = drawn(seed)
    ledger, hand = made(history)
    pinned, line = hand.begins[1], ledger.timeline()
    stays = made(history, (pinned,))[0].timeline()
    turn = ledger.turn_span(pinned)
    for start, stop in itertools.combinations(range(len(history) + 1), 2):
        assert line.tokens(start, stop) == hand.cost(start, stop, stop)
        kept = hand.cost(*turn, len(history)) if pinned < start else 0
        assert stays.tokens(start, stop) == hand.cost(start, stop, stop) + kept
        for tokens in (hand.cost(start, stop, stop), hand.cost(start, stop, stop) - 1):
            lengths = range(start + 1, len(history) + 1)
            first = next((length for length in lengths if hand.cost(start, length, length) > tokens), None)
            assert line.overflow(start, start, tokens) == first
        grown = hand.cost(start, start + 1, start + 1) + 3
        lengths = range(start + 2, len(history) + 1)
        first = next((length for length in lengths if hand.cost(start, length, length) > grown), None)
        assert line.grown_by(start, start + 1, 3) == first
        assert line.kept_after_each(start, start, stop) == sum(
            hand.cost(start, length, length) for length in range(start, stop)
        )


def test_a_ledger_under_another_pricer_has_its_prices_and_the_same_first_message_and_pins() -> None:
    history = [{"role": "user", "content": "x" * size} for size in (1, 2, 3)]
    draft, settings = Assembler(Budget(100, counter=len)).add_messages(history).inside
    twice = Assembler(Budget(100, counter=lambda text: 2 * len(text))).inside[1].pricer
    ledger = Ledger.of(draft.history.view(), settings.pricer, 1, (2,))
    assert ledger.under(settings.pricer) is ledger
    other = ledger.under(twice)
    assert (other.first, other.pins, list(other.turns())) == (1, (2,), [(2, 3), (1, 2)])
    assert [one.since(1).upper for one in (ledger, other)] == [5, 10]
    assert [ledger.until(length).pins for length in (3, 2)] == [(2,), ()]

    def newest(length: int) -> tuple[int, ...]:
        return (length - 1,)

    counted = attrs.evolve(ledger, pins_until=newest)
    assert [counted.until(length).pins for length in (3, 2)] == [(2,), (1,)]
