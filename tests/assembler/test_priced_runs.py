"""A run of messages that are billed merged: what each adds, by the numbers of a made-up price list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import pytest

from assembler import Assembler
from assembler.conversation.messages import Message, user_message
from assembler.pricing.ledger import Ledger
from assembler.pricing.priced import NEIGHBOURS
from assembler.pricing.pricer import FixedPrices, JoiningPricer
from budgets import Budget, Count, Grade


@attrs.frozen(eq=False)
class PriceList(JoiningPricer):
    """Merges what the model said, and knows the price of each text, merged or not."""

    prices: Mapping[str, Count]
    asked: list[str] = attrs.field(factory=list)

    def fixed(self, pieces: Any, head: Any, tools: Any) -> FixedPrices:
        return FixedPrices()

    def options(self, layout: Any) -> Count:
        return Count(0)

    def message(self, message: Message) -> Count:
        text = "".join(map(str, message.parts))
        self.asked.append(text)
        return self.prices.get(text, Count(len(text)))

    def join(self, messages: Sequence[Message]) -> Sequence[Message]:
        joined = list[Message]()
        for message in messages:
            if joined and message.role == joined[-1].role == "assistant":
                joined[-1] = joined[-1].with_parts((*joined[-1].parts, *message.parts))
            else:
                joined.append(message)
        return joined

    def bills_model_messages_together(self, message: Message, before: Message) -> bool:
        return True


def ledger_of(texts: str, prices: Mapping[str, Count]) -> Ledger:
    """A question and an answer in messages of a letter each."""
    history = [{"role": "user", "content": "q"}, *({"role": "assistant", "content": letter} for letter in texts)]
    draft, _ = Assembler(Budget(1_000, counter=len)).add_messages(history).inside
    return Ledger.of(draft.history.view(), PriceList(prices))


@pytest.mark.parametrize(
    ("whole", "added", "lost"),
    [
        # "a" and "b" cost 10 tokens, at most 13, merged. The third number is what the bound falls by.
        ((14, 19), (4, 6), None),
        ((10, 13), (0, 0), None),
        ((12, 15), (2, 2), None),
        ((15, 16), (5, 5), 2),
        ((8, 16), (0, 3), 0),
        ((8, 12), (0, 0), 1),
        ((9, 13), (0, 0), 0),
    ],
)
def test_a_message_adds_what_the_run_costs_more_and_at_least_nothing(
    whole: tuple[int, int], added: tuple[int, int], lost: int | None
) -> None:
    prices = {
        "a": Count(9, Grade.EXACT, 9),
        "ab": Count(10, Grade.ESTIMATED, 13),
        "abc": Count(whole[0], Grade.BOUNDED, whole[1]),
        "abcd": Count(50, Grade.EXACT, 60),
    }
    ledger = ledger_of("abcd", prices)
    assert [ledger.message(index) for index in range(3)] == [Count(1), prices["a"], Count(1, Grade.ESTIMATED, 4)]
    assert ledger.message(3) == Count(added[0], Grade.ESTIMATED, added[1])
    assert ledger.message(4).grade == Grade.BOUNDED
    assert ledger.prices.overpriced == (set() if lost is None else {3})
    assert ledger.prices.lost == ({} if lost is None else {3: lost})
    assert ledger.overpriced == (lost is not None)
    assert not ledger.until(3).overpriced
    assert ledger.run(2) == range(1, 5)
    assert [ledger.beside_others(index) for index in range(5)] == [False, *[True] * 4]


def test_messages_that_are_read_in_any_order_cost_the_same() -> None:
    prices = {"a": Count(9), "ab": Count(10), "abc": Count(14), "abcd": Count(20)}
    for order in ((1, 2, 3, 4), (4, 3, 2, 1), (3, 1, 4, 2), (4, 1, 2, 3)):
        ledger = ledger_of("abcd", prices)
        found = {index: ledger.message(index).tokens for index in order}
        assert found == {1: 9, 2: 1, 3: 4, 4: 6}, order


def test_of_a_run_that_is_read_in_order_each_beginning_is_priced_once() -> None:
    ledger = ledger_of("abcd", {})
    asked: list[str] = ledger.under(PriceList({}))._pricer.asked  # type: ignore[attr-defined]
    assert asked == []
    pricer = PriceList({})
    ledger = ledger.under(pricer)
    for index in range(5):
        ledger.message(index)
    assert pricer.asked == ["q", "a", "a", "ab", "abc", "abcd"]  # at its second message a run is found to be one


@pytest.mark.parametrize("length", [NEIGHBOURS - 1, NEIGHBOURS, NEIGHBOURS + 1, 3 * NEIGHBOURS])
def test_a_message_is_priced_beside_eight_before_it_and_a_longer_run_is_compared_with_its_whole(length: int) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"[: length + 1]
    pricer = PriceList({letters: Count(len(letters) + 5)})
    ledger = ledger_of(letters, {}).under(pricer)
    for index in range(length + 2):
        ledger.message(index)
    assert max(map(len, pricer.asked)) == min(length, 8) + 1
    assert ledger.prices.long_runs == ({} if length < 8 else {length + 2: 1})
    if length >= 8:
        assert ledger.overpriced == (length > 8)  # of nine messages the last is priced beside all others
        assert max(map(len, pricer.asked)) == length + 1


def test_a_messages_price_in_any_spelling_is_that_of_its_text() -> None:
    ledger = ledger_of("ab", {"": Count(3), "a": Count(4), "word": Count(9, Grade.BOUNDED, 12)})
    assert (ledger.price(user_message("word")).upper, ledger.count("word")) == (12, 12 - 3)
