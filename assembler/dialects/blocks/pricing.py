"""What the price lists of block APIs share: parts as they are sent, media beside the texts."""

from __future__ import annotations

import operator
from collections.abc import Callable

import attrs

from assembler.conversation.messages import Call, Media, Message, Part, Result
from assembler.dialects.blocks.blocks import BLANK
from assembler.dialects.blocks.writer import NO_ERROR_TEXT, arguments_of
from assembler.dialects.notes import Notes


def with_parts(message: Message, change: Callable[[Part], Part]) -> Message:
    """The message with each of its parts changed; the very message where none is."""
    parts = tuple(map(change, message.parts))
    return message if all(map(operator.is_, parts, message.parts)) else attrs.evolve(message, parts=parts)


def with_object(part: Part) -> Part:
    """A call with its arguments as the object that goes out, which is what is billed; any other part as it is."""
    if not isinstance(part, Call) or part.given is not None:
        return part
    return attrs.evolve(part, given=arguments_of(part, Notes()))


def with_error_text(part: Part) -> Part:
    """The result of a failed call with what it goes out as where it is empty; any other part as it is."""
    if not isinstance(part, Result) or not part.error:
        return part
    says = any(not isinstance(held, str) or held.strip() for held in part.parts)
    return part if says else attrs.evolve(part, parts=(NO_ERROR_TEXT,))


def as_sent(message: Message, sends: Callable[[Part, str], bool]) -> Message | None:
    """The message with the parts that the API is sent, and with texts for blank ones; None if no part is left.

    `sends` says it of a part, in the shape of its message: it is what the API's writer goes by.
    """
    parts = tuple(part for part in message.parts if sends(part, message.shape))
    if not parts and message.role == "assistant":
        return None
    if message.role == "user" and not any(parts):
        parts = (BLANK,)
    same = len(parts) == len(message.parts) and parts != (BLANK,) and not message.beside
    return message if same else attrs.evolve(message, parts=parts, beside=())


def media_in(message: Message) -> list[Media]:
    """The images and documents of a message, those inside results included."""
    inside = (inner for part in message.parts if isinstance(part, Result) for inner in part.parts)
    return [part for part in (*message.parts, *inside) if isinstance(part, Media)]
