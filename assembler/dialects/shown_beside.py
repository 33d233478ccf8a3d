"""Puts what a tool's answer shows beside the answer, for APIs whose answers are texts.

Chat Completions takes no picture in an answer (openai 3.54.0, ChatCompletionToolMessageParam). Gemini takes one from
its third version on, Mistral from its fifteenth tokenizer on (google-genai 3.4.0, FunctionResponse; mistral-common
1.13.1, validator; read 2026-11). All their models take pictures of the user's, and a request is written for them all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs

from assembler.conversation.messages import Media, Message, Part, Result
from assembler.conversation.messages.foreign_parts import adapt_message
from assembler.conversation.messages.parts import FOREIGN, NEUTRAL
from assembler.dialects.call_ids import legal_id, nine
from assembler.dialects.notes import FIELDS, SHOWN, Notes
from assembler.text.fields import fields_in, items_of

BELOW = "(shown after the answers)"
"""What an answer says that holds nothing but what it shows. Ours."""

_NAMED: Mapping[str, Callable[[str], str]] = {
    "gemini": str,
    "mistral": lambda call_id: nine(legal_id(call_id)),
    "openai": legal_id,
}
"""The APIs whose answers are texts, and the id that a call goes by there."""


def shown_media(message: Message) -> int:
    """How many pictures and files a message's answers show."""
    if Result not in map(type, message.parts):
        return 0
    return sum(type(held) is Media for part in message.parts if type(part) is Result for held in part.parts)


def shown_beside(message: Message, own: str) -> Message:
    """The message with all that its answers show behind the last of them, as the API of the shape `own` takes it.

    Before it stands to which call it belongs, by the id that the caller gave it: of several calls with one id it is the
    newest. An answer of Gemini's own goes back to it as it came. The very message comes back where nothing is to be
    done. O(parts).
    """
    if own not in _NAMED or own == message.shape == "gemini" or not shown_media(message):
        return message
    parts: list[Part] = []
    shown: list[Part] = []
    last = 0
    for part in message.parts:
        if type(part) is Result:
            last = len(parts) + 1
            part, media = _in_two(part)
            if media:
                shown += [_label(part, _NAMED[own]), *media]
        parts.append(part)
    parts[last:last] = shown
    came = [] if message.role == "tool" else [*items_of(fields_in(message.seen).get("content"))]
    if came:  # stays in step with the parts
        came[last:last] = [None] * len(shown)
    seen = {"content": came}
    return Message("user", tuple(parts), message.raw, FOREIGN, seen, message.name, message.pinned)


def all_shown_beside(messages: Sequence[Message], own: str, notes: Notes | None = None) -> Sequence[Message]:
    """The messages as `shown_beside` has them; `notes` counts what was moved. The very sequence where nothing was."""
    results = [part for message in messages for part in message.parts if type(part) is Result]
    if not any([Media in map(type, result.parts) for result in results]):  # noqa: C419 - of a whole history
        return messages
    moved = [shown_beside(message, own) for message in messages]
    if notes is not None:
        for old, new in zip(messages, moved, strict=True):
            if new is not old:
                notes[SHOWN] += shown_media(old)
                notes[FIELDS] += len(old.beside) if _notes_fields(old, own) else 0
    return moved


def _notes_fields(message: Message, own: str) -> bool:
    """Whether nobody else notes the fields that stay behind when a message is moved: they were to go along with it."""
    return own == "gemini" or (own == "openai" and message.shape in (NEUTRAL, "openai"))


def told(message: Message, own: str) -> Message:
    """The message as the API of the shape `own` is told it: what it is billed for."""
    return adapt_message(shown_beside(message, own), own)


def _in_two(result: Result) -> tuple[Result, list[Media]]:
    """An answer without what it shows, and that."""
    media = [held for held in result.parts if isinstance(held, Media)]
    if not media:
        return result, []
    kept = tuple(held for held in result.parts if not isinstance(held, Media))
    return attrs.evolve(result, parts=kept or (BELOW,)), media


def _label(result: Result, legal: Callable[[str], str]) -> str:
    named = result.name if result.call_id is None else legal(result.call_id)
    return f"[shown by the answer to {named}]"
