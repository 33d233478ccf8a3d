"""What policies find out about a whole history: its prices as prefix sums, the last replays, what they wrote."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable
from typing import Any, ClassVar, NamedTuple, TypeVar, cast

import attrs

from assembler.conversation.history import HistoryView
from budgets import Tokens
from budgets.count import Difference
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


class BilledReasoning(NamedTuple):
    """The reasoning that is billed in a history of so many messages."""

    after_question: int
    """The index after the last question. Reasoning before it is not billed."""
    cost: Difference
    """What the reasoning since then costs."""
    opening: int
    """The first of the messages that are sent in one turn of the user with the next one, if that is the user's."""


@attrs.frozen(eq=False, repr=False)
class Timeline:
    """Prefix sums of prices, and where turns begin. A query costs O(log messages).

    If the model forgets reasoning, a history may cost less than a shorter one. Then a query costs O(messages), but an
    overflow is looked for only where reasoning may matter.
    """

    _view: HistoryView
    _sums: list[Tokens]
    _billed: tuple[Callable[[int], BilledReasoning], Tokens] | None
    """The reasoning that is billed in the first n messages, beside the sums, and the most that it ever costs; None if
    none is forgotten."""
    _pinned: list[int]
    """Where pinned turns begin. Those before a cut stay too."""
    _pinned_sums: list[Tokens]
    """What the first 0, 1, 2 … of them cost."""
    first: int
    length: int
    replays: Replays
    """May hold replays of a longer fork."""

    def tokens(self, start: int, stop: int) -> Tokens:
        """The cost of what stays of the first `stop` messages if the turns before `start` are cut."""
        between = self._sums[stop] - self._sums[start]
        return between + self._count_kept_before(start) + self._price_reasoning(start, stop)

    def _count_kept_before(self, start: int) -> Tokens:
        return self._pinned_sums[bisect_left(self._pinned, start)]

    def _price_reasoning(self, start: int, stop: int) -> Tokens:
        """What the reasoning from `start` on costs that is billed in the first `stop` messages."""
        if self._billed is None:
            return 0
        billed, _ = self._billed
        now, before = billed(stop), billed(start)
        return now.cost.upper - (before.cost.upper if before.after_question == now.after_question else 0)

    def overflow(self, start: int, stop: int, tokens_left: Tokens) -> int | None:
        """The first length after `stop` at which what stays after a cut at `start` costs more than `tokens_left`, or
        None.
        """
        most = self._sums[start] + tokens_left - self._count_kept_before(start)
        if self._billed is None:
            return self._find_first_above(most, stop)
        nearly = self._find_first_above(most - self._billed[1], stop)
        lengths = () if nearly is None else range(nearly, self.length + 1)
        return next((length for length in lengths if self.tokens(start, length) > tokens_left), None)

    def grown_by(self, start: int, stop: int, spare: Tokens) -> int | None:
        """The first length after `stop` at which the history from `start` on costs more than `spare` over what it did
        then, or None.
        """
        if self._billed is None:
            return self._find_first_above(self._sums[stop] + spare, stop)
        return self.overflow(start, stop, self.tokens(start, stop) + spare)

    def _find_first_above(self, most: Tokens, stop: int) -> int | None:
        """The first length after `stop` of a history that costs more than `most`, or None."""
        found = bisect_left(self._sums, most + 1, lo=stop + 1, hi=self.length + 1)
        return found if found <= self.length else None

    def kept_after_each(self, start: int, begin: int, stop: int) -> Tokens:
        """The cost of what stays of the first n messages after a cut at `start`, added up for n from `begin` to
        `stop` - 1.
        """
        if self._billed is not None:
            return sum(self.tokens(start, length) for length in range(begin, stop))
        beneath = self._sums[start] - self._count_kept_before(start)
        return sum(self._sums[begin:stop]) - (stop - begin) * beneath

    def turn_start(self, index: int) -> int:
        """The index where the turn of the message at `index` begins."""
        return self._view.readings.turn_start(index, self._view.head)

    def next_turn(self, index: int, stop: int) -> int:
        """The first index from `index` on where a turn begins, at most `stop`."""
        while index < stop and self.turn_start(index) != index:
            index += 1
        return index

    def lowest(self, start: int, stop: int, tokens: Tokens) -> int:
        """The first turn from `start` on where a cut leaves at most `tokens`; `stop` if there is none."""
        if not self._pinned and self._billed is None:
            least = bisect_left(self._sums, self._sums[stop] - tokens, lo=start, hi=stop)
            return self.next_turn(least, stop)
        if start < stop and self._billed is None:
            # A cut at a later turn never keeps more tokens, so the first that fits is found by bisection.
            ats = range(start, max(start, self.turn_start(stop - 1)) + 1)
            least = bisect_left(ats, -tokens, key=lambda at: -self.tokens(self.next_turn(at, stop), stop))
            return self.next_turn(start + least, stop) if least < len(ats) else stop
        at = start
        while at < stop and self.tokens(at, stop) > tokens:
            at = self.next_turn(at + 1, stop)
        return at


T = TypeVar("T")


@attrs.frozen(eq=False)
class _WrittenText:
    """What one policy wrote, by its own key: the source and the result."""

    policy: object
    by_key: dict[Hashable, tuple[object, Any]] = attrs.field(factory=dict[Hashable, tuple[object, Any]])


class Rewritten:
    """What each of the last `MOST` policies wrote. Threads may share it, since they write the same."""

    __slots__ = ("_made",)

    MOST: ClassVar = 8

    def __init__(self, made: tuple[_WrittenText, ...] = ()) -> None:
        self._made = made

    def once(self, policy: object, key: Hashable, source: object, make: Callable[[], T]) -> T:
        """The result of `make`, called once for this policy, key and `source`. O(policies)."""
        made = next((made for made in self._made if made.policy is policy), None)
        if made is None:
            made = _WrittenText(policy)
            self._made = (*self._made[1 - self.MOST :], made)
        found = made.by_key.get(key)
        if found is None or found[0] is not source:
            found = made.by_key[key] = (source, make())
        return cast(T, found[1])

    def copy(self) -> Rewritten:
        """An independent copy."""
        return Rewritten(tuple(_WrittenText(made.policy, made.by_key.copy()) for made in self._made))
