"""Makes a broken history valid and lists what it changed. A build never calls it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeVar, cast

import attrs

from assembler.conversation.intake import listed_messages
from assembler.conversation.messages import Call, Message, read_message
from assembler.conversation.messages.edit import answer_call, edited, failed_answer, of_the_user, write_like
from assembler.conversation.pairs import LooseResult, Pairs, PendingCall
from assembler.errors import ConversationError, MarkupError

M = TypeVar("M")

NO_RESULT = "no result was recorded"
"""The text of an added result."""


@attrs.frozen
class Repair:
    """One change that `repair` made. `index` is the place in the original history."""

    index: int
    did: Literal["dropped", "added", "edited", "moved"]
    why: str


def repair(messages: Iterable[M] | None) -> tuple[list[M | dict[str, Any]], list[Repair]]:
    """A history in which calls and results pair up, and a list of the changes, empty if nothing was wrong.

    Moved: a result away from its call goes to the other results of its step. It is found by its id, or by its name and
    order, before or after the call. A result in a message of the model becomes the user's. Dropped: anything that is
    not a message, a result without a call, and a second result. Edited, in a copy: a message with such a result, or
    with a call that repeats an id, and other parts; and an answer in Chat's form, by name to a call that has an id,
    or by id to one that has none. Added: a result with the text `NO_RESULT` for a call that has none, in the same form
    as the call: a dict, or an object made by the writer of its class (`register_reader`). All other messages are your
    own objects. None means an empty conversation. Raises `MessageTypeError` unless it gets a list of messages.
    O(parts).
    """
    changes: list[Repair] = []
    raws = enumerate(() if messages is None else listed_messages(messages))
    read = [found for index, raw in raws if (found := _read_valid_parts(raw, index, changes)) is not None]
    pairs = Pairs.of([message for _, message in read])
    repaired = _RepairedHistory(read, pairs, changes)
    for place in range(len(read)):
        repaired.close(place)
        repaired.keep(place)
    repaired.close(len(read))
    return cast(list[M | dict[str, Any]], repaired.kept), sorted(changes, key=lambda change: change.index)


def _read_valid_parts(raw: object, index: int, changes: list[Repair]) -> tuple[int, Message] | None:
    """Read a message, without calls that its role may not make or whose id repeats; None if nothing is left."""
    try:
        message = read_message(raw, index)
    except (ConversationError, MarkupError) as error:
        changes.append(Repair(index, "dropped", f"cannot be read: {type(error).__name__}"))
        return None
    marked = zip(message.parts, _mark_wrong_calls(message), strict=True)
    parts = [None if is_wrong else part for part, is_wrong in marked]
    if None not in parts:
        return index, message
    why = "its call ids repeat, or its role cannot call"
    if not any(parts):
        changes.append(Repair(index, "dropped", why))
        return None
    changes.append(Repair(index, "edited", why))
    return index, edited(message, parts)


def _mark_wrong_calls(message: Message) -> list[bool]:
    """For each part, whether it is a call that the message's role may not make, or whose id repeats."""
    seen: set[str] = set()
    found: list[bool] = []
    for part in message.parts:
        found.append(type(part) is Call and (message.role != "assistant" or part.id in seen))
        if type(part) is Call and part.id is not None:
            seen.add(part.id)
    return found


@attrs.define
class _RepairedHistory:
    """The repaired history so far."""

    messages: Sequence[tuple[int, Message]]
    pairs: Pairs
    changes: list[Repair]
    kept: list[object] = attrs.Factory(list[object])

    def keep(self, place: int) -> None:
        """Append the message at `place`, without results that are moved or dropped."""
        index, message = self.messages[place]
        loose = {given.part: given for given in self.pairs.loose.get(place, ())}
        if place in self.pairs.repeating:
            self.changes.append(Repair(index, "dropped", "its call id is that of an open call"))
            return
        lost = [given for given in loose.values() if given.asked is None]
        if not loose:
            self.kept.append(message.raw)
        elif len(loose) < len(message.parts):
            self.kept.append(
                _keep_parts(message, [part for part in range(len(message.parts)) if part not in loose]).raw
            )
            self.changes.append(Repair(index, "edited", "a result in it answers no open call"))
        elif lost:
            self.changes.append(Repair(index, "dropped", "answers no open call"))

    def close(self, place: int) -> None:
        """Append the results of calls that are still open before the message at `place`."""
        unanswered = self.pairs.unanswered.get(place, ())
        sources: dict[int, list[LooseResult]] = {}
        for asked in unanswered:
            if asked.answer is None:
                self._add_answer(asked, place)
            else:
                sources.setdefault(asked.answer.place, []).append(asked.answer)
        for source, results in sources.items():
            self._move_results(source, results)

    def _add_answer(self, asked: PendingCall, place: int) -> None:
        index = self.messages[place][0] if place < len(self.messages) else self._next_index
        self.kept.append(write_like(asked.message.raw, failed_answer(asked.call, asked.message, NO_RESULT)))
        self.changes.append(Repair(index, "added", "a call had no result"))

    def _move_results(self, source: int, results: Sequence[LooseResult]) -> None:
        index, message = self.messages[source]
        given = results[0]
        if given.asked is not None and given.is_misdirected:
            self.kept.append(answer_call(message, given.asked.call))
            self.changes.append(Repair(index, "edited", "its call is known by another name"))
            return
        if len(results) < len(message.parts):
            message = _keep_parts(message, [given.part for given in results])
        self.kept.append(of_the_user(message) if message.role == "assistant" else message.raw)
        self.changes.append(Repair(index, "moved", "a result was away from its call"))

    @property
    def _next_index(self) -> int:
        return self.messages[-1][0] + 1 if self.messages else 0


def _keep_parts(message: Message, places: Sequence[int]) -> Message:
    """A copy of the caller's message that holds only the parts at `places`."""
    kept = set(places)
    return edited(message, [part if place in kept else None for place, part in enumerate(message.parts)])
