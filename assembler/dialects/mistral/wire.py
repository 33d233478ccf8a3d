"""Writes a conversation for Mistral's chat API: Chat Completions with its own message order and ids.

Rules and error texts: the request validator of mistral-common (Apache-2.0) and public issue threads, read 2026-11.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import attrs

from assembler.conversation.messages import Media, Message, Opaque, Part, Thinking
from assembler.conversation.messages.dicts import private_copy
from assembler.conversation.messages.extra_fields import REASONING as REASONING_FIELDS
from assembler.conversation.messages.extra_fields import refusal_of, texts_of_extra_fields
from assembler.conversation.messages.foreign_parts import adapt_and_note
from assembler.conversation.messages.parts import FOREIGN
from assembler.conversation.messages.stray_cache_marks import MARK_KEYS, NONE_TAKEN
from assembler.dialects.blocks.media import Link, content_of
from assembler.dialects.openai.wire import (
    is_empty_for_chat,
    is_sent_alone,
    tool_definition,
    wire_messages,
)
from assembler.dialects.writing.call_ids import make_nine_characters
from assembler.dialects.writing.fields import NO_PARAMETERS, own_fields
from assembler.dialects.writing.notes import BRIDGE, BRIDGED, REASONING, SILENT, Notes
from assembler.errors import UnsupportedContentError
from assembler.pricing.media.reading import GIVEN
from assembler.regions.tools import Tool
from assembler.regions.tools.tool import own_definition
from assembler.text.fields import fields_in, items_of

_KEYS = frozenset(["role", "content", "name", "tool_calls", "tool_call_id", "prefix"])
"""Keys of a message: Mistral forbids all others (mistral-common 1.13.1, protocol/instruct/messages, read 2026-11)."""

_OF_A_CALL = frozenset(["id", "type", "function", "index"])
"""Keys of a call."""

_CHUNKS = frozenset(
    ["text", "thinking", "image_url", "image", "input_audio", "audio_url", "document_url", "file", "reference"]
)
"""Kinds of a content's chunks (mistral-common 1.13.1, protocol/instruct/chunk.py; mistralai 3.7.0; read 2026-11)."""


@attrs.frozen
class WrittenMessages:
    """Messages in the API's form, and the notes on what had to change."""

    messages: list[dict[str, Any]]
    notes: Notes


NAMES = "message(s) sent without the speaker's name"
DEMOTED = "system message(s) after an answer sent as the user's"
PREFIXED = "assistant message at the end sent as a prefix to continue"


def write_messages(messages: Iterable[Message]) -> WrittenMessages:
    """Write the messages in order, legal for Mistral. O(messages). Raises `UnsupportedContentError`.

    Ids of calls and answers become legal, answers get their tool's name, and developer messages become system messages.
    A system message after an assistant's or a tool's, or at the end, becomes the user's. An assistant message is put
    between a tool's answer and the user. An assistant message at the end becomes a prefix that the model continues.
    """
    notes = Notes()
    ordered: list[dict[str, Any]] = []
    _put_in_order([in_chat_shape(message, notes) for message in messages], ordered, {}, notes)
    _make_ending_legal(ordered, notes)
    return WrittenMessages(ordered, notes)


def write_messages_after(before: Sequence[dict[str, Any]], added: Iterable[Message]) -> list[dict[str, Any]] | None:
    """Write the messages `added` after a request without notes; None if they change it, or need a note.

    O(added, and the results before them).
    """
    notes = Notes()
    adopted = [in_chat_shape(message, notes) for message in added]
    if "prefix" in before[-1] or not all(map(is_sent_alone, adopted)):
        return None
    ordered = [before[-1]]
    _put_in_order(adopted, ordered, _find_names_of_last_calls(before), notes)
    if any(notes.values()):
        return None
    _make_ending_legal(ordered, notes)
    return None if any(notes.values()) else ordered[1:]


def _find_names_of_last_calls(messages: Sequence[dict[str, Any]]) -> dict[str, str]:
    """The names of the calls, by id, that the results at the end answer."""
    asking: dict[str, Any] = next((fields for fields in reversed(messages) if fields["role"] != "tool"), messages[0])
    return {call["id"]: call["function"]["name"] for call in asking.get("tool_calls") or ()}


def _put_in_order(
    messages: Sequence[Message], ordered: list[dict[str, Any]], named: dict[str, str], notes: Notes
) -> None:
    sent = private_copy(wire_messages(messages, notes, "mistral"))
    for fields in cast("list[dict[str, Any]]", sent):
        if _make_legal(fields, named, notes):
            _append_message(fields, ordered, notes)
        else:
            notes[SILENT] += 1


def own_thinking(part: object) -> bool:
    """Whether a thinking part is Mistral's chunk, a list of objects, and not another model's signed text."""
    if type(part) is not Thinking or part.raw.get("type") != "thinking":
        return False
    thinking: object = part.raw.get("thinking")
    chunks = items_of(thinking)  # none for a text
    return type(thinking) in (list, tuple) and all(isinstance(chunk, Mapping) for chunk in chunks)


def is_empty(message: Message) -> bool:
    """Whether a message has no content for this API. Mistral's own reasoning is content."""
    return is_empty_for_chat(message) and not any(map(own_thinking, message.parts))


def in_chat_shape(message: Message, notes: Notes) -> Message:
    """The message with the shape of its form: Chat's, if it is nearly Mistral's, or a foreign one."""
    message = _address_documents(message)
    if texts_of_extra_fields(message, "mistral"):
        return adapt_and_note(message, "mistral", notes)
    thoughts = [part for part in message.parts if type(part) is Thinking]
    if thoughts and all(map(own_thinking, thoughts)) and isinstance(message.seen.get("content"), list):
        return attrs.evolve(message, shape="openai")
    return attrs.evolve(message, shape=FOREIGN) if _is_openais_own(message) else message


def _address_documents(message: Message) -> Message:
    """The message with another API's documents at an address as chunks of this API; Chat has none.

    Those of another API in an assistant's message are left out.
    """
    if Media not in map(type, message.parts) or message.shape == "openai" or message.role == "assistant":
        return message
    return attrs.evolve(message, parts=tuple(map(_address_document, message.parts)))


def _address_document(part: Part) -> Part:
    content = content_of(part) if type(part) is Media and part.kind == "document" else None
    if not isinstance(content, Link):
        return part
    return Opaque(_DOCUMENT, {"type": _DOCUMENT, _DOCUMENT: content.url}, "mistral")


_DOCUMENT = "document_url"


def _is_openais_own(message: Message) -> bool:
    """Whether a Chat message has what only OpenAI has: a legacy call or answer, a refusal, a new kind of call."""
    seen = message.seen
    if message.shape != "openai":
        return False
    refused = refusal_of(seen) is not None
    new = any("function" not in call and "custom" not in call for call in seen.get("tool_calls") or ())
    return seen["role"] == "function" or bool(seen.get("function_call")) or refused or new


def _make_legal(fields: dict[str, Any], named: dict[str, str], notes: Notes) -> bool:
    """Change one message's fields to Mistral's. Returns False if nothing is left."""
    for key in fields.keys() - _KEYS:
        notes[REASONING] += key in REASONING_FIELDS
        del fields[key]
    role = fields["role"] = "system" if fields["role"] == "developer" else fields["role"]
    if isinstance(fields.get("content"), list):
        fields["content"] = [legal for part in fields["content"] if (legal := _write_part(part, notes)) is not None]
    if role == "tool":
        fields["tool_call_id"] = make_nine_characters(fields["tool_call_id"])
        if not fields.get("name") and (name := named.get(fields["tool_call_id"])):
            fields["name"] = name
        fields["content"] = fields["content"] or ""
        return True
    if fields.pop("name", None) is not None:
        notes[NAMES] += 1
    if role != "assistant":
        fields["content"] = fields["content"] or ""
        return True
    return _make_assistant_legal(fields, named)


def _make_assistant_legal(fields: dict[str, Any], named: dict[str, str]) -> bool:
    for call in fields.get("tool_calls") or ():
        call["id"] = make_nine_characters(call["id"])
        if "function" not in call:
            raise UnsupportedContentError("Mistral has no custom tools; pass them as functions", kind="custom")
        for key in call.keys() - _OF_A_CALL:
            del call[key]
        named[call["id"]] = call["function"]["name"]
    if fields.get("tool_calls") == []:
        del fields["tool_calls"]
    if fields.get("content") == []:
        fields["content"] = ""
    return bool(fields.get("content") or fields.get("tool_calls"))


def _write_part(part: object, notes: Notes) -> object | None:
    """A chunk in Mistral's form; None for an empty text."""
    if isinstance(part, str):
        return {"type": "text", "text": part} if part else None
    chunk = cast("dict[str, Any]", part)
    match chunk.get("type"):
        case "refusal":
            return _write_part(chunk["refusal"], notes)
        case "text" | None if isinstance(text := chunk.get("text"), str):
            return {"type": "text", "text": text} if text else None
        case "thinking" | "redacted_thinking" if not isinstance(chunk.get("thinking"), list):
            notes[REASONING] += 1
            return None
        case "input_audio" if isinstance(sound := chunk["input_audio"], dict):
            return {"type": "input_audio", "input_audio": cast("dict[str, Any]", sound).get("data")}
        case str(kind) if kind in _CHUNKS and "file" not in chunk:
            return {key: value for key, value in chunk.items() if key not in MARK_KEYS and key not in GIVEN}
        case "file" if isinstance(data := fields_in(chunk, "file").get("file_data"), str) and ":" in data[:12]:
            return {"type": _DOCUMENT, _DOCUMENT: data}
        case "file" | "image" | "document" | "input_image" | "input_file":  # as other APIs spell them
            raise UnsupportedContentError(
                f"mistral cannot carry a part of kind {chunk['type']!r}; leave it out of the conversation",
                kind=str(chunk["type"]),
            )
        case _:
            return chunk


def _append_message(fields: dict[str, Any], ordered: list[dict[str, Any]], notes: Notes) -> None:
    before = ordered[-1]["role"] if ordered else None
    if fields["role"] == "system" and before in ("assistant", "tool"):
        fields["role"] = "user"
        notes[DEMOTED] += 1
    if fields["role"] == "user" and before == "tool":
        ordered.append({"role": "assistant", "content": BRIDGE})
        notes[BRIDGED] += 1
    ordered.append(fields)


def _make_ending_legal(ordered: list[dict[str, Any]], notes: Notes) -> None:
    """Change a last message of another role: `Expected last role User or Tool (or Assistant with prefix True)`."""
    for fields in ordered[:-1]:
        fields.pop("prefix", None)
    last: dict[str, Any] = ordered[-1] if ordered else {"role": "user"}
    if last["role"] == "system":
        last["role"] = "user"
        notes[DEMOTED] += 1
    elif last["role"] == "assistant" and last.get("prefix") is not True:
        last["prefix"] = True
        notes[PREFIXED] += 1


def definition(tool: Tool) -> dict[str, Any]:
    """A nested definition, always with a schema. The caller's own keeps its keys."""
    if tool.api is not None:
        return own_definition(tool)
    nested = cast("dict[str, Any]", private_copy(tool_definition(tool)))
    NONE_TAKEN.drop_from_tool(nested)
    function = nested["function"]
    if not function.get("parameters"):
        function["parameters"] = own_fields(NO_PARAMETERS)
    elif "type" not in function["parameters"]:
        function["parameters"] = {"type": "object", **function["parameters"]}
    for key in ("description", "strict"):
        if key in function and function[key] is None:
            del function[key]
    return nested
