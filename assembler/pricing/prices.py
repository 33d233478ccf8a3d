"""What each message of a history costs, found once.

Prices are kept beside the readings of a history, so that drafts and forks that share the history share its prices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

import attrs

from assembler.conversation.history import Sight, Span
from assembler.conversation.messages import Call, Message, Result, Thinking, spoken
from assembler.conversation.messages.responses import RESPONSES, continues, continues_step
from assembler.conversation.policy_memory import Keepsakes
from assembler.errors import UnsupportedContentError
from assembler.pricing.pricer import Pricer, is_joining, price_messages
from assembler.pricing.rewritten_messages import Rewritten
from assembler.pricing.timeline import Replays
from budgets import Count, TokenCountError, Tokens
from budgets.value import are_the_same

if TYPE_CHECKING:
    from assembler.pipeline.decisions import Decisions
    from assembler.report.memory import TurnFacts


PRICERS = 4
"""Pricers whose prices a history remembers at once. Forks share one; another comes with another model or counter."""


NEIGHBOURS = 8
"""Results before one that its price is found beside. In the list that a model is shown, OpenAI's results stand between
`", "`, where the patterns of its vocabularies always part a text; Anthropic's stand in blocks of their own."""


class Sums:
    """Prefix sums over a history that grows. Two threads that extend them write the same in the same place."""

    __slots__ = ("values",)

    def __init__(self) -> None:
        self.values: list[Tokens | None] = [0]
        """The sums of the first 0, 1, 2 … messages; None before it is first asked for."""

    def known_until(self, stop: int) -> Sums:
        """A copy that knows the sums of at most `stop` messages."""
        copy = Sums()
        copy.values = self.values[: stop + 1]
        return copy

    def reaching(self, length: int, price: Callable[[int], Tokens]) -> list[Tokens]:
        """The sums of the first 0 … `length` messages, and perhaps more. O(messages that no sum holds yet)."""
        values = self.values
        missing = length + 1 - len(values)
        if missing > 0:
            values.extend([None] * missing)
        known = length
        while (whole := values[known]) is None:
            known -= 1
        for index in range(known, length):
            values[index + 1] = whole = whole + price(index)
        return cast("list[Tokens]", values)


class Prices:
    """What one history costs under one pricer, as far as anybody asked, and what followed from that.

    Threads share it as they share the `Readings` that hold it, by the same rule.
    """

    __slots__ = (
        "beyond",
        "decisions",
        "ended",
        "everything",
        "fitting",
        "last_run",
        "messages",
        "overpriced",
        "passed",
        "pricer",
        "replays",
        "rewritten",
        "running",
        "sums",
        "tail",
        "thoughts",
        "waiting",
    )

    def __init__(self, pricer: Pricer) -> None:
        self.pricer = pricer
        self.messages: list[Count | None] = []
        self.last_run: tuple[tuple[Message, ...], Count] | None = None
        """The items that were priced as one last, and their price: the next one is most often priced beside them."""
        self.overpriced: set[int] = set()
        """The messages that take more from the price of those before them than a price of their own can show."""
        self.running: list[Tokens | None] = []
        """The upper price of a message and of all before it in its turn."""
        self.sums = Sums()
        """Upper prices of the first n messages, for as many n as a replay needed."""
        self.passed = Sums()
        """Tokens of the first n messages, for as many n as a report needed."""
        self.thoughts: set[int] = set()
        """Reasoning that is an item of its own, as far as it was priced: nothing else of the model may follow it."""
        self.waiting = Sums()
        """Calls that wait for an answer behind the first n messages, for as many n as were asked about."""
        self.tail: tuple[int, int, Count] | None = None
        """The price of the messages from the first index to before the second, found last: the next build goes on."""
        self.everything: tuple[int, int, Count] | None = None
        """The same of all messages that may stay: a build may ask for both."""
        self.beyond: tuple[int, int, Tokens] | None = None
        """The newest turns that were once too much: where they begin, where they ended, their upper price."""
        self.fitting: tuple[Tokens, int, int] | None = None
        """The newest turns that fitted last: the tokens left, where they began, where they ended."""
        self.replays = Replays()
        """Where policies that replay the history ended. Forgotten when a message changes."""
        self.rewritten = Rewritten()
        """What policies wrote in place of old messages. Forgotten when a message changes."""
        self.decisions: Decisions | None = None
        """What was decided last: `pipeline` makes and reads it. Forgotten when a message changes."""
        self.ended: dict[Span, TurnFacts] = {}
        """What reports say of turns that have ended: `report` makes and reads it. Forgotten when a message changes."""

    @classmethod
    def of(cls, sight: Sight, pricer: Pricer) -> Prices:
        """The prices that the history of a sight knows under a pricer, with a place for each of its messages."""
        known = sight.readings.prices
        prices = cls.known(known, pricer)
        if prices is None:
            known.append(mine := cls(pricer))
            del known[:-PRICERS]
            prices = cls.known(known, pricer) or mine  # another thread's, if that was first
        prices.stretch(sight.length)
        return prices

    @staticmethod
    def known(every: list[Prices], pricer: Pricer) -> Prices | None:
        """The prices that a pricer has found; None where it was not asked yet."""
        for prices in every:
            if prices.pricer is pricer:
                return prices
        return None

    def known_until(self, stop: int) -> Prices:
        """A copy that knows the messages before `stop` and nothing after."""
        self.stretch(stop)
        copy = Prices(self.pricer)
        copy.running = self.running[:stop]
        copy.messages = self.messages[:stop]
        copy.overpriced = {index for index in self.overpriced.copy() if index < stop}
        copy.thoughts = {index for index in self.thoughts.copy() if index < stop}
        copy.sums = self.sums.known_until(stop)
        copy.passed = self.passed.known_until(stop)
        copy.waiting = self.waiting.known_until(stop)
        return copy

    def take_over(self, other: Prices) -> None:
        """Know what followed from other prices too: those of a history that says the same."""
        self.tail, self.beyond, self.fitting = other.tail, other.beyond, other.fitting
        self.everything = other.everything
        self.replays, self.rewritten = other.replays.copy(), other.rewritten.copy()
        self.decisions = None if other.decisions is None else other.decisions.copy()
        self.ended = other.ended.copy()

    def stretch(self, length: int) -> None:
        """Make room for `length` messages, or more where two threads do at once. The list asked is the last to grow."""
        missing = length - len(self.running)
        if missing > 0:
            nothing: list[Any] = [None] * missing
            self.messages.extend(nothing)
            self.running.extend(nothing)


@attrs.define(eq=False, repr=False)
class Priced:
    """A history whose messages have prices: each is read and priced at the first question."""

    _sight: Sight
    _pricer: Pricer
    prices: Prices
    """What is remembered of the history's prices."""

    @property
    def length(self) -> int:
        """The index after the last message."""
        return self._sight.length

    def begins_turn(self, index: int) -> bool:
        """Whether a turn begins at the message `index`."""
        return self.turn_start(index) == index

    def turn_start(self, index: int) -> int:
        """Where the turn of the message at `index` begins."""
        known = self._sight.readings.starts[index]
        return self._sight.readings.turn_start(index, self._sight.head) if known is None else known

    def reading(self, index: int) -> Message:
        """The message at `index`, as it came in."""
        return self._sight.message(index)

    def price(self, message: Message) -> Count:
        """What any message would cost here."""
        return self._pricer.message(message)

    def count(self, text: str) -> Tokens:
        """What a text adds to a message, at most, in this dialect's own reckoning."""
        return self.price(spoken(text)).upper - self.price(spoken("")).upper

    def message(self, index: int) -> Count:
        """The price of one message, as it came in."""
        known = self.prices.messages
        return known[index] or self._priced(index)  # a count is never false

    def between(self, start: int, stop: int) -> Iterable[Count]:
        """The prices of the messages from `start` to before `stop`."""
        known = self.prices.messages[start:stop]
        return cast("list[Count]", known) if all(known) else map(self.message, range(start, stop))

    def _priced(self, index: int) -> Count:
        message = self._sight.readings.messages[index] or self._sight.message(index)  # a message is never false
        try:
            # `_may_answer`, without a call for each message
            joins = message.role == "tool" or Result in map(type, message.parts)
            if message.role != "assistant" and index - 1 in self.prices.thoughts:
                self.prices.overpriced.add(index - 1)
            if not joins and message.role == "assistant":
                before = message  # a text in a spelling that several APIs share may go on with an item
                if index > self._sight.head:
                    before = self._sight.readings.messages[index - 1] or self._sight.message(index - 1)
                joins = RESPONSES in (message.shape, before.shape)
            if joins:
                price = self._said(index, message)
                if message.role == "assistant":
                    self._look_around(index, message)
            else:
                price = self._pricer.message(message)
        except TokenCountError as error:
            raise error.at(f"conversation[{index}]") from error.__cause__ or error
        except UnsupportedContentError as error:
            error.index = index
            raise
        self.prices.messages[index] = price
        return price

    def _said(self, index: int, message: Message) -> Count:
        """What an item costs more than the items before it that it goes out with: parallel calls are billed as one.

        So are, with some providers, the results of one step. O(items before it in its run); of results, the last
        `NEIGHBOURS` alone: what one more costs depends on what it stands beside, and they are apart from each other.
        """
        first = self._run_start(index, index - NEIGHBOURS if _may_answer(message) else 0)
        if first == index:
            price = self._pricer.message(message)
            self.prices.last_run = (message,), price
            return price
        before = tuple(self._sight.messages(first, index))
        known = self.prices.last_run
        beside = known[1] if known is not None and are_the_same(known[0], before) else self.priced_run(before)
        together = (*before, message)
        price = self.priced_run(together)
        self.prices.last_run = together, price
        tokens, upper = price.tokens - beside.tokens, price.upper - beside.upper
        if not 0 <= tokens <= upper:
            self.prices.overpriced.add(index)
            tokens = max(tokens, 0)
        return Count(tokens, max(price.grade, beside.grade), max(upper, tokens))

    def _look_around(self, index: int, message: Message) -> None:
        """What the neighbours of an item of the model's change in what it costs in the whole."""
        if self._goes_before_answers(index):
            self.prices.overpriced.add(index)
        if message.shape == RESPONSES and all(type(part) is Thinking for part in message.parts):
            self._note_thought(index)

    def _goes_before_answers(self, index: int) -> bool:
        """Whether the model says a message behind an answer while another call of its step waits: it goes out with the
        calls, before all answers, for less than its price.
        """
        return index > self._sight.head and _may_answer(self._sight.message(index - 1)) and self._waits(index)

    def _note_thought(self, index: int) -> None:
        """Reasoning that stands alone, and whether nothing of the model follows it: such is not sent."""
        self.prices.thoughts.add(index)
        if index + 1 < self._sight.length and self._sight.message(index + 1).role != "assistant":
            self.prices.overpriced.add(index)

    def _waits(self, index: int) -> bool:
        """Whether a call waits for its answer before a message, and what the model says till then goes out with it."""
        if not (is_joining(self._pricer) and self._pricer.puts_answers_last()):
            return False
        waiting = self.prices.waiting.reaching(index, lambda place: _waiting_more(self._sight.message(place)))
        return waiting[index] > waiting[self.turn_start(index)]

    def priced_run(self, messages: Sequence[Message]) -> Count:
        """What neighbouring messages cost together."""
        return price_messages(self._pricer, messages)

    def run(self, index: int) -> range:
        """The messages that go out as one with the message at `index`: items of one turn of the model, or it alone.

        Of results side by side, `NEIGHBOURS` on each side: those farther away have no part in what it costs.
        """
        reach = NEIGHBOURS if _may_answer(self._sight.message(index)) else self._sight.length
        end = min(self._sight.length, index + 1 + reach)
        stop = index + 1
        while stop < end and self._continues(stop):
            stop += 1
        return range(self._run_start(index, index - reach), stop)

    def beside_others(self, index: int) -> bool:
        """Whether the message at `index` goes out as one with the one before it or the one after. O(1)."""
        if index > self._sight.head and self._continues(index):
            return True
        return index + 1 < self._sight.length and self._continues(index + 1)

    def _run_start(self, index: int, earliest: int = 0) -> int:
        earliest = max(self._sight.head, earliest)
        while index > earliest and self._continues(index):
            index -= 1
        return index

    def _continues(self, index: int) -> bool:
        message, before = self._sight.message(index), self._sight.message(index - 1)
        if _may_answer(message) and _may_answer(before):
            return is_joining(self._pricer) and self._pricer.answers_together(message, before)
        if RESPONSES not in (message.shape, before.shape):
            return False
        joins = is_joining(self._pricer) and continues_step(message, before)
        return joins and (continues(message, before) or self._waits(index))

    def dropped_tokens(self, start: int, stop: int) -> Tokens:
        """What the messages from `start` to before `stop` would cost, in tokens. O(messages not priced before)."""
        passed = self.prices.passed.reaching(stop, lambda index: self.message(index).tokens)
        return passed[stop] - passed[start]

    @property
    def keepsakes(self) -> Keepsakes:
        """Where a policy leaves what it could not find again."""
        return self._sight.readings.keepsakes


def _waiting_more(message: Message) -> int:
    """How many calls more wait for an answer behind a message."""
    kinds = [type(part) for part in message.parts]
    return kinds.count(Call) - kinds.count(Result)


def _may_answer(message: Message) -> bool:
    """Whether a message may be billed with the answers beside it: some spellings put these into the user's role."""
    return message.role == "tool" or Result in map(type, message.parts)
