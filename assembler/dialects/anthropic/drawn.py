"""Draws Anthropic Messages requests (blocks, signed thinking, results first in a user turn), and breaks their rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assembler.drawn import breach
from assembler.drawn.blocks import Blocks
from assembler.drawn.conversations import Call, Conversation, Definition
from assembler.drawn.engine import DrawFn
from assembler.drawn.spelling import SCHEMA, WITH_ADDRESSES, Request, Spelling


def _write_tool(tool: Definition) -> Request:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.schema}


def _write_calls(calls: tuple[Call, ...]) -> list[Request]:
    return [
        {"type": "tool_use", "id": f"toolu_{call.number}", "name": call.name, "input": dict(call.arguments)}
        for call in calls
    ]


def _write_result(call: Call) -> Request:
    block = {"type": "tool_result", "tool_use_id": f"toolu_{call.number}", "content": call.result}
    return {**block, "is_error": True} if call.failed else block


_BLOCKS = Blocks(
    text=lambda text: {"type": "text", "text": text},
    thought=lambda text: {"type": "thinking", "thinking": text, "signature": "c2ln"},
    calls=_write_calls,
    result=_write_result,
)


def _write_request(conversation: Conversation) -> Request:
    messages = _BLOCKS.messages(conversation)
    for message in messages:
        if message["role"] == "user" and len(message["content"]) == 1 and message["content"][0]["type"] == "text":
            message["content"] = message["content"][0]["text"]
    system = {} if conversation.system is None else {"system": conversation.system}
    tools = [_write_tool(tool) for tool in conversation.tools]
    return {**system, "messages": messages, **({"tools": tools} if tools else {})}


SPELLING = Spelling(
    "anthropic",
    "messages",
    _write_request,
    _write_tool,
    models=("claude-sonnet-4-5",),
    options={"max_tokens": 90, "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
    media=WITH_ADDRESSES,
)


def _find_block(draw: DrawFn, request: Request, kind: str) -> tuple[list[Request], int]:
    """The blocks of a message with a block of this type, and the index of the first such block."""
    blocks: list[Request] = breach.history_of(request)[breach.pick(draw, request, kind)]["content"]
    return blocks, next(place for place, block in enumerate(blocks) if block["type"] == kind)


def _replace_block(kind: str) -> breach.Breach:
    def broken(draw: DrawFn, request: Request) -> None:
        blocks, place = _find_block(draw, request, kind)
        blocks[place] = {"type": "text", "text": "a"}
        if kind == "tool_result":  # so that other results still come first
            blocks.append(blocks.pop(place))

    return broken


def _double_block(kind: str) -> breach.Breach:
    def broken(draw: DrawFn, request: Request) -> None:
        blocks, place = _find_block(draw, request, kind)
        blocks.insert(place, breach.copy_value(blocks[place]))

    return broken


def _write_input_as_text(draw: DrawFn, request: Request) -> None:
    blocks, place = _find_block(draw, request, "tool_use")
    blocks[place]["input"] = "{}"


def _insert_user_message(*blocks: Any) -> breach.Breach:
    return breach.before_a_question({"role": "user", "content": [*blocks]})


_FOUND = {"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": "a"}]}


_MARKED = {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}

BREACHES: Mapping[str, breach.Breach] = {
    "A1": breach.before_a_question({"role": "user", "content": ""}),
    "A2": breach.first({"role": "assistant", "content": "a"}),
    "A3": _insert_user_message({"type": "text", "text": ""}),
    "A4": _insert_user_message({"type": "text", "text": " \n"}),
    "A5": _replace_block("tool_result"),
    "A6": breach.changed("tool_result", lambda message: message["content"].insert(0, {"type": "text", "text": "a"})),
    "A7": _double_block("tool_use"),
    "A8": _replace_block("tool_use"),
    "A9": _double_block("tool_result"),
    "A10": _insert_user_message({"type": "thinking", "thinking": "a", "signature": "c2ln"}),
    "A12": breach.last({"role": "assistant", "content": "a "}),
    "A13": _insert_user_message(*[_MARKED] * 5),
    "A14": breach.without("tools"),
    "A17": _insert_user_message(_FOUND, {**_FOUND, "citations": {"enabled": True}}),
    "A18": _insert_user_message({"type": "image", "source": {"type": "base64", "data": "[lost]"}}),
    "L2": breach.with_ids("toolu_", "toolu."),
    "S1": _write_input_as_text,
    "S3": breach.before_a_question({"role": "robot", "content": "a"}),
    "S4": _insert_user_message({"type": "hologram"}),
    "S5": breach.pinned,
}
