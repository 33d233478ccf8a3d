"""What is remembered about the messages of a history: how each reads, where turns begin, what they cost.

It may cover more messages than a history has, if a fork that shares the log has grown. So everything here is either
stored by the index of a message and depends only on the messages up to that one, or it records for how many messages it
holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import attrs

from assembler.conversation.compaction import may_compact
from assembler.conversation.messages import Message, read_message
from assembler.conversation.messages.read import pinned_among
from assembler.conversation.messages.responses_items import RESPONSES
from assembler.conversation.policy_memory import Keepsakes
from assembler.conversation.turns import (
    NOTHING_OPEN,
    OpenCalls,
    is_head,
    open_calls_after,
    open_calls_before,
    opens_turn,
    unanswered_error,
)

if TYPE_CHECKING:
    from assembler.pricing.prices import Prices

Span: TypeAlias = tuple[int, int]
"""Messages that stand next to each other, a turn or several: first index, and the index after the last."""

Known = TypeVar("Known")

PREDICATES = 8
"""How many predicates for pins are remembered. A ladder of policies has one or two."""


MANY = 2**62
"""More tokens than any window has."""

_BEYOND_TEXT = 16
"""More tokens than a message costs beyond its text."""


def most_tokens(messages: Iterable[Message]) -> int:
    """About the most tokens that these messages may cost: a text rarely has more tokens than characters.

    `MANY` if one of them holds anything but a text, or may join its neighbours.
    """
    tokens = 0
    for message in messages:
        text = message.text
        if text is None or not message.shallow or message.shape == RESPONSES:
            return MANY
        tokens += len(text) + _BEYOND_TEXT
    return tokens


def are_unchanged(raws: list[object], seen: list[Any]) -> bool:
    """Whether messages equal what was read of them. False if they cannot be compared, as with an array."""
    try:
        return raws == seen
    except Exception:  # a caller's object may raise anything; reading it raises the proper error
        return False


def known_before(stop: int, by_index: dict[int, Known], every: Sized) -> dict[int, Known]:
    """A copy of what is known of the messages before `stop`, of all messages `every`."""
    known = by_index.copy()  # in C, and another thread may add more
    if known.keys().isdisjoint(range(stop, len(every))):
        return known
    return {index: found for index, found in known.items() if index < stop}


@attrs.frozen(eq=False)
class Matched:
    """The messages that a predicate for pins matched, of the first `length`."""

    pins: Callable[[Any], object]
    length: int
    indexes: tuple[int, ...]


class Readings:
    """Everything remembered about the messages of a log: their readings, and what was computed from them.

    It grows with the log. It never forgets; `known_until` makes a shorter copy instead. Threads share it without a
    lock: each value depends only on the messages, so two threads store the same, and it is stored by one assignment of
    a finished value, so no thread sees half of it.
    """

    __slots__ = (
        "_compactions",
        "_head",
        "_lawful",
        "_marks",
        "_open_calls",
        "_raws",
        "keepsakes",
        "matched",
        "messages",
        "objects",
        "pin_changed",
        "prices",
        "seen",
        "starts",
    )

    def __init__(self, raws: list[object]) -> None:
        self._raws = raws
        self.messages: list[Message | None] = [None] * len(raws)
        self.starts: dict[int, int] = {}
        """Where the turn of each message begins, as far as known. Of a long history little is, so this is no list."""
        self._open_calls: dict[int, OpenCalls] = {}
        """The open calls after each message, as far as known."""
        self.seen: list[object] = [None] * len(raws)
        """The content of each message when it was read: the fields of a dict, any other object itself, None if unread.
        Python compares two lists of dicts in C."""
        self.objects: set[int] = set()
        """The messages that are not dicts."""
        self._head: int | None = None
        self._lawful: Span = (0, 0)
        self.prices: list[Prices] = []
        """The prices of the messages under each of the last `PRICERS` pricers."""
        self.matched: tuple[Matched, ...] = ()
        """The matches of the last `PREDICATES` predicates for pins."""
        self.keepsakes = Keepsakes()
        """What policies remember."""
        self._marks: tuple[int, list[int]] = (0, [])
        """How many messages were checked for a `pinned` mark, and which had one."""
        self._compactions: tuple[int, tuple[int, ...]] = (0, ())
        """How many messages were checked for a server's summary, and which may hold one."""
        self.pin_changed: int | None = None
        """A message that was pinned or unpinned after a check. Results computed since may be outdated."""

    def known_until(self, stop: int, raws: list[object]) -> Readings:
        """A copy for a log that begins with the same messages before `stop`. It knows nothing of later ones.

        If there are no later ones, it also keeps decisions; otherwise it checks for `pinned` marks again.
        """
        self.stretch(stop)
        copy = Readings(raws)
        # Copy derived values before the readings, and the readings before `seen`: another thread may add more between
        # two lines.
        copy._open_calls = known_before(stop, self._open_calls, self._raws)
        copy.starts = known_before(stop, self.starts, self._raws)
        copy.messages = self.messages[:stop]
        copy.seen = self.seen[:stop]
        copy.objects = {index for index in self.objects.copy() if index < stop}
        if self._head is not None and self._head < stop:
            copy._head = self._head
        copy.keepsakes = self.keepsakes.until(stop)
        copy.prices = [prices.known_until(stop) for prices in self.prices.copy()]
        if stop == len(self._raws):
            copy._lawful, copy._marks, copy.pin_changed = self._lawful, self._marks, self.pin_changed
            for prices, ours in zip(copy.prices, self.prices.copy(), strict=False):
                prices.take_over(ours)
        return copy

    def stretch(self, length: int) -> None:
        """Make entries for `length` messages, or more if two threads do it at once. `messages` must grow last."""
        missing = length - len(self.messages)
        if missing == 1:  # one at a time, as a conversation grows
            self.seen.append(None)
            self.messages.append(None)
        elif missing > 0:
            nothing: list[Any] = [None] * missing
            self.seen.extend(nothing)
            self.messages.extend(nothing)

    def matched_by(self, pins: Callable[[Any], object]) -> Matched:
        """What a predicate has matched so far."""
        return next((found for found in self.matched if found.pins is pins), Matched(pins, 0, ()))

    def remember_match(self, found: Matched) -> None:
        """Store the matches of a predicate in place of its last ones."""
        others = [other for other in self.matched if other.pins is not found.pins]
        self.matched = (*others[-PREDICATES + 1 :], found)

    def marked(self, length: int, start: int = 0) -> list[int]:
        """The messages with a `pinned` mark, of the first `length`. Those before `start` are taken from the last check;
        the others are checked now, because a mark may be set in place. O(length - start).
        """
        known, found = self._marks
        start = min(start, known)
        before = [index for index in found if index < start]
        # The whole list is not copied. What another thread appends meanwhile is filtered out.
        raws = self._raws[start:length] if start or length < len(self._raws) else self._raws
        now = [*before, *(at for index in pinned_among(raws) if (at := start + index) < length)]
        changed = {index for index in found if index < length}.symmetric_difference(
            index for index in now if index < known
        )
        self.pin_changed = min(changed, default=self.pin_changed)
        if length > known:
            self._marks = (length, now)
        return now

    def compactions(self, length: int) -> tuple[int, ...]:
        """The messages that may hold a server's summary, of the first `length`. O(messages not checked before)."""
        known, found = self._compactions
        if known < length:
            new = [index for index in range(known, length) if may_compact(self._raws[index])]
            found = (*found, *new)
            self._compactions = (length, found)
        return tuple(index for index in found if index < length)

    def message(self, index: int) -> Message:
        """The message at `index`, read at the first call."""
        found = self.messages[index]
        if found is None:
            raw = self._raws[index]
            found = read_message(raw, index)
            if found.role == "tool" and found.sent is None:  # it is known of most
                from assembler.conversation.older_answers import shape_like_its_call  # for few histories

                found = shape_like_its_call(found, map(self._raws.__getitem__, range(index - 1, -1, -1)))
            # Stored before the reading, so that a thread that finds the reading also finds this.
            if type(raw) is dict:
                self.seen[index] = found.seen
            else:
                self.seen[index] = raw
                self.objects.add(index)
            self.messages[index] = found
        return found

    def dicts_are_unchanged(self, *stretches: Span) -> bool:
        """Whether the dicts in these stretches are unchanged. False if any message is not a dict."""
        if self.objects:
            return False
        raws, seen = self._raws, self.seen
        try:  # as `are_unchanged` does, at each build
            for start, stop in stretches:
                if raws[start:stop] != seen[start:stop]:
                    return False
        except Exception:
            return False
        return True

    def raws(self, start: int, stop: int) -> list[object]:
        """The caller's own objects from `start` to before `stop`."""
        return self._raws[start:stop]

    def head(self, length: int) -> int:
        """The number of system and developer messages at the front, of the first `length` messages."""
        if self._head is not None:
            return min(self._head, length)  # a longer history may have found one more
        for index in range(length):
            if not is_head(self.message(index)):
                self._head = index
                return index
        return length

    def turn_start(self, index: int, head: int) -> int:
        """The index where the turn of the message at `index` begins. O(1) amortised over a growing history."""
        starts, messages, at = self.starts, self.messages, index
        while (start := starts.get(at)) is None:
            if at == head or opens_turn(messages[at] or self.message(at)):
                start = at
                break
            at -= 1
        for later in range(at, index + 1):
            starts[later] = start
        return start

    def read_newest(self, index: int) -> int | None:
        """Read the last message and check it against the law of pairs. O(1) if the one before it was read.

        Returns the index where its turn begins, or None in the head. Open calls are allowed.
        """
        message = self.message(index)
        head = self.head(index + 1) if self._head is None else self._head
        if index < head:
            return None
        is_text = message.text is not None  # most by far: no calls and no results
        if index == head or (message.role == "user" if is_text else opens_turn(message)):
            start, before = index, open_calls_before(message) if message.role == "tool" else NOTHING_OPEN
        else:
            known = self.starts.get(index - 1)
            start = self.turn_start(index - 1, head) if known is None else known
            open_calls = self._open_calls.get(index - 1)
            before = self.open_calls(start, index) if open_calls is None else open_calls
        self.starts[index] = start
        if not is_text or before.left:
            before = open_calls_after(before, message, index, self.message(index - 1) if before.left else None)
        self._open_calls[index] = before
        return start

    def open_calls_after(self, start: int, stop: int) -> OpenCalls:
        """The open calls after the messages from `start` to before `stop`, the end of the history.

        A turn must have begun before `start`. Raises `ConversationError` for any other breach of the law of pairs.
        O(messages).
        """
        head, open_calls = self.head(stop), NOTHING_OPEN
        for index in range(start, stop):
            begins = self.starts.get(index)
            if begins is None:
                begins = self.turn_start(index, head)
            if begins == index > head:
                before = self._open_calls.get(index - 1)
                if before is None:
                    before = self.open_calls(self.turn_start(index - 1, head), index)
                if before.left:
                    raise unanswered_error(before, index)
            known = self._open_calls.get(index)
            open_calls = self.open_calls(begins, index + 1) if known is None else known
        return open_calls

    def turns_newest_first(self, head: int, length: int) -> Iterator[Span]:
        """The turns after the head, newest first, found as they are read."""
        starts, stop = self.starts, length
        while stop > head:
            start = starts.get(stop - 1)
            if start is None:
                start = self.turn_start(stop - 1, head)
            yield start, stop
            stop = start

    def turns_ahead(self, stop: int, first: int, head: int, reach: float) -> list[tuple[int, int, int]]:
        """The newest turns from `first` to before `stop`, newest first, until they may cost more than `reach` together.

        The last one may exceed it. Each is its first index, the index after its last, and about the most tokens that it
        may cost.
        """
        ahead, messages = list[tuple[int, int, int]](), self.messages
        while stop > first and reach >= 0:
            start = self.turn_start(stop - 1, head)
            at_most = most_tokens([messages[index] or self.message(index) for index in range(start, stop)])
            ahead.append((start, stop, at_most))
            reach -= at_most
            stop = start
        return ahead

    def check(self, first: int, head: int, length: int) -> None:
        """Raise `ConversationError` if any turn from the one that begins at `first` breaks the law of pairs.

        The newest may have open calls: the next messages may answer them. An older turn can no longer change, so it is
        checked once: O(new turns) over a growing history.
        """
        lawful, until = self._lawful
        newest = length
        for start, stop in self.turns_newest_first(head, length):
            if start < first or (lawful <= first and stop <= until and stop < length):
                break
            self.check_turn(start, stop, length)
            if stop == length:
                newest = start
        self._lawful = (first, newest)

    def check_turn(self, start: int, stop: int, length: int) -> None:
        """Raise `ConversationError` if a call of the turn has no result and can get none. O(new messages)."""
        open_calls = self.open_calls(start, stop)
        if open_calls.left and stop < length:
            raise unanswered_error(open_calls, stop)

    def open_calls(self, start: int, stop: int) -> OpenCalls:
        """The open calls at the end of a turn. Raises for any other breach of the law of pairs."""
        calls, messages, known = self._open_calls, self.messages, stop - 1
        while known >= start and known not in calls:
            known -= 1
        if known >= start:
            open_calls = calls[known]
        else:
            open_calls = NOTHING_OPEN
            if start < stop and (first := messages[start] or self.message(start)).role == "tool":
                open_calls = open_calls_before(first)
        for index in range(known + 1, stop):
            message = messages[index] or self.message(index)
            if message.text is None or open_calls is not NOTHING_OPEN:
                open_calls = open_calls_after(
                    open_calls, message, index, self.message(index - 1) if open_calls.left else None
                )
            calls[index] = open_calls
        return open_calls
