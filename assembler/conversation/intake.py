"""Reads messages as they are added, so that an error is raised by the call that caused it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

from assembler.conversation.history import History
from assembler.conversation.messages import Result
from assembler.conversation.messages.responses_items import RESPONSES
from assembler.conversation.turns import answers_the_server
from assembler.errors import ConversationError, MessageTypeError
from assembler.validation import iterates
from budgets import Count
from budgets.errors import OfTheCaller

READ_WHOLE = 256
"""Histories of up to so many messages are read in full when they are added, so that errors are raised at once. Of
longer ones only the newest turn is: a policy may drop the rest unread. Reading 256 messages takes about a
millisecond."""


def check_pairs(history: History, read: Callable[[History], bool], held: Count | None, shape: str | None) -> None:
    """Read and check new messages. If that fails because an earlier message was changed, read that again first.

    `read` returns whether it reached the first message after the head. `held` is what the server of the API of `shape`
    holds: if it holds a conversation, the history may begin with results for its calls.
    """
    try:
        begins = read(history)
    except ConversationError:
        changed = history.view().first_stale()
        if changed is None:
            raise
        history.forget(changed)
        begins = read(history)
    if begins and (held is None or shape != RESPONSES):
        _refuse_unasked_result(history)


def _refuse_unasked_result(history: History) -> None:
    """Raise `ConversationError` if the history begins with a result whose call is not in it."""
    view = history.view()
    head = view.head
    if head < view.length and answers_the_server(first := view.message(head)):
        result = next(part for part in first.parts if type(part) is Result)
        raise ConversationError(
            f"result for call {result.call_id!r} answers no call of this conversation; add the call, or, if the "
            "server holds it (previous_response_id, conversation), first call assembler.hold(tokens)",
            index=head,
            call_id=result.call_id,
        )


def read_whole(history: History) -> bool:
    """Read and check the newest turn, and all turns of a short history. Returns True.

    Calls without a result at the end are allowed: the result may be the next message.
    """
    view = history.view()
    length = view.length
    for start, stop in view.turns_newest_first():
        if stop == length:
            view.readings.open_calls(start, stop)
        elif length > READ_WHOLE:
            break
        else:
            view.readings.check_turn(start, stop, length)
    return True


def read_newest(history: History) -> bool:
    """Check one appended message, and the turn before it. Returns whether it is the first after the head."""
    readings, newest = history.readings, history.length - 1
    start = readings.read_newest(newest)
    if start is None or start < newest:
        return False
    head = readings.head(newest)
    if head < start and newest < READ_WHOLE:
        readings.check_turn(readings.turn_start(start - 1, head), start, newest + 1)
    return start == head


def listed_messages(messages: object) -> list[object]:
    """The messages of a list. Raises `MessageTypeError` for anything else."""
    kind, given = type(messages).__name__, messages
    if iterates(messages) and not isinstance(messages, str | bytes | Mapping):
        if isinstance(messages, Iterator):  # what fails while it reads is not about the list
            return [*messages]
        with OfTheCaller("conversation", MessageTypeError):
            return [*cast("Iterable[object]", messages)]
    raise MessageTypeError(f"conversation: expected a list of messages, got {kind}; {_advise_instead(given)}")


def _advise_instead(messages: object) -> str:
    body = isinstance(messages, Mapping) and "role" not in messages
    name = next((name for name in ("messages", "input", "contents") if body and name in cast("Any", messages)), None)
    if name is not None:
        return f"pass the list in it: body[{name!r}]"
    return "pass [message], or add_message(message) for one"
