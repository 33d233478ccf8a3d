"""Reads message objects by duck typing: those with `.role` and `.content`, and LangChain's `.type` and `.content`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

import attrs

from assembler.conversation.messages.dicts import read_dict
from assembler.conversation.messages.extra_fields import REASONING
from assembler.conversation.messages.message import Message
from assembler.conversation.messages.part_owners import assign_unknown_parts
from assembler.conversation.messages.parts import FOREIGN
from assembler.conversation.messages.sdk_objects import as_input, plain_data
from assembler.errors import ConversationError

# LangChain message types (langchain-core, messages/*.py: the `type` literals, read 2026-11) and our roles for them.
_LANGCHAIN = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "function",
    "HumanMessageChunk": "user",
    "AIMessageChunk": "assistant",
    "SystemMessageChunk": "system",
}
_FIELDS = ("tool_calls", "tool_call_id", "name", "function_call", "refusal", "tool_name", "images", "pinned")
"""Fields of any message beside its content. Ollama's (0.6.3) are `tool_name` and `images`, pictures in base64."""
_FIELDS_OF_ANSWERS = (*REASONING, "audio", "annotations", "provider_specific_fields", "reasoning_items", "tool_plan")
"""Fields of an assistant message beside its content. LangChain's classes keep them in `additional_kwargs`.

LiteLLM reads the signatures, searches and summaries of an answer back from two of the last three (1.110.2), and Cohere
takes the plan of its calls back (7.3.1). Other fields of a class are not read: it may be one of the caller's own.
"""


def is_message_object(raw: object) -> bool:
    """Whether an object has a role and content in one of the two forms.

    An SDK turns an unknown item into a message without a role; that is read from its dump instead. So is an answer with
    the type "message", as OpenAI's Responses and Anthropic return them.
    """
    if not hasattr(raw, "content") or (getattr(raw, "type", None) == "message" and hasattr(raw, "model_dump")):
        return False
    if getattr(raw, "type", None) in _LANGCHAIN or getattr(raw, "role", None) is not None:
        return True
    return hasattr(raw, "role") and not hasattr(raw, "model_dump")


def read_object(raw: object, *, index: int) -> Message:
    """A message from an object's attributes. `message.seen` is the dict of them.

    Unknown parts are assigned to the API of the message if that is certain. An object with a role has the shape of its
    fields; LangChain's content has a spelling of its own.
    """
    message = read_dict(spell_object(raw, index=index), index=index, origin=raw)
    if getattr(raw, "role", None) is not None:
        return message
    if message.shape in ("anthropic", "responses"):  # many APIs share Chat's spelling
        message = assign_unknown_parts(message, message.shape)
    return attrs.evolve(message, shape=FOREIGN)


def spell_object(raw: object, *, index: int) -> dict[str, Any]:
    """The attributes of an object as a message dict. Nested objects are dumped by their own `model_dump`."""
    role = getattr(raw, "role", None)
    if role is None:
        role = _LANGCHAIN.get(getattr(raw, "type", ""))
    fields: dict[str, Any] = {"role": getattr(role, "value", role), "content": plain_data(_read_if_set(raw, "content"))}
    for key in _FIELDS:
        value = _read_if_set(raw, key)
        if value is not None and value != []:
            fields[key] = plain_data(value)
    if fields["role"] in ("assistant", "model", "ai"):
        fields |= _read_texts_and_lists(raw)
    fields |= {key: value for key, value in _read_unknown(raw).items() if key not in fields}
    if fields["role"] is None:
        raise ConversationError("message object without a role", index=index)
    return dict(as_input(_remove_mirrored_calls(fields)))


def _read_if_set(raw: object, key: str) -> object:
    """The value of a field; None if it was never set, for which Mistral's SDK has a falsy object."""
    value: object = getattr(raw, key, None)
    unset = not value and type(value) not in (str, list, tuple)
    return None if unset else value


def _read_texts_and_lists(raw: object) -> dict[str, Any]:
    """Those of `_FIELDS_OF_ANSWERS` that hold a text, a list or a dict: an attribute of such a name may be anything."""
    kept: object = getattr(raw, "additional_kwargs", None)
    further: Mapping[str, object] = cast("Mapping[str, object]", kept) if isinstance(kept, Mapping) else {}
    found = {key: plain_data(getattr(raw, key, None) or further.get(key)) for key in _FIELDS_OF_ANSWERS}
    found["citations"] = plain_data(getattr(raw, "citations", None))  # Cohere's; LangChain keeps addresses in its own
    return {key: value for key, value in found.items() if value and isinstance(value, str | list | dict)}


def _read_unknown(raw: object) -> dict[str, Any]:
    """The fields that an SDK's class does not know and pydantic keeps in `model_extra`."""
    kept: object = getattr(raw, "model_extra", None) if hasattr(raw, "role") else None
    fields: Mapping[str, object] = cast("Mapping[str, object]", kept) if isinstance(kept, Mapping) else {}
    return {key: plain_data(value) for key, value in fields.items() if value is not None}


def _remove_mirrored_calls(fields: dict[str, Any]) -> dict[str, Any]:
    """Remove the calls in the content: LangChain repeats the `tool_calls` there, in its own form or in Anthropic's."""
    content = fields["content"]
    if "tool_calls" not in fields or not isinstance(content, list):
        return fields
    parts = [part for part in cast("Iterable[object]", content) if not _is_call(part)]
    return {**fields, "content": parts}


def _is_call(part: object) -> bool:
    return isinstance(part, Mapping) and cast("Mapping[str, Any]", part).get("type") in ("tool_call", "tool_use")
