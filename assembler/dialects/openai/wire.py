"""Writes neutral messages and tools for OpenAI Chat Completions and the APIs that copy it."""

from __future__ import annotations

import hashlib
import itertools
import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, assert_never, cast

from assembler.conversation.call_queue import CallQueue, asked_by
from assembler.conversation.messages import Call, Media, Message, Opaque, Part, Result, Thinking
from assembler.conversation.messages.custom_tools import is_custom
from assembler.conversation.messages.dicts import CALL_ID_LIMIT, CALL_NAME, PIN, private_copy
from assembler.conversation.messages.extra_fields import field_of, sent_extra_fields, without_nothing
from assembler.conversation.messages.foreign_parts import adapt_and_note, is_in_chats_form, is_mark
from assembler.conversation.messages.parts import CHAT_SHAPES
from assembler.conversation.messages.responses import join_steps
from assembler.conversation.messages.results_first import count_messages_between_results, results_first
from assembler.conversation.messages.stray_cache_marks import BREAKPOINT, CONTROL, MARK_KEYS, TakenMarks
from assembler.dialects.blocks.media import Inline, Link, content_of, not_a_text, not_carried, without_given
from assembler.dialects.writing.call_ids import legal_id
from assembler.dialects.writing.fields import named_tool, object_schema, own_fields
from assembler.dialects.writing.media_in_results import all_with_media_after_results, count_media_in_results
from assembler.dialects.writing.notes import ANSWERS_FIRST, FAILED, REASONING, RENAMED, SILENT, Notes
from assembler.regions.tools import Tool
from assembler.regions.tools.tool import own_definition
from assembler.text.fields import fields_in, fields_of

_MARKS = TakenMarks(in_parts=[BREAKPOINT, CONTROL], in_calls=[CONTROL], in_tools=[CONTROL])
"""Those of Chat Completions: OpenAI's own, and Anthropic's, which gateways take."""


def legal_name(name: str) -> str:
    """A legal tool name for a history, because models make up names, and other APIs allow more."""
    return name if CALL_NAME.fullmatch(name) else re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64]


def is_empty_for_chat(message: Message) -> bool:
    """True for a message of cache marks alone, and an assistant message without text and calls.

    No API accepts these, so they are left out of requests. An assistant's refusal or sound may stand alone.
    """
    if message.role != "assistant":
        return not message.extra_fields and bool(message.parts) and all(map(is_mark, message.parts))
    if message.extra_fields and not {"audio", "refusal"}.isdisjoint(message.extra_fields):
        return False
    for part in message.parts:
        if part and not is_mark(part) and (type(part) is not Thinking or is_sent_in_content(part, message)):
            return False
    return True


def is_sent_in_content(part: Thinking, message: Message) -> bool:
    """Whether reasoning is sent as a part of the content, as in some APIs that copy this one."""
    return message.shape in CHAT_SHAPES and field_of(part) is None


def wire_messages(messages: Iterable[Message], notes: Notes, own: str = "openai") -> list[dict[str, Any]]:
    """Write the messages as Chat Completions dicts, which may share the readings' objects. Results get call ids.

    `own` is the shape of the target API: parts of other APIs become text or are left out. `notes` counts what is left
    out, renamed or moved.
    """
    listed = list(messages)
    sent = [message.sent or as_it_came(message) for message in listed]  # `sent` is known for most
    return list(_respell_where_needed(listed, notes, own)) if None in sent else cast("list[dict[str, Any]]", sent)


def as_it_came(message: Message) -> Mapping[str, Any] | None:
    """The dict that is sent for a message, if it depends on no other message, else None. Computed once."""
    if message.sent is None:
        message.sent = _spell_alone(message)
    return message.sent


def _spell_alone(message: Message) -> dict[str, Any] | None:
    if not _MOST.issuperset(map(type, message.parts)) and _depends_on_the_api(message):
        return None
    if not goes_as_it_came(message):
        return None
    seen: dict[str, Any] = message.seen
    if _needs_no_change(seen):
        return seen
    return None if _has_strays(message) else _copy_as_it_came(message)


_MOST = frozenset({str, Call})


def _depends_on_the_api(message: Message) -> bool:
    """Whether a message is written differently for the APIs that have this form."""
    if holds_opaque(message) or count_media_in_results(message):
        return True
    return not all(is_in_chats_form(part, message) for part in message.parts if isinstance(part, Media))


def holds_opaque(message: Message) -> bool:
    """Whether the message, or a result in it, holds an opaque part."""
    for part in message.parts:
        kind = type(part)
        if kind is Opaque or (kind is Result and Opaque in map(type, cast(Result, part).parts)):
            return True
    return False


def is_sent_alone(message: Message) -> bool:
    """Whether the message's dict does not depend on earlier ones. A legacy answer's does: it names no call."""
    return as_it_came(message) is not None and (message.role != "tool" or message.seen["role"] == "tool")


def sent_alone(messages: Iterable[Message]) -> list[Mapping[str, Any]] | None:
    """What is sent for each message; None unless `is_sent_alone` holds for all of them."""
    sent: list[Mapping[str, Any]] = []
    for message in messages:
        spelled = message.sent or as_it_came(message)
        if spelled is None or (message.role == "tool" and message.seen["role"] != "tool"):
            return None
        sent.append(spelled)
    return sent


def _respell_where_needed(messages: Sequence[Message], notes: Notes, own: str) -> Iterator[dict[str, Any]]:
    open_calls: CallQueue[tuple[Call, str]] = CallQueue()
    joined = join_steps(messages)
    notes[ANSWERS_FIRST] += count_messages_between_results(joined)
    for original in results_first(all_with_media_after_results(joined, own, notes)):
        message = original if original.sent is not None else adapt_and_note(original, own, notes)
        if message.sent is not None and not _answers_call_with_made_id(message, open_calls):
            yield cast("dict[str, Any]", message.sent)
        elif (_depends_on_the_api(message) or _has_strays(message)) and goes_as_it_came(message):
            yield _copy_as_it_came(message)
        elif is_empty_for_chat(message):
            notes[SILENT] += message.role == "assistant"
            notes[REASONING] += sum(map(is_foreign_thought, message.parts))
        else:
            yield from _respell(message, open_calls, notes)


def is_foreign_thought(part: Part) -> bool:
    """Whether a part is reasoning in a form that this API does not accept."""
    return type(part) is Thinking and field_of(part) is None


def goes_as_it_came(message: Message) -> bool:
    """Whether a message that was adapted to this API is sent with all its fields."""
    if message.role in ("system", "developer") and Media in map(type, message.parts):
        return False
    is_chat = message.shape in CHAT_SHAPES and not is_empty_for_chat(message)
    return is_chat and not ("tool_calls" in message.seen and _has_calls_to_respell(message))


def _has_strays(message: Message) -> bool:
    """Whether a message has a cache mark that this API does not have there: written apart, so that it is noted."""
    fields = fields_of(message.seen)
    return fields is not None and any(True for _ in _MARKS.strays(fields))


def _answers_call_with_made_id(message: Message, open_calls: Iterable[tuple[Call, str]]) -> bool:
    """Whether a legacy answer, which has no id, answers a call that got one."""
    if message.role != "tool" or message.seen["role"] != "function":
        return False
    return any(call.id is None for call, _ in open_calls)  # whatever its name: see `CallQueue.answered`


def _has_calls_to_respell(message: Message) -> bool:
    """Whether a call has an object as arguments, as for some templates, or no type."""
    calls: list[dict[str, Any]] | None = message.seen.get("tool_calls")
    if not calls:
        return False
    for call in calls:
        if call.get("type") == "function" and "function" in call:
            function: dict[str, Any] | None = call["function"]
            if isinstance(function, dict) and isinstance(function.get("arguments"), str):
                continue  # nearly all calls, skipped without a function call
        if _is_respelled(call):
            return True
    return False


def _is_respelled(call: Mapping[str, Any]) -> bool:
    function = call.get("function")
    if isinstance(function, Mapping):
        named = cast("Mapping[str, object]", function)
        return call.get("type") != "function" or not isinstance(named.get("arguments"), str)
    return not (is_custom(call) or isinstance(call.get(str(call.get("type"))), Mapping))  # of an unknown type


def _needs_no_change(seen: dict[str, Any]) -> bool:
    """Whether nothing in a message must change for this API, so that it can be copied."""
    content = seen.get("content")
    if PIN in seen or not _OF_NO_CALL.isdisjoint(seen) or not (content is None or isinstance(content, str)):
        return False
    held = list(seen.values())
    if sum(map(operator.is_, held, itertools.repeat(None))) > (content is None):  # a text may compare as it likes
        return False
    for value in held:
        if type(value) is list and not value:
            return False
    if "tool_calls" not in seen:
        return len(seen.get("tool_call_id") or "") <= CALL_ID_LIMIT
    calls: list[dict[str, Any]] = seen["tool_calls"] or []
    for call in calls:
        if (
            not _OF_NO_CALL.isdisjoint(call)
            or len(call.get("id") or "") > CALL_ID_LIMIT
            or ("custom" in call and is_custom(call) and not _says_custom(call))
        ):
            return False
    return bool(calls)


_OF_NO_CALL = MARK_KEYS - _MARKS.in_calls
"""The cache marks that this API has neither in a message nor in a call."""


def _says_custom(call: Mapping[str, Any]) -> bool:
    """Whether a call of a custom tool has its type and its input."""
    return call.get("type") == "custom" and isinstance(call["custom"].get("input"), str)


def _copy_as_it_came(message: Message) -> dict[str, Any]:
    fields = without_nothing(message.seen.copy() if message.shallow else private_copy(message.seen))
    fields.pop(PIN, None)
    _MARKS.drop(fields)
    if fields.get("content") == []:
        fields["content"] = "" if message.role == "tool" else None
    if any(isinstance(part, Media) for part in message.parts):
        items = cast("list[Any]", fields["content"])
        fields["content"] = [
            without_given(cast("dict[str, Any]", item)) if type(item) is dict else item for item in items
        ]
    if message.role == "assistant":
        read = [part for part in message.parts if type(part) is Call]
        for call, part in zip(fields.get("tool_calls") or (), read, strict=False):  # a legacy call is not in the list
            if len(call.get("id") or "") > CALL_ID_LIMIT:
                call["id"] = legal_id(call["id"])
            if is_custom(call) and not _says_custom(call):
                call |= {"type": "custom", "custom": {**call["custom"], "input": part.arguments}}
    elif message.role == "tool" and len(fields.get("tool_call_id") or "") > CALL_ID_LIMIT:
        fields["tool_call_id"] = legal_id(fields["tool_call_id"])
    return fields


def _respell(message: Message, open_calls: CallQueue[tuple[Call, str]], notes: Notes) -> Iterator[dict[str, Any]]:
    """Write a message of another form: each result as a message, then the texts and calls as one."""
    extra = _write_extra_fields(message)
    results = [part for part in message.parts if type(part) is Result]
    for part in results:
        notes[FAILED] += part.error
        result = {"role": "tool", "tool_call_id": _find_answered_id(part, open_calls), "content": _write_result(part)}
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
        return {key: held for key, held in own.items() if key not in MARK_KEYS}
    content = content_of(part)
    if part.kind == "image" and content is not None:
        url = content.url if isinstance(content, Link) else f"data:{content.mime};base64,{content.data}"
        # The bill depends on the detail: of an item of Responses, or of a part of Chat's without its type.
        held: object = fields_in(part.raw, "image_url").get("detail")
        asked: object = part.raw.get("detail") if held is None else held
        return {"type": "image_url", "image_url": {"url": url} if asked is None else {"url": url, "detail": asked}}
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


def _find_answered_id(result: Result, open_calls: CallQueue[tuple[Call, str]]) -> str:
    found = open_calls.answered(result.call_id, result.name)
    if found is not None:
        return found[1]
    return legal_id(result.call_id or f"call_{result.name}")


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


def tool_definition(tool: Tool) -> dict[str, Any]:
    """The nested definition; one of the caller's own is copied."""
    if tool.api is not None:
        return own_definition(tool)
    if tool.sent.found is None:
        tool.sent.found = _write_definition(tool)
    return cast("dict[str, Any]", tool.sent.found)


def _write_definition(tool: Tool) -> dict[str, Any]:
    fields = fields_in(tool.seen)
    if fields.get("type") == "function" and fields_of(fields.get("function")) is not None:
        given = own_fields(fields)
        schema = given["function"].get("parameters")
        if schema and "type" not in schema:
            given["function"]["parameters"] = {"type": "object", **schema}
        _MARKS.drop_from_tool(given)
        return given
    function = named_tool(tool)
    if tool.parameters:
        function["parameters"] = object_schema(tool.parameters)
    if isinstance(strict := tool.extra.get("strict"), bool):
        function["strict"] = strict
    return {"type": "function", "function": function}
