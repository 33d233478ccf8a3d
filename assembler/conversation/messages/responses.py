"""Joins the items of a Responses conversation into turns and steps, and finds reasoning that nothing follows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from assembler.conversation.messages.kinds import SUMMARY
from assembler.conversation.messages.message import Call, Message, Opaque, Part, Result, Thinking
from assembler.conversation.messages.parts import Raw
from assembler.conversation.messages.responses_items import RESPONSES, is_sendable
from assembler.text.runs import runs


def continues(message: Message, before: Message) -> bool:
    """Whether two neighbouring messages are one turn of the model in `input`. Two texts in a row are two turns."""
    if not continues_step(message, before):
        return False
    return not (_is_text(message.parts[:1]) and _is_text(before.parts[-1:]))


def continues_step(message: Message, before: Message) -> bool:
    """Whether two neighbouring messages are one turn while a call before them is open: then two texts are too."""
    return _is_item_of_model(message) and _is_item_of_model(before) and not _is_summary(message)


def _is_summary(message: Message) -> bool:
    """Whether a message holds a server's summary, which is never merged with a message before it."""
    return any([type(part) is Opaque and part.kind == SUMMARY for part in message.parts])  # noqa: C419 - mostly one


def _is_item_of_model(message: Message) -> bool:
    """Whether a message is an item of the model, also one with parts of another API, which Responses gets renamed."""
    return message.role == "assistant" and (message.shape == RESPONSES or is_sendable(message))


def _is_text(parts: tuple[Part, ...]) -> bool:
    return all(isinstance(part, str) for part in parts)


def join_turns(messages: Iterable[Message]) -> list[Message]:
    """The messages with each turn of the model merged: reasoning, text and calls in one message. O(messages)."""
    return [run[0] if len(run) == 1 else _join_run(run) for run in runs(messages, _are_sent_as_one)]


def _are_sent_as_one(message: Message, before: Message) -> bool:
    return is_sendable(message) and is_sendable(before) and continues(message, before)


def join_steps(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages with each turn of the model merged, for an API that wants results right after their calls.

    Texts after a call are merged with it too, because a message of their own would separate it from its result. Returns
    the same sequence if it holds no item. O(messages).
    """
    steps = in_steps(messages)
    if steps is messages:
        return messages
    joined: list[list[Message]] = []
    calls = False
    for run in runs(steps, continues):
        if calls and _is_item_of_model(run[0]) and not _is_summary(run[0]):
            joined[-1] += run
        else:
            joined.append(run)
            calls = False
        calls = calls or any(type(part) is Call for message in run for part in message.parts)
    return [run[0] if len(run) == 1 else _join_run(run) for run in joined]


def in_steps(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages, with everything that the model said in a step before the step's first result. O(messages).

    Items of the caller's that are no results, such as an approval, go behind the step's last result. This API accepts
    both among the calls and results of a step; all others want the calls, then the results, and nothing between.
    Returns the same sequence if it holds no item.
    """
    if RESPONSES not in [message.shape for message in messages]:
        return messages
    ordered: list[Message] = []
    behind: list[Message] = []
    first_answer, open_calls = None, 0
    for message in messages:
        kinds = [type(part) for part in message.parts]
        open_calls += kinds.count(Call)
        if open_calls > 0 and is_given_apart(message):
            behind.append(message)
            continue
        if first_answer is not None and message.role == "assistant":
            ordered.insert(first_answer, message)
            first_answer += 1
            continue
        ordered.append(message)
        if Result in kinds:
            open_calls -= kinds.count(Result)
            first_answer = (len(ordered) - 1 if first_answer is None else first_answer) if open_calls > 0 else None
        if open_calls <= 0:
            ordered += behind
            behind = []
    return [*ordered, *behind]


def is_item_apart(message: Message) -> bool:
    """Whether a message is an item that is not read, such as loaded tools among the system messages."""
    return message.shape == RESPONSES and all(type(part) is Opaque for part in message.parts)


def is_given_apart(message: Message) -> bool:
    """Whether a message is an item of the caller's that is no result, such as an approval."""
    return message.role == "tool" and message.shape == RESPONSES and Result not in map(type, message.parts)


def _join_run(run: list[Message]) -> Message:
    """One message for a run of items. A message that was read from a request may already hold several."""
    parts = tuple(part for message in run for part in message.parts)
    return Message(
        "assistant",
        parts,
        [given for message in run for given in _as_list(message.raw)],
        RESPONSES,
        [item for message in run for item in _as_list(message.seen)],
        pinned=any(message.pinned for message in run),
    )


def _as_list(given: object) -> list[object]:
    return cast("list[object]", given) if isinstance(given, list) else [given]


def unfollowed_reasoning(messages: Sequence[Message]) -> frozenset[int]:
    """The places of reasoning after which no item of the model follows, because an answer was cut off. O(messages).

    `Item 'rs_…' of type 'reasoning' was provided without its required following item`: openai-agents-python#1660, read
    2026-11.
    """
    unfollowed: set[int] = set()
    followed = False
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if message.role != "assistant":
            followed = False
        elif says_more(message):
            followed = True
        elif not followed and is_sendable(message) and message.parts:
            unfollowed.add(place)
    return frozenset(unfollowed)


def without_unfollowed_reasoning(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages without `unfollowed_reasoning`; the same sequence if there is none."""
    unfollowed = unfollowed_reasoning(messages)
    return [message for place, message in enumerate(messages) if place not in unfollowed] if unfollowed else messages


def says_more(message: Message) -> bool:
    """Whether a message of the model is sent as any item but reasoning. One without a text is an item too."""
    if not is_sendable(message):
        return any(part and type(part) is not Thinking for part in message.parts)
    items = cast("list[Raw]", message.seen if isinstance(message.seen, list) else [message.seen])
    return any(item.get("type") != "reasoning" for item in items)
