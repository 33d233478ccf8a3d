"""Remembers what each message of a history costs.

Prices are stored with the readings of a history, so drafts and forks that share the history share its prices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import attrs

from assembler.conversation.history import Sight, Span
from assembler.conversation.messages import Call, Message, Result, Thinking, spoken
from assembler.conversation.messages.responses import RESPONSES, continues, continues_step, is_given_apart, says_more
from assembler.conversation.policy_memory import Keepsakes
from assembler.conversation.readings import known_before
from assembler.errors import UnsupportedContentError
from assembler.pricing.pricer import Pricer, is_joining, price_messages
from assembler.pricing.rewritten_messages import Rewritten
from assembler.pricing.timeline import Replays, Sums
from budgets import Count, TokenCountError, Tokens
from budgets.count import total
from budgets.value import are_the_same

if TYPE_CHECKING:
    from assembler.pipeline.decisions import Decisions


PRICERS = 4
"""How many pricers' prices a history remembers. Forks share a pricer; another model or counter needs another."""


NEIGHBOURS = 8
"""How many messages before one are priced with it, if they are sent merged.

Farther ones may affect its price, where a run's bound is rounded as a whole, or by another vocabulary than OpenAI's. So
the prices of a longer run are compared with the price of the whole run.
"""


class Prices:
    """The known prices of one history under one pricer, and the results computed from them.

    Threads share it by the same rule as the `Readings` that hold it.
    """

    __slots__ = (
        "adding_up",
        "beyond",
        "decisions",
        "everything",
        "fitting",
        "hopeless",
        "last_run",
        "long_runs",
        "lost",
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

    def __init__(self, pricer: Pricer, length: int = 0) -> None:
        self.pricer = pricer
        self.messages: list[Count | None] = [None] * length
        self.last_run: tuple[tuple[Message, ...], Count] | None = None
        """The last items that were priced merged, and their price. The next one usually joins them."""
        self.long_runs: dict[int, int] = {}
        """The starts of the runs of more than `NEIGHBOURS` items, by the index after the last item priced."""
        self.adding_up: dict[Span, bool] = {}
        """Whether the prices of a long run's items add up to the run's."""
        self.overpriced: set[int] = set()
        """The messages for which a merged price and the sum of single prices differ."""
        self.lost: dict[int, Tokens] = {}
        """By how much the upper price falls once a result stands beside those before it, for the results so priced."""
        self.running: dict[int, Tokens] = {}
        """The upper price of each message and of all before it in its turn."""
        self.sums = Sums()
        """Upper prices of the first n messages, for replays."""
        self.passed = Sums()
        """Tokens of the first n messages, for reports."""
        self.thoughts: set[int] = set()
        """The items of pure reasoning, which are sent only if another item of the model follows, and the messages of
        the model behind them of which nothing is sent."""
        self.waiting = Sums()
        """Open calls after the first n messages."""
        self.tail: tuple[int, int, Count] | None = None
        """The last sum over the turns that stay: start, stop and price. The next build continues from it."""
        self.everything: tuple[int, int, Count] | None = None
        """The same for all turns. A build may need both."""
        self.beyond: tuple[int, int, Tokens] | None = None
        """The newest turns that did not fit once: start, stop, upper price."""
        self.hopeless: tuple[int, int, Tokens] | None = None
        """The same by the least that they may cost as they are sent."""
        self.fitting: tuple[Tokens, int, int] | None = None
        """The newest turns that last fitted: tokens left, start, stop."""
        self.replays = Replays()
        """Where policies' replays of the history ended. Forgotten when a message changes."""
        self.rewritten = Rewritten()
        """What policies wrote in place of old messages. Forgotten when a message changes."""
        self.decisions: Decisions | None = None
        """The last decisions, for `pipeline`. Forgotten when a message changes."""

    @classmethod
    def of(cls, sight: Sight, pricer: Pricer) -> Prices:
        """The prices of a history under a pricer, made if there are none, with an entry for each message."""
        known = sight.readings.prices
        prices = cls.known(known, pricer)
        if prices is None:
            known.append(mine := cls(pricer, sight.length))
            del known[:-PRICERS]
            prices = cls.known(known, pricer) or mine  # another thread's, if that was first
        prices.stretch(sight.length)
        return prices

    @staticmethod
    def known(every: list[Prices], pricer: Pricer) -> Prices | None:
        """The prices under a pricer, or None."""
        for prices in every:
            if prices.pricer is pricer:
                return prices
        return None

    def known_until(self, stop: int) -> Prices:
        """A copy that knows the messages before `stop` and nothing after."""
        self.stretch(stop)
        copy = Prices(self.pricer)
        copy.running = known_before(stop, self.running, self.messages)
        copy.messages = self.messages[:stop]
        copy.overpriced = {index for index in self.overpriced.copy() if index < stop}
        copy.lost = {index: tokens for index, tokens in self.lost.copy().items() if index < stop}
        copy.thoughts = {index for index in self.thoughts.copy() if index < stop}
        copy.long_runs = {min(end, stop): start for end, start in self.long_runs.copy().items() if start < stop}
        copy.adding_up = {span: adds for span, adds in self.adding_up.copy().items() if span[1] <= stop}
        copy.sums = self.sums.known_until(stop)
        copy.passed = self.passed.known_until(stop)
        copy.waiting = self.waiting.known_until(stop)
        return copy

    def take_over(self, other: Prices) -> None:
        """Take over the results of other prices, whose history has the same content."""
        self.tail, self.beyond, self.fitting = other.tail, other.beyond, other.fitting
        self.everything, self.hopeless = other.everything, other.hopeless
        self.replays, self.rewritten = other.replays.copy(), other.rewritten.copy()
        self.decisions = None if other.decisions is None else other.decisions.copy()

    def stretch(self, length: int) -> None:
        """Make entries for `length` messages, or more if two threads do it at once."""
        self.messages += [None] * (length - len(self.messages))


@attrs.define(eq=False, repr=False)
class Priced:
    """A history with the prices of its messages. Each is read and priced on first use."""

    _sight: Sight
    _pricer: Pricer
    prices: Prices
    """The known prices of the history."""

    @property
    def length(self) -> int:
        """The index after the last message."""
        return self._sight.length

    def begins_turn(self, index: int) -> bool:
        """Whether a turn begins at the message `index`."""
        return self.turn_start(index) == index

    def turn_start(self, index: int) -> int:
        """The index where the turn of the message at `index` begins."""
        known = self._sight.readings.starts.get(index)
        return self._sight.readings.turn_start(index, self._sight.head) if known is None else known

    def reading(self, index: int) -> Message:
        """The message at `index`, as it was added."""
        return self._sight.message(index)

    def price(self, message: Message) -> Count:
        """What any message would cost in this conversation."""
        return self._pricer.message(message)

    def count(self, text: str) -> Tokens:
        """The upper bound of what a text adds to a message, in this dialect."""
        return self.price(spoken(text)).upper - self.price(spoken("")).upper

    def message(self, index: int) -> Count:
        """The price of one message, as it was added."""
        known = self.prices.messages
        return known[index] or self._priced(index)  # a count is never false

    def between(self, start: int, stop: int) -> Iterable[Count]:
        """The prices of the messages from `start` to before `stop`."""
        known: list[Any] = self.prices.messages[start:stop]
        if not all(known):  # a count is never false
            for place, price in enumerate(known):
                known[place] = price or self._priced(start + place)
        return known

    def _priced(self, index: int) -> Count:
        message = self._sight.readings.messages[index] or self._sight.message(index)  # a message is never false
        try:
            # `_may_answer`, without a call for each message
            joins = message.role == "tool" or Result in map(type, message.parts)
            if index - 1 in self.prices.thoughts:
                self._note_behind_thought(index, message)
            if not joins and message.role == "assistant":
                joins = message.shape == RESPONSES
                if not joins and index:  # a text in a spelling that several APIs share may continue an item
                    before = self._sight.readings.messages[index - 1] or self._sight.message(index - 1)
                    joins = before.shape == RESPONSES or (before.role == "assistant" and self._continues(index))
                    joins = joins and index > self._sight.head
            if joins:
                price = self._added_price(index, message)
                if message.role == "assistant":
                    self._note_neighbours(index, message)
                elif is_given_apart(message) and self._has_open_call(index):  # it goes behind the step's results
                    self.prices.overpriced.add(index)
            else:
                price = self._pricer.message(message)
        except (TokenCountError, UnsupportedContentError) as error:
            raise_named(error, index)
        self.prices.messages[index] = price
        return price

    def _added_price(self, index: int, message: Message) -> Count:
        """What an item adds to the items before it with which it is merged: parallel calls are billed as one message,
        with some providers also the results of one step.

        O(`NEIGHBOURS`), so that the price of a run grows with its items, not with their square.
        """
        first = self._run_start(index, index - NEIGHBOURS)
        if first == index - NEIGHBOURS:
            self._note_long_run(index, first)
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
            self.prices.lost[index] = max(tokens, 0, upper) - upper
            tokens = max(tokens, 0)
        return Count(tokens, max(price.grade, beside.grade), max(upper, tokens))

    def _note_long_run(self, index: int, reached: int) -> None:
        """Record the run of an item that has at least `NEIGHBOURS` before it, back to `reached`."""
        start = self.prices.long_runs.pop(index, None)
        self.prices.long_runs[index + 1] = self._run_start(reached) if start is None else start

    def _adds_up(self, span: Span) -> bool:
        """Whether the prices of a run's items add up to the price of the run. O(its items), once."""
        known = self.prices.adding_up.get(span)
        if known is None:
            known = total(self.between(*span)) == self.priced_run(self._sight.messages(*span))
            self.prices.adding_up[span] = known
        return known

    def _note_neighbours(self, index: int, message: Message) -> None:
        """Record whether the neighbours of an item of the model make the sum of prices differ from the whole."""
        if self._goes_before_answers(index):
            self.prices.overpriced.add(index)
        if message.shape == RESPONSES and all(type(part) is Thinking for part in message.parts):
            self._note_thought(index)

    def _goes_before_answers(self, index: int) -> bool:
        """Whether the model wrote a message after a result while another call of the step was still open. It is sent
        with the calls, before all results, and costs less than its price.
        """
        return index > self._sight.head and _may_answer(self._sight.message(index - 1)) and self._has_open_call(index)

    def _note_thought(self, index: int) -> None:
        """Record an item of pure reasoning, and whether no item of the model follows, so that it is not sent.

        A message of the model of which nothing is sent is recorded like it. O(messages not recorded yet).
        """
        while index not in self.prices.thoughts:
            self.prices.thoughts.add(index)
            index += 1
            if index == self._sight.length:
                return
            message = self._sight.message(index)
            if message.role != "assistant":
                self.prices.overpriced.add(index - 1)
                return
            if says_more(message):
                return

    def _note_behind_thought(self, index: int, message: Message) -> None:
        """Record that a message which comes after reasoning is none that reasoning is sent with."""
        if message.role != "assistant":
            self.prices.overpriced.add(index - 1)
        elif not says_more(message):
            self._note_thought(index)

    def _has_open_call(self, index: int) -> bool:
        """Whether a call is still open before a message, so that the message is sent merged with it."""
        if not (is_joining(self._pricer) and self._pricer.puts_answers_last()):
            return False
        waiting = self._open_calls(index)
        return waiting[index] > waiting[self.turn_start(index)]

    def _open_calls(self, length: int) -> list[Tokens]:
        """Open calls after the first 0 … `length` messages."""
        return self.prices.waiting.reaching(length, lambda place: _calls_opened(self._sight.message(place)))

    def priced_run(self, messages: Sequence[Message]) -> Count:
        """What neighbouring messages cost together."""
        return price_messages(self._pricer, messages)

    def run(self, index: int) -> range:
        """The messages that are sent merged with the message at `index`: items of one turn of the model, or it alone.

        Of results side by side only `NEIGHBOURS` on each side, so that an edit of each costs no more in a longer run.
        """
        reach = NEIGHBOURS if _may_answer(self._sight.message(index)) else self._sight.length
        end = min(self._sight.length, index + 1 + reach)
        stop = index + 1
        while stop < end and self._continues(stop):
            stop += 1
        return range(self._run_start(index, index - reach), stop)

    def beside_others(self, index: int) -> bool:
        """Whether the message at `index` is sent merged with the one before or after it. O(1)."""
        if index > self._sight.head and self._continues(index):
            return True
        return index + 1 < self._sight.length and self._continues(index + 1)

    def _run_start(self, index: int, earliest: int = 0) -> int:
        earliest = max(earliest, 0)
        while index > earliest and self._continues(index) and index > self._sight.head:
            index -= 1
        return index

    def _continues(self, index: int) -> bool:
        known = self._sight.readings.messages  # a message is never false
        message, before = known[index] or self._sight.message(index), known[index - 1] or self._sight.message(index - 1)
        if message.role == before.role == "tool" or (_may_answer(message) and _may_answer(before)):
            return is_joining(self._pricer) and self._pricer.answers_together(message, before)
        if not (message.role == before.role == "assistant" and is_joining(self._pricer)):
            return False
        if self._pricer.speaks_together(message, before):
            return True
        if RESPONSES not in (message.shape, before.shape) or not continues_step(message, before):
            return False
        return continues(message, before) or self._has_open_call(index)

    def dropped_tokens(self, start: int, stop: int) -> Tokens:
        """What the messages from `start` to before `stop` would cost, in tokens. O(messages not priced before)."""
        passed = self.prices.passed.reaching(stop, lambda index: self.message(index).tokens)
        return passed[stop] - passed[start]

    @property
    def keepsakes(self) -> Keepsakes:
        """Where a policy stores what it cannot recompute."""
        return self._sight.readings.keepsakes


def raise_named(error: TokenCountError | UnsupportedContentError, index: int) -> NoReturn:
    """Raise an error of the pricer again, with the index of its message."""
    if isinstance(error, TokenCountError):
        raise error.at(f"conversation[{index}]") from error.__cause__ or error
    error.index = index
    raise error


def _calls_opened(message: Message) -> int:
    """How many more calls are open after a message than before it."""
    kinds = [type(part) for part in message.parts]
    return kinds.count(Call) - kinds.count(Result)


def _may_answer(message: Message) -> bool:
    """Whether a message may hold results, which some APIs put into the user's role."""
    return message.role == "tool" or Result in map(type, message.parts)
