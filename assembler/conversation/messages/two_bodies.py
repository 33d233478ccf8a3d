"""Reads a message with both `content` and `parts`, as the AI SDK keeps it for a user interface.

Its version 4 keeps the text of a message in `content`, and that text and all else in `parts` (UIMessage, read 2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assembler.errors import ConversationError
from assembler.text.fields import fields_in, items_of

_NOTHING: tuple[object, ...] = (None, "", [], ())
_WITH_CONTENT = ("tool_calls", "function_call", "refusal")
"""The keys of Chat's messages that go with a content and not with parts."""


def with_one_body(fields: Mapping[str, Any], index: int) -> Mapping[str, Any]:
    """The fields without the `content` or the `parts` that the other repeats; the same fields if there is one body.

    Raises `ConversationError` if each says something of its own. O(parts).
    """
    parts, content = fields.get("parts"), fields.get("content")
    of_content = next((key for key in _WITH_CONTENT if fields.get(key)), None)
    if parts in _NOTHING or (of_content is None and "content" not in fields):
        return fields
    words = _remove_blanks(content) if isinstance(content, str) else None
    shown = [fields_in(part) for part in items_of(parts)]
    repeated = words is not None and words == _remove_blanks("".join(map(_read_text, shown)))
    if content == parts or (words and repeated and all(_read_text(p) and p.keys() <= {"text", "type"} for p in shown)):
        return {key: held for key, held in fields.items() if key != "parts"}
    if of_content is None and (repeated or words == "" or content in _NOTHING):
        return {key: held for key, held in fields.items() if key != "content"}
    raise ConversationError(
        f"message with {of_content or 'content'!r} and with other content in 'parts'; leave one of them out, "
        "after you have put what is to be sent into the other",
        index=index,
    )


def _read_text(part: Mapping[str, Any]) -> str:
    """The text of a part of text; an empty one for any other part."""
    text: object = part.get("text") if part.get("type", "text") == "text" else None
    return text if isinstance(text, str) else ""


def _remove_blanks(text: str) -> str:
    return "".join(text.split())
