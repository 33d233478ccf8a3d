"""How a neutral message and tool are written for OpenAI Chat Completions and the APIs that copy it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, assert_never, cast

from assembler.conversation.messages import Call, Media, Message, Opaque, Part, Result, Thinking
from assembler.conversation.messages.answers_first import answers_first, count_parted
from assembler.conversation.messages.custom_tools import is_custom
from assembler.conversation.messages.dicts import CALL_NAME, PIN, private_copy
from assembler.conversation.messages.extra_fields import OF_ANSWERS, field_of, without_nothing
from assembler.conversation.messages.foreign_parts import is_mark, translated
from assembler.conversation.messages.parts import NEUTRAL
from assembler.conversation.messages.responses import join_steps
from assembler.conversation.waiting import Waiting, answer_to, asked_by
from assembler.dialects.blocks.media import Inline, Link, content_of, not_carried, without_given
from assembler.dialects.call_ids import CALL_ID_LIMIT, legal_id
from assembler.dialects.copies import named_tool, object_schema, own_fields
from assembler.dialects.notes import ANSWERS_FIRST, REASONING, RENAMED, SILENT, Notes
from assembler.dialects.shown_beside import all_shown_beside, shown_media
from assembler.regions.tools import Tool
from assembler.regions.tools.tool import own_definition
from assembler.text.fields import fields_in, fields_of


def legal_name(name: str) -> str:
    """A tool's name in a history, legal: models make up names, and other APIs allow more. Pure."""
    return name if CALL_NAME.fullmatch(name) else re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64]


def says_nothing(message: Message) -> bool:
    """Whether an assistant message has neither text nor calls, or another one marks of a cache alone.

    No API takes it, so it is left out of requests.
    """
    if message.beside:
        return False
    if message.role != "assistant":
        return bool(message.parts) and all(map(is_mark, message.parts))
    for part in message.parts:  # noqa: SIM110 - a generator takes three times as long, at each message
        if part and (type(part) is not Thinking or stays(part, message)):
            return False
    return True


def stays(part: Thinking, message: Message) -> bool:
    """Whether reasoning goes out among the content's parts, as one of the APIs that copy this one has it."""
    return message.shape in _SPOKEN and field_of(part) is None


def wire_messages(messages: Iterable[Message], notes: Notes, own: str = "openai") -> list[dict[str, Any]]:
    """The messages as Chat Completions dicts, which share what was read. A result gets the id of its call.

    `own` is the shape of the API that they are for: what other APIs alone have goes out as text, or not at all. `notes`
    counts what is left out, renamed or moved.
    """
    listed = list(messages)
    sent = [message.sent or as_it_came(message) for message in listed]  # most went out before
    return list(_respelled_where_needed(listed, notes, own)) if None in sent else cast("list[dict[str, Any]]", sent)


def as_it_came(message: Message) -> Mapping[str, Any] | None:
    """What is sent for a message alone; None if it must be spelled anew, or together with others. Found once."""
    if message.sent is None:
        seen: dict[str, Any] = message.seen
        if message.shallow and message.shape in _SPOKEN and (seen["content"] or message.role != "assistant"):
            stands = len(seen.get("tool_call_id", "")) <= CALL_ID_LIMIT and PIN not in seen  # the rest are texts
            message.sent = seen if stands else _as_it_came(message)
        else:
            message.sent = _spelled_alone(message, seen)
    return message.sent


def _spelled_alone(message: Message, seen: dict[str, Any]) -> dict[str, Any] | None:
    if holds_opaque(message) or shown_media(message):  # what goes to one API as it came goes to another otherwise
        return None
    if not _goes_as_it_came(message):
        return None
    return seen if _stands(seen) else _as_it_came(message)


def holds_opaque(message: Message) -> bool:
    """Whether a part that is not read is in a message, or in an answer of it."""
    for part in message.parts:
        kind = type(part)
        if kind is Opaque or (kind is Result and Opaque in map(type, cast(Result, part).parts)):
            return True
    return False


def is_sent_alone(message: Message) -> bool:
    """Whether what is sent for a message does not depend on what stands before it: a legacy answer names no call."""
    return as_it_came(message) is not None and (message.role != "tool" or message.seen["role"] == "tool")


_SPOKEN = (NEUTRAL, "openai")
"""The shapes that this API takes as they came."""


def _respelled_where_needed(messages: Sequence[Message], notes: Notes, own: str) -> Iterator[dict[str, Any]]:
    waiting: Waiting[tuple[Call, str]] = Waiting()
    joined = join_steps(messages)
    notes[ANSWERS_FIRST] += count_parted(joined)
    for came in answers_first(all_shown_beside(joined, own, notes)):
        message = came if came.sent is not None else translated(came, own, notes)
        if message.sent is not None and not _answers_respelled(message, waiting):
            yield cast("dict[str, Any]", message.sent)
        elif holds_opaque(message) and _goes_as_it_came(message):
            yield _as_it_came(message)
        elif says_nothing(message):
            notes[SILENT] += message.role == "assistant"
            notes[REASONING] += sum(map(is_foreign_thought, message.parts))
        else:
            yield from _respell(message, waiting, notes)


def is_foreign_thought(part: Part) -> bool:
    """Whether a part is reasoning that is spelled in no way that this API takes."""
    return type(part) is Thinking and field_of(part) is None


def _goes_as_it_came(message: Message) -> bool:
    spoken = message.shape in _SPOKEN and not says_nothing(message)
    return spoken and not _has_calls_to_respell(message)


def _answers_respelled(message: Message, waiting: Iterable[tuple[Call, str]]) -> bool:
    """Whether a legacy answer, which names no id, is to a call that had none and has been given one."""
    if message.role != "tool" or message.seen["role"] != "function":
        return False
    names = [part.name for part in message.parts if type(part) is Result]
    return any(call.id is None and call.name in names for call, _ in waiting)


def _has_calls_to_respell(message: Message) -> bool:
    """Whether arguments came as objects, as some templates spell them, or calls do not say that they are functions'."""
    calls: list[dict[str, Any]] | None = message.seen.get("tool_calls")
    if not calls:
        return False
    for call in calls:
        if call.get("type") == "function" and "function" in call:
            function: dict[str, Any] | None = call["function"]
            if isinstance(function, dict) and isinstance(function.get("arguments"), str):
                continue  # most by far, passed without a call
        if _is_respelled(call):
            return True
    return False


def _is_respelled(call: Mapping[str, Any]) -> bool:
    function = call.get("function")
    if isinstance(function, Mapping):
        named = cast("Mapping[str, object]", function)
        return call.get("type") != "function" or not isinstance(named.get("arguments"), str)
    return not (is_custom(call) or isinstance(call.get(str(call.get("type"))), Mapping))  # of a kind yet unknown


def _stands(seen: dict[str, Any]) -> bool:
    """Whether nothing in a message has to be changed for this API: then what was read may be copied from as it is."""
    content = seen.get("content")
    if PIN in seen or not (content is None or isinstance(content, str)):
        return False
    held = list(seen.values())
    if held.count(None) > (content is None):
        return False
    for value in held:
        if type(value) is list and not value:
            return False
    if "tool_calls" not in seen:
        return len(seen.get("tool_call_id") or "") <= CALL_ID_LIMIT
    calls: list[dict[str, Any]] = seen["tool_calls"] or []
    for call in calls:
        if len(call.get("id") or "") > CALL_ID_LIMIT or (
            "custom" in call and is_custom(call) and not _says_custom(call)
        ):
            return False
    return bool(calls)


def _says_custom(call: Mapping[str, Any]) -> bool:
    """Whether a call of a custom tool says that it is one, and what the tool is given."""
    return call.get("type") == "custom" and isinstance(call["custom"].get("input"), str)


def _as_it_came(message: Message) -> dict[str, Any]:
    fields = without_nothing(message.seen.copy() if message.shallow else private_copy(message.seen))
    fields.pop(PIN, None)
    if fields.get("content") == []:
        fields["content"] = "" if message.role == "tool" else None
    if any(isinstance(part, Media) for part in message.parts):
        items = cast("list[Any]", fields["content"])
        fields["content"] = [
            without_given(cast("dict[str, Any]", item)) if type(item) is dict else item for item in items
        ]
    if message.role == "assistant":
        read = [part for part in message.parts if type(part) is Call]
        for call, part in zip(fields.get("tool_calls") or (), read, strict=False):  # a legacy call has no dict
            if len(call.get("id") or "") > CALL_ID_LIMIT:
                call["id"] = legal_id(call["id"])
            if is_custom(call) and not _says_custom(call):
                call |= {"type": "custom", "custom": {**call["custom"], "input": part.arguments}}
    elif message.role == "tool" and len(fields.get("tool_call_id") or "") > CALL_ID_LIMIT:
        fields["tool_call_id"] = legal_id(fields["tool_call_id"])
    return fields


def _respell(message: Message, waiting: Waiting[tuple[Call, str]], notes: Notes) -> Iterator[dict[str, Any]]:
    """What another provider spelled otherwise: results first, each a message of its own, then texts and calls."""
    for part in message.parts:
        if type(part) is Result:
            yield {"role": "tool", "tool_call_id": _answered_id(part, waiting), "content": _text_of(part)}
    calls = [part for part in message.parts if type(part) is Call]
    notes[RENAMED] += sum(legal_name(call.name) != call.name for call in calls)
    notes[REASONING] += sum(map(is_foreign_thought, message.parts))
    if message.role in ("system", "developer"):
        _refuse_media(message)
    written = [item for part in message.parts if (item := _written(part))]
    if not written and not calls and not message.beside:
        if "" not in message.parts or Result in map(type, message.parts):
            return
        written = [""]  # what a user said with no word in it is said: only the assistant's silence is left out
    fields: dict[str, Any] = {"role": message.role, "content": _content(written)}
    if message.name is not None:
        fields["name"] = message.name
    if calls:
        ids = _ids_of(calls)
        for call, call_id in zip(calls, ids, strict=True):
            waiting.add((call, call_id), asked_by(call.id, call.name))
        fields["tool_calls"] = [_tool_call(call, call_id) for call, call_id in zip(calls, ids, strict=True)]
    yield fields | _beside(message)


def _refuse_media(message: Message) -> None:
    """A system message holds texts alone (OpenAI API reference, Chat, system and developer messages; read 2026-11)."""
    for part in message.parts:
        if isinstance(part, Media):
            raise not_carried(part, "openai_chat")


def _beside(message: Message) -> dict[str, Any]:
    """The fields that a Chat message has beside its content, of whatever object it came as."""
    fields = [field for part in message.parts if (field := field_of(part)) is not None]
    kept = [field for field in message.beside if field in OF_ANSWERS or message.shape in _SPOKEN]
    return {field: private_copy(message.seen[field]) for field in (*fields, *kept)}


def _written(part: Part) -> str | dict[str, Any] | None:
    match part:
        case str():
            return part
        case Call() | Result() | Thinking():
            return None  # calls and results have their own fields; the API has none for another model's reasoning
        case Media():
            return media_part(part)
        case Opaque():
            return None if is_mark(part) else own_fields(part.raw)
        case _ as never:
            assert_never(never)


def media_part(part: Media) -> dict[str, Any]:
    """Another provider's image, document or sound as a Chat Completions part, content inline or by its address.

    Raises `UnsupportedContentError` for what lies in a provider's own file store and for kinds that the API lacks.
    """
    if isinstance(part.raw.get(str(part.raw.get("type"))), Mapping):
        own = without_given(part.raw)  # as this API spells it
        own.pop("cache_control", None)
        return own
    content = content_of(part)
    if part.kind == "image" and content is not None:
        url = content.url if isinstance(content, Link) else f"data:{content.mime};base64,{content.data}"
        asked: object = part.raw.get("detail")  # an item of Responses: what it asks for is what it is billed for
        return {"type": "image_url", "image_url": {"url": url} if asked is None else {"url": url, "detail": asked}}
    if part.kind == "document" and isinstance(content, Inline):
        file = {"filename": "document.pdf", "file_data": f"data:{content.mime};base64,{content.data}"}
        return {"type": "file", "file": file}
    if part.kind == "audio" and isinstance(content, Inline) and content.mime in SOUNDS:
        return {"type": "input_audio", "input_audio": {"data": content.data, "format": SOUNDS[content.mime]}}
    raise not_carried(part, "openai_chat")


SOUNDS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}
"""The sounds that Chat Completions takes and its words for them (API reference, input_audio, read 2026-11)."""


def _content(items: Sequence[str | dict[str, Any]]) -> str | list[dict[str, Any]] | None:
    if not items:
        return None
    if len(items) == 1 and isinstance(items[0], str):
        return items[0]
    return [{"type": "text", "text": item} if isinstance(item, str) else item for item in items]


def _ids_of(calls: Sequence[Call]) -> list[str]:
    """The ids that the calls of one message go by. A call may come under an id that another of its step had before."""
    ids: dict[str, Call] = {}
    for place, call in enumerate(calls):
        own = None if call.id is None else legal_id(call.id)
        ids[_made_id(call, place) if own is None or own in ids else own] = call
    return list(ids)


def _made_id(call: Call, place: int) -> str:
    seed = f"{place}\0{call.name}\0{call.arguments}"
    return f"call_{hashlib.sha256(seed.encode()).hexdigest()[:24]}"


def _answered_id(result: Result, waiting: Waiting[tuple[Call, str]]) -> str:
    found = waiting.take(answer_to(result.call_id, result.name))
    if found is not None:
        return found[1]
    return legal_id(result.call_id or f"call_{result.name}")


def _tool_call(call: Call, call_id: str) -> dict[str, Any]:
    function = {"name": legal_name(call.name), "arguments": call.arguments}
    return {"id": call_id, "type": "function", "function": function}


def result_texts(result: Result) -> list[str]:
    """The texts of a result. What it shows goes beside it, and so does a part that nobody knows yet."""
    return [part for part in result.parts if isinstance(part, str)]


def _text_of(result: Result) -> str | list[dict[str, Any]]:
    if not any(type(part) is Opaque for part in result.parts):
        return _content(result_texts(result)) or ""
    return [{"type": "text", "text": text} for text in result_texts(result)] + [
        own_fields(part.raw) for part in result.parts if type(part) is Opaque and not is_mark(part)
    ]


def tool_definition(tool: Tool) -> dict[str, Any]:
    """The nested definition. One that came in this spelling goes out as it came."""
    if tool.api is not None:
        return own_definition(tool)
    if tool.sent.found is None:
        tool.sent.found = _definition(tool)
    return cast("dict[str, Any]", tool.sent.found)


def _definition(tool: Tool) -> dict[str, Any]:
    came = fields_in(tool.seen)
    if came.get("type") == "function" and fields_of(came.get("function")) is not None:
        given = own_fields(came)
        schema = given["function"].get("parameters")
        if schema and "type" not in schema:
            given["function"]["parameters"] = {"type": "object", **schema}
        return given
    function = named_tool(tool)
    if tool.parameters:
        function["parameters"] = object_schema(tool.parameters)
    if isinstance(strict := tool.extra.get("strict"), bool):
        function["strict"] = strict
    return {"type": "function", "function": function}
