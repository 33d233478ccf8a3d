"""The prices of a whole history as prefix sums, for policies that replay it, and the results of the last replays."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import ClassVar, cast

import attrs

from assembler.conversation.history import Sight
from budgets import Tokens
from budgets.value import Value


@attrs.frozen(eq=False, repr=False)
class Replay(Value):
    """The result of one policy's replay of a history for `limit` tokens left."""

    policy: object
    limit: Tokens
    first: int
    """The first message that stays."""
    stop: int
    """The number of messages at the last overflow."""
    messages: int = 0
    """Messages since the first cut."""
    kept: Tokens = 0
    """The tokens kept after each of them, added up."""


class Sums:
    """Prefix sums over a growing history. Two threads that extend them write the same values in the same places."""

    __slots__ = ("values",)

    def __init__(self) -> None:
        self.values: list[Tokens | None] = [0]
        """The sums of the first 0, 1, 2 … messages; None until computed."""

    def known_until(self, stop: int) -> Sums:
        """A copy that knows the sums of at most `stop` messages."""
        copy = Sums()
        copy.values = self.values[: stop + 1]
        return copy

    def reaching(self, length: int, price: Callable[[int], Tokens]) -> list[Tokens]:
        """The sums of the first 0 … `length` messages, and perhaps more. O(messages not summed yet)."""
        values = self.values
        values.extend([None] * (length + 1 - len(values)))
        known = length
        while (whole := values[known]) is None:
            known -= 1
        for index in range(known, length):
            values[index + 1] = whole = whole + price(index)
        return cast("list[Tokens]", values)


class Replays:
    """The last replay of each of the last `MOST` policies. Threads may share it: the tuple is replaced as a whole."""

    __slots__ = ("_last",)

    MOST: ClassVar = 8

    def __init__(self, last: tuple[Replay, ...] = ()) -> None:
        self._last = last

    def find(self, policy: object) -> Replay | None:
        """The last replay of this policy, or None."""
        return next((replay for replay in self._last if replay.policy == policy), None)

    def keep(self, replay: Replay) -> None:
        """Store a replay in place of the policy's last one."""
        others = [other for other in self._last if other.policy != replay.policy]
        self._last = (*others[1 - self.MOST :], replay)

    def copy(self) -> Replays:
        """An independent copy."""
        return Replays(self._last)


@attrs.frozen(eq=False, repr=False)
class Timeline:
    """Prefix sums of prices, and where turns begin. A query costs O(log messages), with pins O(turns)."""

    _sight: Sight
    _sums: list[Tokens]
    _pinned: tuple[tuple[int, Tokens], ...]
    """Where pinned turns begin, and what they cost. Those before a cut stay too."""
    first: int
    length: int
    replays: Replays
    """May hold replays of a longer fork."""

    def tokens(self, start: int, stop: int) -> Tokens:
        """The cost of what stays of the first `stop` messages if the turns before `start` are cut."""
        return self._sums[stop] - self._sums[start] + self._kept_before(start)

    def _kept_before(self, start: int) -> Tokens:
        return sum(tokens for begin, tokens in self._pinned if begin < start) if self._pinned else 0

    def overflow(self, start: int, tokens_left: Tokens) -> int | None:
        """The first `stop` at which what stays after a cut at `start` costs more than `tokens_left`, or None."""
        wanted = self._sums[start] + tokens_left - self._kept_before(start) + 1
        stop = bisect_left(self._sums, wanted, lo=start, hi=self.length + 1)
        return stop if stop <= self.length else None

    def grown_by(self, stop: int, spare: Tokens) -> int | None:
        """The first length of the history at which the messages after `stop` cost more than `spare`, or None."""
        grown = bisect_left(self._sums, self._sums[stop] + spare + 1, lo=stop, hi=self.length + 1)
        return grown if grown <= self.length else None

    def kept_after_each(self, start: int, begin: int, stop: int) -> Tokens:
        """The cost of what stays of the first n messages after a cut at `start`, added up for n from `begin` to
        `stop` - 1.
        """
        beneath = self._sums[start] - self._kept_before(start)
        return sum(self._sums[begin:stop]) - (stop - begin) * beneath

    def turn_start(self, index: int) -> int:
        """The index where the turn of the message at `index` begins."""
        return self._sight.readings.turn_start(index, self._sight.head)

    def next_turn(self, index: int, stop: int) -> int:
        """The first index from `index` on where a turn begins, at most `stop`."""
        while index < stop and self.turn_start(index) != index:
            index += 1
        return index

    def lowest(self, start: int, stop: int, tokens: Tokens) -> int:
        """The first turn from `start` on where a cut leaves at most `tokens`; `stop` if there is none."""
        if not self._pinned:
            least = bisect_left(self._sums, self._sums[stop] - tokens, lo=start, hi=stop)
            return self.next_turn(least, stop)
        at = start
        while at < stop and self.tokens(at, stop) > tokens:
            at = self.next_turn(at + 1, stop)
        return at
