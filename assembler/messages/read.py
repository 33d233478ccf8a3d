"""The door of the conversation: whatever a caller calls a message becomes a `Message`, or a clear error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from assembler.errors import MessageTypeError
from assembler.messages.dicts import read_dict
from assembler.messages.gemini import read_gemini
from assembler.messages.message import Message
from assembler.messages.objects import is_message_object, read_object, spelled
from assembler.messages.responses import is_item, read_item


def read_message(raw: object, index: int) -> Message:
    """The message that `raw` is. Adding a spelling is one file beside this one, and one line here.

    Raises `ConversationError` naming `index`.
    """
    if type(raw) is dict or isinstance(raw, Mapping):
        fields = cast("Mapping[str, Any]", raw)
        if "parts" in fields and "content" not in fields:
            return read_gemini(fields, index=index)
        if "type" in fields and is_item(fields):
            return read_item(fields, index=index)
        return read_dict(fields, index=index)
    if isinstance(raw, tuple | list):
        return _read_pair(cast("tuple[object, ...]", raw), index)
    if is_message_object(raw):
        return read_object(raw, index=index)
    raise MessageTypeError(
        f"expected a dict, a (role, content) pair or an object with role and content, got {type(raw).__name__}",
        index=index,
    )


def spoken(text: str) -> Message:
    """A user message of our own that says `text`: a summary, a note."""
    return read_dict({"role": "user", "content": text}, index=0)


def _read_pair(raw: tuple[object, ...], index: int) -> Message:
    if len(raw) != 2 or not isinstance(raw[0], str):
        raise MessageTypeError(f"expected a pair (role, content), got {len(raw)} items", index=index)
    return read_dict({"role": raw[0], "content": raw[1]}, index=index, origin=raw)


def unchanged(message: Message) -> bool:
    """Whether the caller's object still says what was read from it. Cheap: texts are compared by identity first."""
    raw = message.raw
    if type(raw) is dict:
        return bool(raw == message.seen)
    try:
        return bool(_says(raw) == message.seen)
    except Exception:
        return False


def _says(raw: object) -> object:
    if isinstance(raw, Mapping):
        return dict(cast("Mapping[str, Any]", raw))
    if isinstance(raw, tuple | list):
        pair = cast("tuple[object, ...]", raw)
        return {"role": pair[0], "content": pair[1]}
    return spelled(raw, index=0)
