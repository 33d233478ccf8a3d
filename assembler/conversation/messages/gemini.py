"""Gemini's spelling of messages: `role` and `parts`, in the API's camelCase or the SDK's snake_case."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

import attrs

from assembler.conversation.messages.dicts import PIN, private_copy, role_of
from assembler.conversation.messages.jsonable import sendable_copy
from assembler.conversation.messages.kinds import OF_BEDROCK, OF_GEMINI
from assembler.conversation.messages.message import Call, Media, Message, Opaque, Part, Result, Thinking, text_of_result
from assembler.conversation.messages.parts import (
    FOREIGN,
    Raw,
    compact_json,
    read_gemini_part,
    read_part,
    write_parts,
)
from assembler.conversation.messages.spelling import DictSpelling
from assembler.errors import ConversationError
from assembler.text.fields import fields_in


def _is_content(fields: Mapping[str, Any]) -> bool:
    if "content" in fields or (fields.get("kind") in _OF_PYDANTIC_AI and "role" not in fields):
        return False
    calls = any(fields.get(key) for key in ("tool_calls", "function_call"))
    # An answer without parts ended while the model was thinking.
    return "parts" in fields or (fields.get("role") == "model" and not calls)


_OF_PYDANTIC_AI = ("request", "response")
"""The kinds of Pydantic AI's own messages, which have parts and no role (`ModelMessagesTypeAdapter`, read 2026-11)."""


def _read_content(raw: Mapping[str, Any], index: int) -> Message:
    """A message from a Gemini content. Function responses become results."""
    named = raw.get("role")
    role = role_of("user" if named is None else named, index=index)
    seen = sendable_copy(raw, index=index)
    listed: object = seen.get("parts")
    if listed is None and role == "assistant":
        listed = []  # an answer that ended while the model thought: `finishReason` is MAX_TOKENS
    if isinstance(listed, dict):
        listed = seen["parts"] = [cast(Raw, listed)]  # the API reads one part as a list of one
    if isinstance(listed, tuple):
        listed = seen["parts"] = [*cast("tuple[object, ...]", listed)]
    if not isinstance(listed, list):
        raise ConversationError("Gemini content without parts; expected a list of parts", index=index)
    parts = tuple(_read_part(item, index) for item in cast("list[object]", listed))
    if role == "tool" and not (parts and all(type(part) is Result for part in parts)):
        role = "user"  # Gemini has no tool role: a content with more than results is the user's
    return Message(role, parts, raw, "gemini", seen, pinned=seen.get(PIN) is True)


def _read_part(item: object, index: int) -> Part:
    if not isinstance(item, Mapping):
        raise ConversationError(f"a Gemini part must be a dict, got {type(item).__name__}", index=index)
    fields = cast(Raw, item)
    if not _is_of_another_api(fields):
        return read_gemini_part(fields, index)
    part, _ = read_part(fields, index=index)
    if isinstance(part, str):
        return part
    if isinstance(part, Call | Result):
        raise ConversationError("a Gemini content with a part of another API; put it under 'content'", index=index)
    return part if isinstance(part, Media) else Opaque(_name_kind(part, fields), fields, FOREIGN)


_BY_KEY = frozenset([*OF_BEDROCK, "audio", "document", "image", "reasoningContent", "toolResult", "toolUse", "video"])


def _name_kind(part: Opaque | Thinking, fields: Raw) -> str:
    return part.kind if isinstance(part, Opaque) else str(fields.get("type", "thinking"))


def _is_of_another_api(part: Raw) -> bool:
    """Whether a part is spelled as another API spells it: with a type, or by a key of Bedrock's."""
    if not OF_GEMINI.isdisjoint(part):
        return False
    kind: object = part.get("type")
    if isinstance(kind, str):
        return kind != "text"
    return "text" not in part and not _BY_KEY.isdisjoint(part)


def _write_edit(seen: dict[str, Any], old: Sequence[Part], new: Sequence[Part | None]) -> Sequence[Part | None]:
    changed = [_make_object(before, part) for before, part in zip(old, new, strict=True)]
    seen["parts"] = write_parts(seen["parts"], old, changed, _write_part)
    return changed


def _make_object(before: Part, part: Part | None) -> Part | None:
    """A result for Gemini, whose text must be the JSON of an object."""
    if not isinstance(part, Result) or part.given is not None:
        return part
    given = {_key_for_text(fields_in(cast(Result, before).given)): text_of_result(part)}
    return attrs.evolve(part, parts=(compact_json(given),), given=given)


def _key_for_text(response: Raw) -> str:
    """The key of a text that replaces this object: its own key if it holds one text, else Google's word for it."""
    if len(response) == 1 and isinstance(next(iter(response.values())), str):
        return next(iter(response))
    return "error" if "error" in response else "output"


def _write_part(item: dict[str, Any], part: Part) -> dict[str, Any]:
    if isinstance(part, str):
        return {**item, "text": part} if "text" in item else {"text": part}
    if isinstance(part, Media):
        return dict(private_copy(part.raw))
    if isinstance(part, Call):
        key = "function_call" if "function_call" in item else "functionCall"
        return {**item, key: {**item[key], "args": json.loads(part.arguments)}}
    key = "function_response" if "function_response" in item else "functionResponse"
    result = cast(Result, part)
    response = {**item[key], "response": result.given}
    if all(isinstance(held, str) for held in result.parts):
        response.pop("parts", None)
    return {**item, key: response}


def _write_answer(call: Call, _: Message, text: str) -> dict[str, Any]:
    response = {"name": call.name, "response": {"error": text}}
    if call.id is not None:
        response["id"] = call.id
    return {"role": "user", "parts": [{"function_response": response}]}


gemini_content = DictSpelling(
    shape="gemini", recognises=_is_content, read=_read_content, edit=_write_edit, answer=_write_answer
)
