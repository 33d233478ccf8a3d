"""The conversation as an append-only log that drafts share, and what has been read of it so far.

A `History` is a frozen value: a log and a length. Appending to the newest one adds to the shared log, O(1); appending
to an older one (a diverged fork) first copies the log up to there. Everything known about a message is computed lazily
and once, and kept in `Readings`: its reading, its turn, the calls open after it.

The log may be longer than a history that shares it. So everything in it is either stored by the index of a message and
depends only on the messages up to that one, or it is cut to the length of the history that reads it.

Threads and forked processes may share a log without a lock (a forked child could inherit a locked one). Everything
computed is a pure function of the messages, so two threads store the same value. If two threads append at once, one
finds its message in its place and the other copies the log.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from assembler.conversation.compaction import api_of, is_window
from assembler.conversation.messages import Message, still_says
from assembler.conversation.messages.shapes import SHAPES
from assembler.conversation.policy_memory import Keepsake, Keepsakes
from assembler.conversation.readings import Readings, Span, are_unchanged
from assembler.conversation.turns import answers_the_server, opens_turn
from assembler.errors import ConversationError

__all__ = ["History", "HistoryView", "Readings", "Span"]


class _Log:
    """Messages, and what was read of them. An interrupted append may leave a message that no history includes."""

    __slots__ = ("raws", "readings")

    def __init__(self, raws: list[object], readings: Readings | None = None) -> None:
        self.raws = raws
        self.readings = Readings(raws) if readings is None else readings


def _are_unchanged(ours: list[object], dicts: list[object]) -> bool:
    try:
        return ours == dicts and set(map(type, ours)) == {dict}
    except Exception:  # a value whose comparison raises
        return False


def _is_unchanged(ours: object, other: object) -> bool:
    """Whether two messages are the same object, or equal dicts. Other classes' `__eq__` is not trusted."""
    if ours is other:
        return True
    try:
        return type(ours) is dict and type(other) is dict and ours == other
    except Exception:  # a value in it whose comparison raises
        return False


@attrs.define(eq=False, repr=False)
class History:
    """The first `length` messages of a log. Forks share the log, but none sees what another appends."""

    _log: _Log
    length: int

    @classmethod
    def of(cls, raws: Iterable[object], keepsakes: Iterable[tuple[object, Keepsake]] = ()) -> History:
        """A new history that holds the caller's own objects."""
        listed = list(raws)
        history = cls(_Log(listed), len(listed))
        history.readings.keepsakes = Keepsakes(keepsakes)
        return history

    def appended(self, raw: object) -> History:
        """The history with one more message. O(1), unless a fork has already appended to this one."""
        log = self._log
        if len(log.raws) == self.length:
            log.raws.append(raw)
            if log.raws[self.length] is raw:
                return History(log, self.length + 1)
        log = self._copy_log(self.length)  # a fork has taken the place
        log.raws.append(raw)
        return History(log, self.length + 1)

    def without_last(self) -> History:
        """The history without its last message. O(1)."""
        return History(self._log, max(0, self.length - 1))

    def replaced(self, listed: list[object]) -> History:
        """A history of the list that keeps what is known of the messages at the front that it shares with this one.

        It takes the list over: nobody else may change it. Shared are the same objects, and equal dicts, because many
        frameworks make new messages for each call. O(messages): an identity check or a comparison of dicts for each.
        """
        same = self._find_first_replaced(listed)
        equal = same + self._count_equal(listed, same)
        if equal > same:  # equal but other objects: what is known holds for them, and they are what is sent
            return History(_Log(listed, self.readings.known_until(equal, listed)), len(listed))
        if same == 0:
            return History(_Log(listed), len(listed))
        history = self if same == self.length else History(self._copy_log(same), same)
        for raw in listed[same:]:
            history = history.appended(raw)
        return history

    def _find_first_replaced(self, listed: list[object]) -> int:
        ours = self._log.raws
        shorter = min(self.length, len(listed))
        if all(map(operator.is_, itertools.islice(ours, shorter), listed)):
            return shorter
        return next(i for i in range(shorter) if ours[i] is not listed[i])

    def _count_equal(self, listed: list[object], start: int) -> int:
        stop = min(self.length, len(listed))
        ours, theirs = self._log.raws[start:stop], listed[start:stop]
        if set(map(type, theirs)) == {dict} and _are_unchanged(ours, theirs):
            return len(ours)
        pairs = enumerate(zip(ours, theirs, strict=True))
        return next((place for place, pair in pairs if not _is_unchanged(*pair)), len(ours))

    def _copy_log(self, stop: int) -> _Log:
        raws = self._log.raws[:stop]
        return _Log(raws, self.readings.known_until(stop, raws))

    @property
    def readings(self) -> Readings:
        """What has been read of the log, with an entry for every message of this history."""
        readings = self._log.readings
        if len(readings.messages) < self.length:
            readings.stretch(self.length)
        return readings

    def view(self) -> HistoryView:
        """This history with its current readings."""
        return HistoryView(self.readings, self.length)

    def forget(self, changed: int) -> HistoryView:
        """A view without readings from the turn of the message at `changed` on, or without any."""
        log, known = self._log, self.readings
        try:
            head = known.head(self.length)
            start = known.turn_start(changed, head) if changed >= head else 0
        except ConversationError:  # an earlier message, not read until now, is invalid
            start = 0
        log.readings = known.known_until(start, log.raws)
        return self.view()

    def current(self) -> HistoryView:
        """A view without readings of messages that their owner has changed. O(messages that were read)."""
        view = self.view()
        changed = view.first_stale()
        return view if changed is None else self.forget(changed)

    def raws(self, start: int = 0, stop: int | None = None) -> list[object]:
        """The caller's own objects, in order."""
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
class HistoryView:
    """A history with one set of readings. It gives the same answers for as long as it is held."""

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
        """The span of the messages between the head and the first user message, which may be empty."""
        head = stop = self.head
        while stop < self.length and not opens_turn(self.message(stop)):
            stop += 1
        return head, stop

    def answering_the_server(self) -> range:
        """The messages right after the head that answer calls held by the server."""
        head = stop = self.head
        while stop < self.length and answers_the_server(self.message(stop)):
            stop += 1
        return range(head, stop)

    def compacted(self, shape: str) -> int | None:
        """The message with the newest summary that a server of the API of this shape wrote, or None.

        For an API whose server writes none, no message is searched.
        """
        if SHAPES[shape].summary is None:
            return None
        indexes = reversed(self.readings.compactions(self.length))
        return next((i for i in indexes if i >= self.head and api_of(self.message(i)) == shape), None)

    def floor(self, shape: str) -> int:
        """The first message after the head that the API of this shape reads: its server's newest summary, if any."""
        found = self.compacted(shape)
        if found is None or is_window(map(self.message, range(self.head, found)), shape):
            return self.head
        return found

    def raws(self, start: int, stop: int) -> list[object]:
        """The caller's own objects from `start` to before `stop`."""
        return self.readings.raws(start, stop)

    def until(self, length: int) -> HistoryView:
        """The history as it was when it had `length` messages."""
        return HistoryView(self.readings, length)

    def marked(self, start: int = 0) -> list[int]:
        """The messages with a `pinned` mark. Those before `start` are not checked again. O(length - start)."""
        return self.readings.marked(self.length, start)

    def turns_newest_first(self) -> Iterator[Span]:
        """The turns, newest first, found as they are read."""
        return self.readings.turns_newest_first(self.head, self.length)

    def turns_ahead(self, stop: int, first: int, reach: float) -> list[tuple[int, int, int]]:
        """As `Readings.turns_ahead`, which the view asks for turns after its head."""
        return self.readings.turns_ahead(stop, first, self.head, reach)

    def turns_from(self, first: int) -> list[Span]:
        """The turns that begin at `first` or after it, oldest first. O(turns)."""
        starts, stop = self.readings.starts, self.length
        turns: list[Span] = []
        while stop > first:
            start = starts.get(stop - 1)
            if start is None:
                start = self.readings.turn_start(stop - 1, self.head)
            if start < first:
                break
            turns.append((start, stop))
            stop = start
        return turns[::-1]

    def newest_turn(self) -> Span:
        """The last turn; `(length, length)` if there is none."""
        head, length = self.head, self.length
        if length <= head:
            return length, length
        start = self.readings.starts.get(length - 1)
        return self.readings.turn_start(length - 1, head) if start is None else start, length

    def check(self, first: int) -> None:
        """Raise `ConversationError` if a turn from `first` on breaks the law of pairs. Calls at the end may be open."""
        self.readings.check(first, self.head, self.length)

    def first_changed(self, start: int, stop: int) -> int | None:
        """The first message from `start` to before `stop` whose owner changed it after it was read, or None."""
        return None if self.readings.dicts_are_unchanged((start, stop)) else self.compare_each(start, stop)

    def compare_each(self, start: int, stop: int) -> int | None:
        """`first_changed` if some messages are objects or were not read, so that no single comparison can tell.

        O(messages), each in Python.
        """
        readings = self.readings
        read = readings.messages[start:stop]  # a message is never false, one that was not read always
        raws = list(itertools.compress(readings.raws(start, stop), read))
        if not readings.objects and are_unchanged(raws, list(itertools.compress(readings.seen[start:stop], read))):
            return None
        messages = enumerate(read, start)
        changed = (
            index
            for index, message in messages
            if message is not None and not still_says(message, readings.raws(index, index + 1)[0])
        )
        return next(changed, None)

    def first_stale(self) -> int | None:
        """The first message whose owner changed, pinned or unpinned it after it was read, or None."""
        changed = self.first_changed(0, self.length)
        return self.pin_changed if changed is None else changed

    @property
    def pin_changed(self) -> int | None:
        """A message that was pinned or unpinned between two checks, or None."""
        found = self.readings.pin_changed
        return None if found is None or found >= self.length else found
