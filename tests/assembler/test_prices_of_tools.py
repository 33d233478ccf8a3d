"""Tools cost a build what they cost in its request, with any choice and any mark."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, CacheMarks, verify
from assembler.dialects import DIALECTS
from assembler.regions.tools.intake import read_tool
from budgets import Budget
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


@pytest.mark.parametrize("said", ["w" * length for length in range(1, 12)])
def test_a_models_text_beside_an_answer_format_costs_what_is_sent_for_an_unknown_model(
    said: str,
) -> None:
    api = Api("openai_chat", "nobody-knows-this-model")
    made = with_tools(api, [], None).add_message({"role": "assistant", "content": said})
    made.add_output_schema({"type": "object", "properties": {}})
    costs_its_request(made.add_message({"role": "user", "content": "So?"}).build(), api)
