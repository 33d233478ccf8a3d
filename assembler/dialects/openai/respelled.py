"""Writes a message that came in another form as Chat messages: its results, its contents, its calls with ids."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, assert_never, cast

from assembler.conversation.call_queue import CallQueue, asked_by
from assembler.conversation.messages import Call, Media, Message, Opaque, Part, Result, Thinking
from assembler.conversation.messages.dicts import CALL_NAME, private_copy
from assembler.conversation.messages.extra_fields import field_of, sent_extra_fields, write_sound
from assembler.conversation.messages.foreign_parts import is_mark
from assembler.conversation.messages.stray_cache_marks import MARK_KEYS
from assembler.dialects.blocks.media import Inline, Link, content_of, not_a_text, not_carried, without_given
from assembler.dialects.writing.call_ids import legal_id
from assembler.dialects.writing.fields import own_fields
from assembler.dialects.writing.notes import FAILED, REASONING, RENAMED, Notes
from assembler.text.fields import fields_in


def legal_name(name: str) -> str:
    """A legal tool name for a history, because models make up names, and other APIs allow more."""
    return name if CALL_NAME.fullmatch(name) else re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64]


def is_foreign_thought(part: Part) -> bool:
    """Whether a part is reasoning in a form that this API does not accept."""
    return type(part) is Thinking and field_of(part) is None


def respell(message: Message, open_calls: CallQueue[tuple[Call, str]], notes: Notes) -> Iterator[dict[str, Any]]:
    """Write a message of another form: each result as a message, then the texts and calls as one."""
    extra = _write_extra_fields(message)
    results = [part for part in message.parts if type(part) is Result]
    for part in results:
        notes[FAILED] += part.error
        result = {**_write_address(part, open_calls), "content": _write_result(part)}
        yield result | extra if message.role == "tool" else result
    calls = [part for part in message.parts if type(part) is Call]
    notes[RENAMED] += sum(legal_name(call.name) != call.name for call in calls)
    notes[REASONING] += sum(map(is_foreign_thought, message.parts))
    shown = next((part for part in message.parts if isinstance(part, Media)), None)
    if shown is not None and message.role in ("system", "developer"):  # only texts (API reference, Chat, read 2026-11)
        raise not_a_text(shown.kind)
    written = [item for part in message.parts if (item := _write_part(part))]
    if not written and not calls and (message.role == "tool" or not extra):
        if "" not in message.parts or results:
            return
        written = [""]  # an empty message of the user is sent; only the assistant's is left out
    fields: dict[str, Any] = {"role": message.role, "content": _write_content(written)}
    if message.name is not None:
        fields["name"] = message.name
    if calls:
        ids = _choose_ids(calls)
        for call, call_id in zip(calls, ids, strict=True):
            open_calls.add((call, call_id), asked_by(call.id, call.name))
        fields["tool_calls"] = [_write_call(call, call_id) for call, call_id in zip(calls, ids, strict=True)]
    yield fields | extra


def _write_extra_fields(message: Message) -> dict[str, Any]:
    """The fields of a Chat message other than its content, from a dict or an object."""
    thoughts = [part for part in message.parts if isinstance(part, Thinking) and field_of(part) is not None]
    fields = {field: held for part in thoughts for field, held in part.raw.items()}
    fields |= {field: message.seen[field] for field in sent_extra_fields(message)}
    if "audio" in fields:
        fields["audio"] = write_sound(fields["audio"])
    return cast("dict[str, Any]", private_copy(fields))


def _write_part(part: Part) -> str | dict[str, Any] | None:
    match part:
        case str():
            return part
        case Call() | Result() | Thinking():
            return None  # calls and results have their own fields; another model's reasoning is not sent
        case Media():
            return media_part(part)
        case Opaque():
            return None if is_mark(part) else own_fields(part.raw)
        case _ as never:
            assert_never(never)


def media_part(part: Media, dialect: str = "openai_chat") -> dict[str, Any]:
    """Another provider's image, document or sound as a Chat Completions part, with its content or URL.

    Raises `UnsupportedContentError` for a provider's stored file and for kinds that the API lacks.
    """
    if isinstance(part.raw.get(str(part.raw.get("type"))), Mapping):
        own = without_given(part.raw)  # already in this API's form
        return {key: value for key, value in own.items() if key not in MARK_KEYS}
    content = content_of(part)
    if part.kind == "image" and content is not None:
        url = content.url if isinstance(content, Link) else f"data:{content.mime};base64,{content.data}"
        # The bill depends on the detail: of an item of Responses, or of a part of Chat's without its type.
        detail: object = fields_in(part.raw, "image_url").get("detail")
        if detail is None:
            detail = part.raw.get("detail")
        return {"type": "image_url", "image_url": {"url": url} if detail is None else {"url": url, "detail": detail}}
    if part.kind == "document" and isinstance(content, Inline):
        file = {"filename": "document.pdf", "file_data": f"data:{content.mime};base64,{content.data}"}
        return {"type": "file", "file": file}
    if part.kind == "audio" and isinstance(content, Inline) and content.mime in SOUNDS:
        return {"type": "input_audio", "input_audio": {"data": content.data, "format": SOUNDS[content.mime]}}
    raise not_carried(part, dialect)


SOUNDS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}
"""The sound formats of Chat Completions and their names there (API reference, input_audio, read 2026-11)."""


def _write_content(items: Sequence[str | dict[str, Any]]) -> str | list[dict[str, Any]] | None:
    if not items:
        return None
    if len(items) == 1 and isinstance(items[0], str):
        return items[0]
    return [{"type": "text", "text": item} if isinstance(item, str) else item for item in items]


def _choose_ids(calls: Sequence[Call]) -> list[str]:
    """Unique ids for the calls of one message. A call may have an id that another of its step has already."""
    ids: dict[str, Call] = {}
    for place, call in enumerate(calls):
        own = None if call.id is None else legal_id(call.id)
        ids[_make_id(call, place) if own is None or own in ids else own] = call
    return list(ids)


def _make_id(call: Call, place: int) -> str:
    seed = f"{place}\0{call.name}\0{call.arguments}"
    return f"call_{hashlib.sha256(seed.encode()).hexdigest()[:24]}"


def _write_address(result: Result, open_calls: CallQueue[tuple[Call, str]]) -> dict[str, str]:
    """The role of an answer, with the id of its call, or the name if Chat is sent the call as `function_call`."""
    found = open_calls.answered(result.call_id, result.name)
    if found is None and result.function is not None:
        return {"role": "function", "name": result.function}
    answered = found[1] if found is not None else legal_id(result.call_id or f"call_{result.name}")
    return {"role": "tool", "tool_call_id": answered}


def _write_call(call: Call, call_id: str) -> dict[str, Any]:
    function = {"name": legal_name(call.name), "arguments": call.arguments}
    return {"id": call_id, "type": "function", "function": function}


def result_texts(result: Result) -> list[str]:
    """The texts of a result. Media and unknown parts are sent separately."""
    return [part for part in result.parts if isinstance(part, str)]


def _write_result(result: Result) -> str | list[dict[str, Any]]:
    if not any(type(part) is Opaque for part in result.parts):
        return _write_content(result_texts(result)) or ""
    return [{"type": "text", "text": text} for text in result_texts(result)] + [
        own_fields(part.raw) for part in result.parts if type(part) is Opaque and not is_mark(part)
    ]
