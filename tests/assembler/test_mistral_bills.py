"""What Mistral bills, by generation, in cases written for these tests with the sums of recorded bills."""

from __future__ import annotations

from typing import Any

import pytest

import assembler
from assembler import Assembler
from assembler.dialects import mistral
from budgets import Budget, Count


def words(text: str) -> int:
    return len(text.split())


def billed(model: str, **request: Any) -> Count:
    messages = request.pop("messages", [{"role": "user", "content": "Hi"}])
    return assembler.count_request({"messages": messages, **request}, dialect=mistral, model=model, counter=words)


CALL = {"id": "abcdefghi", "type": "function", "function": {"name": "look", "arguments": '{"city":"Rome"}'}}
ASKED = {"role": "user", "content": "Hi"}
CALLED = {"role": "assistant", "content": "", "tool_calls": [CALL]}
ANSWERED = {"role": "tool", "tool_call_id": "abcdefghi", "name": "look", "content": "blue"}


@pytest.mark.parametrize("model", ["mistral-large-latest", "ministral-8b-2512", "ministral-3b-2512"])
def test_a_call_and_its_result_are_their_texts_between_control_tokens(model: str) -> None:
    with_call, without = billed(model, messages=[ASKED, CALLED, ANSWERED]), billed(model)
    framing = 1 + 2 + 2  # the assistant's end, the call, the result
    assert with_call.tokens - without.tokens == 1 + 2 + 1 + framing


CALLS_AS_JSON = '[{"name": "look", "arguments": {"city": "Rome"}, "id": "abcdefghi"}]'


@pytest.mark.parametrize("model", ["ministral-3b-latest", "pixtral-12b-2409", "open-mistral-nemo"])
@pytest.mark.parametrize(
    ("result", "written"),
    [
        ("blue", '{"content": "blue", "call_id": "abcdefghi"}'),
        ('{"sky":"blue"}', '{"content": {"sky": "blue"}, "call_id": "abcdefghi"}'),
        ("", '{"content": "", "call_id": "abcdefghi"}'),
        ('"\\ud800"', '{"content": "\\"\\\\ud800\\"", "call_id": "abcdefghi"}'),
    ],
)
def test_older_templates_write_calls_and_results_as_json_with_ids(model: str, result: str, written: str) -> None:
    with_call = billed(model, messages=[ASKED, CALLED, {**ANSWERED, "content": result}])
    framing = 1 + 1 + 2  # the assistant's end, all its calls, the result
    assert with_call.tokens - billed(model).tokens == words(CALLS_AS_JSON) + words(written) + framing


@pytest.mark.parametrize("call_id", ["call_that_has_a_long_id", "call_" * 20, "a b", ""])
def test_an_id_that_is_made_legal_is_priced_as_it_is_sent(call_id: str) -> None:
    call = {**CALL, "id": call_id}
    asked = [ASKED, {**CALLED, "tool_calls": [call]}, {**ANSWERED, "tool_call_id": call["id"]}]
    dialect = mistral
    context = Assembler(Budget(10**5, model="ministral-3b-latest"), dialect=dialect).set_messages(asked).build()
    sent = assembler.count_request(context.request(), dialect=dialect, model="ministral-3b-latest")
    assert context.request()["messages"][1]["tool_calls"][0]["id"] != call_id
    assert sent == context.count


BEST_LANGUAGE = {
    "type": "function",
    "function": {
        "name": "best_language_to_learn",
        "description": "Gets the best language to learn",
        "parameters": {"type": "object", "properties": {}, "required": []},
    },
}


def called_for_the_best_language(call_id: str) -> list[dict[str, Any]]:
    call = {"id": call_id, "type": "function", "function": {"name": "best_language_to_learn", "arguments": "{}"}}
    return [
        {"role": "user", "content": "What's the best language to learn?"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": "Ruby"},
    ]


@pytest.mark.parametrize(
    ("messages", "tokens"),
    [
        (called_for_the_best_language("vt7nVW9mA"), 117),
        (
            [
                {"role": "system", "content": "You must use tools whenever possible."},
                *called_for_the_best_language("Q8DRRVWxy"),
                {
                    "role": "assistant",
                    "content": "Ruby is a great choice! It's known for its simplicity and productivity.",
                },
                {"role": "user", "content": "Tell me again: what's the best language to learn?"},
            ],
            150,
        ),
    ],
)
def test_recorded_histories_with_ids_cost_what_was_billed(messages: list[dict[str, Any]], tokens: int) -> None:
    # crmne/ruby_llm (MIT), spec/fixtures/vcr_cassettes, August 2025
    request = {"messages": messages, "tools": [BEST_LANGUAGE]}
    assert assembler.count_request(request, dialect=mistral, model="ministral-3b-latest").tokens == tokens


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
