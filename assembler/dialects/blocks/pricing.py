"""What the price lists of block APIs share: parts as they are sent, media beside the texts."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from assembler.conversation.messages import Call, Media, Message, Opaque, Part, Result
from assembler.dialects.blocks.blocks import BLANK
from assembler.dialects.blocks.writer import NO_ERROR_TEXT, arguments_of
from assembler.dialects.notes import Notes


def with_objects(message: Message) -> Message:
    """The message with the arguments of its calls as the objects that go out, which is what is billed."""
    if not any(isinstance(part, Call) and part.given is None for part in message.parts):
        return message
    parts = [
        attrs.evolve(part, given=arguments_of(part, Notes())) if isinstance(part, Call) and part.given is None else part
        for part in message.parts
    ]
    return attrs.evolve(message, parts=tuple(parts))


def with_error_texts(message: Message) -> Message:
    """The message with what a failed call's empty result goes out as."""
    if not any(isinstance(part, Result) and _fails_silently(part) for part in message.parts):
        return message
    parts = [
        attrs.evolve(part, parts=(NO_ERROR_TEXT,)) if isinstance(part, Result) and _fails_silently(part) else part
        for part in message.parts
    ]
    return attrs.evolve(message, parts=tuple(parts))


def as_sent(message: Message, sends: Callable[[Part, str], bool]) -> Message | None:
    """The message with those of its parts that the API is sent, and what stands in for blanks; None for no part at all.

    `sends` says it of a part, in the shape of its message: it is what the API's writer goes by.
    """
    parts = tuple(part for part in message.parts if sends(part, message.shape))
    if not parts and message.role == "assistant":
        return None
    if message.role == "user" and not any(parts):
        parts = (BLANK,)
    same = len(parts) == len(message.parts) and parts != (BLANK,) and not message.beside
    return message if same else attrs.evolve(message, parts=parts, beside=())


def _fails_silently(result: Result) -> bool:
    return result.error and not any(not isinstance(part, str) or part.strip() for part in result.parts)


def media_apart(message: Message) -> tuple[Message, list[Media]]:
    """The message without its images and documents, and these, those inside results included."""
    media = [part for part in message.parts if isinstance(part, Media)]
    for part in message.parts:
        if isinstance(part, Result):
            media += [inner for inner in part.parts if isinstance(inner, Media)]
    if not media:
        return message, media
    return attrs.evolve(message, parts=tuple(_bare(p) for p in message.parts if not isinstance(p, Media))), media


def _bare(part: Part) -> Part:
    if not isinstance(part, Result):
        return part
    kept: tuple[str | Opaque, ...] = tuple(inner for inner in part.parts if not isinstance(inner, Media))
    return attrs.evolve(part, parts=kept)
