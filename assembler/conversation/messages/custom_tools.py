"""Turns calls of OpenAI's custom tools into calls of functions with one text, which every other API accepts."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

import attrs

from assembler.conversation.messages.dicts import read_dict
from assembler.conversation.messages.kinds import id_in
from assembler.conversation.messages.message import Call, Message, Part
from assembler.conversation.messages.parts import FOREIGN
from assembler.conversation.messages.responses_items import RESPONSES
from assembler.conversation.messages.shapes import SHAPES
from assembler.text.fields import fields_in, items_of


def with_functions(message: Message, target: str) -> Message:
    """The message with calls of custom tools as calls of functions that take `input`, if the API has no custom tools.

    OpenAI's two APIs have them, each in its own form. `plain` sends every call as it came. Returns the same message if
    there is nothing to do. O(parts).
    """
    if SHAPES[target].sends_all or message.role != "assistant" or Call not in map(type, message.parts):
        return message
    if target != RESPONSES and message.shape in (RESPONSES, FOREIGN):
        message = _convert_in_content(message)
    seen: object = message.seen
    if message.shape == RESPONSES:
        items: list[Any] = seen if isinstance(seen, list) else [seen]  # pyright: ignore[reportUnknownVariableType]
        return message if target == RESPONSES else _convert_items(message, items)
    calls = items_of(fields_in(seen).get("tool_calls"))
    listed = cast("list[dict[str, Any]]", calls) if target != "openai" else []
    if not any(map(is_custom, listed)):
        return message
    return read_dict({**cast("dict[str, Any]", seen), "tool_calls": [*map(_write_function, listed)]}, index=0)


def _convert_items(message: Message, items: Sequence[Mapping[str, Any]]) -> Message:
    ids = {item.get("call_id") or item.get("id") for item in items if item.get("type") == "custom_tool_call"}
    if not ids:
        return message
    seen = [_write_function_item(item) if item.get("type") == "custom_tool_call" else item for item in items]
    spelled = seen if isinstance(message.seen, list) else seen[0]
    return attrs.evolve(message, parts=_convert_arguments(message, ids), seen=spelled, shallow=False)


def _convert_in_content(message: Message) -> Message:
    """The message with the custom calls among the items of its content as calls of functions."""
    from assembler.conversation.messages.calls_in_content import call_items  # for items in a content alone

    ids = {call_id for call_id, item in call_items(message).items() if item.get("type") == "custom_tool_call"}
    if not ids:
        return message
    listed = [
        _write_function_item(item) if item.get("type") == "custom_tool_call" and id_in(item) in ids else raw
        for raw in items_of(message.seen["content"])
        for item in [fields_in(raw)]
    ]
    seen = {**message.seen, "content": listed}
    return attrs.evolve(message, parts=_convert_arguments(message, ids), seen=seen, shallow=False)


def _convert_arguments(message: Message, ids: Collection[object]) -> tuple[Part, ...]:
    """The parts, with the text of each of these calls as the field `input` of an object."""
    return tuple(
        attrs.evolve(part, arguments=_write_input(part.arguments))
        if isinstance(part, Call) and part.id in ids
        else part
        for part in message.parts
    )


def _write_function_item(item: Mapping[str, Any]) -> dict[str, Any]:
    """The call as a `function_call` item. As an item it stays in one turn of the model with its neighbours."""
    arguments = _write_input(item.get("input") or "")
    call_id = item.get("call_id") or item.get("id")
    return {"type": "function_call", "call_id": call_id, "name": item.get("name"), "arguments": arguments}


def _write_function(call: dict[str, Any]) -> dict[str, Any]:
    if not is_custom(call):
        return call
    function = {"name": call["custom"]["name"], "arguments": _write_input(call["custom"].get("input") or "")}
    return {"id": call.get("id"), "type": "function", "function": function}


def is_custom(call: Mapping[str, Any]) -> bool:
    """Whether a call in a Chat Completions message is of a custom tool. A function call may have `custom: null`."""
    return isinstance(call.get("custom"), Mapping) and not isinstance(call.get("function"), Mapping)


def _write_input(text: str) -> str:
    return json.dumps({"input": text}, ensure_ascii=False)
