"""Turns, steps, and the law of pairs. Knows messages; knows nothing of tokens.

A **turn** is a user message and all that follows it, up to the next user message that does not merely carry tool
results; what stands before the first user message is a turn too. A **step** is what one turn of the model asks, one
message with calls or several items side by side, and all the results. Turns are kept or dropped whole, so that a call
and its result cannot be parted.

The law, dialect-free (OpenAI's and Anthropic's 400 texts say the same): every call is answered exactly once, before
any message that is not an answer (the Responses API alone lets the model's items stand between); no answer lacks its
call; the ids of one message are unique.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from assembler.errors import ConversationError
from assembler.messages import Call, Message, Result
from assembler.messages.responses import RESPONSES

Open: TypeAlias = tuple[Call, ...]
"""The calls that still wait for an answer."""

NOTHING_OPEN: Open = ()


def opens_turn(message: Message) -> bool:
    """Whether a turn begins here: a user message that answers no call."""
    return message.role == "user" and Result not in map(type, message.parts)


def is_head(message: Message) -> bool:
    """Whether a message at the head of a history belongs to the instruction."""
    return message.role in ("system", "developer")


def head_length(messages: Sequence[Message]) -> int:
    """How many messages at the head are system or developer messages."""
    return next((i for i, message in enumerate(messages) if not is_head(message)), len(messages))


def after(waiting: Open, message: Message, index: int, before: Message | None = None) -> Open:
    """The calls still open once `message` is heard after `before`, or `ConversationError` if the law forbids it here.

    O(parts).
    """
    results: list[Result] = []
    calls: list[Call] = []
    for part in message.parts:
        if isinstance(part, str):
            continue
        if isinstance(part, Result):
            results.append(part)
        elif isinstance(part, Call):
            calls.append(part)
    if waiting or results:
        waiting = _answered(waiting, results, index)
    if waiting and not results and goes_on(message, before):
        return _asked([*waiting, *calls], message, index) if calls else waiting
    if waiting and (message.role == "assistant" or not results):
        raise unanswered(waiting, index)
    return _asked(calls, message, index) if calls else waiting


def goes_on(message: Message, before: Message | None) -> bool:
    """Whether a message may stand between a call and its answer: the next item of a turn of the Responses API.

    That API lists a turn item by item: another call, a thought, or what a tool of the server's answered may follow.
    """
    if before is None or not message.shape == before.shape == RESPONSES:
        return False
    return message.role == "assistant" or (message.role == "tool" and Result not in map(type, message.parts))


def check_pairs(messages: Iterable[tuple[int, Message]]) -> None:
    """Raise `ConversationError` unless the messages, with their indexes, obey the law from the first to the last."""
    waiting, before = NOTHING_OPEN, None
    for index, message in messages:
        waiting = after(waiting, message, index, before)
        before = message
    if waiting:
        raise unanswered(waiting, None)


def unanswered(waiting: Open, index: int | None) -> ConversationError:
    """The error for calls that no message answers; `index` is the message that came instead, None at the end."""
    call = waiting[0]
    more = f" and {len(waiting) - 1} more" if len(waiting) > 1 else ""
    when = "at the end of the history" if index is None else "before this message"
    return ConversationError(
        f"call {_named(call)}{more} has no result {when}; add the results or let assembler.repair(messages) do it",
        index=index,
        call_id=call.id,
    )


def _answered(waiting: Open, results: list[Result], index: int) -> Open:
    rest = list(waiting)
    for result in results:
        match = next((call for call in rest if answers(result, call)), None)
        if match is None:
            raise ConversationError(
                f"result for call {result.call_id or result.name!r} answers no open call: "
                "its call is missing, was answered before, or stands too far back; "
                "add the call, or let assembler.repair(messages) drop the result",
                index=index,
                call_id=result.call_id,
            )
        rest.remove(match)
    return tuple(rest)


def answers(result: Result, call: Call) -> bool:
    """Whether a result is the answer to a call: by id, or by name and order where either has none."""
    if result.call_id is not None or call.id is not None:
        return result.call_id == call.id
    return result.name is None or result.name == call.name


def _asked(calls: list[Call], message: Message, index: int) -> Open:
    if message.role != "assistant":
        raise ConversationError(f"a {message.role} message cannot call tools", index=index, call_id=calls[0].id)
    seen: set[str] = set()
    for call in calls:
        if call.id is None:
            continue
        if call.id in seen:
            raise ConversationError(f"call id {call.id!r} is used twice in one message", index=index, call_id=call.id)
        seen.add(call.id)
    return tuple(calls)


def _named(call: Call) -> str:
    return repr(call.id) if call.id is not None else f"of {call.name!r} (no id)"
