"""The part of a conversation that a rewriting policy may change: a read-only view of messages and prices."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import attrs

from assembler.conversation.history import Span
from assembler.conversation.messages import Message
from assembler.conversation.messages.responses_items import RESPONSES
from assembler.pricing.ledger import Ledger
from assembler.pricing.priced import NEIGHBOURS
from budgets import Count, Tokens
from budgets.count import NOTHING, Difference, total
from budgets.value import Value

T = TypeVar("T")


@attrs.frozen(eq=False, repr=False)
class Change(Value):
    """Replacements by message index, made together or not at all. None drops a message."""

    messages: Mapping[int, Message | None]
    reason: str


@attrs.frozen(eq=False, repr=False)
class PassageView:
    """The `Passage` that a rewriting policy sees, with the checks and prices that the pipeline needs."""

    _ledger: Ledger
    _changed: Mapping[int, Message | None]
    _policy: object
    _stretches: Sequence[Span]
    newest: int
    """The index where the newest turn begins."""

    @property
    def length(self) -> int:
        """The index after the last message."""
        return self._ledger.length

    def __iter__(self) -> Iterator[tuple[int, Message]]:
        """The messages that stay, oldest first, with their indexes."""
        for start, stop in self._stretches:
            yield from self._read_kept_messages(range(start, stop))

    def newest_first(self) -> Iterator[tuple[int, Message]]:
        """The messages that stay, newest first, with their indexes."""
        for start, stop in reversed(self._stretches):
            yield from self._read_kept_messages(range(stop - 1, start - 1, -1))

    def turns(self) -> Iterator[list[int]]:
        """The turns that stay, oldest first, each as the indexes of its messages that stay. O(messages)."""
        for begin, end in self._stretches:
            while begin < end:
                start, begin = self._ledger.turn_span(begin)
                if turn := [index for index, _ in self._read_kept_messages(range(start, begin))]:
                    yield turn

    def _read_kept_messages(self, indexes: Iterable[int]) -> Iterator[tuple[int, Message]]:
        for index in indexes:
            if index not in self._changed:
                yield index, self._ledger.reading(index)
            elif (message := self._changed[index]) is not None:
                yield index, message

    def holds(self, index: int) -> bool:
        """Whether the message at `index` belongs to a turn that stays."""
        return any(start <= index < stop for start, stop in self._stretches)

    def current(self, index: int) -> Message:
        """The message at `index` with the changes so far; if it was dropped, as it was added."""
        return self._changed.get(index) or self._ledger.reading(index)

    def turn_from_the_end(self, number: int) -> int:
        """See `Passage.turn_from_the_end`."""
        return self._ledger.newest_turns(number)

    def turn_of(self, index: int) -> list[int]:
        """The remaining messages of the turn of the message at `index`, oldest first."""
        start, stop = self._ledger.turn_span(index)
        return [at for at, _ in self._read_kept_messages(range(start, stop))]

    def tokens(self, message: Message) -> Tokens:
        """The upper bound of the cost of a message."""
        return self._ledger.price(message).upper

    def count(self, text: str) -> Tokens:
        """The upper bound of what a text adds to a message."""
        return self._ledger.count(text)

    def once(self, key: Hashable, source: object, make: Callable[[], T]) -> T:
        """See `Passage.once`."""
        return self._ledger.prices.rewritten.once(self._policy, key, source, make)

    def price_of(self, index: int) -> Count:
        """The price of the message at `index` with the changes so far; `NOTHING` if it was dropped."""
        if not self.holds(index):
            return NOTHING
        if index not in self._changed:
            return self._ledger.message(index)
        message = self._changed[index]
        return NOTHING if message is None else self._ledger.price_at(index, message)

    def price(self, message: Message) -> Count:
        """The price of a message, with its grade."""
        return self._ledger.price(message)

    def gains(self, change: Change) -> dict[int, Difference]:
        """What a change adds to the cost, by message index. Negative if it saves tokens.

        If it touches items that are sent merged, they are priced with their neighbours, by the index where their turn
        begins: dropping an item may join the items around it.
        """
        if not any(self._is_item(index) for index in change.messages):
            return {index: self._price_change(index, message) for index, message in change.messages.items()}
        turns: dict[int, dict[int, Message | None]] = {}
        for index, message in change.messages.items():
            if self.holds(index):  # one that does not stay adds nothing, and is refused if the others save tokens
                turns.setdefault(self._ledger.turn_start(index), {})[index] = message
        if len(turns) < 2:
            return {start: self._price_stretch_change(replaced) for start, replaced in turns.items()}
        # The neighbours of one turn's stretch may be messages of another: each turn changes after those before it.
        gains, changed = dict[int, Difference](), dict(self._changed)
        passage = attrs.evolve(self, changed=changed)
        for start, replaced in turns.items():
            gains[start] = passage._price_stretch_change(replaced)
            changed.update(replaced)
        return gains

    def joins_changes(self, since: int) -> bool:
        """Whether the message at `since` is sent merged with changed messages before it. O(those)."""
        if not self._changed or since >= self.length or self._ledger.begins_turn(since):
            return False
        return any(index in self._changed for index in range(self._ledger.run(since - 1).start, since))

    def price_joining(self, since: int) -> Difference:
        """What the messages from `since` on cost more after the changed messages than after the originals.

        O(neighbours).
        """
        start, stop = self._ledger.turn_start(since - 1), self._ledger.run(since).stop
        before = [message for _, message in self._read_kept_messages(range(max(self._reach_back(since), start), since))]
        new = [message for _, message in self._read_kept_messages(range(since, stop))]
        apart = total(self._ledger.between(since, stop), self._ledger.priced_run(before))
        return self._ledger.priced_run([*before, *new]) - apart

    def _is_item(self, index: int) -> bool:
        return self.holds(index) and (self.current(index).shape == RESPONSES or self._ledger.beside_others(index))

    def _price_change(self, index: int, message: Message | None) -> Difference:
        return (NOTHING if message is None else self._ledger.price_at(index, message)) - self.price_of(index)

    def _price_stretch_change(self, replaced: Mapping[int, Message | None]) -> Difference:
        stretch = self._add_neighbours(min(replaced), max(replaced))
        before = [(index, message) for index, message in self._read_kept_messages(stretch) if self.holds(index)]
        after = (replaced.get(index, message) for index, message in before)
        after_cost = self._ledger.priced_run([message for message in after if message is not None])
        return after_cost - self._ledger.priced_run([message for _, message in before])

    def _add_neighbours(self, first: int, last: int) -> range:
        """The messages from `first` to `last`, with the neighbours that may be sent merged with them.

        Of a long run only as many on each side as affect the price of an item.
        """
        return range(self._reach_back(first), self._reach_on(last + 1))

    def _reach_back(self, start: int) -> int:
        passed = 0
        while passed < NEIGHBOURS and (before := self._find_next_kept(reversed(range(start)))) is not None:
            further = self._ledger.run(before).start
            start, passed = further, passed + sum(map(self._is_kept, range(further, start)))
            if self._is_kept(start - 1):  # so is what would stand before the first message
                break  # otherwise one was dropped, and the one before it may be joined
        return start

    def _reach_on(self, stop: int) -> int:
        passed = 0
        while passed < NEIGHBOURS and (after := self._find_next_kept(range(stop, self.length))) is not None:
            further = self._ledger.run(after).stop
            stop, passed = further, passed + sum(map(self._is_kept, range(stop, further)))
            if self._is_kept(stop):
                break
        return stop

    def _find_next_kept(self, places: Iterable[int]) -> int | None:
        return next(filter(self._is_kept, places), None)

    def _is_kept(self, index: int) -> bool:
        return index not in self._changed or self._changed[index] is not None
