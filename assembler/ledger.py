"""What each message and turn costs, found once. Knows integers and where turns begin; knows no text.

Costs are kept beside the readings of a history, so that drafts and forks that share the history share its prices.
The integers that policies see are upper bounds (`Count.upper`): the budget is checked against those.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

import attrs

from assembler.errors import UnsupportedContentError
from assembler.history import Sight
from assembler.pricing import NOTHING, Pricer, placed
from budgets import Count, Grade, TokenCountError, Tokens


class Prices:
    """The prices of one history under one pricer, as far as anybody asked."""

    __slots__ = ("memory", "messages", "passed", "running", "sums")

    def __init__(self) -> None:
        self.messages: list[Count | None] = []
        self.running: list[Count | None] = []
        """The price of a message and of all before it in its turn."""
        self.sums: list[Tokens] = [0]
        """Upper prices of the first n messages, for as many n as a replay needed."""
        self.passed: list[Tokens] = [0]
        """Tokens of the first n messages, for as many n as a report needed."""
        self.memory: dict[object, Any] = {}
        """What policies found about a history that can only grow from here; forgotten when a message changes."""

    def known_until(self, stop: int) -> Prices:
        """A copy that knows the messages before `stop` and nothing after."""
        copy = Prices()
        copy.messages = self.messages[:stop]
        copy.running = self.running[:stop]
        copy.sums = self.sums[: stop + 1]
        copy.passed = self.passed[: stop + 1]
        return copy

    def stretch(self, length: int) -> None:
        """Make room for `length` messages."""
        missing = length - len(self.running)
        if missing > 0:
            self.messages.extend([None] * missing)
            self.running.extend([None] * missing)


@attrs.frozen
class TurnCost:
    """One turn as a policy sees it: its messages are `start` to before `stop`, and all of them cost `tokens`."""

    start: int
    stop: int
    tokens: Tokens


@attrs.frozen(eq=False, repr=False)
class Ledger:
    """A conversation as a policy sees it: turns and tokens, newest first, each priced only when asked for."""

    _sight: Sight
    _pricer: Pricer
    _prices: Prices
    _lock: threading.RLock
    first: int
    """The first message that may stay: the head of the history stands before it."""

    @classmethod
    def of(cls, sight: Sight, pricer: Pricer, lock: threading.RLock, first: int | None = None) -> Ledger:
        """The ledger of a sight, with the prices that its history already knows."""
        notes = sight.readings.notes
        prices = notes.get(pricer)
        if prices is None:
            prices = notes.setdefault(pricer, Prices())
        if len(prices.running) < sight.length:
            with lock:
                prices.stretch(sight.length)
        return cls(sight, pricer, prices, lock, sight.head if first is None else first)

    @property
    def length(self) -> int:
        """The index after the last message."""
        return self._sight.length

    def begins_turn(self, index: int) -> bool:
        """Whether a turn begins at the message `index`."""
        return self._sight.readings.turn_start(index, self._sight.head) == index

    def message(self, index: int) -> Count:
        """The price of one message."""
        price = self._prices.messages[index]
        if price is None:
            price = self._prices.messages[index] = self._priced(index)
        return price

    def _priced(self, index: int) -> Count:
        message = self._sight.message(index)
        try:
            return self._pricer.message(message)
        except TokenCountError as error:
            raise placed(error, f"conversation[{index}]") from error.__cause__ or error
        except UnsupportedContentError as error:
            error.index = index
            raise

    def turn(self, start: int, stop: int) -> Count:
        """The price of a turn. O(its messages that were not priced before)."""
        running = self._prices.running
        whole = running[stop - 1]
        if whole is not None:
            return whole
        known = stop - 1
        while known >= start and running[known] is None:
            known -= 1
        total = (running[known] or NOTHING) if known >= start else NOTHING
        for index in range(known + 1, stop):
            running[index] = total = total + self.message(index)
        return total

    def newest_first(self) -> Iterator[TurnCost]:
        """The turns, newest first. A turn that nobody asks for is neither read nor priced."""
        for start, stop in self._sight.turns_newest_first():
            if start < self.first:
                return
            yield TurnCost(start, stop, self.turn(start, stop).upper)

    def since(self, first: int) -> Count:
        """The price of all turns from the one that begins at `first`."""
        tokens, grade, upper = 0, Grade.EXACT, 0
        for start, stop in self._sight.turns_newest_first():
            if start < first:
                break
            turn = self.turn(start, stop)
            tokens, grade, upper = tokens + turn.tokens, max(grade, turn.grade), upper + turn.upper
        return Count(tokens, grade, upper)

    def fits(self, room: Tokens) -> bool:
        """Whether everything fits into `room`. Stops at the first turn that shows that it does not."""
        used = 0
        for start, stop in self._sight.turns_newest_first():
            if start < self.first:
                break
            used += self.turn(start, stop).upper
            if used > room:
                return False
        return used <= room

    def dropped_tokens(self, first: int) -> Tokens:
        """What the turns before `first` would cost, in tokens. O(messages not priced before)."""
        passed = self._prices.passed
        if len(passed) <= first:
            with self._lock:
                for index in range(len(passed) - 1, first):
                    passed.append(passed[-1] + self.message(index).tokens)
        return passed[first] - passed[self._sight.head]

    @property
    def memory(self) -> dict[object, Any]:
        """Where a policy may leave what it found, to go on from there when the history has grown.

        Keyed by the policy. A fork may be shorter than what was found: an entry says for how many messages it holds.
        """
        return self._prices.memory

    def timeline(self) -> Timeline:
        """The whole history priced, oldest first: for policies that replay it. O(messages not priced before)."""
        sums = self._prices.sums
        if len(sums) <= self.length:
            with self._lock:
                for index in range(len(sums) - 1, self.length):
                    sums.append(sums[-1] + self.message(index).upper)
        return Timeline(self._sight, sums, self.first, self.length)


@attrs.frozen(eq=False, repr=False)
class Timeline:
    """Prefix sums over a whole history, and where its turns begin. Every question costs O(log messages)."""

    _sight: Sight
    _sums: list[Tokens]
    first: int
    length: int

    def tokens(self, start: int, stop: int) -> Tokens:
        """What the messages from `start` to before `stop` cost."""
        return self._sums[stop] - self._sums[start]

    def overflow(self, start: int, room: Tokens) -> int | None:
        """The least `stop` at which the messages from `start` cost more than `room`, or None."""
        stop = bisect_left(self._sums, self._sums[start] + room + 1, lo=start, hi=self.length + 1)
        return stop if stop <= self.length else None

    def turn_start(self, index: int) -> int:
        """Where the turn of the message at `index` begins."""
        return self._sight.readings.turn_start(index, self._sight.head)

    def next_turn(self, index: int, stop: int) -> int:
        """Where the first turn after the message at `index` begins; `stop` if none does before it."""
        while index < stop and self.turn_start(index) != index:
            index += 1
        return index

    def least_start(self, start: int, stop: int, tokens: Tokens) -> int:
        """The least message index from `start` on such that the rest up to `stop` costs at most `tokens`."""
        return bisect_left(self._sums, self._sums[stop] - tokens, lo=start, hi=stop)
