"""Every field of an SDK's type is sent back to its API unchanged, and no other API loses a word of it silently."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from assembler import Assembler, Context, count_request
from assembler.dialects import DIALECTS
from tests.sdks.filled import CALL, PNG, blocks, converse, items, parts

Dict = dict[str, Any]

ASKED: Dict = {"role": "user", "content": "Why?"}
TOOL: Dict = {"name": "ask", "description": "Asks.", "parameters": {"type": "object", "properties": {}}}
CUSTOM: Dict = {"type": "custom", "name": "ask"}


def _of_responses(kind: str, item: Dict) -> list[Dict]:
    """The item, and what must stand beside it."""
    name = kind.removesuffix("_output").removesuffix("_call")
    if kind in ("program", "program_output"):
        other: Dict = {"type": "program", "id": CALL, "call_id": CALL, "code": "", "fingerprint": ""}
        answer: Dict = {"type": "program_output", "id": "o", "call_id": CALL, "result": "", "status": "completed"}
    elif kind.startswith("mcp_approval"):
        other = {"type": "mcp_approval_request", "id": CALL, "name": "ask", "arguments": "{}", "server_label": "s"}
        answer = {"type": "mcp_approval_response", "approval_request_id": CALL, "approve": True}
    else:
        action: Dict = {"type": "exec", "command": ["ls"], "commands": ["ls"], "env": {}}
        other = {"type": f"{name}_call", "id": CALL, "call_id": CALL, "name": "ask", "arguments": "{}", "input": ""}
        other |= {"action": action, "operation": {"type": "delete_file", "path": "a"}, "execution": "client"}
        answer = {"type": f"{name}_call_output", "id": CALL, "call_id": CALL, "output": "", "status": "completed"}
        if name == "computer":
            answer["output"] = {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PNG}"}
        if name == "tool_search":
            answer |= {"type": "tool_search_output", "execution": "client", "tools": []}
    if kind == answer["type"]:
        return [other, item]
    return [item, answer] if kind in PAIRED else [item, {"role": "assistant", "content": "So."}]


PAIRED = {"function_call", "custom_tool_call", "shell_call", "local_shell_call", "apply_patch_call", "computer_call"}
PAIRED |= {"program", "tool_search_call", "mcp_approval_request"}


def _of_anthropic(kind: str, block: Dict) -> list[Dict]:
    use: Dict = {"type": "tool_use", "id": CALL, "name": "ask", "input": {}}
    answer: Dict = {"type": "tool_result", "tool_use_id": CALL, "content": "r"}
    if kind == "tool_use":
        return [{"role": "assistant", "content": [block]}, {"role": "user", "content": [answer]}]
    if kind == "tool_result":
        return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [block]}]
    if kind in ("document", "image", "search_result", "container_upload"):
        return [{"role": "user", "content": [block, {"type": "text", "text": "See."}]}]
    asks = "mcp_tool_use" if kind.startswith("mcp") else "server_tool_use"
    before = [{"type": asks, "id": CALL, "name": "ask", "input": {}}] if kind.endswith("tool_result") else []
    of_it = {"server_tool_use": "web_search_tool_result", "mcp_tool_use": "mcp_tool_result"}.get(kind)
    after = [{"type": of_it, "tool_use_id": CALL, "content": []}] if of_it else []
    return [{"role": "assistant", "content": [*before, block, *after, {"type": "text", "text": "So."}]}, ASKED]


def _of_gemini(kind: str, part: Dict) -> list[Dict]:
    asked = {"functionCall": {"id": CALL, "name": "ask", "args": {}}}
    answered = {"functionResponse": {"id": CALL, "name": "ask", "response": {"o": 1}}}
    if kind == "function_call":
        return [{"role": "model", "parts": [part]}, {"role": "user", "parts": [answered]}]
    if kind == "function_response":
        return [{"role": "model", "parts": [asked]}, {"role": "user", "parts": [part]}]
    if kind == "inline_data":
        return [{"role": "user", "parts": [part]}]
    return [{"role": "model", "parts": [part, {"text": "So."}]}, {"role": "user", "parts": [{"text": "?"}]}]


def _of_bedrock(kind: str, block: Dict) -> list[Dict]:
    use: Dict = {"toolUse": {"toolUseId": CALL, "name": "ask", "input": {}}}
    answer: Dict = {"toolResult": {"toolUseId": CALL, "content": [{"text": "r"}]}}
    if kind == "toolUse":
        return [{"role": "assistant", "content": [block]}, {"role": "user", "content": [answer]}]
    if kind == "toolResult":
        return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [block]}]
    if kind in ("document", "guardContent", "searchResult", "cachePoint"):
        return [{"role": "user", "content": [{"text": "see"}, block]}]
    return [{"role": "assistant", "content": [block, {"text": "So."}]}, {"role": "user", "content": [{"text": "?"}]}]


CASES = [
    *(("openai_responses", kind, item, [*_of_responses(kind, item), ASKED]) for kind, item in items()),
    *(("anthropic", kind, block, _of_anthropic(kind, block)) for kind, block in blocks()),
    *(("gemini", kind, part, _of_gemini(kind, part)) for kind, part in parts()),
    *(("bedrock", kind, block, _of_bedrock(kind, block)) for kind, block in converse()),
]


def built(name: str, kind: str, messages: list[Dict]) -> Context[Any]:
    tool = CUSTOM if kind.startswith("custom_tool") else TOOL
    return Assembler(dialect=name).add_capability([tool]).add_messages([ASKED, *messages]).build()


@pytest.mark.parametrize(("name", "kind", "value", "messages"), CASES, ids=[f"{case[0]}-{case[1]}" for case in CASES])
def test_a_type_with_every_field_is_sent_back_unchanged_and_other_apis_lose_no_word_without_a_note(
    name: str, kind: str, value: Dict, messages: list[Dict]
) -> None:
    context = built(name, kind, messages)
    request = context.request()
    assert json.dumps(value, default=repr) in json.dumps(request, default=repr)
    assert context.count == count_request(request, dialect=name)
    assert context.notes() == ()
    words = re.findall(r"word\d+", json.dumps(value, default=repr))
    for other in ("openai_chat", *(each for each in DIALECTS if each not in ("plain", "openai_chat"))):
        if other != name:
            lost = [word for word in words if word not in json.dumps(context.request(other), default=repr)]
            assert not lost or context.notes(other), (other, lost)
