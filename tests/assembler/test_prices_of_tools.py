"""Tools cost a build what they cost in its request, with any choice and any mark."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, CacheMarks, verify
from assembler.dialects import DIALECTS
from assembler.regions.tools.intake import read_tool
from budgets import Budget, Grade
from tests.assembler.one_price import APIS, GATEWAYS, Api, costs_its_request
from tests.assembler.test_hosted_tools import ASK, OWN
from tests.scaled import scaled

Dict = dict[str, Any]

SEARCH: Dict = {
    "name": "search",
    "description": "Finds what is asked for.",
    "parameters": {"type": "object", "properties": {"q": {"type": "string"}}},
}
HOURS: Dict = {"type": "ephemeral", "ttl": "1h"}
RULED = {"anthropic", "bedrock", "gemini", "mistral", "openai_chat", "openai_responses"}
CHOICES = [None, "none", "auto", "required", "search"]


def with_tools(api: Api, tools: list[Dict], choice: str | None) -> Assembler:
    made = Assembler(Budget(1_000_000, model=api.model), dialect=DIALECTS[api.dialect], cache_marks=CacheMarks())
    made.add_instruction("Be brief.").add_capability(tools, choice=choice)
    return made.add_message({"role": "user", "content": "Where is it?"})


def name_of(tool: Dict) -> str:
    return read_tool(tool).name


@pytest.mark.parametrize("api", [*APIS, *GATEWAYS], ids=str)
@pytest.mark.parametrize("choice", CHOICES)
def test_tools_of_which_one_must_or_none_may_be_called_cost_what_is_sent(api: Api, choice: str | None) -> None:
    """What the choice saves is that of all tools, and was subtracted from their frame alone, which costs less."""
    costs_its_request(with_tools(api, [ASK, SEARCH], choice).build(), api)


@pytest.mark.parametrize("api", [Api("openai_chat", "deepseek-chat"), Api("mistral", "mistral-large-latest")], ids=str)
def test_tools_that_no_template_shows_cost_nothing_and_take_nothing_from_the_rest(api: Api) -> None:
    hidden, bare = with_tools(api, [ASK, SEARCH], "none").build(), with_tools(api, [], None).build()
    assert hidden.costs == bare.costs


@pytest.mark.parametrize(("tool", "mark"), [(OWN["anthropic"][3], "cache_control"), (OWN["bedrock"][0], "cachePoint")])
def test_a_cache_mark_on_a_provider_tool_is_not_priced_as_text(tool: Dict, mark: str) -> None:
    api = Api("anthropic", "claude-sonnet-4-5")
    marked = [{**tool, mark: HOURS}]
    if mark == "cachePoint":
        api = Api("bedrock", "anthropic.claude-sonnet-4-5")
        marked = [tool, {mark: {"type": "default", "ttl": "1h"}}]
    assert with_tools(api, marked, None).build().count == with_tools(api, [tool], None).build().count
    costs_its_request(with_tools(api, [tool], None).build(), api)


@scaled(2)
@given(
    api=st.sampled_from([*APIS, *GATEWAYS]),
    tools=st.lists(st.sampled_from([tool for tools in OWN.values() for tool in tools]), max_size=3, unique_by=name_of),
    marked=st.booleans(),
    choice=st.sampled_from(CHOICES),
    answer=st.none() | st.just({"type": "object", "properties": {"hours": {"type": "integer"}}}),
)
def test_tools_of_any_provider_cost_what_is_sent(
    api: Api, tools: list[Dict], marked: bool, choice: str | None, answer: Dict | None
) -> None:
    if marked:
        tools = [{**tool, "cache_control": HOURS} if "type" in tool else tool for tool in tools]
    made = with_tools(api, [SEARCH, *tools], choice)
    costs_its_request((made if answer is None else made.add_output_schema(answer, name="hours")).build(), api)


LOOSE: list[Dict] = [{}, {"properties": {"q": {"type": "string"}}}, {"anyOf": [{"type": "object", "properties": {}}]}]


def spelled(schema: Dict) -> list[Dict]:
    """One tool as Chat, Responses, Anthropic, MCP, Bedrock and Gemini (the SDK's words, the wire's) define it."""
    flat = {"name": "look", "parameters": schema}
    return [
        {"type": "function", "function": flat},
        {"type": "function", **flat},
        {"name": "look", "input_schema": schema},
        {"name": "look", "inputSchema": schema},
        {"toolSpec": {"name": "look", "inputSchema": {"json": schema}}},
        {"function_declarations": [{"name": "look", "parameters_json_schema": schema}]},
        {"functionDeclarations": [flat]},
    ]


@pytest.mark.parametrize("api", [*APIS, *GATEWAYS], ids=str)
@pytest.mark.parametrize("schema", LOOSE, ids=["nothing", "without a type", "a choice without a type"])
def test_a_schema_that_does_not_say_object_is_sent_and_priced_as_one_that_does(api: Api, schema: Dict) -> None:
    for tool in spelled(schema):
        made = with_tools(api, [tool], None)
        costs_its_request(made.build(), api)
        if api.dialect in RULED:
            assert not verify(made.build().request(), dialect=api.dialect)


@pytest.mark.parametrize("text", ["w" * length for length in range(1, 12)])
def test_a_models_text_beside_an_answer_format_costs_what_is_sent_for_an_unknown_model(
    text: str,
) -> None:
    api = Api("openai_chat", "nobody-knows-this-model")
    made = with_tools(api, [], None).add_message({"role": "assistant", "content": text})
    made.add_output_schema({"type": "object", "properties": {}})
    costs_its_request(made.add_message({"role": "user", "content": "So?"}).build(), api)


SCHEMA: Dict = {"type": "object", "properties": {"q": {"type": "string"}}}
NOTE = "only on weekdays"
NOTED: dict[str, Dict] = {
    "anthropic": {"name": "ask", "input_schema": SCHEMA, "x_new": NOTE},
    "bedrock": {"toolSpec": {"name": "ask", "inputSchema": {"json": SCHEMA}, "x_new": NOTE}},
    "gemini": {"function_declarations": [{"name": "ask", "parameters": SCHEMA, "x_new": NOTE}]},
    "openai_chat": {"type": "function", "function": {"name": "ask", "parameters": SCHEMA, "x_new": NOTE}},
    "openai_responses": {"type": "function", "name": "ask", "parameters": SCHEMA, "x_new": NOTE},
}


def without_note(definition: Dict) -> Dict:
    return json.loads(json.dumps(definition).replace(f', "x_new": "{NOTE}"', ""))


@pytest.mark.parametrize("api", [*APIS, *GATEWAYS], ids=str)
@pytest.mark.parametrize("form", NOTED)
def test_text_in_a_tools_field_that_no_api_reads_is_in_the_bound_if_it_is_sent(form: str, api: Api) -> None:
    noted, bare = (with_tools(api, [tool], None).build() for tool in (NOTED[form], without_note(NOTED[form])))
    sent = NOTE in str(noted.request())
    assert sent == (form == api.dialect or (form, api.dialect) == ("openai_chat", "mistral"))
    assert noted.count.upper == bare.count.upper + (len(NOTE) if sent else 0)
    assert noted.count.tokens == bare.count.tokens
    costs_its_request(noted, api)


def test_examples_of_claudes_tools_cost_what_anthropic_says() -> None:
    """ "About 20 to 50 tokens for simple examples" (Anthropic, "Define tools")."""
    api = Api("anthropic", "claude-sonnet-4-5")
    examples = [
        {"location": "San Francisco, CA", "unit": "fahrenheit"},
        {"location": "Tokyo, Japan", "unit": "celsius"},
    ]
    bare: Dict = {"name": "ask", "input_schema": SCHEMA}
    shown, hidden = (with_tools(api, [{**bare, **more}], None).build() for more in ({"input_examples": examples}, {}))
    assert 20 <= shown.count.tokens - hidden.count.tokens <= 50
    assert shown.count.upper - hidden.count.upper > 100
    assert shown.count.grade is Grade.ESTIMATED
    costs_its_request(shown, api)
    loaded_later = with_tools(api, [SEARCH, {**bare, "defer_loading": True}], None).build()
    waiting = with_tools(api, [SEARCH, {**bare, "defer_loading": True, "input_examples": examples}], None).build()
    assert waiting.count == loaded_later.count


@pytest.mark.parametrize("api", [*APIS, *GATEWAYS], ids=str)
def test_a_tool_in_the_forms_of_chat_and_responses_at_once_costs_what_is_sent(api: Api) -> None:
    """Responses reads only its name, and was sent the parameters at no price."""
    both = {"type": "function", "name": "search", "function": SEARCH}
    costs_its_request(with_tools(api, [both], None).build(), api)


def test_what_a_function_returns_costs_nothing_on_chat() -> None:
    """OpenAI does not read the field: 10 recordings of one repository, all counted to the token without it."""
    api = Api("openai_chat", "gpt-4o-mini")
    returned = {"type": "string", "description": "A textual representation of the page"}
    tools = [
        {"type": "function", "function": {"name": "ask", "parameters": SCHEMA, **more}}
        for more in ({}, {"returns": returned})
    ]
    bare, with_response = (with_tools(api, [tool], None).build().count for tool in tools)
    assert with_response == bare
