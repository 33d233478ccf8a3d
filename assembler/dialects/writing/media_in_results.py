"""Moves pictures and files out of a tool's answer, for APIs whose tool answers are texts.

Some APIs take them in answers to newer models alone. All their models take pictures in user messages, and a request
should work for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from assembler.conversation.messages import Media, Message, Part, Result
from assembler.conversation.messages.foreign_parts import adapt_message
from assembler.conversation.messages.parts import FOREIGN
from assembler.conversation.messages.shapes import SHAPES, MediaOfResults
from assembler.dialects.writing.notes import MEDIA_MOVED, Notes
from assembler.text.fields import fields_in, items_of

MEDIA_ALONE = "(shown after the answers)"
"""Our text for an answer that holds nothing but pictures or files."""


def count_media_in_results(message: Message) -> int:
    """How many pictures and files a message's answers hold."""
    if Result not in map(type, message.parts):
        return 0
    return sum(type(held) is Media for part in message.parts if type(part) is Result for held in part.parts)


def with_media_after_results(message: Message, target: str) -> Message:
    """The message with its answers' pictures and files after the last answer, for the API `target`.

    A text before each names its call by the caller's id, which means the newest call with that id. Returns the same
    message if nothing moves. O(parts).
    """
    if not count_media_in_results(message) or _takes_media_inside(target, message.shape):
        return message
    parts: list[Part] = []
    shown: list[Part] = []
    last = 0
    for part in message.parts:
        if type(part) is Result:
            last = len(parts) + 1
            part, media = _split_result(part)
            if media:
                shown += [_write_label(part, target), *media]
        parts.append(part)
    parts[last:last] = shown
    originals = [] if message.role == "tool" else [*items_of(fields_in(message.seen).get("content"))]
    if originals:  # one original for each part
        originals[last:last] = [None] * len(shown)
    seen = {"content": originals}
    return Message("user", tuple(parts), message.raw, FOREIGN, seen, message.name, message.pinned)


def all_with_media_after_results(
    messages: Sequence[Message], target: str, notes: Notes | None = None
) -> Sequence[Message]:
    """Each message as `with_media_after_results` returns it; the same sequence if nothing moved."""
    results = [part for message in messages for part in message.parts if type(part) is Result]
    if not any([Media in map(type, result.parts) for result in results]):  # noqa: C419 - of a whole history
        return messages
    moved = [with_media_after_results(message, target) for message in messages]
    if notes is not None:
        for old, new in zip(messages, moved, strict=True):
            if new is not old:
                notes[MEDIA_MOVED] += count_media_in_results(old)
    return moved


def adapt_with_media(message: Message, target: str) -> Message:
    """The message as the API `target` gets it, and bills it."""
    return adapt_message(with_media_after_results(message, target), target)


def _split_result(result: Result) -> tuple[Result, list[Media]]:
    """Split an answer into its texts, and its pictures and files."""
    media = [held for held in result.parts if isinstance(held, Media)]
    if not media:
        return result, []
    kept = tuple(held for held in result.parts if not isinstance(held, Media))
    return attrs.evolve(result, parts=kept or (MEDIA_ALONE,)), media


def _takes_media_inside(target: str, shape: str) -> bool:
    place = SHAPES[target].media_of_results
    return place is MediaOfResults.INSIDE or (place is MediaOfResults.AFTER_OTHERS and shape == target)


def _write_label(result: Result, target: str) -> str:
    named = result.function or result.name if result.call_id is None else SHAPES[target].call_id(result.call_id)
    return f"[shown by the answer to {named}]"
