"""A pin is this library's own key: it costs nothing, and no API is sent it, in a message or in an item of any kind."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from assembler import Assembler, ConversationError
from budgets import Budget
from tests.assembler.one_price import APIS, GATEWAYS, Api, costs_its_request
from tests.scaled import in_turns

SEALED = "q8Zk" * 30
MESSAGES: Mapping[str, Mapping[str, Any]] = {
    "text": {"role": "assistant", "content": "Yes."},
    "unknown field": {"role": "assistant", "content": "Yes.", "mood": 3},
    "refusal": {"role": "assistant", "content": None, "refusal": "No."},
    "reasoning field": {"role": "assistant", "content": "Yes.", "reasoning_content": "Hm."},
    "thinking block": {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "a"}],
    },
    "server's tool": {
        "role": "assistant",
        "content": [
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "late"}},
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
        ],
    },
    "code of Gemini's": {
        "role": "model",
        "parts": [{"executableCode": {"code": "1", "language": "PYTHON"}}, {"text": "a"}],
    },
    "reasoning of Converse's": {
        "role": "assistant",
        "content": [{"reasoningContent": {"reasoningText": {"text": "Hm."}}}, {"text": "a"}],
    },
    "message item": {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "a", "annotations": []}],
    },
    "search item": {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "late"},
    },
    "tool search": {"type": "tool_search_call", "call_id": None},
    "code item": {
        "type": "code_interpreter_call",
        "id": "ci_1",
        "code": "1",
        "container_id": "c",
        "outputs": None,
        "status": "completed",
    },
    "server's MCP item": {
        "type": "mcp_call",
        "id": "m_1",
        "name": "f",
        "arguments": "{}",
        "server_label": "s",
        "output": "a",
    },
    "image item": {"type": "image_generation_call", "id": "ig_1", "result": SEALED},
    "sealed reasoning": {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": SEALED},
    "reference": {"type": "item_reference", "id": "msg_1"},
    "reference without a type": {"id": "msg_1"},
    "unknown item": {"type": "weather_report", "city": "Osaka"},
}


@pytest.mark.parametrize(("kind", "api"), in_turns(2, MESSAGES, [*APIS, *GATEWAYS]), ids=str)
def test_a_pin_costs_nothing_and_is_sent_nowhere(kind: str, api: Api) -> None:
    message = MESSAGES[kind]

    def built(pinned: Mapping[str, Any]) -> Any:
        history = [{"role": "user", "content": "Is it late?"}, pinned, {"role": "user", "content": "And now?"}]
        return Assembler(Budget(1_000_000, model=api.model), dialect=api.dialect).add_messages(history).build()

    plain, pinned = built(message), built({**message, "pinned": True})
    assert pinned.count == plain.count
    assert pinned.request() == plain.request()
    assert pinned.notes(api.dialect) == plain.notes(api.dialect)
    assert '"pinned"' not in json.dumps(pinned.request())
    costs_its_request(pinned, api)


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": [{"type": "text", "text": "Hi", "pinned": True}]},
        {"role": "user", "content": [{"text": "Hi", "pinned": True}]},
        {"role": "user", "parts": [{"text": "Hi", "pinned": True}]},
        {"role": "user", "content": [{"type": "input_text", "text": "Hi", "pinned": True}]},
    ],
    ids=["Claude's", "Bedrock's", "Gemini's", "of Responses"],
)
def test_a_pin_on_a_part_is_refused_where_it_is_added(message: Mapping[str, Any]) -> None:
    """It pinned nothing, and the API refused it."""
    with pytest.raises(ConversationError, match="write the key next to its role"):
        Assembler().add_message(message).build()
