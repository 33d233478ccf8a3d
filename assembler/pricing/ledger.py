"""The ledger: what each turn costs, and how many turns fit.

Policies see upper bounds (`Count.upper`), because the budget is checked against those.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Mapping

import attrs

from assembler.conversation.history import HistoryView, Span
from assembler.conversation.messages import Message
from assembler.conversation.messages.responses_items import RESPONSES
from assembler.conversation.readings import MANY, most_tokens
from assembler.conversation.summary_request import Wanted
from assembler.errors import UnsupportedContentError
from assembler.pricing.priced import Priced
from assembler.pricing.pricer import Pricer, is_merging, price_each
from assembler.pricing.prices import Prices
from assembler.pricing.timeline import Timeline
from budgets import AssemblyError, Count, Grade, TokenCountError, Tokens
from budgets.count import Difference, total
from budgets.value import Value

_FARTHEST_AHEAD: Tokens = 2**53
"""The most tokens to read ahead for: a window may be larger than any float."""


@attrs.frozen(eq=False, repr=False)
class Cut(Value):
    """The decision of a policy: messages before `first_kept` are dropped, except pinned turns; the others stay.

    `summary` is a message that replaces the dropped ones. `failure` is an error that did not stop the policy; it goes
    into `context.warnings`. `wanted` is a summary that would have helped; it goes into `context.wanted`.
    """

    first_kept: int
    reason: str
    summary: Message | None = None
    failure: AssemblyError | None = attrs.field(default=None, eq=False, kw_only=True)
    wanted: Wanted | None = attrs.field(default=None, eq=False, kw_only=True)


@attrs.frozen(eq=False, repr=False)
class TurnCost(Value):
    """One turn: the messages from `start` to before `stop`, which together cost `tokens`."""

    start: int
    stop: int
    tokens: Tokens


_BLOCK = 128
"""How many messages of texts a replay prices in one loop."""

_NO_SAVINGS: Mapping[int, Difference] = {}


@attrs.define(eq=False, repr=False)
class Ledger(Priced):
    """A conversation as a policy sees it: turns with their tokens, newest first, each priced when it is read."""

    first: int
    """The first message that may stay: the first after the head, or a later one if the API does not read that."""
    pins: tuple[int, ...] = ()
    """The pinned messages, oldest first. Their turns are never dropped."""
    _pins_until: Callable[[int], tuple[int, ...]] | None = None
    """The pins of a shorter history, by its length; None if they are the first of these."""
    _savings: Mapping[int, Difference] = _NO_SAVINGS
    """What earlier policies of a ladder saved in each turn, by the index where it begins. Negative."""
    _as_sent: Callable[[Cut], Count] | None = None
    """What a cut keeps costs as it is sent, where that differs from the sum of the prices."""

    @classmethod
    def of(
        cls,
        view: HistoryView,
        pricer: Pricer,
        first: int | None = None,
        pins: tuple[int, ...] = (),
    ) -> Ledger:
        """The ledger of a history, with the prices that are already known."""
        prices = Prices.of(view, pricer)
        return cls(view, pricer, prices, view.head if first is None else first, pins)

    def until(self, length: int) -> Ledger:
        """The ledger as it was when the history had `length` messages."""
        pins = tuple(p for p in self.pins if p < length) if self._pins_until is None else self._pins_until(length)
        return attrs.evolve(self, view=self._view.until(length), pins=pins)

    def under(self, pricer: Pricer) -> Ledger:
        """The same turns by the prices of another pricer; itself if they are its own."""
        return self if self._pricer is pricer else Ledger.of(self._view, pricer, self.first, self.pins)

    def with_savings(self, savings: Mapping[int, Difference]) -> Ledger:
        """The ledger after some messages were rewritten or dropped inside their turns."""
        return attrs.evolve(self, savings=savings)

    def counting_as_sent(self, as_sent: Callable[[Cut], Count]) -> Ledger:
        """The ledger whose `kept` counts what a cut keeps as it is sent."""
        return attrs.evolve(self, as_sent=as_sent)

    @property
    def overpriced(self) -> bool:
        """Whether merged messages may cost less than the sum of their prices, or a few tokens more. Knows only the
        messages priced so far.

        One reason: a JSON result is parsed and rewritten once it is sent beside another, which may make it shorter.
        Another: in a long run each item is priced beside its nearest neighbours alone.
        """
        found = self.prices.overpriced
        if found and any(self.first <= index < self.length for index in found.copy()):
            return True
        if self._view.length - 1 in self.prices.thoughts:
            return True
        return bool(self.prices.long_runs) and not self._do_long_runs_add_up(self.first, self.length)

    def _do_long_runs_add_up(self, first: int, stop: int) -> bool:
        """Whether the prices of the items of each long run that begins between these add up to the run's.

        A shorter history may end inside a run.
        """
        for end, start in self.prices.long_runs.copy().items():
            if first <= start < stop and not self._does_run_add_up((start, min(end, self.length))):
                return False
        return True

    def turn(self, start: int, stop: int) -> Count:
        """The price of a turn. O(its messages)."""
        whole = total(self.between(start, stop))
        if self.prices.forgetting is not None:
            whole += self.reasoning(start, stop)
        return whole + self._savings[start] if start in self._savings else whole

    def turn_upper(self, start: int, stop: int) -> Tokens:
        """The upper bound of the price of a turn. O(its messages that were not priced before)."""
        whole = self._add_up_from_start(start, stop)
        if self.prices.forgetting is not None:
            whole += self.reasoning(start, stop).upper
        return whole + self._savings[start].upper if start in self._savings else whole

    def _add_up_from_start(self, start: int, stop: int) -> Tokens:
        running, prices = self.prices.running, self.prices.messages
        known = stop - 1
        while known >= start and known not in running:
            known -= 1
        whole = running[known] if known >= start else 0
        for index in range(known + 1, stop):
            running[index] = whole = (
                whole + (prices[index] or self._price_message(index)).upper
            )  # a count is never false
        return whole

    def turns(self) -> Iterator[Span]:
        """The spans of the turns, newest first."""
        for start, stop in self._view.turns_newest_first():
            if start < self.first:
                return
            yield start, stop

    def newest_first(self) -> Iterator[TurnCost]:
        """The turns, newest first. A turn is read and priced when the iteration reaches it."""
        for start, stop in self.turns():
            yield TurnCost(start, stop, self.turn_upper(start, stop))

    def newest_turns(self, number: int) -> int:
        """The index where the `number` newest turns begin; `first` if there are fewer."""
        newest = [start for (start, _), _ in zip(self.turns(), range(number), strict=False)]
        return newest[-1] if newest else self.length

    def since(self, first: int) -> Count:
        """The price of all turns from the one that begins at `first`.

        Continues from the last call: O(messages added and dropped since).
        """
        all_of_it = first == self.first
        known = self.prices.all_turns if all_of_it else self.prices.tail
        if known is not None and known[0] <= first <= known[1] <= self.length:
            whole = known[2] if known[0] == first else self._subtract_before(known, first)
            if known[1] < self.length:
                whole = total(self.between(known[1], self.length), whole)
        else:
            whole = total(self.between(first, self.length))
        if all_of_it:
            self.prices.all_turns = (first, self.length, whole)
        else:
            self.prices.tail = (first, self.length, whole)
        if self.prices.forgetting is not None:
            whole += self.reasoning(first, self.length)
        if not self._savings:
            return whole
        return whole + sum((saved for start, saved in self._savings.items() if start >= first), Difference())

    def _subtract_before(self, known: tuple[int, int, Count], first: int) -> Count:
        """A known price less that of the messages before `first`. A grade cannot be subtracted, so it is looked up."""
        start, stop, whole = known
        earlier, grade = total(self.between(start, first)), whole.grade
        if earlier.grade == grade and grade > Grade.EXACT:
            grade = self._find_worst_grade(range(first, stop), grade)
        return Difference(whole.tokens - earlier.tokens, grade, whole.upper - earlier.upper).alone()

    def _find_worst_grade(self, indexes: range, at_worst: Grade) -> Grade:
        """The worst grade of some messages, at most `at_worst`. Stops at the first message that has it."""
        worst = Grade.EXACT
        for index in indexes:
            worst = max(worst, self.lasting(index).grade)
            if worst == at_worst:
                break
        return worst

    def fits(self, tokens_left: Tokens) -> bool:
        """Whether all turns, unchanged, fit into `tokens_left`. Stops at the first turn that does not fit.

        Continues from the last call: O(new messages).
        """
        reasoning = 0 if self.prices.forgetting is None else self.billed_reasoning().cost.upper
        tokens_left -= reasoning
        beyond = self.prices.beyond
        if beyond is not None and beyond[0] >= self.first and beyond[1] <= self.length and beyond[2] > tokens_left:
            return False
        known = self.prices.all_turns
        grows = known is not None and known[0] == self.first and not self._savings
        if grows and self.since(self.first).upper - reasoning <= tokens_left:
            return True
        used, fitting = 0, self.length
        dearest, reach = 1.0, 0.0  # the first turn is priced alone: it shows what the counter makes of a text
        while ahead := self._view.turns_ahead(fitting, self.first, reach):
            if len(ahead) > 1:  # the last one goes beyond the reach
                self._price_texts(ahead[-2][0], ahead[0][1])
            for start, stop, at_most in ahead:
                used += (cost := self._add_up_from_start(start, stop))
                if used > tokens_left:
                    self.prices.beyond = (start, self.length, used)
                    self.prices.fitting = (tokens_left, fitting, self.length)
                    return False
                if cost > dearest * at_most:
                    dearest = cost / at_most
                fitting = start
            reach = min(tokens_left - used, _FARTHEST_AHEAD) / dearest
        self.since(self.first)  # the next call continues from this sum
        return used <= tokens_left

    def _price_texts(self, start: int, stop: int) -> None:
        """Price messages of texts alone, of which none joins another, unless one is priced already.

        In one loop, which takes an eighth less time than counting them between other work.
        """
        known = self.prices.messages
        if any(known[start:stop]) or start - 1 in self.prices.thoughts:  # what follows a thought is noted
            return
        with contextlib.suppress(TokenCountError, UnsupportedContentError):  # raised again for the message at fault
            known[start:stop] = price_each(self._pricer, self._view.messages(start, stop))

    def may_fit(self, tokens_left: Tokens) -> bool:
        """Whether all turns, unchanged, might fit into `tokens_left` as they are sent, by the least that each may cost.

        Stops at the first turn that cannot fit. A later message may join the last step, so that counts nothing.
        """
        known = self.prices.hopeless
        if known is not None and known[0] >= self.first and known[1] <= self.length and known[2] > tokens_left:
            return False
        used, spared = 0, self._pricer.spares() if is_merging(self._pricer) else 0
        joinable = self._find_run_start(self.length - 1) if self.length > self.first else self.length
        for start, stop in self.turns():
            used += self._price_least(range(start, min(stop, joinable)), spared)
            if used > tokens_left:
                if not self._has_open_call_in_newest:
                    self.prices.hopeless = (start, self.length, used)
                return False
        return True

    @property
    def _has_open_call_in_newest(self) -> bool:
        """Whether a call of the newest turn is open: its result may be sent beside earlier results."""
        open_calls = self._count_open_calls(self.length)
        return open_calls[self.length] > open_calls[self.turn_start(self.length - 1)]

    def _price_least(self, turn: range, spared: Tokens) -> Tokens:
        """The least that a turn may cost as it is sent. O(its messages)."""
        least, prices = 0, self.prices
        for index in turn:
            upper = self.lasting(index).upper
            if index in prices.overpriced and index not in prices.lost:  # it moves inside its turn, or is not sent
                return 0
            if index not in prices.thoughts:
                least += max(0, upper - spared) - prices.lost.get(index, 0)
        return max(0, least) if self._do_long_runs_add_up(turn.start, turn.stop) else 0

    def newest_that_fit(self, tokens_left: Tokens, least: int) -> int:
        """The index where the newest turns begin that fit into `tokens_left`, and at least the `least` newest.

        O(turns that fit). If nothing is pinned or rewritten it continues from the last call: O(new messages and turns
        that no longer fit).
        """
        if self.pins or self._savings:
            return self._search_newest_that_fit(tokens_left, least)
        reasoning = 0 if self.prices.forgetting is None else self.billed_reasoning().cost.upper
        known, lasting_left = self.prices.fitting, tokens_left - reasoning
        if known is not None and known[0] == lasting_left and self.first <= known[1] < known[2] <= self.length:
            protected = self.newest_turns(least)
            first = min(self._drop_until_fits(known[1], tokens_left, protected), protected)
        else:
            first = self._search_newest_that_fit(tokens_left, least)
        self.prices.fitting = (lasting_left, first, self.length)
        return first

    def _search_newest_that_fit(self, tokens_left: Tokens, least: int) -> int:
        """`newest_that_fit` without help from an earlier call. O(turns that fit)."""
        pinned = dict(self.pinned_turns())
        used = sum(itertools.starmap(self.turn_upper, pinned.items()))
        kept, first = 0, self.length
        for start, stop in self.turns():
            used += 0 if start in pinned else self.turn_upper(start, stop)
            if used > tokens_left and kept >= least:
                break
            kept, first = kept + 1, start
        return first

    def _drop_until_fits(self, first: int, tokens_left: Tokens, last: int) -> int:
        """The first turn at or after `first` from which all turns fit into `tokens_left`, at most `last`."""
        used = self.since(first).upper
        while used > tokens_left and first < last:
            stop = self._find_turn_stop(first)
            dropped = (
                self._add_up_from_start(first, stop) if self.prices.forgetting is None else self.turn_upper(first, stop)
            )
            used, first = used - dropped, stop
        return first

    def pinned_turns(self, before: int | None = None) -> tuple[Span, ...]:
        """The turns that hold a pinned message, oldest first; only those that begin before `before`, if given."""
        if not self.pins:
            return ()
        stop = self.length if before is None else before
        starts = sorted({self.turn_start(pin) for pin in self.pins if self.first <= pin < stop})
        return tuple((start, self._find_turn_stop(start)) for start in starts if start < stop)

    def turn_span(self, index: int) -> Span:
        """The turn of the message at `index`."""
        start = self.turn_start(index)
        return start, self._find_turn_stop(start)

    def _find_turn_stop(self, start: int) -> int:
        stop = start + 1
        while stop < self.length and self.turn_start(stop) == start:
            stop += 1
        return stop

    def kept(self, cut: Cut) -> Count:
        """The cost of what a cut keeps: all turns from `first_kept` on, pinned ones before it, and its summary."""
        if self._as_sent is not None:
            return self._as_sent(cut)
        whole = self.since(cut.first_kept)
        if self.pins:
            whole = total(itertools.starmap(self.turn, self.pinned_turns(cut.first_kept)), whole)
        return whole if cut.summary is None else whole + self.price(cut.summary)

    def objects(self, start: int, stop: int) -> list[object]:
        """The caller's messages from `start` to before `stop` whose turns are not pinned."""
        raws = self._view.raws(start, stop)
        if not self.pins:
            return raws
        pinned = {begin for begin, _ in self.pinned_turns()}
        return [raw for index, raw in enumerate(raws, start) if self.turn_start(index) not in pinned]

    def _price_blocks(self, start: int) -> None:
        """Price the messages from `start` on that are texts alone, block by block; the others are left to `message`."""
        for begin in range(start, self.length - _BLOCK + 1, _BLOCK):
            messages = self._view.messages(begin, begin + _BLOCK)
            joins = begin > 0 and self._view.message(begin - 1).shape == RESPONSES
            if not joins and most_tokens(messages) < MANY:
                self._price_texts(begin, begin + _BLOCK)

    def timeline(self) -> Timeline:
        """The prices of the whole history, oldest first, for policies that replay it. O(messages not priced before)."""
        self._price_blocks(len(self.prices.sums.values) - 1)
        sums = self.prices.sums.reaching(self.length, lambda index: self.lasting(index).upper)
        billed = None if self.prices.forgetting is None else (self.billed_reasoning, self.most_reasoning())
        pins = self.pinned_turns() if self.pins else ()
        pinned = [start for start, _ in pins]
        kept = [*itertools.accumulate((self.turn(start, stop).upper for start, stop in pins), initial=0)]
        return Timeline(self._view, sums, billed, pinned, kept, self.first, self.length, self.prices.replays)
