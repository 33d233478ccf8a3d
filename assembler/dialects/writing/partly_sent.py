"""Finds the messages that an API gets only in part, or not at all. `context.dropped` lists them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Literal, TypeAlias, cast

from assembler.conversation.compaction import api_of, without_compacted_parts
from assembler.conversation.messages import Message, Thinking
from assembler.conversation.messages.extra_fields import sends_fields_of_answers
from assembler.conversation.messages.foreign_parts import MAY_BE_LOST, is_left_out_for, is_sent_whole
from assembler.conversation.messages.responses import unfollowed_reasoning
from assembler.conversation.messages.responses_items import RESPONSES
from assembler.dialects.dialect import Dialect, Emission, ReasoningDialect
from assembler.dialects.writing.lost_fields import has_more_to_say, saying_less

Placed: TypeAlias = Iterable[tuple[int, Message]]
"""Messages with their indexes in the history."""


def sent_whole(dialect: Dialect, messages: Placed, emission: Callable[[], Emission | Literal[False]]) -> set[int]:
    """The indexes of the messages that the request has in full. O(parts).

    `emission` is called if a message has citations, or audio. If it is False, as there is no request yet, none is lost.
    """
    whole: set[int] = set()
    more: list[tuple[int, Message]] = []
    for index, message in _drop_unfollowed_reasoning(messages) if dialect.api.shape == RESPONSES else messages:
        if message.text is not None and message.shallow and not message.extra_fields:  # most by far
            whole.add(index)
        elif _sends_all(dialect, message):
            whole.add(index)
            if has_more_to_say(message):
                more.append((index, message))
    sent = bool(more) and emission()
    return whole - saying_less(more, sent.request, dialect.api.history) if sent else whole


def sent_at_all(dialect: Dialect, messages: Placed) -> set[int]:
    """The indexes of the messages of which the request has any part. O(parts)."""
    sendable = _drop_unfollowed_reasoning(messages) if dialect.api.shape == RESPONSES else messages
    return {index for index, message in sendable if _sends_any(dialect, message)}


def _drop_unfollowed_reasoning(messages: Placed) -> Placed:
    """The messages without the reasoning that Responses refuses because nothing follows it."""
    placed = [*messages]
    unfollowed = unfollowed_reasoning([message for _, message in placed])
    return [one for place, one in enumerate(placed) if place not in unfollowed]


def _sends_all(dialect: Dialect, message: Message) -> bool:
    """Whether the request has every part of the message, with its reasoning. O(parts)."""
    if MAY_BE_LOST.isdisjoint(map(type, message.parts)):
        return True
    if dialect.api.shape == api_of(message) == RESPONSES and without_compacted_parts(message) is not message:
        return False
    return is_sent_whole(message, dialect.api.shape) and not _count_unsent_reasoning(dialect, message)


def _sends_any(dialect: Dialect, message: Message) -> bool:
    """Whether the request has any part of the message. O(parts)."""
    if is_left_out_for(message, dialect.api.shape):
        return False
    if _count_unsent_reasoning(dialect, message) < len(message.parts) or not message.parts:
        return True
    return sends_fields_of_answers(message, dialect.api.shape)


def _count_unsent_reasoning(dialect: Dialect, message: Message) -> int:
    """How many reasoning parts of a message the dialect does not send."""
    thoughts = [part for part in message.parts if type(part) is Thinking]
    if not thoughts or not _chooses(type(dialect)):
        return 0
    choosing = cast("ReasoningDialect", dialect)
    return sum(not choosing.sends_reasoning(thought, message) for thought in thoughts)


# Cached by class: `isinstance` with a protocol looks at every member.
@functools.lru_cache(maxsize=64)
def _chooses(kind: type) -> bool:
    return issubclass(kind, ReasoningDialect)
