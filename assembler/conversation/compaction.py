"""Recognises a server's own summary of a conversation. Messages before it are no longer billed.

A provider that compacts a conversation answers with a block or an item that replaces everything before it. Anthropic
then ignores all blocks before it ("Compaction", read 2026-11), and OpenAI lets clients leave them out ("Compaction",
read 2026-11). A block whose content is null is a failed compaction and replaces nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import attrs

from assembler.conversation.messages.kinds import SUMMARY, role_of_item, stands_alone
from assembler.conversation.messages.message import Message, Opaque, Part
from assembler.conversation.messages.shapes import SHAPES
from assembler.text.fields import fields_in, items_of, value_in


def is_server_summary(part: Part) -> bool:
    """Whether a part is a server's summary, which replaces everything before it."""
    if type(part) is not Opaque or part.kind != SUMMARY:
        return False
    text: object = part.raw.get(SHAPES[part.api].summary or "content")
    return isinstance(text, str) and text != ""


def is_compacted(message: Message) -> bool:
    """Whether a message holds a server's summary."""
    return api_of(message) is not None


def api_of(message: Message) -> str | None:
    """The shape of the API whose summary a message holds, or None. No server writes one into a system message."""
    if message.role in ("system", "developer"):
        return None
    return next((cast(Opaque, part).api for part in message.parts if is_server_summary(part)), None)


def without_compacted_parts(message: Message) -> Message:
    """The message without the parts before its newest summary, which cost nothing."""
    if not is_compacted(message):
        return message
    newest = max((place for place, part in enumerate(message.parts) if is_server_summary(part)), default=0)
    if not newest or is_window([attrs.evolve(message, parts=message.parts[:newest])], api_of(message) or ""):
        return message
    return attrs.evolve(message, parts=message.parts[newest:])


def summary_apart(message: Message, adapted: Message) -> tuple[list[str], Message]:
    """The texts that a message's summaries became for another API, and `adapted`, its message there, without them.

    No text if the summaries have none for other APIs.
    """
    from assembler.conversation.messages.part_as_text import text_for_other_apis  # few requests hold summaries

    summaries = [cast(Opaque, part) for part in message.parts if is_server_summary(part)]
    texts = [text for part in summaries if (text := text_for_other_apis(part)) is not None]
    kept = [place for place, part in enumerate(adapted.parts) if part not in texts]
    parts = tuple(adapted.parts[place] for place in kept)
    listed = items_of(fields_in(adapted.seen).get("content"))
    seen = {**fields_in(adapted.seen), "content": [listed[place] for place in kept]} if listed else adapted.seen
    return texts, attrs.evolve(adapted, parts=parts, shallow=False, seen=seen)


def without_compacted(messages: Sequence[Message], api: str) -> Sequence[Message]:
    """The messages that the server of this API still reads: from its newest summary on, or all of them. O(messages)."""
    for place in range(len(messages) - 1, -1, -1):
        if api_of(messages[place]) == api:
            return messages if is_window(messages[:place], api) else messages[place:]
    return messages


def is_window(before: Iterable[Message], api: str) -> bool:
    """Whether the messages before a summary belong to it: OpenAI's `/responses/compact` returns user messages too."""
    return SHAPES[api].summary_keeps_users and not any(map(_is_of_the_model, before))


def _is_of_the_model(message: Message) -> bool:
    """Whether a message, or an item in it that is sent as one of its own, is the model's or a tool's."""
    if message.role in _NOT_THE_CALLERS:
        return True
    return any(
        type(part) is Opaque and stands_alone(part.kind) and role_of_item(part.kind) in _NOT_THE_CALLERS
        for part in message.parts
    )


_NOT_THE_CALLERS = ("assistant", "tool")


def may_compact(raw: object) -> bool:
    """Whether a caller's message may hold a summary, judged by `type` fields alone, without reading the message."""
    if value_in(raw, "type") == SUMMARY:
        return True
    content = value_in(raw, "content")
    if isinstance(content, str) or not isinstance(content, Sequence):
        return False
    return any(value_in(part, "type") == SUMMARY for part in cast("Sequence[object]", content))
