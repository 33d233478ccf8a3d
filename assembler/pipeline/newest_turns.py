"""Finds how many of the newest turns fit, when only a count of the whole request can tell.

To weigh a request is slow (a render). With good estimates two weighings settle it: what stays fits, and one more turn
does not. The second is skipped if the first weight, plus the least that the turn adds, proves it. Each weighing
corrects the next estimate; if that does not settle it soon, the search bisects. As long as more turns never weigh less,
the result does not depend on where the search starts.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import attrs

from assembler.pipeline.ladder import RungDecision, Trimmed, keep_all
from assembler.policies.traits import CuttingRung, KeepsNewest
from assembler.pricing.ledger import Cut, Ledger, TurnCost
from assembler.pricing.pricer import WholePricer
from budgets import Count, Tokens

_CORRECTED_WEIGHINGS = 3
"""Weighings that follow the corrected estimates, before the search bisects."""

_LARGEST_FACTOR = 2
"""The largest factor by which an estimate is trusted to be off."""


@attrs.frozen
class Weighing:
    """A request that was weighed: its expected and its true tokens, and the messages in it."""

    expected: Tokens = 0
    found: Tokens = 0
    start: int = -1
    stop: int = 0

    def predicts(self, expected: Tokens) -> float:
        """The weight of another request, if its estimate is off by the same factor."""
        off = self.found / self.expected if self.expected > 0 and self.found > 0 else 1
        return self.found + (expected - self.expected) * min(max(off, 1 / _LARGEST_FACTOR), _LARGEST_FACTOR)


@attrs.define(eq=False)
class _Turns:
    """The turns, newest first, read as needed. A pinned turn costs nothing here, because it stays anyway."""

    ledger: Ledger
    _rest: Iterator[TurnCost]
    _pinned: frozenset[int]
    all_stay: int
    """Keeping the turns from here on keeps everything: all turns before are pinned."""
    starts: list[int] = attrs.field(factory=list[int])
    costs: list[Tokens] = attrs.field(factory=lambda: [0])
    """The estimated cost of the newest n turns, by n."""

    @classmethod
    def of(cls, ledger: Ledger) -> _Turns:
        pinned, all_stay = ledger.pinned_turns(), ledger.first
        for start, stop in pinned:
            all_stay = stop if start == all_stay else all_stay
        return cls(ledger, ledger.newest_first(), frozenset(start for start, _ in pinned), all_stay)

    def has(self, number: int) -> bool:
        for turn in itertools.islice(self._rest, max(number - len(self.starts), 0)):
            self.starts.append(turn.start)
            self.costs.append(self.costs[-1] + (0 if turn.start in self._pinned else turn.tokens))
        return number <= len(self.starts)

    def before(self, number: int) -> range:
        """The messages of the turn before the `number` newest ones; empty if it is pinned."""
        start, stop = self.starts[number], self.starts[number - 1]
        return range(0) if start in self._pinned else range(start, stop)


@attrs.define(eq=False)
class _Search:
    turns: _Turns
    rung: CuttingRung
    limit: Tokens
    always_sent: Tokens
    """The estimated cost of everything but the turns that may be dropped."""
    before: Weighing
    last: Weighing
    pricer: WholePricer
    weigh: Callable[[Trimmed], Count]
    found: dict[int, tuple[Trimmed, Count]] = attrs.field(factory=dict[int, tuple[Trimmed, Count]])

    def fits(self, number: int) -> bool:
        kept = self._keep_newest(number)
        count = self.weigh(kept)
        self.found[number] = kept, count
        self.last = self.weighed(number)
        return count.upper <= self.limit

    def weighed(self, number: int) -> Weighing:
        ledger = self.turns.ledger
        return Weighing(
            self.expected(number), self.found[number][1].upper, self.turns.starts[number - 1], ledger.length
        )

    def is_full(self, number: int) -> bool:
        """Whether one more turn surely does not fit: it adds too much to this weight, or the messages since the last
        search add too much to the weight then. Unknown if adding the turn would remove a note."""
        turns, before = self.turns, self.before
        if self.rung.traits.note is not None and turns.starts[number] <= turns.all_stay:
            return False
        if self.found[number][1].upper + self._price_at_least(turns.before(number)) > self.limit:
            return True
        if before.start != turns.starts[number]:
            return False
        grown = before.found + self._price_at_least(range(before.stop, turns.ledger.length))
        return grown > self.limit and all(self._price_message_at_least(i) for i in range(before.start, before.stop))

    def _price_at_least(self, messages: range) -> Tokens:
        return sum(map(self._price_message_at_least, messages))

    def _price_message_at_least(self, index: int) -> Tokens:
        ledger = self.turns.ledger
        return self.pricer.at_least(ledger.reading(index), ledger.message(index))

    def expected(self, number: int) -> Tokens:
        return self.always_sent + self.turns.costs[number]

    def next_after(self, fitting: int, too_large: int | None) -> int:
        """The number of turns to weigh next: above `fitting`, below `too_large` if that is known."""
        if len(self.found) >= _CORRECTED_WEIGHINGS and too_large is not None:
            return (fitting + too_large) // 2
        number = fitting + 1
        leap = fitting + 2 ** max(len(self.found) - _CORRECTED_WEIGHINGS + 1, 0)
        while (too_large is None or number + 1 < too_large) and self.turns.has(number + 1):
            if number >= leap and self.last.predicts(self.expected(number + 1)) > self.limit:
                break
            number += 1
        return number

    def all_turns(self, number: int) -> int | None:
        """The number of all turns if they may fit although `number` + 1 do not: only they need no note. Else None.

        Reads as many turns as the note costs, whose estimate may be off by `_LARGEST_FACTOR`.
        """
        summary = self.found[number][0].cut.summary
        if summary is None:
            return None
        saved = self.turns.ledger.price(summary).upper
        while self.turns.starts[number - 1] > self.turns.all_stay:
            number += 1
            if not self.turns.has(number):
                return None
            if self.last.predicts(self.expected(number) - _LARGEST_FACTOR * saved) > self.limit:
                return None
        return number

    def _keep_newest(self, number: int) -> Trimmed:
        ledger, start = self.turns.ledger, self.turns.starts[number - 1]
        if start <= self.turns.all_stay:
            return keep_all(ledger)
        verdict = self.rung.policy.cut(ledger, 0)  # for its reason and note; this search finds where to cut
        decision = RungDecision(self.rung.name, 0, ((verdict.reason, 0),))
        return Trimmed(Cut(start, verdict.reason, verdict.summary), decisions=(decision,))


def keep_most_turns(
    ledger: Ledger,
    rung: CuttingRung,
    keeps: KeepsNewest,
    limit: Tokens,
    fixed: Tokens,
    pricer: WholePricer,
    weigh: Callable[[Trimmed], Count],
    before: Weighing,
) -> tuple[Trimmed, Count, Weighing]:
    """Keep as many of the newest turns as fit in `limit`, but not fewer than the policy keeps. Returns what stays, its
    count, and the weighing from which the next search starts.

    `fixed` is the estimated cost of everything but the turns, `before` a weighing of this history when it was shorter.
    O(turns that stay) and about three weighings; O(log turns) weighings if the estimates are useless.
    """
    turns = _Turns.of(ledger)
    if not turns.has(1):
        kept = keep_all(ledger)
        return kept, weigh(kept), before
    always_sent = fixed + sum(ledger.turn_upper(start, stop) for start, stop in ledger.pinned_turns())
    search = _Search(turns, rung, limit, always_sent, before, before, pricer, weigh)
    turns.has(keeps.at_least)
    least = min(keeps.at_least, len(turns.starts))
    fitting, too_large = least - 1, None
    while too_large != fitting + 1 and turns.has(fitting + 1):
        if fitting in search.found and search.is_full(fitting):
            break
        number = search.next_after(fitting, too_large)
        if search.fits(number):
            fitting = number
        else:
            too_large = number
    number = max(fitting, least)
    if (all_turns := search.all_turns(number)) is not None and search.fits(all_turns):
        number = all_turns
    kept, count = search.found[number]
    return kept, count, search.weighed(number)
