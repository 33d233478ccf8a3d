"""Reads Gemini contents: `role` and `parts`, in the API's camelCase or the SDK's snake_case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import attrs

from assembler.conversation.messages.dicts import PIN, role_of
from assembler.conversation.messages.jsonable import sendable_copy
from assembler.conversation.messages.message import Media, Message, Opaque, Part, Result, Thinking
from assembler.conversation.messages.parts import Raw, call_of, compact_json, result_of
from assembler.errors import ConversationError
from assembler.text.checked import checked_text
from assembler.text.fields import items_of


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


def _either(part: Raw, snake: str, camel: str) -> Any:
    return part.get(snake, part.get(camel))


def _part(item: object, index: int) -> Part:
    if not isinstance(item, Mapping):
        raise ConversationError(f"a Gemini part must be a dict, got {type(item).__name__}", index=index)
    part = cast(Raw, item)
    if (call := _either(part, "function_call", "functionCall")) is not None:
        signature = _either(part, "thought_signature", "thoughtSignature")
        return call_of(call.get("name"), call.get("args"), id=call.get("id"), index=index, signature=signature)
    if (response := _either(part, "function_response", "functionResponse")) is not None:
        given: Raw = response.get("response") or {}
        result = result_of(
            compact_json(given), call_id=response.get("id"), name=response.get("name"), index=index, given=given
        )
        beside = tuple(_shown(held, index) for held in items_of(response.get("parts")))
        return attrs.evolve(result, parts=(*result.parts, *beside)) if beside else result
    if isinstance(part.get("text"), str):
        if part.get("thought") is True:
            return Thinking(part["text"], part)
        return checked_text(part["text"], field=f"conversation[{index}]")
    blob = _either(part, "inline_data", "inlineData") or _either(part, "file_data", "fileData")
    if isinstance(blob, Mapping):
        mime = str(_either(cast(Raw, blob), "mime_type", "mimeType") or "")
        kind = mime.split("/", 1)[0]
        return Media(kind if kind in ("image", "audio", "video") else "document", part)
    return Opaque(next((key for key in part if key not in _SIGNS), "part"), part, "gemini")


def _shown(item: object, index: int) -> Media | Opaque:
    """A part of a function response beside its object: an image, a file (google-genai 3.4.0, FunctionResponsePart)."""
    part = _part(item, index)
    return part if isinstance(part, Media | Opaque) else Opaque("part", cast(Raw, item), "gemini")


_SIGNS = ("thought", "thought_signature", "thoughtSignature")
"""Keys beside the one that names the kind of a part."""
