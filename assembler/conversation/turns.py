"""Turns, steps, and the law of pairs.

A **turn** is a user message and all that follows it, up to the next user message that does not merely carry tool
results. Messages before the first user message are a turn too. A **step** is an assistant message with calls, or items
with calls side by side, and all their results. Turns are kept or dropped whole, so that calls keep their results.

The law of pairs holds for every API (OpenAI's and Anthropic's errors state the same). Every call has exactly one
result, before any message that is not a result; only the Responses API allows items of the model in between. Every
result has a call, and is not in the model's own message. The ids in one message are unique.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

import attrs

from assembler.conversation.compaction import is_compacted
from assembler.conversation.messages import Call, Message, Opaque, Result
from assembler.conversation.messages.responses import is_given_apart
from assembler.conversation.messages.responses_items import RESPONSES, is_sendable
from assembler.errors import ConversationError

_ANY = ""
"""The key under which all calls without an id are stored. No call has an empty name."""


class _CallIndex:
    """Calls in order, with an index by id and by name.

    Append-only. A fork that finds the next place taken makes a new one.
    """

    __slots__ = ("at", "calls", "nameless")

    def __init__(self) -> None:
        self.calls: dict[int, Call] = {}
        self.at: dict[str, list[int]] = {}
        self.nameless: dict[str, int] = {}

    def add(self, place: int, call: Call) -> bool:
        """Put a call in a place. Returns False if the place is taken."""
        if self.calls.setdefault(place, call) is not call:
            return False
        if call.id is not None:
            self.at.setdefault(call.id, []).append(place)
            return True
        for name in (call.name, _ANY):
            self.nameless[name] = self.nameless.get(name, 0) | 1 << place
        return True


@attrs.define(eq=False)
class OpenCalls:
    """The calls without a result so far: those of the first `size` calls whose bit is set in `left`.

    Immutable. Successors share the calls, so each message costs a bit for each call and not a copy.
    """

    _asked: _CallIndex = attrs.field(factory=_CallIndex)
    _size: int = 0
    left: int = 0
    """A bit for each open call; 0 if there is none."""
    _on_server: bool = False
    """Whether other results are for calls that the server holds."""

    def __bool__(self) -> bool:
        return self.left != 0

    def __len__(self) -> int:
        return self.left.bit_count()

    def __iter__(self) -> Iterator[Call]:
        return (self._asked.calls[place] for place in range(self._size) if self.left >> place & 1)

    def holds(self, call_id: str) -> bool:
        """Whether a call with this id is open."""
        return self._find_place(call_id) is not None

    def without(self, result: Result) -> OpenCalls | None:
        """The open calls after a result; None if it answers none of them."""
        if result.call_id is not None:
            place = self._find_place(result.call_id)
        else:
            nameless = self._asked.nameless
            named = 0 if result.name is None else self.left & nameless.get(result.name, 0)
            fitting = named or self.left & nameless.get(_ANY, 0)  # as `CallQueue.answered`
            place = _find_lowest_bit(fitting) if fitting else None
        if place is None:
            return self if self._on_server else None
        return OpenCalls(self._asked, self._size, self.left & ~(1 << place))

    @classmethod
    def of(cls, calls: Iterable[Call]) -> OpenCalls:
        """These calls, all of them open. Their ids must differ."""
        asked, size = _CallIndex(), 0
        for call in calls:
            asked.add(size, call)
            size += 1
        return cls(asked, size, (1 << size) - 1)

    def with_calls(self, calls: Iterable[Call]) -> OpenCalls:
        """The open calls and more. No id of theirs may be open already."""
        asked, size, left = self._asked, self._size, self.left
        for call in calls:
            if not asked.add(size, call):
                asked, size, left = OpenCalls(asked, size, left)._build_anew()
                asked.add(size, call)
            left |= 1 << size
            size += 1
        return OpenCalls(asked, size, left)

    def _find_place(self, call_id: str) -> int | None:
        places = self._asked.at.get(call_id, ())
        last = bisect_left(places, self._size) - 1  # earlier calls with this id have a result, or it could not repeat
        return places[last] if last >= 0 and self.left >> places[last] & 1 else None

    def _build_anew(self) -> tuple[_CallIndex, int, int]:
        asked, size = _CallIndex(), 0
        for size, call in enumerate(self, 1):
            asked.add(size - 1, call)
        return asked, size, (1 << size) - 1


def _find_lowest_bit(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


NOTHING_OPEN = OpenCalls()
_ON_SERVER = OpenCalls(_CallIndex(), 0, 0, True)


def answers_the_server(message: Message) -> bool:
    """Whether a message, as the first after the head, answers calls that the server holds: only Responses items can."""
    return message.shape == RESPONSES and message.role == "tool" and any(type(part) is Result for part in message.parts)


def open_calls_before(message: Message) -> OpenCalls:
    """The open calls before the first message of a turn: none, or those that the server may hold."""
    return _ON_SERVER if message.role == "tool" and answers_the_server(message) else NOTHING_OPEN


def opens_turn(message: Message) -> bool:
    """Whether a turn begins here: at a user message without results, or at a server's summary."""
    if message.text is not None:  # most by far
        return message.role == "user"
    kinds = set(map(type, message.parts))
    return (message.role == "user" and Result not in kinds) or (Opaque in kinds and is_compacted(message))


_OF_PAIRS = frozenset([Call, Result])


def is_head(message: Message) -> bool:
    """Whether a message at the head of a history belongs to the instruction: one that calls or answers belongs to a
    turn, where the law of pairs refuses it.
    """
    return message.role in ("system", "developer") and _OF_PAIRS.isdisjoint(map(type, message.parts))


def head_length(messages: Sequence[Message]) -> int:
    """How many messages at the head are system or developer messages."""
    return next((i for i, message in enumerate(messages) if not is_head(message)), len(messages))


def open_calls_after(open_calls: OpenCalls, message: Message, index: int, before: Message | None = None) -> OpenCalls:
    """The open calls after `message`, which follows `before`. Raises `ConversationError` if it breaks the law of pairs.

    O(parts).
    """
    if not open_calls.left and message.text is not None:  # the usual case
        return open_calls
    results: list[Result] = []
    calls: list[Call] = []
    for part in message.parts:
        if type(part) is Result:
            results.append(part)
        elif type(part) is Call:
            calls.append(part)
    if not results and not open_calls.left:
        return _add_calls(open_calls, calls, message, index) if calls else open_calls
    if results and message.role == "assistant":
        raise answered_by_the_model(results[0], index)
    open_calls = _take_answers(open_calls, results, index)
    if open_calls.left and not results and may_come_between(message, before):
        return _add_calls(open_calls, calls, message, index) if calls else open_calls
    if open_calls.left and not results:
        raise unanswered_error(open_calls, index, JOIN_CHUNKS if _is_next_chunk(message, before) else ADD_RESULTS)
    return _add_calls(open_calls, calls, message, index) if calls else open_calls


def may_come_between(message: Message, before: Message | None) -> bool:
    """Whether a message may come between a call and its result, as other items of the model in the Responses API.

    So may a text of the model's whose dict has no type: that API accepts it as it accepts an item.
    """
    if before is None or not is_of_responses(before):
        return False
    if message.role == "assistant":
        return is_of_responses(message)
    return is_given_apart(message)


def is_of_responses(message: Message) -> bool:
    """Whether a message is an item of Responses, or a text of the model's that may stand among such items."""
    return message.shape == RESPONSES or (message.role == "assistant" and is_sendable(message))


def open_calls_at_the_end(messages: Iterable[tuple[int, Message]]) -> OpenCalls:
    """The open calls after the last message. Raises `ConversationError` for any other breach of the law of pairs."""
    open_calls, before = NOTHING_OPEN, None
    for index, message in messages:
        open_calls = open_calls_after(
            open_calls_before(message) if before is None else open_calls, message, index, before
        )
        before = message
    return open_calls


def _is_next_chunk(message: Message, before: Message | None) -> bool:
    """Whether a content of Gemini's model follows another, as the chunks of one answer do in its SDK's chats."""
    return before is not None and {message.shape, before.shape} == {"gemini"} and message.role == before.role


ADD_RESULTS = "add the results or let assembler.repair(messages) do it"
JOIN_CHUNKS = "add its results, or, if both are chunks of one streamed answer, join their parts in one content"


def unanswered_error(
    open_calls: OpenCalls | tuple[Call, ...], index: int | None, step: str = ADD_RESULTS
) -> ConversationError:
    """The error for calls without a result. `index` is the message that came instead; None at the end."""
    call = next(iter(open_calls))
    more = len(open_calls) - 1
    unanswered = f"calls {_name_call(call)} and {more} more have" if more else f"call {_name_call(call)} has"
    when = "at the end of the history" if index is None else "before this message"
    return ConversationError(
        f"{unanswered} no result {when}; {step}",
        index=index,
        call_id=call.id,
    )


def unasked_error(result: Result, open_calls: OpenCalls, index: int) -> ConversationError:
    """The error for a result that answers none of the open calls."""
    nameless = next((call for call in open_calls if call.id is None), None)
    if nameless is not None and result.call_id is not None:
        return ConversationError(
            f"result for call {result.call_id!r} answers no open call: the open call of {nameless.name!r} has no id; "
            f"answer it by its name: {{'role': 'tool', 'name': {nameless.name!r}, 'content': text}}",
            index=index,
            call_id=result.call_id,
        )
    if open_calls and result.call_id is None:
        return ConversationError(
            f"result of {result.name!r} answers no open call, as these have ids; "
            f"pass the id of its call, such as tool_call_id={next(iter(open_calls)).id!r}",
            index=index,
        )
    return ConversationError(
        f"result for call {result.call_id or result.name!r} answers no open call: "
        "its call is missing, already has a result, or is too far back; "
        "add the call, or let assembler.repair(messages) move the result to it or drop it",
        index=index,
        call_id=result.call_id,
    )


def answered_by_the_model(result: Result, index: int) -> ConversationError:
    """The error for a result in a message of the model."""
    return ConversationError(
        f"the result for call {result.call_id or result.name!r} is in an assistant message, which APIs refuse; "
        "put it into a message of the user, or let assembler.repair(messages) do it",
        index=index,
        call_id=result.call_id,
    )


def _take_answers(open_calls: OpenCalls, results: list[Result], index: int) -> OpenCalls:
    for result in results:
        rest = open_calls.without(result)
        if rest is None:
            raise unasked_error(result, open_calls, index)
        open_calls = rest
    return open_calls


def _add_calls(open_calls: OpenCalls, calls: list[Call], message: Message, index: int) -> OpenCalls:
    if message.role != "assistant":
        raise ConversationError(f"a {message.role} message cannot call tools", index=index, call_id=calls[0].id)
    seen: set[str] = set()
    for call in calls:
        if call.id is None:
            continue
        if call.id in seen or (open_calls.left and open_calls.holds(call.id)):
            raise ConversationError(f"call id {call.id!r} is used twice in one message", index=index, call_id=call.id)
        seen.add(call.id)
    return open_calls.with_calls(calls) if open_calls.left else OpenCalls.of(calls)


def _name_call(call: Call) -> str:
    return repr(call.id) if call.id is not None else f"of {call.name!r} (no id)"
