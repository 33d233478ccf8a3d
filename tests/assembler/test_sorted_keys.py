"""Definitions whose keys somebody has sorted are priced in the customary order, and sent as they are."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import assembler
from assembler import Assembler
from assembler.dialects import DIALECTS, mistral, openai_chat, openai_responses
from assembler.dialects.prices.key_order import order_keys
from budgets import Budget, Count

ASKED = [{"role": "user", "content": "Hi"}]
AS_SENT = {
    "additionalProperties": False,
    "properties": {"city": {"description": "Where", "type": "string"}, "type": {"enum": ["b"], "type": "string"}},
    "required": ["city", "type"],
    "type": "object",
}
CUSTOMARY = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "Where"}, "type": {"type": "string", "enum": ["b"]}},
    "required": ["city", "type"],
    "additionalProperties": False,
}


def characters(text: str) -> int:
    """Sees in which order a text is written: only the part before the last brace that closes something counts."""
    return len(text[: text.rfind('"')])


def chat_tool(schema: Mapping[str, Any], *, is_sorted: bool) -> dict[str, Any]:
    function = {"description": "d", "name": "look", "parameters": schema}
    if is_sorted:
        return {"function": function, "type": "function"}
    return {"type": "function", "function": {"name": "look", "description": "d", "parameters": schema}}


def chat_format(schema: Mapping[str, Any], *, is_sorted: bool) -> dict[str, Any]:
    named = {"name": "answer", "schema": schema}
    if is_sorted:
        return {"json_schema": named, "type": "json_schema"}
    return {"type": "json_schema", "json_schema": named}


def flat_format(schema: Mapping[str, Any], *, is_sorted: bool) -> dict[str, Any]:
    if is_sorted:
        return {"format": {"name": "answer", "schema": schema, "type": "json_schema"}}
    return {"format": {"type": "json_schema", "name": "answer", "schema": schema}}


def claude_format(schema: Mapping[str, Any], *, is_sorted: bool) -> dict[str, Any]:
    if is_sorted:
        return {"format": {"schema": schema, "type": "json_schema"}}
    return {"format": {"type": "json_schema", "schema": schema}}


def listed_tool(schema: Mapping[str, Any], *, is_sorted: bool) -> list[dict[str, Any]]:
    return [chat_tool(schema, is_sorted=is_sorted)]


Wrap = Callable[..., Any]
BILLED = [
    pytest.param("mistral", "mistral-large-latest", "messages", "tools", listed_tool, id="Mistral's tools"),
    pytest.param("openai_chat", "deepseek-v4-flash", "messages", "tools", listed_tool, id="DeepSeek's tools"),
    pytest.param(
        "openai_chat", "deepseek-v4-flash", "messages", "response_format", chat_format, id="DeepSeek's answer"
    ),
    pytest.param("openai_chat", "gpt-4o", "messages", "response_format", chat_format, id="Chat's answer"),
    pytest.param("openai_responses", "gpt-4o", "input", "text", flat_format, id="Responses' answer"),
    pytest.param("anthropic", "claude-sonnet-4-5", "messages", "output_config", claude_format, id="Claude's answer"),
]


@pytest.mark.parametrize(("dialect", "model", "messages", "field", "wrap"), BILLED)
def test_the_order_is_customary_only_where_the_definition_around_it_is_sorted_too(
    dialect: str, model: str, messages: str, field: str, wrap: Wrap
) -> None:
    def price(schema: Mapping[str, Any], *, is_sorted: bool) -> Count:
        request = {messages: ASKED, field: wrap(schema, is_sorted=is_sorted)}
        return assembler.count_request(request, dialect=DIALECTS[dialect], model=model, counter=characters)

    customary, as_sent = price(CUSTOMARY, is_sorted=False), price(AS_SENT, is_sorted=False)
    recorded = price(AS_SENT, is_sorted=True)
    assert as_sent.tokens != customary.tokens  # the counter tells the orders apart
    assert recorded.tokens == customary.tokens
    assert recorded.upper == max(customary.upper, as_sent.upper)
    assert price(CUSTOMARY, is_sorted=True).tokens == customary.tokens  # sorted around it, and not inside


@pytest.mark.parametrize(("dialect", "model", "messages", "field", "wrap"), BILLED)
def test_one_object_that_is_not_sorted_shows_the_order_of_all(
    dialect: str, model: str, messages: str, field: str, wrap: Wrap
) -> None:
    odd = {**AS_SENT, "properties": dict(reversed(AS_SENT["properties"].items()))}

    def price(schema: Mapping[str, Any], *, is_sorted: bool) -> Count:
        request = {messages: ASKED, field: wrap(schema, is_sorted=is_sorted)}
        return assembler.count_request(request, dialect=DIALECTS[dialect], model=model, counter=characters)

    assert price(odd, is_sorted=True) == price(odd, is_sorted=False)


@pytest.mark.parametrize(
    ("dialect", "model", "request_sent", "tokens"),
    [
        # tidyverse/ellmer (MIT), vignettes/_vcr/structured-data-parallel-missing.yml, read 2026-11
        (
            openai_responses,
            "gpt-4.1",
            {
                "input": [{"content": [{"text": "I like apples", "type": "input_text"}], "role": "user"}],
                "text": {
                    "format": {
                        "name": "structured_data",
                        "schema": {
                            "additionalProperties": False,
                            "description": "",
                            "properties": {
                                "age": {"description": "", "type": "number"},
                                "name": {"description": "", "type": "string"},
                            },
                            "required": ["name", "age"],
                            "type": "object",
                        },
                        "strict": True,
                        "type": "json_schema",
                    }
                },
            },
            49,
        ),
        # llamastack/llama-stack (MIT), tests/integration/responses/recordings/9801a96d…, read 2026-11
        (
            openai_chat,
            "gpt-4o",
            {
                "messages": [
                    {
                        "content": "Generate a profile for a developer named Charlie with skills: "
                        "Python, JavaScript, and Docker",
                        "role": "user",
                    }
                ],
                "response_format": {
                    "json_schema": {
                        "name": "PersonSkills",
                        "schema": {
                            "additionalProperties": False,
                            "properties": {
                                "name": {"type": "string"},
                                "skills": {"items": {"type": "string"}, "type": "array"},
                            },
                            "required": ["name", "skills"],
                            "type": "object",
                        },
                    },
                    "type": "json_schema",
                },
            },
            68,
        ),
        # crmne/ruby_llm (MIT), spec/fixtures/vcr_cassettes, deepseek-chat without parameters, read 2026-11
        (
            openai_chat,
            "deepseek-v4-flash",
            {
                "messages": [{"content": "What's the best language to learn?", "role": "user"}],
                "tools": [
                    {
                        "function": {
                            "description": "Gets the best language to learn",
                            "name": "best_language_to_learn",
                            "parameters": {
                                "additionalProperties": False,
                                "properties": {},
                                "required": [],
                                "strict": True,
                                "type": "object",
                            },
                        },
                        "type": "function",
                    }
                ],
            },
            284,
        ),
    ],
)
def test_recorded_requests_with_sorted_keys_cost_what_was_billed(
    dialect: Any, model: str, request_sent: dict[str, Any], tokens: int
) -> None:
    assert assembler.count_request(request_sent, dialect=dialect, model=model).tokens == tokens


@pytest.mark.parametrize(("dialect", "model"), [("openai_chat", "gpt-4o"), ("openai_chat", "gpt-oss-20b")])
def test_properties_are_shown_in_the_order_in_which_they_are_required(dialect: str, model: str) -> None:
    at_end = {"properties": {"a": {"type": "number"}, "option": {"enum": ["x", "y"], "type": "string"}}}

    def price(schema: Mapping[str, Any], *, is_sorted: bool) -> Count:
        request = {"messages": ASKED, "tools": [chat_tool(schema, is_sorted=is_sorted)]}
        return assembler.count_request(request, dialect=DIALECTS[dialect], model=model, counter=characters)

    def schema(properties: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
        return {"properties": properties, "required": required, "type": "object"}

    sorted_properties = at_end["properties"]
    written = {name: sorted_properties[name] for name in ("option", "a")}
    given = price(schema(written, ["option", "a"]), is_sorted=False)
    recorded = price(schema(sorted_properties, ["option", "a"]), is_sorted=True)
    as_it_stands = price(schema(sorted_properties, ["option", "a"]), is_sorted=False)
    assert recorded.tokens == given.tokens
    assert recorded.upper >= max(given.upper, as_it_stands.upper)


def test_names_that_are_required_and_not_declared_change_no_order() -> None:
    ordered = order_keys({"properties": {"a": {}, "b": {}}, "required": ["c", 3, "b", "b"], "type": "object"})
    assert ordered == {"type": "object", "properties": {"b": {}, "a": {}}, "required": ["c", 3, "b", "b"]}
    assert list(ordered["properties"]) == ["b", "a"]


def test_a_sorted_definition_is_sent_as_it_was_given() -> None:
    tool = chat_tool(AS_SENT, is_sorted=True)
    gathered = Assembler(Budget(10_000, model="mistral-large-latest"), dialect=mistral).set_tools([tool])
    context = gathered.add_messages(ASKED).build()
    assert json.dumps(context.request()["tools"]) == json.dumps([tool])
    counted = assembler.count_request(context.request(), dialect=mistral, model="mistral-large-latest")
    assert counted == context.count


def sorted_tool(form: str) -> dict[str, Any]:
    schema = {**AS_SENT, "required": ["type", "city"]}
    function = {"description": "d", "name": "look", "parameters": schema}
    return {
        "chat": {"function": function, "type": "function"},
        "responses": {**function, "type": "function"},
        "anthropic": {"description": "d", "input_schema": schema, "name": "look"},
        "mcp": {"description": "d", "inputSchema": schema, "name": "look"},
        "gemini": function,
        "bedrock": {"toolSpec": {"description": "d", "inputSchema": {"json": schema}, "name": "look"}},
    }[form]


SENT_TO = [
    ("openai_chat", "gpt-4o"),
    ("openai_responses", "gpt-4o"),
    ("openai_chat", "deepseek-v4-flash"),
    ("openai_responses", "deepseek-v4-flash"),
    ("mistral", "mistral-large-latest"),
    ("anthropic", "claude-sonnet-4-5"),
]


@pytest.mark.parametrize("form", ["chat", "responses", "anthropic", "mcp", "gemini", "bedrock"])
@pytest.mark.parametrize(("dialect", "model"), SENT_TO)
def test_a_sorted_definition_of_any_form_costs_what_the_request_with_it_does(
    dialect: str, model: str, form: str
) -> None:
    """Only a definition that goes out as it came shows that its order was lost: others are written anew."""
    gathered = Assembler(Budget(10_000, model=model), dialect=DIALECTS[dialect]).set_tools([sorted_tool(form)])
    context = gathered.add_messages(ASKED).build()
    assert assembler.count_request(context.request(), dialect=DIALECTS[dialect], model=model) == context.count


@pytest.mark.parametrize("sorted_schema", [{"properties": {"b": {}}}, {"$defs": {}, "properties": {}}, {"zone": 1}])
@pytest.mark.parametrize("form", ["chat", "responses"])
@pytest.mark.parametrize(("dialect", "model"), [*SENT_TO, ("openai_chat", "qwen3-coder")])
def test_a_sorted_schema_that_is_sent_with_a_type_in_front_costs_what_the_request_does(
    dialect: str, model: str, form: str, sorted_schema: dict[str, Any]
) -> None:
    function = {"description": "d", "name": "look", "parameters": sorted_schema}
    tool = {"function": function, "type": "function"} if form == "chat" else {**function, "type": "function"}
    gathered = Assembler(Budget(10_000, model=model), dialect=DIALECTS[dialect]).set_tools([tool])
    context = gathered.add_messages(ASKED).build()
    assert assembler.count_request(context.request(), dialect=DIALECTS[dialect], model=model) == context.count


@pytest.mark.parametrize(("dialect", "model"), SENT_TO)
def test_a_sorted_answer_schema_costs_what_the_request_with_it_does(dialect: str, model: str) -> None:
    gathered = Assembler(Budget(10_000, model=model), dialect=DIALECTS[dialect]).set_output_schema(AS_SENT, name="it")
    context = gathered.add_messages(ASKED).build()
    assert assembler.count_request(context.request(), dialect=DIALECTS[dialect], model=model) == context.count


def test_keys_that_are_no_texts_have_no_order_to_lose() -> None:
    def price(first: Any) -> Count:
        schema = {"properties": {first: {}, "b": {}}, "type": "object"}
        form = chat_format(schema, is_sorted=True)
        return assembler.count_request(
            {"messages": ASKED, "response_format": form}, dialect=openai_chat, model="gpt-4o"
        )

    assert price(1).tokens > 0


def test_a_schema_of_hundreds_of_levels_is_priced_as_it_is() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(300):
        schema = {"properties": {"a": schema}, "type": "object"}

    def price(*, is_sorted: bool) -> Count:
        form = chat_format(schema, is_sorted=is_sorted)
        request = {"messages": ASKED, "response_format": form}
        return assembler.count_request(request, dialect=openai_chat, model="deepseek-v4-flash")

    assert price(is_sorted=True) == price(is_sorted=False)


def test_a_tool_that_may_not_be_called_saves_what_it_costs_in_the_same_order() -> None:
    def price(choice: str) -> int:
        request = {"messages": ASKED, "tools": [chat_tool(AS_SENT, is_sorted=True)], "tool_choice": choice}
        return assembler.count_request(request, dialect=mistral, model="mistral-large-latest").tokens

    bare = assembler.count_request({"messages": ASKED}, dialect=mistral, model="mistral-large-latest").tokens
    assert price("none") == bare < price("auto")
