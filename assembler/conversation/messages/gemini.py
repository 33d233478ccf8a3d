"""Reads Gemini contents: `role` and `parts`, in the API's camelCase or the SDK's snake_case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from assembler.conversation.messages.dicts import PIN, role_of
from assembler.conversation.messages.jsonable import sendable_copy
from assembler.conversation.messages.message import Message, Part, Result
from assembler.conversation.messages.parts import Raw, gemini_part
from assembler.errors import ConversationError


def read_gemini(raw: Mapping[str, Any], *, index: int) -> Message:
    """A message from a Gemini content. Function responses become results."""
    role = role_of(raw.get("role", "user"), index=index)
    seen = sendable_copy(raw, index=index)
    listed: object = seen.get("parts")
    if listed is None and role == "assistant":
        listed = []  # an answer that ended while the model thought: `finishReason` is MAX_TOKENS
    if isinstance(listed, dict):
        listed = seen["parts"] = [cast(Raw, listed)]  # the API reads one part as a list of one
    if not isinstance(listed, list):
        raise ConversationError("Gemini content without parts; expected a list of parts", index=index)
    parts = tuple(_part(item, index) for item in cast("list[object]", listed))
    if role == "tool" and not (parts and all(type(part) is Result for part in parts)):
        role = "user"  # Gemini has no tool role: a content with more than results is the user's
    return Message(role, parts, raw, "gemini", seen, pinned=seen.get(PIN) is True)


def _part(item: object, index: int) -> Part:
    if not isinstance(item, Mapping):
        raise ConversationError(f"a Gemini part must be a dict, got {type(item).__name__}", index=index)
    return gemini_part(cast(Raw, item), index)
