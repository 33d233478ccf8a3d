"""Functions that the price lists of block APIs share: parts as they are sent, and media."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

import attrs

from assembler.conversation.messages import Call, Media, Message, Part, Result
from assembler.conversation.messages.foreign_parts import is_mark
from assembler.conversation.messages.parts import compact_json
from assembler.dialects.blocks.turns import BLANK
from assembler.dialects.blocks.writer import NO_ERROR_TEXT, arguments_of
from assembler.dialects.writing.notes import Notes


def with_parts(message: Message, change: Callable[[Part], Part]) -> Message:
    """Apply `change` to each part of a message. Returns the same message if no part changes."""
    parts = tuple(map(change, message.parts))
    return message if all(map(operator.is_, parts, message.parts)) else attrs.evolve(message, parts=parts)


def with_object(part: Part) -> Part:
    """A call with its arguments as the object that is sent and billed, and any other part unchanged."""
    if not isinstance(part, Call) or part.given is not None:
        return part
    return attrs.evolve(part, given=arguments_of(part, Notes()))


def with_json_of_object(part: Part) -> Part:
    """A call with its arguments as the JSON of the object that is sent, and any other part unchanged."""
    if not isinstance(part, Call) or part.given is not None:  # then they are that already
        return part
    arguments = arguments_of(part, Notes())
    return attrs.evolve(part, arguments=compact_json(arguments), given=arguments)


def with_error_text(part: Part) -> Part:
    """An empty result of a failed call with the text that is sent, and any other part unchanged."""
    if not isinstance(part, Result) or not part.error:
        return part
    says = any(held.strip() if isinstance(held, str) else not is_mark(held) for held in part.parts)
    return part if says else attrs.evolve(part, parts=(NO_ERROR_TEXT,))


def lone_text(message: Message) -> str | None:
    """The text of a message that holds nothing else, as most do: every API gets it as it came. Else None."""
    if not message.shallow or len(message.parts) != 1 or message.extra_fields or message.name is not None:
        return None
    (part,) = message.parts
    return part if type(part) is str and part.strip() else None


def lone_texts(messages: Sequence[Message]) -> list[str] | None:
    """The texts of messages that hold one text each and nothing else. None if one of them does not."""
    texts = list[str]()
    for message in messages:
        if (text := lone_text(message)) is None:
            return None
        texts.append(text)
    return texts


def as_sent(message: Message, sends: Callable[[Part, str], bool]) -> Message | None:
    """The message with the parts that are sent. If none is, a user message becomes `BLANK`, and an assistant's None.

    `sends(part, shape)` says whether the API's writer sends a part of a message of this shape.
    """
    parts = tuple(part for part in message.parts if sends(part, message.shape))
    if not parts and message.role == "assistant":
        return None
    if message.role == "user" and not any(parts):
        parts = (BLANK,)
    same = len(parts) == len(message.parts) and parts != (BLANK,) and not message.extra_fields
    return message if same else attrs.evolve(message, parts=parts, extra_fields=())


def media_in(message: Message) -> list[Media]:
    """The images and documents of a message, including those inside results."""
    inside = (inner for part in message.parts if isinstance(part, Result) for inner in part.parts)
    return [part for part in (*message.parts, *inside) if isinstance(part, Media)]
