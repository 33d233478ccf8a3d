"""Finds the messages that an API gets only in part, or not at all. `context.dropped` lists them."""

from __future__ import annotations

import functools
from typing import Any

from assembler.conversation.messages import Message, Thinking
from assembler.conversation.messages.extra_fields import loses_fields_of_answers
from assembler.conversation.messages.foreign_parts import MAY_BE_LOST, is_left_out_for, is_sent_whole
from assembler.dialects.dialect import Dialect, ReasoningDialect
from assembler.dialects.left_beside import loses_citations


def hears_all(dialect: Dialect, message: Message) -> bool:
    """True if the request has every part of the message, with its reasoning and its citations. O(parts)."""
    shape = dialect.api.shape
    if not MAY_BE_LOST.isdisjoint(map(type, message.parts)) and (
        not is_sent_whole(message, shape) or _unheard_thoughts(dialect, message)
    ):
        return False
    return not loses_citations(message, shape) and not loses_fields_of_answers(message, shape)


def hears_any(dialect: Dialect, message: Message) -> bool:
    """True if the request has any part of the message. O(parts)."""
    if is_left_out_for(message, dialect.api.shape):
        return False
    return _unheard_thoughts(dialect, message) < len(message.parts) or not message.parts


def _unheard_thoughts(dialect: Dialect, message: Message) -> int:
    """Return how many reasoning parts of a message the dialect does not send."""
    thoughts = [part for part in message.parts if type(part) is Thinking]
    if not thoughts or not _chooses(type(dialect)):
        return 0
    choosing: Any = dialect
    return sum(not choosing.hears(thought, message) for thought in thoughts)


# Cached by class: `isinstance` with a protocol looks at every member.
@functools.cache
def _chooses(kind: type) -> bool:
    return issubclass(kind, ReasoningDialect)
