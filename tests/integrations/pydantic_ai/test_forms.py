"""What Claude and Gemini get in a form of their own is priced in it, and rewritten in it."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest
from pydantic_ai.messages import (
    BinaryContent,
    FilePart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from assembler import Assembler, ClearReasoning, ClearToolResults, Truncate, count_request
from assembler.dialects import Dialect, anthropic, gemini, openai_chat
from assembler.integrations.pydantic_ai import FitContext
from budgets import Budget
from tests.integrations.pydantic_ai.scripted import CHAT, fitted
from tests.integrations.pydantic_ai.test_messages import PIXEL

UNSIGNED = base64.b64encode(b"skip_thought_signature_validator").decode()
SIGNATURE = base64.b64encode(b"x" * 900).decode()


def asked(text: Any) -> ModelRequest:
    return ModelRequest([UserPromptPart(text)])


def counted(dialect: Dialect, history: list[ModelMessage], **budget: Any) -> tuple[int, list[ModelMessage]]:
    model = "gemini-3-pro-preview" if dialect is gemini else "claude-sonnet-4-5"
    policy = budget.pop("policy", None)
    more = {} if policy is None else {"on_overflow": policy}
    capability = FitContext(Assembler(Budget.for_model(model, **budget), dialect=dialect, **more))
    sent = fitted(capability, history).messages
    assert capability.last_context is not None
    return capability.last_context.count.upper, sent


def test_a_text_file_for_claude_costs_its_text() -> None:
    file = BinaryContent(b"clams " * 300, media_type="text/plain")
    tokens, sent = counted(anthropic, history := [asked(["?", file])])
    assert 300 < tokens < 3_000
    assert sent[0] is history[0]


@pytest.mark.parametrize(
    "item",
    [
        BinaryContent(b"clams " * 300, media_type="text/plain"),
        BinaryContent(b'{"clams": [1, 2, 3]}', media_type="application/problem+json"),
        BinaryContent(PIXEL, media_type="image/png", vendor_metadata={"detail": "low"}),
    ],
)
def test_a_file_for_chat_costs_what_is_sent_of_it(item: BinaryContent) -> None:
    history: list[ModelMessage] = [asked(["?", item])]
    sent: Any = asyncio.run(CHAT._map_messages(history, ModelRequestParameters()))
    capability = FitContext(Assembler(Budget.for_model("gpt-4o")))
    assert fitted(capability, history).messages[0] is history[0]
    assert capability.last_context is not None
    assert capability.last_context.count == count_request({"messages": sent}, dialect=openai_chat, model="gpt-4o")


@pytest.mark.parametrize(
    ("part", "least"),
    [
        (FilePart(BinaryContent(PIXEL, media_type="image/png")), 200),
        (ThinkingPart("They want the weather. " * 20), 80),
    ],
)
def test_what_gemini_gets_besides_texts_is_priced(part: Any, least: int) -> None:
    bare, _ = counted(gemini, [asked("q"), ModelResponse([TextPart("a")]), asked("q")])
    history = [asked("q"), ModelResponse([part, TextPart("a")]), asked("q")]
    tokens, sent = counted(gemini, history)
    assert tokens - bare >= least
    assert all(a is b for a, b in zip(sent, history, strict=True))


@pytest.mark.parametrize(
    "parts",
    [
        [ToolCallPart("look_up", {}, "t", provider_details={"thought_signature": SIGNATURE})],
        [ThinkingPart("", signature=SIGNATURE), ToolCallPart("look_up", {}, "t")],
    ],
)
def test_the_signature_of_a_call_is_priced_if_gemini_gets_it(parts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    result = ModelRequest([ToolReturnPart("look_up", "r", "t")])
    history = [asked("q"), ModelResponse(parts, provider_name="google"), result]
    bare, _ = counted(gemini, history)
    monkeypatch.setattr("pydantic_ai.models.Model.accepts_stateless_artifacts", lambda *_: True)
    signed, _ = counted(gemini, history)
    assert signed - bare > 200


@pytest.mark.parametrize("policy", [ClearReasoning(keep=0), Truncate(max_tokens=20), ClearToolResults(keep=0)])
def test_a_shortened_answer_of_gemini_keeps_its_files_and_signatures(policy: Any) -> None:
    call = ToolCallPart("look_up", {"q": "towns"}, "t", provider_details={"thought_signature": SIGNATURE})
    answer = ModelResponse([ThinkingPart("hm " * 200), TextPart("long " * 200), call])
    result = ModelRequest([ToolReturnPart("look_up", "found " * 200, "t")])
    history: list[ModelMessage] = [asked("q"), answer, result, ModelResponse([TextPart("a")]), asked("q")]
    whole, _ = counted(gemini, history)
    tokens, sent = counted(gemini, history, policy=policy, context_window=whole - 20, max_output_tokens=0)
    assert tokens < whole
    assert len(sent) == len(history)
    kept = [part for message in sent[1:2] for part in message.parts if isinstance(part, ToolCallPart)]
    assert [part.provider_details for part in kept] == [call.provider_details]
    assert answer.parts[1].content == "long " * 200


def test_a_failed_result_costs_claude_what_its_mark_does() -> None:
    def history_with(outcome: Any) -> list[ModelMessage]:
        result = ToolReturnPart("look_up", "no such town", "t", outcome=outcome)
        return [asked("q"), ModelResponse([ToolCallPart("look_up", {}, "t")]), ModelRequest([result])]

    tool = ToolDefinition(name="look_up", parameters_json_schema={"type": "object", "properties": {}})
    costs: list[int] = []
    for outcome in ("success", "failed"):
        capability = FitContext(Assembler(Budget.for_model("claude-sonnet-4-5"), dialect=anthropic))
        fitted(capability, history_with(outcome), function_tools=[tool])
        assert capability.last_context is not None
        costs.append(capability.last_context.count.tokens)
    assert costs[0] < costs[1]


@pytest.mark.parametrize(
    ("content", "outcome", "response"),
    [
        ("no such town", "failed", {"error": "no such town"}),
        ("no such town", "retried", {"error": "no such town"}),
        ({"$ref": "#/towns"}, "success", {"output": '{"$ref":"#/towns"}'}),
    ],
)
def test_a_result_of_gemini_costs_what_is_sent_of_an_error_and_of_a_reference(
    content: Any, outcome: Any, response: Any
) -> None:
    call, result = ToolCallPart("look_up", {}, "t"), ToolReturnPart("look_up", content, "t", outcome=outcome)
    tokens, _ = counted(gemini, [asked("q"), ModelResponse([call]), ModelRequest([result])])
    called = {"function_call": {"name": "look_up", "args": {}, "id": "t"}}
    answered = {"function_response": {"name": "look_up", "response": response, "id": "t"}}
    contents = [
        {"role": "user", "parts": [{"text": "q"}]},
        {"role": "model", "parts": [{**called, "thought_signature": UNSIGNED}]},
        {"role": "user", "parts": [answered]},
    ]
    assert tokens == count_request({"contents": contents}, dialect=gemini, model="gemini-3-pro-preview").upper
