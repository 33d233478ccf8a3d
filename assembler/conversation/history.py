"""The conversation as it grew: an append-only log that drafts share, and what has been read of it so far.

A `History` is a frozen value: a log and a length. Appending to the newest one adds to the shared log, O(1); appending
to an older one (a fork that went its own way) copies the log up to there first. Everything known about a message is
found lazily, once, and kept beside it in `Readings`: its reading, its turn, the calls open after it.

The log may be longer than a history that shares it. So whatever the log knows is either kept by the index of a message
and follows from the messages up to that one alone, or it is bounded by the length of whoever asks.

Threads and forked processes may share a log, and there is no lock that a child could inherit closed: what is found is
a pure function of what came in, so a second finder writes the same again, and of two that append at once one finds its
message in its place, and the other copies the log.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from assembler.conversation.compaction import COMPACTING, api_of, is_window
from assembler.conversation.messages import Message, still_says
from assembler.conversation.policy_memory import Keepsake, Keepsakes
from assembler.conversation.readings import Readings, Span, alike
from assembler.conversation.turns import answers_the_server, opens_turn
from assembler.errors import ConversationError

__all__ = ["History", "Readings", "Sight", "Span"]


class _Log:
    """Messages, and what was read of them. An append that was interrupted may leave more than any history shows."""

    __slots__ = ("raws", "readings")

    def __init__(self, raws: list[object], readings: Readings | None = None) -> None:
        self.raws = raws
        self.readings = Readings(raws) if readings is None else readings


def _says_the_same_all(ours: list[object], dicts: list[object]) -> bool:
    try:
        return ours == dicts and set(map(type, ours)) == {dict}
    except Exception:  # a value whose comparison raises
        return False


def _says_the_same(one: object, other: object) -> bool:
    """Whether two messages are one object, or dicts that are equal. What else calls itself equal is not believed."""
    if one is other:
        return True
    try:
        return type(one) is dict and type(other) is dict and one == other
    except Exception:  # a value in it whose comparison raises
        return False


@attrs.define(eq=False, repr=False)
class History:
    """The first `length` messages of a log. Forks share the log; none of them sees what another appends."""

    _log: _Log
    length: int

    @classmethod
    def of(cls, raws: Iterable[object], keepsakes: Iterable[tuple[object, Keepsake]] = ()) -> History:
        """A history of its own, holding the caller's very objects."""
        listed = list(raws)
        history = cls(_Log(listed), len(listed))
        history.readings.keepsakes = Keepsakes(keepsakes)
        return history

    def appended(self, raw: object) -> History:
        """The history with one message more. O(1), unless a sibling has already grown from here."""
        log = self._log
        if len(log.raws) == self.length:
            log.raws.append(raw)
            if log.raws[self.length] is raw:
                return History(log, self.length + 1)
        log = self._split(self.length)  # its place is a sibling's
        log.raws.append(raw)
        return History(log, self.length + 1)

    def without_last(self) -> History:
        """The history without its last message. O(1)."""
        return History(self._log, max(0, self.length - 1))

    def replaced(self, raws: Iterable[object]) -> History:
        """A history of `raws` that keeps what is known of the messages that it begins with in common with this one.

        These are the same objects, or dicts that say the same: many a framework makes its messages anew for each call.
        O(messages), for each no more than a look at the object or one comparison of dicts.
        """
        listed = list(raws)
        same = self._common(listed)
        equal = same + self._equal(listed, same)
        if equal > same:  # other objects: what is known is known of these too, and they are what goes out
            return History(_Log(listed, self.readings.known_until(equal, listed)), len(listed))
        if same == 0:
            return History(_Log(listed), len(listed))
        history = self if same == self.length else History(self._split(same), same)
        for raw in listed[same:]:
            history = history.appended(raw)
        return history

    def _common(self, listed: list[object]) -> int:
        ours = self._log.raws
        shorter = min(self.length, len(listed))
        if all(map(operator.is_, itertools.islice(ours, shorter), listed)):
            return shorter
        return next(i for i in range(shorter) if ours[i] is not listed[i])

    def _equal(self, listed: list[object], start: int) -> int:
        stop = min(self.length, len(listed))
        ours, theirs = self._log.raws[start:stop], listed[start:stop]
        if set(map(type, theirs)) == {dict} and _says_the_same_all(ours, theirs):
            return len(ours)
        pairs = enumerate(zip(ours, theirs, strict=True))
        return next((place for place, (one, other) in pairs if not _says_the_same(one, other)), len(ours))

    def _split(self, stop: int) -> _Log:
        raws = self._log.raws[:stop]
        return _Log(raws, self.readings.known_until(stop, raws))

    @property
    def readings(self) -> Readings:
        """What has been read of the log, by whoever asked: with room for every message of this history."""
        readings = self._log.readings
        if len(readings.messages) < self.length:
            readings.stretch(self.length)
        return readings

    def sight(self) -> Sight:
        """What is known of this history now."""
        return Sight(self.readings, self.length)

    def forget(self, changed: int) -> Sight:
        """A sight that has read nothing from the turn of the message at `changed` on, or nothing at all."""
        log, known = self._log, self.readings
        try:
            head = known.head(self.length)
            start = known.turn_start(changed, head) if changed >= head else 0
        except ConversationError:  # a message before it, which nobody had read, is none
            start = 0
        log.readings = known.known_until(start, log.raws)
        return self.sight()

    def current(self) -> Sight:
        """A sight that holds no reading of a message that its owner changed since. O(messages that were read)."""
        sight = self.sight()
        changed = sight.first_stale()
        return sight if changed is None else self.forget(changed)

    def raws(self, start: int = 0, stop: int | None = None) -> list[object]:
        """The caller's very objects, in order."""
        return self._log.raws[start : self.length if stop is None else stop]

    def __len__(self) -> int:
        return self.length

    def __eq__(self, other: object) -> bool:
        return self.raws() == other.raws() if isinstance(other, History) else NotImplemented

    __hash__ = None  # type: ignore[assignment] # the caller's messages have none

    def __reduce__(self) -> tuple[Any, ...]:
        return History.of, (self.raws(), [*self.readings.keepsakes.until(self.length)])

    def __deepcopy__(self, memo: dict[int, Any]) -> History:
        return self  # frozen; the objects in it are the caller's


@attrs.define(eq=False, repr=False)
class Sight:
    """One history seen through one set of readings: the same answers for as long as it is held."""

    readings: Readings
    length: int

    @property
    def head(self) -> int:
        """How many messages at the front belong to the instruction."""
        return self.readings.head(self.length)

    def message(self, index: int) -> Message:
        """The message at `index`."""
        return self.readings.messages[index] or self.readings.message(index)  # a message is never false

    def messages(self, start: int, stop: int) -> list[Message]:
        """The messages from `start` to before `stop`."""
        known = self.readings.messages[start:stop]
        if all(known):  # a message is never false
            return known  # type: ignore[return-value] # pyright: ignore[reportReturnType]
        return [self.readings.message(index) for index in range(start, stop)]

    def greeting(self) -> Span:
        """The messages between the head and the first user message; an empty span where there are none."""
        head = stop = self.head
        while stop < self.length and not opens_turn(self.message(stop)):
            stop += 1
        return head, stop

    def answering_the_server(self) -> range:
        """The messages after the head that answer calls which the server holds."""
        head = stop = self.head
        while stop < self.length and answers_the_server(self.message(stop)):
            stop += 1
        return range(head, stop)

    def compacted(self, shape: str) -> int | None:
        """The message that holds the newest summary of the server's of the API of this shape, or None."""
        if shape not in COMPACTING:
            return None
        indexes = reversed(self.readings.compactions(self.length))
        return next((i for i in indexes if i >= self.head and api_of(self.message(i)) == shape), None)

    def floor(self, shape: str) -> int:
        """The first message that the API of this shape still reads: a server's newest summary, or the first turn's."""
        found = self.compacted(shape)
        if found is None or is_window(map(self.message, range(self.head, found)), shape):
            return self.head
        return found

    def raws(self, start: int, stop: int) -> list[object]:
        """The caller's very objects from `start` to before `stop`."""
        return self.readings.raws(start, stop)

    def until(self, length: int) -> Sight:
        """The first `length` messages of this sight: the history as it was then."""
        return Sight(self.readings, length)

    def marked(self, start: int = 0) -> list[int]:
        """The messages with the `pinned` mark; those before `start` as they were seen last. O(length - start)."""
        return self.readings.marked(self.length, start)

    def turns_newest_first(self) -> Iterator[Span]:
        """The turns, newest first, each found only when asked for."""
        head, stop = self.head, self.length
        starts = self.readings.starts
        while stop > head:
            start = starts[stop - 1]
            if start is None:
                start = self.readings.turn_start(stop - 1, head)
            yield start, stop
            stop = start

    def turns_from(self, first: int) -> list[Span]:
        """The turns that begin at `first` or after it, oldest first. O(turns)."""
        starts, stop = self.readings.starts, self.length
        turns: list[Span] = []
        while stop > first:
            start = starts[stop - 1]
            if start is None:
                start = self.readings.turn_start(stop - 1, self.head)
            if start < first:
                break
            turns.append((start, stop))
            stop = start
        return turns[::-1]

    def newest_turn(self) -> Span:
        """The last turn; `(length, length)` where there is none."""
        return next(self.turns_newest_first(), (self.length, self.length))

    def check(self, first: int) -> None:
        """Raise `ConversationError` if any turn from `first` on breaks the law of pairs; the newest may wait."""
        self.readings.check(first, self.turns_newest_first(), self.length)

    def first_changed(self, start: int, stop: int) -> int | None:
        """The first message from `start` to before `stop` whose owner changed it after it was read, or None."""
        return None if self.readings.says_still(start, stop) else self.looked_through(start, stop)

    def looked_through(self, start: int, stop: int) -> int | None:
        """`first_changed` where not all of them are dicts that say what was read: some are objects, or were not read.

        O(messages), a step of ours for each.
        """
        readings = self.readings
        read = readings.messages[start:stop]  # a message is never false, one that was not read always
        raws = list(itertools.compress(readings.raws(start, stop), read))
        if not readings.objects and alike(raws, list(itertools.compress(readings.seen[start:stop], read))):
            return None
        messages = enumerate(read, start)
        changed = (
            index
            for index, message in messages
            if message is not None and not still_says(message, readings.raws(index, index + 1)[0])
        )
        return next(changed, None)

    def first_stale(self) -> int | None:
        """The first message of all whose owner changed it after it was read, or marked it between two looks at it."""
        changed = self.first_changed(0, self.length)
        return self.remarked if changed is None else changed

    @property
    def remarked(self) -> int | None:
        """A message that got or lost the `pinned` mark between two looks at it, or None."""
        found = self.readings.remarked
        return None if found is None or found >= self.length else found
