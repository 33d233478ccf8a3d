"""Models of other makers in ADK: `LiteLlm` writes arguments and results as JSON with blanks after its signs."""

from __future__ import annotations

import json
from typing import Any

from google.adk.models.llm_request import LlmRequest
from google.genai import types

from assembler import Assembler, Truncate, count_request
from assembler.integrations.adk import AssemblerPlugin
from budgets import Budget

ROWS = {"rows": [{"id": number, "name": f"naïve {number}\n"} for number in range(30)]}
GIVEN = {"from": "東京", "via": ["a", "b"]}


def trip(response: dict[str, Any]) -> list[types.Content]:
    call = types.FunctionCall(id="c", name="look_up", args=GIVEN)
    answered = types.FunctionResponse(id="c", name="look_up", response=response)
    return [
        types.Content(role="user", parts=[types.Part(text="Which rows?")]),
        types.Content(role="model", parts=[types.Part(function_call=call)]),
        types.Content(role="user", parts=[types.Part(function_response=answered)]),
    ]


def as_litellm_sends(contents: list[types.Content]) -> dict[str, Any]:
    """As `_content_to_message_param` writes it (google-adk 2.13.0)."""
    user, model, tool = (content.parts or [] for content in contents)
    asked: Any = model[0].function_call
    answered: Any = tool[0].function_response
    function = {"name": asked.name, "arguments": json.dumps(asked.args, ensure_ascii=False)}
    messages: list[Any] = [
        {"role": "user", "content": user[0].text},
        {"role": "assistant", "tool_calls": [{"type": "function", "id": asked.id, "function": function}]},
        {"role": "tool", "tool_call_id": "c", "content": json.dumps(answered.response, ensure_ascii=False)},
    ]
    return {"model": "gpt-4o", "messages": messages}


def fitted(contents: list[types.Content], window: int, **options: Any) -> tuple[LlmRequest, AssemblerPlugin]:
    plugin = AssemblerPlugin(Assembler(Budget(window, model="gpt-4o"), **options))
    request = LlmRequest(contents=list(contents), config=types.GenerateContentConfig())
    plugin.fit(request)
    return request, plugin


def test_json_costs_another_makers_model_what_litellm_writes_of_it() -> None:
    contents = trip(ROWS)
    request, plugin = fitted(contents, 10_000)
    assert plugin.last_context is not None
    assert plugin.last_context.count == count_request(as_litellm_sends(contents), dialect="openai_chat")
    assert all(kept is own for kept, own in zip(request.contents, contents, strict=True))


def test_a_result_that_is_shortened_for_another_makers_model_stays_an_object() -> None:
    request, _ = fitted(trip({"found": "word " * 500}), 200, on_overflow=Truncate(100))
    call, answer = (content.parts or [] for content in request.contents[1:])
    assert call[0].function_call is not None
    assert call[0].function_call.args == GIVEN
    assert answer[0].function_response is not None
    (text,) = (answer[0].function_response.response or {}).values()
    assert 50 < len(text) < 1_000
    assert count_request(as_litellm_sends(request.contents), dialect="openai_chat").upper <= 210
