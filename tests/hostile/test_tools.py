"""Tools that lie, collide or cannot be sent (area A6)."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

import pydantic
import pytest

from assembler import Assembler, ToolError, count_request, verify
from assembler.dialects import anthropic, gemini, mistral, openai_chat, openai_responses, plain
from budgets import Budget
from tests.hostile.case_file import Case, cases
from tests.hostile.test_control_tokens import leaves

UNSENDABLE: dict[str, Any] = {
    "nan": float("nan"),
    "inf": float("-inf"),
    "set": {1},
    "bytes": b"x",
    "int-key": {1: 2},
    "surrogate": "\ud800",
    "object": object(),
}


def tool(default: object) -> dict[str, Any]:
    return {"name": "f", "parameters": {"type": "object", "properties": {"x": {"default": default}}}}


@cases("test_tools", having="tools")
def test_names_that_no_api_takes_are_refused_and_the_rest_keeps_its_order(case: Case) -> None:
    tools = case["input"]["tools"]
    assembler = Assembler().add_capability([{"name": "first"}])
    if not case["expect"].startswith("ToolError"):
        request = assembler.add_capability(tools).build().request()
        assert [each["name"] for each in request["tools"]] == [each["name"] for each in tools]
        return
    with pytest.raises(ToolError) as caught:
        assembler.add_capability(tools)
    assert caught.value.tool == tools[0]["name"]
    assert "tools[0]" in str(caught.value)
    if len(tools) > 1:
        assert "tools[1]" in str(caught.value)
    assert assembler.build().tool_classes == [{"name": "first"}]


@cases("test_tools", having="schema")
def test_a_tool_that_json_cannot_carry_is_refused_by_place(case: Case) -> None:
    for wrapped in (tool, lambda bad: {"type": "function", "function": tool(bad)}):
        with pytest.raises(ToolError, match=r"parameters\.properties\.x\.default"):
            Assembler().add_capability([wrapped(UNSENDABLE[case["input"]["schema"]])])


@cases("test_tools", having="description")
def test_a_poisoned_description_is_counted_and_never_edited(case: Case) -> None:
    text = case["input"]["description"]
    for dialect in (openai_chat, openai_responses, anthropic, gemini, mistral, plain):
        asked = Assembler(dialect=dialect).add_messages([("user", "x")])
        bare, poisoned = (asked.fork().add_capability([{"name": "f", "description": words}]) for words in ("d", text))
        assert poisoned.costs().capability > bare.costs().capability + 10
        assert text in leaves(poisoned.build().request())


def test_a_set_of_tools_has_no_order_and_is_refused() -> None:
    def one() -> None: ...

    def two() -> None: ...

    with pytest.raises(ToolError, match="order"):
        Assembler().add_capability({one, two})


def nested() -> dict[str, Any]:
    return {"type": "function", "function": {"name": "f", "description": "short", "parameters": {"type": "object"}}}


def test_a_definition_changed_after_it_was_added_is_sent_as_it_was_priced() -> None:
    definition = nested()
    assembler = Assembler(Budget(60, model="gpt-4o")).add_capability([definition]).add_messages([("user", "x")])
    definition["function"]["description"] = "longer than the whole window " * 20
    context = assembler.build()
    sent = count_request(context.request(), dialect=openai_chat, model="gpt-4o")
    assert sent.upper == context.count.upper <= 60


def test_a_definition_of_other_mappings_goes_out_as_plain_dicts() -> None:
    definition = nested()
    definition["function"]["parameters"] = MappingProxyType({"type": "object"})
    context = Assembler(dialect=openai_chat).add_capability([definition]).add_messages([("user", "x")]).build()
    function = json.loads(json.dumps(context.request()))["tools"][0]["function"]
    assert function["parameters"] == {"type": "object"}


@cases("test_tools", having="unlisted")
def test_a_schema_whose_parts_are_not_schemas_is_refused_when_it_is_added(case: Case) -> None:
    """Gemini's price raised an AttributeError; the other APIs would refuse the schema."""
    assembler = Assembler(dialect=gemini).add_messages([("user", "x")])
    with pytest.raises(ToolError, match="not a dict of schemas") as caught:
        assembler.add_capability([{"name": "f", "parameters": case["input"]["unlisted"]}])
    assert caught.value.tool == "f"


class Folder(pydantic.BaseModel):
    """A folder of folders."""

    folders: list[Folder] = []


@pytest.mark.parametrize("dialect", [openai_chat, openai_responses, anthropic, gemini, mistral, plain])
def test_a_recursive_model_states_that_it_is_an_object(dialect: Any) -> None:
    """A6-recursive-model: pydantic writes nothing but a reference there."""
    request = Assembler(dialect=dialect).add_capability([Folder]).add_messages([("user", "x")]).build().request()
    assert verify(request, dialect=dialect) == []


@pytest.mark.parametrize(
    "dialect", [openai_chat, openai_responses, anthropic, gemini, mistral], ids=lambda each: each.name
)
@cases("test_tools", having="untyped")
def test_a_schema_without_a_type_is_sent_as_an_object(case: Case, dialect: Any) -> None:
    function = {"name": "f", "parameters": case["input"]["untyped"]}
    assembler = Assembler(dialect=dialect).add_capability([{"type": "function", "function": function}])
    assert verify(assembler.add_messages([("user", "x")]).build().request(), dialect=dialect) == []
