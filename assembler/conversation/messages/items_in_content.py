"""Decides which parts of a message's content are sent to Responses as items of their own.

LangChain, for one, keeps an answer's items in the content of one message. The API takes no item in a content, so each
goes out in its place among the items: the texts before it as one message, the texts after it as another.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import attrs

from assembler.conversation.compaction import without_compacted_parts
from assembler.conversation.messages.foreign_parts import adapt_message, is_mark, without_marks
from assembler.conversation.messages.kinds import role_of_item, stands_alone
from assembler.conversation.messages.message import Call, Message, Opaque, Part, Result, Role, Thinking
from assembler.conversation.messages.parts import is_reasoning_item
from assembler.conversation.messages.responses import join_turns
from assembler.conversation.messages.responses_items import RESPONSES, is_sendable, read_in_content


def is_sent_thought(thought: Thinking, message: Message) -> bool:
    """Whether Responses is sent a reasoning part: as an item, or in a content in which the model said more after it.

    The API refuses reasoning after which the model says nothing.
    """
    if is_sendable(message):
        return True
    if not is_reasoning_item(thought.raw):
        return False
    after = itertools.dropwhile(lambda part: part is not thought, message.parts)
    return any(part and type(part) is not Thinking and not is_mark(part) for part in after)


def is_sent_item(part: Part, message: Message) -> bool:
    """Whether Responses gets a part of a message as an item of its own: an item, or reasoning, in a content."""
    if type(part) is Thinking:
        return is_sent_thought(part, message)
    return type(part) is Opaque and stands_alone(part.kind)


def as_items(messages: Iterable[Message]) -> list[Message]:
    """The messages, with those that are spelled anew for Responses as the items that they become. O(parts).

    One of which nothing is sent is left out, so it separates no items.
    """
    return [
        item for message in messages for item in ((message,) if is_sendable(message) else _split_into_items(message))
    ]


def is_cut_up(message: Message) -> bool:
    """Whether Responses may get a message as items of which not all are of one turn."""
    kinds = set(map(type, message.parts))
    return (Opaque in kinds or (Result in kinds and message.role == "assistant")) and not is_sendable(message)


def turns_of(message: Message) -> list[Message]:
    """A message as the turns that Responses gets: each speaker's items in a message of their own. O(parts)."""
    return join_turns(_split_into_items(message))


def _split_into_items(message: Message) -> Iterator[Message]:
    sent = without_compacted_parts(without_marks(adapt_message(message, RESPONSES)))
    content: list[Part] = []
    for part in sent.parts:
        if type(part) in (Call, Result) or is_sent_item(part, sent):
            yield from _make_content_item(sent, content)
            content = []
            yield _make_item(part, sent)
        elif type(part) is not Thinking:
            content.append(part)
    yield from _make_content_item(sent, content)


def _make_content_item(message: Message, content: Sequence[Part]) -> Iterator[Message]:
    """The message item of neighbouring texts and media. An empty one of the model's is not sent."""
    filled = tuple(part for part in content if part)
    if message.role == "assistant" and all(type(part) is str for part in filled):
        filled = ("".join(cast("tuple[str, ...]", filled)),) if filled else ()
    if filled or (content and message.role != "assistant"):
        yield _make_message(message.role, filled or ("",), {}, message)


def _make_item(part: Part, message: Message) -> Message:
    match part:
        case Opaque():
            return _make_message(role_of_item(part.kind), (read_in_content(part),), part.raw, message)
        case Thinking():
            return _make_message("assistant", (part,), part.raw, message)
        case Result():
            return _make_message("tool", (part,), {}, message)
        case _:
            return _make_message("assistant", (part,), {}, message)


def _make_message(role: Role, parts: tuple[Part, ...], item: Mapping[str, Any], message: Message) -> Message:
    return Message(role, parts, message.raw, RESPONSES, [item])


def as_responses_sends(message: Message) -> Message:
    """The message as Responses bills it: without cache marks, what a summary replaces, and empty texts beside parts of
    the same item. Calls and outputs in its content are read as items of their own are.
    """
    if Opaque not in map(type, message.parts):
        return message
    message = _read_calls_and_outputs(without_compacted_parts(without_marks(message)))
    if "" not in message.parts or is_sendable(message):
        return message

    def is_apart(part: Part) -> bool:
        return type(part) in (Call, Result) or is_sent_item(part, message)

    kept: list[Part] = []
    for apart, group in itertools.groupby(message.parts, is_apart):
        stretch = list(group)
        filled = [part for part in stretch if part != ""]
        kept += stretch if apart or all(type(part) is Thinking for part in filled) else filled
    return attrs.evolve(message, parts=tuple(kept))


def _read_calls_and_outputs(message: Message) -> Message:
    if is_sendable(message):
        return message
    parts = tuple(read_in_content(part) if type(part) is Opaque else part for part in message.parts)
    return message if parts == message.parts else attrs.evolve(message, parts=parts)
