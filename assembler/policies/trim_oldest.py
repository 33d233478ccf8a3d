"""Whole turns give way, oldest first."""

from __future__ import annotations

import attrs

from assembler.ledger import Ledger, Timeline
from assembler.policies.policy import Cut
from budgets import BudgetError, Tokens


def _a_share(_: object, field: attrs.Attribute[float | None], value: float | None) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise BudgetError(f"TrimOldest: {field.name} is a share of the room, 0 < {field.name} <= 1, got {value!r}")


def _at_least_one(_: object, field: attrs.Attribute[int], value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise BudgetError(f"TrimOldest: {field.name} is a number of turns, 1 or more, got {value!r}")


@attrs.frozen
class TrimOldest:
    """Drops whole turns, oldest first, until the rest fits; the `keep_turns` newest are never dropped.

    Without `low_water` it keeps as many turns as fit, and reads no further back than one turn more: O(turns kept).

    With `low_water`, a share of the room, a cut goes down to that share, so that the next many builds cut nothing and
    the provider's prompt cache keeps its prefix. Where the last cut fell is found by replaying the history from its
    start, message by message, as if a build had followed each: a pure function of history and room, with nothing to
    remember. A cold replay prices the whole history once; each cut in it costs O(log messages).
    """

    low_water: float | None = attrs.field(default=None, validator=_a_share)
    keep_turns: int = attrs.field(default=1, validator=_at_least_one)

    def cut(self, ledger: Ledger, room: Tokens, /) -> Cut:
        """As many of the newest turns as the room allows."""
        if self.low_water is None:
            return self._newest_that_fit(ledger, room)
        return self._replayed(ledger, room, int(self.low_water * room))

    def _newest_that_fit(self, ledger: Ledger, room: Tokens) -> Cut:
        kept, used, first = 0, 0, ledger.length
        for turn in ledger.newest_first():
            used += turn.tokens
            if used > room and kept >= self.keep_turns:
                break
            kept, first = kept + 1, turn.start
        return Cut(first, "older turns do not fit")

    def _replayed(self, ledger: Ledger, room: Tokens, low: Tokens) -> Cut:
        """Goes on from where the last replay of this history, for the same room, found its last overflow."""
        line = ledger.timeline()
        known_room, first, stop = ledger.memory.get(self, (room, line.first, line.first))
        if known_room != room or stop > line.length or first < line.first:
            first = stop = line.first
        while (overflow := self._next_overflow(line, first, stop, room)) is not None:
            stop = overflow
            newest = self._oldest_of_newest(line, first, stop)
            first = max(first, min(line.next_turn(line.least_start(first, stop, low), stop), newest))
        ledger.memory[self] = (room, first, stop)
        return Cut(first, f"cut down to {self.low_water:.0%} of the room")

    def _next_overflow(self, line: Timeline, first: int, stop: int, room: Tokens) -> int | None:
        """Where the history that begins at `first` outgrows the room next, after its first `stop` messages.

        Where the protected turns alone outgrow it, the next chance to cut is when another turn has begun.
        """
        if line.tokens(first, stop) <= room:
            return line.overflow(first, room)
        later = line.next_turn(stop, line.length)
        return later + 1 if later < line.length else None

    def _oldest_of_newest(self, line: Timeline, first: int, stop: int) -> int:
        """Where the `keep_turns` newest turns begin, when the history ends at `stop`."""
        start = line.turn_start(stop - 1)
        for _ in range(self.keep_turns - 1):
            if start <= first:
                break
            start = line.turn_start(start - 1)
        return start
