"""What Mistral bills, by generation, in cases written for these tests with the sums of recorded bills."""

from __future__ import annotations

from typing import Any

import pytest

import assembler
from assembler.dialects import mistral
from budgets import Count


def words(text: str) -> int:
    return len(text.split())


def billed(model: str, **request: Any) -> Count:
    messages = request.pop("messages", [{"role": "user", "content": "Hi"}])
    return assembler.count_request({"messages": messages, **request}, dialect=mistral, model=model, counter=words)


CALL = {"id": "abcdefghi", "type": "function", "function": {"name": "look", "arguments": '{"city":"Rome"}'}}
ASKED = {"role": "user", "content": "Hi"}
CALLED = {"role": "assistant", "content": "", "tool_calls": [CALL]}
ANSWERED = {"role": "tool", "tool_call_id": "abcdefghi", "name": "look", "content": "blue"}


@pytest.mark.parametrize(
    ("model", "more"),
    [("ministral-3b-latest", 36), ("pixtral-12b-2409", 36), ("mistral-large-latest", 0), ("ministral-8b-2512", 0)],
)
def test_a_template_that_writes_the_ids_of_calls_bills_them_with_each_answer(model: str, more: int) -> None:
    with_call, without = billed(model, messages=[ASKED, CALLED, ANSWERED]), billed(model)
    framing = 1 + 2 + 2  # the assistant's end, the call, the result
    assert with_call.tokens - without.tokens == 1 + 2 + 1 + framing + more


TOOL = {"type": "function", "function": {"name": "look", "description": "", "parameters": {"type": "object"}}}


def test_tools_that_may_not_be_called_cost_nothing_but_may_cost_all() -> None:
    hidden = billed("mistral-large-latest", tools=[TOOL], tool_choice="none")
    assert hidden.tokens == billed("mistral-large-latest").tokens
    assert hidden.upper >= billed("mistral-large-latest", tools=[TOOL]).tokens


@pytest.mark.parametrize(
    ("model", "asked", "description", "properties", "tokens"),
    [
        # 0xPlaygrounds/rig (MIT), tests/cassettes/mistral/request_shape_matrix, read 2026-11
        (
            "mistral-small-latest",
            "Reply with exactly: cobalt",
            ("add", "Add two integers"),
            {"x": {"type": "integer"}, "y": {"type": "integer"}},
            88,
        ),
        # DataDog/dd-trace-py (BSD-3-Clause), tests/cassettes/mistral, read 2026-11
        (
            "mistral-large-latest",
            "What's the weather in NYC?",
            ("get_weather", "Get the current weather for a location."),
            {"location": {"type": "string"}},
            72,
        ),
    ],
)
def test_tools_recorded_with_sorted_keys_cost_what_was_billed(
    model: str, asked: str, description: tuple[str, str], properties: dict[str, Any], tokens: int
) -> None:
    schema = {"properties": properties, "required": [*properties], "type": "object"}
    function = {"description": description[1], "name": description[0], "parameters": schema}
    request = {
        "messages": [{"role": "user", "content": asked}],
        "tools": [{"function": function, "type": "function"}],
    }
    assert assembler.count_request(request, dialect=mistral, model=model).tokens == tokens
