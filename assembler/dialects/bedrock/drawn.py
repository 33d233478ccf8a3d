"""Bedrock Converse: blocks named by their key, roles that strictly alternate; and what breaks its rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assembler.drawn import breach
from assembler.drawn.blocks import Blocks
from assembler.drawn.conversations import Call, Conversation, Definition
from assembler.drawn.spelling import IMAGES_AND_PAPERS, Request, Spelling


def _write_tool(tool: Definition) -> Request:
    spec = {"name": tool.name, "description": tool.description, "inputSchema": {"json": tool.schema}}
    return {"toolSpec": spec}


def _write_calls(calls: tuple[Call, ...]) -> list[Request]:
    return [
        {"toolUse": {"toolUseId": f"tooluse_{call.number}", "name": call.name, "input": dict(call.arguments)}}
        for call in calls
    ]


def _write_answer(call: Call) -> Request:
    status = "error" if call.failed else "success"
    answer = {"toolUseId": f"tooluse_{call.number}", "content": [{"text": call.result}], "status": status}
    return {"toolResult": answer}


_BLOCKS = Blocks(
    text=lambda text: {"text": text},
    thought=lambda text: {"reasoningContent": {"reasoningText": {"text": text, "signature": "c2ln"}}},
    calls=_write_calls,
    result=_write_answer,
)


def _write_request(conversation: Conversation) -> Request:
    system = {} if conversation.system is None else {"system": [{"text": conversation.system}]}
    tools = [_write_tool(tool) for tool in conversation.tools]
    return {
        **system,
        "messages": _BLOCKS.messages(conversation),
        **({"toolConfig": {"tools": tools}} if tools else {}),
    }


SPELLING = Spelling(
    "bedrock",
    "messages",
    _write_request,
    _write_tool,
    fewest_answers=1,
    models=(
        "anthropic.claude-sonnet-4-5-20250929-v1:0",
        "claude-sonnet-4-5",
        "amazon.nova-lite-v1:0",
        "meta.llama3-3-70b-instruct-v1:0",
    ),
    options={"modelId": "m", "inferenceConfig": {"maxTokens": 90}},
    media=IMAGES_AND_PAPERS,
)


def _add_block(block: Request) -> breach.Breach:
    return breach.changed("text", lambda message: message["content"].append(block))


def _change_result(**fields: Any) -> breach.Breach:
    """Other fields for the first result of a message."""
    return breach.changed("toolResult", lambda message: message["content"][0]["toolResult"].update(fields))


BREACHES: Mapping[str, breach.Breach] = {
    "B1": breach.before_a_question({"role": "user", "content": [{"text": "a"}]}),
    "B2": _add_block({"text": " "}),
    "B3": breach.without("toolConfig"),
    "B4": _change_result(status="error", content=[]),
    "B5": breach.first({"role": "assistant", "content": [{"text": "a"}]}),
    "N2": _change_result(toolUseId="nobody"),
    "N3": breach.step_again,
    "L3": breach.with_ids("tooluse_", "tooluse_" + "x" * 64),
    "S1": breach.changed("toolUse", lambda message: message["content"][-1]["toolUse"].update(input="{}")),
    "S4": _add_block({"hologram": {}}),
    "S5": breach.pinned,
}
