"""Prices the messages of a history, each when it is first asked for.

Some models drop all reasoning at the next question, unbilled. Their messages are priced without it, so that their
prices never change, and what the reasoning since the last question costs is added to the sum.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import attrs

from assembler.conversation.history import HistoryView, Span
from assembler.conversation.messages import Call, Message, Result, Thinking, user_message
from assembler.conversation.messages.responses import continues, continues_step, is_given_apart, says_more
from assembler.conversation.messages.responses_items import RESPONSES
from assembler.conversation.policy_memory import Keepsakes
from assembler.errors import UnsupportedContentError
from assembler.pricing.pricer import MergingPricer, Pricer, is_joining, price_message, price_messages, price_unread
from assembler.pricing.prices import Prices
from assembler.pricing.timeline import BilledReasoning
from budgets import Count, TokenCountError, Tokens
from budgets.count import Difference, total
from budgets.value import are_the_same

NEIGHBOURS = 8
"""How many messages before one are priced with it, if they are sent merged.

Farther ones may affect its price, where a run's bound is rounded as a whole, or by another vocabulary than OpenAI's. So
the prices of a longer run are compared with the price of the whole run.
"""

_NO_REASONING = BilledReasoning(0, Difference(), 0)


@attrs.define(eq=False, repr=False)
class Priced:
    """A history with the prices of its messages. Each is read and priced on first use."""

    _view: HistoryView
    _pricer: Pricer
    prices: Prices
    """The known prices of the history."""

    @property
    def length(self) -> int:
        """The index after the last message."""
        return self._view.length

    def begins_turn(self, index: int) -> bool:
        """Whether a turn begins at the message `index`."""
        return self.turn_start(index) == index

    def turn_start(self, index: int) -> int:
        """The index where the turn of the message at `index` begins."""
        known = self._view.readings.starts.get(index)
        return self._view.readings.turn_start(index, self._view.head) if known is None else known

    def reading(self, index: int) -> Message:
        """The message at `index`, as it was added."""
        return self._view.message(index)

    def price(self, message: Message) -> Count:
        """What any message would cost in this conversation."""
        return price_message(self._pricer, message)

    def count(self, text: str) -> Tokens:
        """The upper bound of what a text adds to a message, in this dialect."""
        if not text:
            return 0
        around = self.prices.around_text
        if around is None:
            around = self.prices.around_text = self._price_around_text()
        return self.price(user_message(text)).upper - around

    def _price_around_text(self) -> Tokens:
        """The upper price of a user message without its text. Some APIs take no empty message, and get words in its
        place: there a message of one letter, which every vocabulary has, costs less.
        """
        return min(self.price(user_message("")).upper, self.price(user_message("a")).upper - 1)

    def message(self, index: int) -> Count:
        """The price of one message, as it was added. Reasoning that is no longer billed costs nothing."""
        price = self.prices.messages[index] or self._price_message(index)  # a count is never false
        if self.prices.forgetting is None or index < self.billed_reasoning().after_question:
            return price
        more = self._price_reasoning(index)
        return price if more is None else price + more

    def lasting(self, index: int) -> Count:
        """The price of one message without reasoning that is billed only until the next question."""
        return self.prices.messages[index] or self._price_message(index)  # a count is never false

    def price_at(self, index: int, message: Message) -> Count:
        """What a message costs in place of the one at `index`."""
        forgotten = self.prices.forgetting is not None and index < self.billed_reasoning().after_question
        return self.price(self._remove_reasoning(message) if forgotten else message)

    def between(self, start: int, stop: int) -> Iterable[Count]:
        """The prices of the messages from `start` to before `stop`, without such reasoning."""
        known: list[Any] = self.prices.messages[start:stop]
        if not all(known):  # a count is never false
            for place, price in enumerate(known):
                known[place] = price or self._price_message(start + place)
        return known

    def billed_reasoning(self, length: int | None = None) -> BilledReasoning:
        """The reasoning that is billed in the first `length` messages.

        O(messages since the last question), once; then O(new messages).
        """
        forgetting, known = self.prices.forgetting, self.prices.reasoning
        length = self.length if length is None else length
        if forgetting is None:
            return _NO_REASONING
        known.extend([None] * (length + 1 - len(known)))
        start = length
        while (found := known[start]) is None:
            if not start or self._opens_with_question(forgetting, start - 1):
                known[start] = found = BilledReasoning(start, Difference(), max(start - 1, 0))
                break
            start -= 1
        for index in range(start, length):
            known[index + 1] = found = self._bill_reasoning_with(forgetting, found, index)
        return found

    def most_reasoning(self) -> Tokens:
        """At least the most that the billed reasoning costs at any length of the history. O(new messages)."""
        length, most = self.prices.most_reasoning
        for longer in range(length + 1, self.length + 1):
            most = max(most, self.billed_reasoning(longer).cost.upper)
        self.prices.most_reasoning = (max(length, self.length), most)
        return most

    def _opens_with_question(self, forgetting: MergingPricer, index: int) -> bool:
        """Whether a message is a question that opens a turn of the user."""
        asks = forgetting.ends_reasoning(self._view.message(index))
        return asks and (not index or self._view.message(index - 1).role == "assistant")

    def _bill_reasoning_with(self, forgetting: MergingPricer, before: BilledReasoning, index: int) -> BilledReasoning:
        """The reasoning that is billed once the message at `index` is added."""
        message, opening = self._view.message(index), before.opening
        if message.role == "assistant":
            more = self._price_reasoning(index)
            return BilledReasoning(
                before.after_question, before.cost if more is None else before.cost + more, index + 1
            )
        if forgetting.ends_reasoning(message, self._view.message(opening) if opening < index else None):
            return BilledReasoning(index + 1, Difference(), opening)
        return before

    def has_forgotten(self, length: int) -> bool:
        """Whether reasoning in the first `length` messages was billed then, and is not any more."""
        return self.billed_reasoning().after_question > length and self.billed_reasoning(length).cost.upper > 0

    def reasoning(self, start: int, stop: int) -> Difference:
        """What the reasoning from `start` to before `stop` costs that is billed."""
        after_question = self.billed_reasoning().after_question
        if stop <= after_question:
            return _NO_REASONING.cost
        until = self.billed_reasoning(stop).cost
        return until - self.billed_reasoning(start).cost if start > after_question else until

    def _price_reasoning(self, index: int) -> Difference | None:
        """What the reasoning in a message costs while it is billed; None for nothing."""
        message = self._view.message(index)
        if message.shape == RESPONSES or self._remove_reasoning(message) is message:
            return None  # no such model is sent the items of Responses
        try:
            return self.price(message) - self.lasting(index)
        except (TokenCountError, UnsupportedContentError) as error:
            raise_named(error, index)

    def _remove_reasoning(self, message: Message) -> Message:
        """The message without reasoning that is billed only until the next question."""
        forgetting = self.prices.forgetting
        return message if forgetting is None else forgetting.without_reasoning(message)

    def _price_message(self, index: int) -> Count:
        message = self._view.readings.messages[index] or self._view.message(index)  # a message is never false
        try:
            # `_may_answer`, without a call for each message
            joins = message.role == "tool" or Result in map(type, message.parts)
            if index - 1 in self.prices.thoughts:
                self._note_behind_thought(index, message)
            if not joins and message.role == "assistant":
                joins = message.shape == RESPONSES
                if not joins and index:  # a text in a spelling that several APIs share may continue an item
                    before = self._view.readings.messages[index - 1] or self._view.message(index - 1)
                    joins = before.shape == RESPONSES or (before.role == "assistant" and self._continues(index))
            if joins:
                price = self._price_added(index, message)
                if not price.upper and (index == self._view.head or index - 1 in self.prices.overpriced):
                    self.prices.overpriced.add(index)  # nothing is sent yet: a system message may come first
                if message.role == "assistant":
                    self._note_neighbours(index, message)
                elif is_given_apart(message) and self._has_open_call(index):  # it goes behind the step's results
                    self.prices.overpriced.add(index)
            else:
                forgetting = self.prices.forgetting
                price = self._pricer.message(message if forgetting is None else forgetting.without_reasoning(message))
                if not price.upper:  # it is not sent, so it may separate no messages of the model
                    self.prices.overpriced.add(index)
                if not message.fully_read:
                    price += price_unread(self._pricer, message)
        except (TokenCountError, UnsupportedContentError) as error:
            raise_named(error, index)
        self.prices.messages[index] = price
        return price

    def _price_added(self, index: int, message: Message) -> Count:
        """What an item adds to the items before it with which it is merged: parallel calls are billed as one message,
        with some providers also the results of one step.

        O(`NEIGHBOURS`), so that the price of a run grows with its items, not with their square.
        """
        first = self._find_run_start(index, index - NEIGHBOURS)
        if first == index - NEIGHBOURS:
            self._note_long_run(index, first)
        if first == index:
            price = self._pricer.message(self._remove_reasoning(message))
            if not message.fully_read:
                price += price_unread(self._pricer, message)
            self.prices.last_run = (message,), price
            return price
        before = tuple(self._view.messages(first, index))
        known = self.prices.last_run
        earlier = known[1] if known is not None and are_the_same(known[0], before) else self.priced_run(before)
        together = (*before, message)
        price = self.priced_run(together)
        self.prices.last_run = together, price
        tokens, upper = price.tokens - earlier.tokens, price.upper - earlier.upper
        if not 0 <= tokens <= upper:
            self.prices.overpriced.add(index)
            self.prices.lost[index] = max(tokens, 0, upper) - upper
            tokens = max(tokens, 0)
        return Count(tokens, max(price.grade, earlier.grade), max(upper, tokens))

    def _note_long_run(self, index: int, reached: int) -> None:
        """Record the run of an item that has at least `NEIGHBOURS` before it, back to `reached`."""
        start = self.prices.long_runs.pop(index, None)
        self.prices.long_runs[index + 1] = self._find_run_start(reached) if start is None else start

    def is_of_long_run(self, indexes: Iterable[int]) -> bool:
        """Whether one of the messages is an item of a long run. A change of it may affect items farther away."""
        if not self.prices.long_runs:
            return False
        places = sorted(indexes)
        runs = self.prices.long_runs.copy().items()
        return any(bisect_left(places, start) < bisect_left(places, end) for end, start in runs)

    def _does_run_add_up(self, span: Span) -> bool:
        """Whether the prices of a run's items add up to the price of the run. O(its items), once."""
        known = self.prices.adding_up.get(span)
        if known is None:
            known = total(self.between(*span)) == self.priced_run(self._view.messages(*span))
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
        return index > self._view.head and _may_answer(self._view.message(index - 1)) and self._has_open_call(index)

    def _note_thought(self, index: int) -> None:
        """Record an item of pure reasoning, and whether no item of the model follows, so that it is not sent.

        A message of the model of which nothing is sent is recorded like it. O(messages not recorded yet).
        """
        while index not in self.prices.thoughts:
            self.prices.thoughts.add(index)
            index += 1
            if index == self._view.length:
                return
            message = self._view.message(index)
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
        if not (is_joining(self._pricer) and self._pricer.sends_results_last()):
            return False
        open_calls = self._count_open_calls(index)
        return open_calls[index] > open_calls[self.turn_start(index)]

    def _count_open_calls(self, length: int) -> list[Tokens]:
        """Open calls after the first 0 … `length` messages."""
        return self.prices.open_calls.reaching(length, lambda place: _count_opened_calls(self._view.message(place)))

    def priced_run(self, messages: Sequence[Message]) -> Count:
        """What neighbouring messages cost together, without reasoning that is billed only until the next question."""
        if self.prices.forgetting is not None:
            messages = list(map(self._remove_reasoning, messages))
        return price_messages(self._pricer, messages)

    def run(self, index: int) -> range:
        """The messages that are sent merged with the message at `index`: items of one turn of the model, or it alone.

        At most `NEIGHBOURS` on each side, so that an edit of each costs no more in a longer run.
        """
        end = min(self._view.length, index + 1 + NEIGHBOURS)
        stop = index + 1
        while stop < end and self._continues(stop):
            stop += 1
        return range(self._find_run_start(index, index - NEIGHBOURS), stop)

    def beside_others(self, index: int) -> bool:
        """Whether the message at `index` is sent merged with the one before or after it. O(1)."""
        if index > self._view.head and self._continues(index):
            return True
        return index + 1 < self._view.length and self._continues(index + 1)

    def _find_run_start(self, index: int, earliest: int = 0) -> int:
        earliest = max(earliest, 0)
        while index > earliest and self._continues(index):  # no message continues the head
            index -= 1
        return index

    def _continues(self, index: int) -> bool:
        known = self._view.readings.messages  # a message is never false
        message, before = known[index] or self._view.message(index), known[index - 1] or self._view.message(index - 1)
        if message.role == before.role == "tool" or (_may_answer(message) and _may_answer(before)):
            return is_joining(self._pricer) and self._pricer.bills_results_together(message, before)
        if not (message.role == before.role == "assistant" and is_joining(self._pricer)):
            return False
        if self._pricer.bills_model_messages_together(message, before):
            return True
        if not continues_step(message, before):
            return False
        among_items = RESPONSES in (message.shape, before.shape)
        return (among_items and continues(message, before)) or self._has_open_call(index)

    def dropped_tokens(self, start: int, stop: int) -> Tokens:
        """What the messages from `start` to before `stop` would cost, in tokens. O(messages not priced before)."""
        passed = self.prices.passed.reaching(stop, lambda index: self.lasting(index).tokens)
        return passed[stop] - passed[start]

    @property
    def keepsakes(self) -> Keepsakes:
        """Where a policy stores what it cannot recompute."""
        return self._view.readings.keepsakes


def raise_named(error: TokenCountError | UnsupportedContentError, index: int) -> NoReturn:
    """Raise an error of the pricer again, with the index of its message."""
    if isinstance(error, TokenCountError):
        raise error.at(f"conversation[{index}]") from error.__cause__ or error
    error.index = index
    raise error


def _count_opened_calls(message: Message) -> int:
    """How many more calls are open after a message than before it."""
    kinds = [type(part) for part in message.parts]
    return kinds.count(Call) - kinds.count(Result)


def _may_answer(message: Message) -> bool:
    """Whether a message may hold results, which some APIs put into the user's role."""
    return message.role == "tool" or Result in map(type, message.parts)
