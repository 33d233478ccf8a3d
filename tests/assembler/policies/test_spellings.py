"""A shortened message keeps its spelling and its class."""

from __future__ import annotations

import copy
import dataclasses
import json
from typing import Any

import pytest

from assembler import Assembler
from assembler.dialects import anthropic, bedrock, gemini, openai_chat, openai_responses, plain
from assembler.policies import ClearReasoning, ClearToolResults, Truncate
from assembler.policies.truncate import MARKER
from budgets import Budget, ContextLengthError, tiktoken_counter

BODY = "x" * 400
ASKED = {"q": "y" * 400}
TEXT = "z" * 400


@dataclasses.dataclass
class OwnMessage:
    role: str
    content: Any
    tool_calls: Any = None
    tool_call_id: Any = None


@dataclasses.dataclass(frozen=True)
class Frozen:
    role: str
    content: str


@dataclasses.dataclass
class Refused:
    refusal: str
    role: str = "assistant"
    content: Any = None


def function(arguments: str) -> dict[str, Any]:
    return {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}


JSON = json.dumps(ASKED)
SESSIONS: dict[str, tuple[Any, list[Any]]] = {
    "openai": (
        openai_chat,
        [
            {"role": "user", "content": [{"type": "text", "text": TEXT}]},
            {"role": "assistant", "content": TEXT, "tool_calls": [function(JSON)]},
            {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": BODY}]},
            {"role": "assistant", "content": [{"type": "refusal", "refusal": TEXT}]},
        ],
    ),
    "refusals": (
        openai_chat,
        [
            {"role": "user", "content": TEXT},
            {"role": "assistant", "content": None, "refusal": TEXT},
            {"role": "assistant", "content": "", "refusal": TEXT},
            {"role": "assistant", "refusal": TEXT},
            Refused(TEXT),
        ],
    ),
    "legacy functions": (
        openai_chat,
        [
            {"role": "user", "content": TEXT},
            {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": JSON}},
            {"role": "function", "name": "f", "content": BODY},
        ],
    ),
    "responses": (
        openai_responses,
        [
            {"role": "user", "content": [{"type": "input_text", "text": TEXT}]},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": JSON},
            {"type": "function_call_output", "call_id": "c", "output": BODY},
            {"type": "custom_tool_call", "call_id": "d", "name": "g", "input": TEXT},
            {"type": "custom_tool_call_output", "call_id": "d", "output": [{"type": "input_text", "text": BODY}]},
        ],
    ),
    "anthropic": (
        anthropic,
        [
            {"role": "user", "content": ({"type": "text", "text": TEXT},)},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": TEXT, "signature": "s"},
                    {"type": "text", "text": TEXT},
                    {"type": "tool_use", "id": "c", "name": "f", "input": ASKED},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": BODY}]},
                    {"type": "text", "text": TEXT},
                ],
            },
        ],
    ),
    "bedrock": (
        bedrock,
        [
            {"role": "user", "content": [{"text": TEXT}]},
            {
                "role": "assistant",
                "content": [{"text": TEXT}, {"toolUse": {"toolUseId": "c", "name": "f", "input": ASKED}}],
            },
            {"role": "user", "content": [{"toolResult": {"toolUseId": "c", "content": [{"json": {"a": BODY}}]}}]},
        ],
    ),
    "gemini": (
        gemini,
        [
            {"role": "user", "parts": [{"text": TEXT}]},
            {"role": "model", "parts": [{"text": TEXT}, {"functionCall": {"name": "f", "args": ASKED}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"a": BODY}}}]},
        ],
    ),
    "objects": (
        plain,
        [
            Frozen("user", TEXT),
            OwnMessage("assistant", TEXT, [{"id": "c", "name": "f", "args": ASKED}]),
            OwnMessage("tool", BODY, tool_call_id="c"),
            ("assistant", TEXT),
        ],
    ),
}
END = {"role": "user", "content": "and now?"}
POLICIES: dict[str, Any] = {
    "ends": Truncate(24),
    "head": Truncate(40, where="head"),
    "ladder": [ClearReasoning(0), ClearToolResults(0), Truncate(24)],
}


def tools() -> list[dict[str, Any]]:
    return [{"name": name, "description": "d", "parameters": {"type": "object", "properties": {}}} for name in "fg"]


@pytest.mark.parametrize(
    ("name", "ladder"),
    [
        pytest.param(name, ladder, marks=() if place % len(POLICIES) == number else pytest.mark.slow)
        for place, name in enumerate(SESSIONS)
        for number, ladder in enumerate(POLICIES)
    ],
)
def test_the_shortened_message_is_the_one_that_is_sent(name: str, ladder: str) -> None:
    (dialect, history), policies = SESSIONS[name], POLICIES[ladder]
    history = [*history, {"role": "user", "parts": [{"text": "and now?"}]} if dialect is gemini else END]
    before = copy.deepcopy(history)
    count = tiktoken_counter("o200k_base")

    def assembled(limit: int) -> Assembler[int]:
        assembler = Assembler(Budget(limit, counter=count), dialect=dialect, on_overflow=policies)
        return assembler.add_capability(tools()).add_messages(history)

    shortened: set[int] = set()
    upper = assembled(10**6).build().count.upper
    with pytest.raises(ContextLengthError) as refused:
        assembled(1).build()
    least = refused.value.required
    for limit in (*range(upper - 1, least, -max(10, upper // 60)), least):
        context = assembled(limit).build()
        shortened |= {item.index for item in context.dropped}
        assert history == before
        anew = Assembler(Budget(10**6, counter=count), dialect=dialect).add_capability(tools())
        assert anew.add_messages(context.messages).build().request() == context.request()
        assert anew.build().count.upper == context.count.upper <= limit
    assert shortened == set(range(len(history) - 1))


def test_an_object_keeps_its_class_if_that_can_be_copied() -> None:
    _, history = SESSIONS["objects"]
    budget = Budget(200, counter=len)
    context = Assembler(budget, dialect=plain, on_overflow=Truncate(30)).add_messages([*history, END]).build()
    assert [type(message) for message in context.messages] == [dict, OwnMessage, OwnMessage, tuple, dict]


def test_a_result_that_came_as_an_object_is_cleared_and_shortened_as_one() -> None:
    _, history = SESSIONS["gemini"]
    budget = Budget(10**4, counter=len)
    whole = Assembler(budget, dialect=gemini).add_messages([*history, END]).build().count.upper
    responses: list[Any] = []
    for less, policy in ((1, ClearToolResults(0)), (700, Truncate(200))):
        assembler = Assembler(Budget(whole - less, counter=len), dialect=gemini, on_overflow=policy)
        contents = assembler.add_messages([*history, END]).build().request()["contents"]
        responses.append(contents[2]["parts"][0]["functionResponse"]["response"])
    assert responses[0] == {"a": "[cleared]"}
    assert list(responses[1]) == ["a"]
    assert MARKER in responses[1]["a"]
