"""Writes neutral messages and tools for OpenAI Chat Completions and the APIs that copy it."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from assembler.conversation.call_queue import CallQueue
from assembler.conversation.messages import Call, Media, Message, Opaque, Result, Thinking
from assembler.conversation.messages.custom_tools import is_custom
from assembler.conversation.messages.dicts import CALL_ID_LIMIT, PIN, private_copy
from assembler.conversation.messages.extra_fields import OF_TABLES, field_of, without_nothing, write_sound
from assembler.conversation.messages.foreign_parts import adapt_and_note, is_in_chats_form, is_mark
from assembler.conversation.messages.parts import CHAT_SHAPES
from assembler.conversation.messages.responses import join_steps
from assembler.conversation.messages.results_first import count_messages_between_results, results_first
from assembler.conversation.messages.stray_cache_marks import BREAKPOINT, CONTROL, MARK_KEYS, TakenMarks
from assembler.dialects.blocks.media import without_given
from assembler.dialects.openai.respelled import is_foreign_thought, respell
from assembler.dialects.writing.call_ids import legal_id
from assembler.dialects.writing.fields import named_tool, object_schema, own_fields
from assembler.dialects.writing.media_in_results import all_with_media_after_results, count_media_in_results
from assembler.dialects.writing.notes import ANSWERS_FIRST, REASONING, SILENT, Notes
from assembler.regions.tools import Tool
from assembler.regions.tools.tool import own_definition
from assembler.text.fields import fields_in, fields_of

_MARKS = TakenMarks(in_parts=[BREAKPOINT, CONTROL], in_calls=[CONTROL], in_tools=[CONTROL])
"""Those of Chat Completions: OpenAI's own, and Anthropic's, which gateways take."""


def is_empty_for_chat(message: Message) -> bool:
    """Whether a message holds cache marks alone, or is an assistant's without text and calls.

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
            yield from respell(message, open_calls, notes)


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
    if "audio" in seen and write_sound(seen["audio"]) is not seen["audio"]:
        return False
    if PIN in seen or not _OF_NO_CALL.isdisjoint(seen) or not (content is None or isinstance(content, str)):
        return False
    values = list(seen.values())
    if sum(map(operator.is_, values, itertools.repeat(None))) > (content is None):  # a text may compare as it likes
        return False
    for value in values:
        if type(value) is list and not value:
            return False
    for key in OF_TABLES:
        if key in seen and not seen[key]:
            return False
    if "function_call" in seen and not isinstance(seen["function_call"].get("arguments"), str):
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
        if "audio" in fields:
            fields["audio"] = write_sound(fields["audio"])
        read = [part for part in message.parts if type(part) is Call]
        for call, part in zip(fields.get("tool_calls") or (), read, strict=False):  # a legacy call is not in the list
            if len(call.get("id") or "") > CALL_ID_LIMIT:
                call["id"] = legal_id(call["id"])
            if is_custom(call) and not _says_custom(call):
                call |= {"type": "custom", "custom": {**call["custom"], "input": part.arguments}}
        if fields.get("function_call"):
            fields["function_call"]["arguments"] = read[-1].arguments
    elif message.role == "tool" and len(fields.get("tool_call_id") or "") > CALL_ID_LIMIT:
        fields["tool_call_id"] = legal_id(fields["tool_call_id"])
    return fields


def tool_definition(tool: Tool) -> dict[str, Any]:
    """The nested definition; one of the caller's own is copied."""
    if tool.api is not None:
        return own_definition(tool)
    if tool.sent.found is None:
        tool.sent.found = _write_definition(tool)
    return cast("dict[str, Any]", tool.sent.found)


def is_flat(tool: Tool) -> bool:
    """Whether Responses is sent the caller's own definition. It gets `strict` with any other."""
    fields = fields_in(tool.seen)
    return fields.get("type") == "function" and "name" in fields


def _write_definition(tool: Tool) -> dict[str, Any]:
    fields = fields_in(tool.seen)
    if fields.get("type") == "function" and fields_of(fields.get("function")) is not None:
        definition = own_fields(fields)
        schema = definition["function"].get("parameters")
        if schema and "type" not in schema:
            definition["function"]["parameters"] = {"type": "object", **schema}
        _MARKS.drop_from_tool(definition)
        return definition
    function = named_tool(tool)
    if tool.parameters:
        function["parameters"] = object_schema(tool.parameters)
    if isinstance(strict := tool.extra.get("strict"), bool):
        function["strict"] = strict
    return {"type": "function", "function": function}
