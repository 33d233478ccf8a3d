"""OpenAI's bill for tools, calls and schemas, against published counts and hand-written texts."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assembler import Assembler, count_request
from assembler.conversation.messages.message import Call
from assembler.dialects import openai_chat
from assembler.dialects.openai import pricing
from assembler.dialects.openai.families import families, family_of
from assembler.dialects.openai.framing import Family
from assembler.dialects.openai.tool_text import DEEPEST, LARGEST, ToolText, count_unsettled, tool_text
from assembler.errors import ToolError
from assembler.pricing.media.openai_images import price_image
from assembler.pricing.pricer import Has
from assembler.regions.tools.tool import Tool
from budgets import Budget, Count, tiktoken_counter
from budgets.count import Grade

PUBLISHED = Path(__file__).parent / "published_counts"


@functools.cache
def counter(encoding: str) -> Any:
    return functools.lru_cache(tiktoken_counter(encoding))


def characters(text: str) -> int:
    return len(text)


def tool(name: str = "f", description: str = "", /, **parameters: Any) -> Tool:
    return Tool(name=name, description=description, parameters=parameters, raw=None)


def taking(**properties: Any) -> Tool:
    """A tool whose properties are all required, so that no `?` stands in the way of reading the text."""
    return tool("f", type="object", properties=properties, required=list(properties))


def arguments_of(text: str) -> str:
    """What stands between `(_: ` and `) => any;`."""
    return text.partition("(_: ")[2].removesuffix(") => any;")


# ── published tables, to the token


def rows() -> list[Any]:
    found: list[Any] = []
    for file in sorted(PUBLISHED.glob("*.json")):
        table = json.loads(file.read_text("utf-8"))
        found += [pytest.param(row, id=f"{file.stem}-{n}") for n, row in enumerate(table["rows"])]
    return found


def definitions(request: Mapping[str, Any]) -> list[Tool]:
    listed = [*(entry["function"] for entry in request.get("tools", ())), *request.get("functions", ())]
    return [tool(it["name"], it.get("description", ""), **it.get("parameters", {})) for it in listed]


def message_price(message: Mapping[str, Any], family: Family, count: Any) -> int:
    content = message.get("content") or ""
    texts = [content] if isinstance(content, str) else [part["text"] for part in content]
    price = family.per_message + 1 + sum(map(count, texts))
    if "name" in message:
        price += family.per_name + count(message["name"])
    if message["role"] == "function":
        price += pricing.FUNCTION_ROLE
    if called := message.get("function_call"):
        price += pricing.price_function_call(Call(None, called["name"], called["arguments"]), family, count).tokens
    calls = [
        Call(it["id"], it["function"]["name"], it["function"]["arguments"]) for it in message.get("tool_calls", ())
    ]
    return price + pricing.price_calls(calls, family, count).tokens


@pytest.mark.parametrize("row", rows())
def test_published_counts_are_reproduced_to_the_token(row: Mapping[str, Any]) -> None:
    family = family_of(row["model"])
    count = counter(family.encoding)
    request = row["request"]
    messages = [dict(message) for message in request["messages"]]
    tools = definitions(request)
    first = next((it for it in messages if it["role"] in ("system", "developer")), None)
    if tools and first and family.system_newline_with_tools:
        first["content"] += "\n"
    choice = pricing.price_tool_choice(request.get("tool_choice", request.get("function_call")), family, count)
    bill = pricing.price_tools(tools, family, count, Has.what(first is not None, tools)) + choice
    spoken = sum(message_price(message, family, count) for message in messages)
    assert family.primer + spoken + bill.tokens == row["tokens"]


@pytest.mark.parametrize(("model", "tokens"), [("gpt-4", 71), ("gpt-4o", 68), ("gpt-4.1", 68)])
def test_the_weather_tool_costs_what_the_published_example_bills(model: str, tokens: int) -> None:
    weather = tool(
        "get_current_weather",
        "Get the current weather in a given location",
        type="object",
        properties={
            "location": {"type": "string", "description": "The city and state, e.g. San Francisco, CA"},
            "unit": {
                "type": "string",
                "description": "The unit of temperature to return",
                "enum": ["celsius", "fahrenheit"],
            },
        },
        required=["location"],
    )
    family = family_of(model)
    bill = pricing.price_tools([weather], family, counter(family.encoding), Has.SYSTEM)
    assert (bill.tokens, bill.grade, bill.upper) == (tokens, Grade.BOUNDED, tokens + family.tools.slack)


# ── the text of a tool


def test_a_tool_without_arguments_takes_none() -> None:
    assert tool_text(tool("now")) == "type now = () => any;"
    assert tool_text(tool("now", "The time.", type="object", properties={})) == "// The time.\ntype now = () => any;"


@pytest.mark.parametrize(
    ("schema", "written"),
    [
        ({"type": "string"}, "string"),
        ({"type": "integer"}, "number"),
        ({"type": "null"}, "null"),
        ({}, "any"),
        ({"type": "date"}, "any"),
        ({"type": "string", "enum": ["a", "b"]}, '"a" | "b"'),
        ({"type": "integer", "enum": [-1, 1]}, "-1 | 1"),
        ({"enum": ["é", None]}, '"é" | null'),
        ({"type": ["string", "null"]}, "string | null"),
        ({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}, "string | string[]"),
        ({"oneOf": [{"type": "number"}, {"type": "null"}]}, "number | null"),
        ({"type": "array"}, "any[]"),
        ({"type": "array", "items": {"type": "integer"}}, "number[]"),
        ({"type": "object"}, "object"),
        ({"type": "object", "properties": {"b": {"type": "boolean"}}}, "{ b?: boolean }"),
        ({"properties": {"b": {"type": "boolean"}}, "required": ["b"]}, "{ b: boolean }"),
        ({"type": "object", "properties": {"b": True}, "required": "b"}, "{ b?: any }"),
    ],
)
def test_a_type_is_written_as_typescript(schema: Mapping[str, Any], written: str) -> None:
    assert arguments_of(tool_text(taking(a=schema))) == f"{{ a: {written} }}"


def test_an_array_of_objects_is_spelled_out_over_lines() -> None:
    schema = {"type": "array", "items": {"type": "object", "properties": {"b": {"type": "string"}}}}
    assert arguments_of(tool_text(taking(a=schema))) == "{\na: Array<\n{ b?: string }\n>,\n}"


def test_comments_break_an_object_into_lines() -> None:
    written = arguments_of(
        tool_text(
            taking(
                a={"type": "string", "title": "A", "description": "First.", "default": "x"},
                b={"type": "object", "description": "Second.", "properties": {"c": {"type": "number"}}},
            )
        )
    )
    assert written == '{\n// A\n// First.\na: string, // default: "x"\n// Second.\nb: { c?: number },\n}'


def test_an_unexplained_default_is_written_above_its_property() -> None:
    written = arguments_of(tool_text(taking(a={"type": "string", "title": "A", "default": "x"})))
    assert written == '{\n// A\n// default: "x"\na: string,\n}'


@pytest.mark.parametrize(
    ("schema", "line"),
    [
        ({"type": "integer", "minimum": 1}, "a: number, // minimum: 1"),
        ({"type": "number", "maximum": 9.5, "minimum": 0}, "a: number, // minimum: 0, maximum: 9.5"),
        ({"type": "string", "default": "x", "description": "D"}, '// D\na: string, // default: "x"'),
        ({"type": "integer", "default": 2, "minimum": 1}, "// default: 2\na: number, // minimum: 1"),
    ],
)
def test_limits_are_written_after_a_property_and_break_its_object_into_lines(schema: Any, line: str) -> None:
    assert arguments_of(tool_text(taking(a=schema))) == f"{{\n{line}\n}}"
    assert "minimum" not in tool_text(taking(a=schema), ToolText.FIRST)


def test_alternatives_without_a_comment_stay_on_one_line() -> None:
    inner = {"type": "array", "items": {"type": "object", "properties": {"b": {"type": "string"}}}}
    choice = {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"a": inner}}]}
    assert arguments_of(tool_text(taking(x=choice))) == "{ x: string | { a?: Array<{ b?: string }> } }"


def test_the_arguments_title_and_description_are_written_before_the_brace() -> None:
    written = tool_text(tool("f", title="Args", description="D", properties={"a": {}}))
    assert arguments_of(written) == "// Args\n// D\n{ a?: any }"


def test_each_line_of_a_description_is_a_comment_blank_ones_too_and_indentation_is_lost() -> None:
    described = tool("f", "\n Do it.\n\n    Args:\n        x: what  \n  ")
    assert tool_text(described) == "// Do it.\n//\n// Args:\n// x: what\ntype f = () => any;"


@pytest.mark.parametrize("generation", ToolText)
def test_the_lines_of_a_description_are_comments_in_each_generation_of_the_text(generation: ToolText) -> None:
    described = Tool("f", "\n\tFirst.\n\n\tSecond. ", {}, raw=None)
    assert tool_text(described, generation) == "// First.\n//\n// Second.\ntype f = () => any;"


def test_a_blank_description_is_not_written() -> None:
    assert tool_text(tool("f", " \n ")) == "type f = () => any;"


def test_the_first_generation_indents_nested_keys_and_drops_their_descriptions() -> None:
    nested = {"type": "object", "properties": {"b": {"type": "string", "description": "lost"}}, "required": ["b"]}
    written = arguments_of(tool_text(taking(a={**nested, "description": "kept"}), ToolText.FIRST))
    assert written == "{\n// kept\na: {\n  b: string,\n},\n}"


def test_a_reference_is_written_out_with_what_stands_beside_it() -> None:
    parameters = {
        "properties": {"home": {"$ref": "#/$defs/Place", "description": "Where."}, "none": {"$ref": "#/$defs/Gone"}},
        "$defs": {"Place": {"$ref": "#/$defs/Named"}, "Named": {"properties": {"name": {"type": "string"}}}},
    }
    assert arguments_of(tool_text(tool("f", **parameters))) == (
        "{\n// Where.\nhome?: { name?: string },\nnone?: any,\n}"
    )


def test_a_recursive_schema_comes_to_an_end() -> None:
    node = {"properties": {"left": {"$ref": "#/$defs/Node"}, "leaf": {"type": "string"}}}
    tree = tool("f", properties={"root": {"$ref": "#/$defs/Node"}}, **{"$defs": {"Node": node}})
    assert arguments_of(tool_text(tree)) == "{ root?: { left?: any, leaf?: string } }"
    assert count_unsettled(tree) > 1


def test_a_reference_to_a_property_is_written_out_and_one_to_the_root_is_any() -> None:
    shown = tool("f", properties={"a": {"type": "string"}, "b": {"$ref": "#/properties/a"}, "c": {"$ref": "#"}})
    assert arguments_of(tool_text(shown)) == "{ a?: string, b?: string, c?: any }"


TOWN = "The name of the town where the customer lives."
DESCRIBED: dict[str, Any] = {"type": "string", "description": TOWN}
NEVER_RECORDED: dict[str, tuple[Mapping[str, Any], str]] = {
    "allOf": ({"allOf": [DESCRIBED]}, TOWN),
    "prefixItems": ({"type": "array", "prefixItems": [DESCRIBED]}, TOWN),
    "a list of items": ({"type": "array", "items": [DESCRIBED]}, TOWN),
    "values of any key": ({"type": "object", "additionalProperties": DESCRIBED}, TOWN),
    "keys of a pattern": ({"type": "object", "patternProperties": {"^x": DESCRIBED}}, TOWN),
    "not": ({"not": DESCRIBED}, TOWN),
    "an alternative's description": ({"anyOf": [DESCRIBED, {"type": "null"}]}, TOWN),
    "const": ({"const": "the only value"}, '"the only value"'),
    "pattern": ({"type": "string", "pattern": "^[0-9]{5}(-[0-9]{4})?$"}, "pattern: ^[0-9]{5}(-[0-9]{4})?$"),
    "examples": ({"type": "string", "examples": ["Paris, France", "Rome, Italy"]}, '"Paris, France", "Rome, Italy"'),
    "examples as harmony writes them": (
        {"type": "string", "examples": ["Paris", "Rome", "Oslo"]},
        '// Examples:\n// - "Paris"\n// - "Rome"\n// - "Oslo"\n',
    ),
    "nullable": ({"type": "string", "nullable": True}, " | null"),
    "the root again": ({"$ref": "#"}, "{ a?: any }"),
    "a chain to a recursive schema": ({"allOf": [{"$ref": "#/$defs/Town"}]}, TOWN),
}


@pytest.mark.parametrize("case", NEVER_RECORDED)
@pytest.mark.parametrize("model", ["gpt-4o", "gpt-5", "gpt-4"])
def test_the_bound_has_tokens_for_what_a_schema_says_where_no_recording_shows_whether_it_is_written(
    case: str, model: str
) -> None:
    schema, words = NEVER_RECORDED[case]
    family, count = family_of(model), tiktoken_counter()
    town: dict[str, Any] = {"type": "object", "properties": {"name": DESCRIBED, "within": {"$ref": "#/$defs/Town"}}}
    asks = tool("f", type="object", properties={"a": schema}, **{"$defs": {"Town": town}})
    plain = tool("f", type="object", properties={"a": {"type": "string"}})
    bill, known = (pricing.price_tools([one], family, count, Has.NOTHING) for one in (asks, plain))
    assert bill.grade is Grade.BOUNDED
    assert bill.upper - bill.tokens >= known.upper - known.tokens + count(words)


def test_a_number_or_a_switch_in_a_schema_widens_the_bound_by_one() -> None:
    schema = {"type": "string", "minLength": 3, "maxLength": 200, "deprecated": True}
    assert count_unsettled(taking(a=schema)) == count_unsettled(taking(a={"type": "string"})) + 3


def doubling(levels: int) -> Tool:
    """A schema of `levels` definitions that stands for 2 ** levels strings."""
    definitions: dict[str, Any] = {
        f"D{n}": {"properties": {side: {"$ref": f"#/$defs/D{n + 1}"} for side in "ab"}} for n in range(levels)
    }
    definitions[f"D{levels}"] = {"type": "string"}
    return tool("f", properties={"top": {"$ref": "#/$defs/D0"}}, **{"$defs": definitions})


def test_references_that_double_stop_at_the_largest_size() -> None:
    assert tool_text(doubling(4)).count("string") == 16
    assert len(tool_text(doubling(25))) < 10_000  # 2 ** 25 strings otherwise
    assert count_unsettled(doubling(25)) < 10_000


def test_the_properties_of_one_of_several_types_are_written_once() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(12):
        schema = {"type": ["object", "null", "object", "string", "no type"], "properties": {"a": schema}}
    text = tool_text(taking(x=schema))
    assert text.count("a?:") == 12
    inside = arguments_of(tool_text(taking(x={"type": ["object", "null"], "properties": {"a": {"type": "string"}}})))
    assert inside == "{ x: { a?: string } | null }"


@pytest.mark.parametrize("beside", [-1, 0, 1, 2])
def test_schemas_are_written_up_to_the_largest_number_of_them(beside: int) -> None:
    # The room is for the schemas inside the arguments; their own object is none of them.
    properties = {f"p{n}": {"type": "string"} for n in range(LARGEST + beside)}
    assert tool_text(tool("f", type="object", properties=properties)).count("?: any") == max(0, beside)


def test_nesting_below_the_deepest_level_is_any() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(2000):
        schema = {"type": "array", "items": schema}
    assert arguments_of(tool_text(taking(a=schema))).startswith("{ a: any[]")
    assert count_unsettled(taking(a=schema)) == 1
    assert "any" not in arguments_of(tool_text(taking(a=nested_arrays(DEEPEST - 1))))


def nested_arrays(levels: int) -> dict[str, Any]:
    return {"type": "array", "items": nested_arrays(levels - 1)} if levels else {"type": "string"}


schemas = st.recursive(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["string", "integer", "boolean", "null", "date"])},
        optional={"description": st.text(max_size=20), "default": st.none() | st.integers() | st.text(max_size=5)},
    )
    | st.fixed_dictionaries({"enum": st.lists(st.integers() | st.text(max_size=5), min_size=1, max_size=3)}),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"type": st.just("array"), "items": inner}),
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries(
            {
                "type": st.just("object"),
                "properties": st.dictionaries(st.text(min_size=1, max_size=5), inner, max_size=3),
            }
        ),
    ),
    max_leaves=8,
)
tools = st.builds(
    lambda name, description, properties: tool(name, description, type="object", properties=properties),
    st.from_regex(r"[a-z_]{1,12}", fullmatch=True),
    st.text(max_size=30),
    st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), schemas, max_size=3),
)
models = st.sampled_from(
    ["gpt-4", "gpt-4-turbo", "gpt-3.5-turbo-0613", "gpt-4o", "gpt-5", "gpt-5.4", "o3", "o4-mini", None]
)


@given(st.lists(tools, min_size=1, max_size=2), tools, models, st.sampled_from(["chat", "responses"]))
def test_one_more_tool_adds_its_own_price(listed: list[Tool], more: Tool, model: str | None, api: Any) -> None:
    family = family_of(model, api)
    count = counter(family.encoding)
    before = pricing.price_tools(listed, family, count, Has.NOTHING).tokens
    after = pricing.price_tools([*listed, more], family, count, Has.NOTHING).tokens
    assert after - before == pricing.price_one_tool(more, family, count).tokens


@given(st.lists(tools, max_size=2), models, st.sampled_from([Has.SYSTEM, Has.NOTHING]))
def test_an_upper_bound_is_never_below_and_an_exact_count_has_none(
    listed: list[Tool], model: str | None, has: Has
) -> None:
    bill = pricing.price_tools(listed, family_of(model), characters, has)
    assert bill.upper >= bill.tokens
    assert bill.grade is not Grade.EXACT or bill.upper == bill.tokens


@given(tools)
def test_tools_are_bounded_and_more_widely_where_their_text_is_open(one: Tool) -> None:
    bill = pricing.price_tools([one], family_of("gpt-4o"), characters, Has.NOTHING)
    assert bill.grade is Grade.BOUNDED
    assert bill.upper - bill.tokens == family_of("gpt-4o").tools.slack + count_unsettled(one)


@given(st.text(alphabet=" \t\n\r.x", max_size=12))
@example("x\n        ")  # with the line break behind it, one token less
def test_tools_beside_a_system_text_cost_the_same_whatever_blanks_it_ends_in(ending: str) -> None:
    spoken = f"Be brief.{ending}"

    def priced_with(text: str) -> Count:
        messages = [{"role": "system", "content": text}, {"role": "user", "content": "Hi"}]
        tools = [{"type": "function", "function": {"name": "f"}}]
        return count_request({"messages": messages, "tools": tools}, dialect="openai_chat", model="gpt-4o")

    count = counter("o200k_base")
    grown = count(f"{spoken}\n") - count("Be brief.\n")
    priced, without = priced_with(spoken), priced_with("Be brief.")
    assert (priced.tokens, priced.upper) == (without.tokens + grown, without.upper + grown)


def test_a_system_message_saves_the_tools_an_envelope() -> None:
    alone = pricing.price_tools([tool()], family_of("gpt-4o"), characters, Has.NOTHING)
    beside = pricing.price_tools([tool()], family_of("gpt-4o"), characters, Has.SYSTEM)
    assert alone.tokens - beside.tokens == 4


def test_no_tools_cost_nothing() -> None:
    assert pricing.price_tools([], family_of("gpt-5"), characters, Has.NOTHING).tokens == 0


# ── families


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("gpt-3.5-turbo-0301", "gpt-3.5-0301"),
        ("gpt-3.5-turbo-0613", "gpt-3.5-0613"),
        ("gpt-3.5-turbo-16k-0613", "gpt-3.5-0613"),
        ("gpt-3.5-turbo", "gpt-3.5-turbo"),
        ("gpt-35-turbo", "gpt-3.5-turbo"),
        ("gpt-3.5-turbo-0125", "gpt-3.5"),
        ("gpt-4", "gpt-4"),
        ("gpt-4-0613", "gpt-4"),
        ("gpt-4-32k", "gpt-4"),
        ("gpt-4-turbo-2024-04-09", "gpt-4-turbo"),
        ("gpt-4-1106-preview", "gpt-4-turbo"),
        ("gpt-4o-mini", "gpt-4o"),
        ("openai/gpt-4o-mini-2024-07-18", "gpt-4o"),
        ("ft:gpt-4o-mini-2024-07-18:acme::abc", "gpt-4o"),
        ("chatgpt-4o-latest", "gpt-4o"),
        ("gpt-4o-search-preview", "gpt-4o-search"),
        ("computer-use-preview", "computer-use"),
        ("o1-mini-2024-09-12", "o1-mini"),
        ("o3-mini", "o"),
        ("o4-mini-2025-04-16", "o4"),
        ("codex-mini-latest", "o4"),
        ("gpt-5", "gpt-5"),
        ("gpt-5-mini-2025-08-07", "gpt-5"),
        ("gpt-5.1-codex-mini", "gpt-5"),
        ("gpt-5-chat-latest", "gpt-5-chat"),
        ("azure/gpt-5.2", "gpt-5.2"),
        ("gpt-5.6-sol", "gpt-5.2"),
        ("gpt-12", "gpt-5.2"),
        ("gpt-4000", "unknown"),
        ("claude-sonnet-4-5", "unknown"),
        (None, "unknown"),
    ],
)
def test_a_name_decides_the_family(model: str | None, family: str) -> None:
    assert family_of(model).name == family
    assert (family_of(model, "responses").name, family_of(model, "responses").api) == (family, "responses")


def test_a_text_that_goes_through_a_gateway_is_priced_as_the_makers_and_never_called_exact() -> None:
    request = {"messages": [{"role": "user", "content": "How long is a river?"}]}
    own = count_request(request, model="gpt-4o", dialect="openai_chat")
    through = count_request(request, model="openrouter/openai/gpt-4o", dialect="openai_chat")
    assert (own.grade, own.upper) == (Grade.EXACT, own.tokens)
    assert (through.tokens, through.grade, through.upper) == (own.tokens, Grade.BOUNDED, own.tokens + 1)


@pytest.mark.parametrize("model", ["gpt-audio", "gpt-4o-audio-preview", "gpt-4o-mini-realtime-preview"])
def test_a_speech_model_is_priced_as_gpt_4o_and_not_exact(
    model: str,
) -> None:
    request = {"messages": [{"role": "user", "content": "How long is a river?"}]}
    own, spoken = (count_request(request, model=name, dialect="openai_chat") for name in ("gpt-4o", model))
    assert spoken.tokens == own.tokens
    assert (spoken.grade, spoken.upper) == (Grade.BOUNDED, own.upper + 4)


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4o-2024-08-06", "ft:gpt-4o-2024-08-06:acme::abc"])
def test_gpt_4o_on_responses_has_the_price_of_chat_with_a_bound_for_its_server_of_march_2025(model: str) -> None:
    later = family_of("gpt-4o-2024-11-20", "responses")
    own = family_of(model, "responses")
    assert own == attrs.evolve(later, name=own.name, names=own.names, tooled_slack=216)
    assert family_of(model).name == "gpt-4o"


@pytest.mark.parametrize("name", ["azure/o4-mini", "Azure_AI/o4-mini-2025-04-16", "azure-openai:o4-mini"])
def test_a_past_call_of_o4_mini_costs_three_less_on_azure_and_nothing_else_does(name: str) -> None:
    own, there = family_of("o4-mini"), family_of(name)
    assert own.calls.one - there.calls.one == 3
    same = attrs.evolve(there.calls, one=own.calls.one)
    assert attrs.evolve(there, name=own.name, names=own.names, evidence=own.evidence, calls=same) == own
    assert family_of("azure/gpt-5-mini").name == "gpt-5"
    assert family_of("azure/of-our-own").name == "unknown"


@pytest.mark.parametrize("model", ["gpt-4.1-nano", "gpt-4.5-preview"])
def test_models_after_gpt_4o_have_their_own_row_on_responses_only(model: str) -> None:
    assert (family_of(model).name, family_of(model, "responses").name) == ("gpt-4o", "gpt-4.1")


@pytest.mark.parametrize(
    "family", [*families("chat"), *families("responses")], ids=lambda family: f"{family.api}-{family.name}"
)
def test_a_family_says_how_many_bills_support_it(family: Family) -> None:
    assert family.evidence.rows >= family.evidence.repositories >= 0
    assert family.evidence.source


def test_an_unknown_model_is_an_estimate_with_a_margin() -> None:
    bill = pricing.price_tools([tool("f", "x" * 1000)], family_of("marvellous-1"), characters, Has.NOTHING)
    known = pricing.price_tools([tool("f", "x" * 1000)], family_of("gpt-5.4"), characters, Has.NOTHING)
    assert bill.grade is Grade.ESTIMATED
    assert bill.tokens == known.tokens
    assert bill.upper - known.upper == bill.tokens // pricing.ESTIMATE_MARGIN


@pytest.mark.parametrize(
    ("model", "prompt"),
    [
        (
            "gpt-4o",
            ["<|im_start|>", "user", "<|im_sep|>", "Hi", "<|im_end|>", "<|im_start|>", "assistant", "<|im_sep|>"],
        ),
        ("gpt-5", ["<|start|>", "user", "<|message|>", "Hi", "<|end|>", "<|start|>", "assistant"]),
        ("o3-mini", ["<|start|>", "user", "<|message|>", "Hi", "<|end|>", "<|start|>", "assistant"]),
    ],
)
def test_a_plain_request_costs_the_template_token_by_token(model: str, prompt: list[str]) -> None:
    family = family_of(model)
    assert family.primer + family.per_message + 1 + counter(family.encoding)("Hi") == len(prompt)


# ── past calls


def call(name: str, arguments: str) -> Call:
    return Call("id", name, arguments)


@pytest.mark.parametrize(
    ("model", "api", "arguments", "spelled", "names", "constant"),
    [
        ("gpt-4o", "chat", '{"city": "Mexico City"}', '{"city":"Mexico City"}', ("functions.go", "go"), 4),
        ("gpt-4o", "chat", '{"city":"Oslo"}', '{"city":"Oslo"}', ("functions.go", "go"), 4),
        ("gpt-4o", "chat", "not json at all", "not json at all", ("functions.go", "go"), 4),
        ("gpt-4o", "responses", "{ }", "{ }", ("functions.go", "functions.go"), 1),
        ("gpt-4-turbo", "chat", "{ }", "{}", ("functions.go", "go"), 4),
        ("gpt-4-0613", "chat", "{ }", "{ }", ("go", "go"), 2),
        ("gpt-3.5-turbo", "chat", '{"a": 1}', '{"a": 1}', ("go", "go"), 2),
        ("gpt-5", "chat", "{}", "{}", ("functions.go", "go"), 10),
        ("gpt-5", "responses", '{"a":\n1}', '{"a":\n1}', ("functions.go", "functions.go"), 7),
        ("gpt-5.4", "responses", "{}", "{}", ("functions.go", "functions.go"), 10),
    ],
)
def test_one_call_costs_its_arguments_and_its_name_twice(
    model: str, api: Any, arguments: str, spelled: str, names: tuple[str, str], constant: int
) -> None:
    bill = pricing.price_calls([call("go", arguments)], family_of(model, api), characters)
    assert bill.tokens == len(spelled) + sum(map(len, names)) + constant


def test_parallel_calls_are_one_wrapped_call() -> None:
    calls = [call("a", '{"x": 1}'), call("b", "oops")]
    wrapped = (
        '{"tool_uses":[{"recipient_name":"functions.a","parameters":{"x":1}},'
        '{"recipient_name":"functions.b","parameters":"oops"}]}'
    )
    bill = pricing.price_calls(calls, family_of("gpt-4o"), characters)
    assert bill.tokens == len(wrapped) + 12
    assert bill.grade is Grade.BOUNDED


def test_the_published_table_carries_arguments_as_a_string() -> None:
    wrapped = '{"tool_uses":[' + ",".join(['{"recipient_name":"functions.a","parameters":"{}"}'] * 2) + "]}"
    bill = pricing.price_calls([call("a", "{}"), call("a", "{}")], family_of("gpt-3.5-turbo"), characters)
    assert bill.tokens == len(wrapped) + 12


@pytest.mark.parametrize(
    ("model", "each", "around"),
    [("gpt-4o", 1 + 4, -4), ("gpt-5", 7 + 4, -4), ("gpt-5.4", 8, 18)],
)
@pytest.mark.parametrize("several", [2, 3, 4])
def test_responses_sends_each_call_as_a_message_of_its_own(model: str, each: int, around: int, several: int) -> None:
    bill = pricing.price_calls([call("a", "{}")] * several, family_of(model, "responses"), characters)
    assert bill.tokens == several * (len("{}") + 2 * len("functions.a") + each) + around


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        (["5", "6"], "[5, 6]"),
        (["sage green", "red"], '["sage green", "red"]'),
        (['{"a":1,"b":[true]}', "{roll: 1}"], '[{"a": 1, "b": [true]}, "{roll: 1}"]'),
        (["a\nb", '"q"'], '["a\\nb", "q"]'),
    ],
)
def test_parallel_results_are_one_list_of_their_texts(texts: list[str], shown: str) -> None:
    assert pricing.price_results(texts, family_of("gpt-4o"), characters).tokens == len(shown)


STRETCHES = [
    "a",
    "the ",
    " ",
    "  ",
    "\n",
    "\t",
    "\xa0",
    "don't",
    "'s",
    "123",
    "!!",
    '"',
    "/",
    "é",
    "日本",
    "[",
    "]",
    ",",
    "{",
]


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base", "r50k_base"])
@given(texts=st.lists(st.lists(st.sampled_from(STRETCHES), max_size=90).map("".join), min_size=1, max_size=5))
def test_a_list_of_results_costs_what_it_costs_in_one_piece(encoding: str, texts: list[str]) -> None:
    family = attrs.evolve(family_of("gpt-4o"), grade=Grade.EXACT)
    read = [json.loads(text) if _is_json(text) else text for text in texts]
    counted = pricing.price_results(texts, family, tiktoken_counter(encoding)).tokens
    assert counted == counter(encoding)(json.dumps(read, ensure_ascii=False))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def test_a_list_that_grew_by_a_result_counts_little_more_than_that_result() -> None:
    seen, fresh = set[str](), list[str]()

    class Counting:
        name = "tiktoken:o200k_base"

        def __call__(self, text: str) -> int:
            if text not in seen:
                seen.add(text)
                fresh.append(text)
            return len(text)

    texts = [f"Result {number}: " + f"row {number} of many, " * 400 for number in range(6)]
    for number in range(1, 7):
        fresh.clear()
        pricing.price_results(texts[:number], family_of("gpt-4o"), Counting())
        assert sum(map(len, fresh)) <= len(texts[number - 1]) + 100


def test_results_in_other_scripts_are_bounded_as_if_they_were_escaped() -> None:
    bill = pricing.price_results(["72\u00b0F", "5"], family_of("gpt-5"), characters)
    assert bill.tokens == len('["72\u00b0F", 5]')
    assert bill.upper >= len('["72\\u00b0F", 5]')


def test_no_calls_cost_nothing() -> None:
    assert pricing.price_calls([], family_of("gpt-4o"), characters).tokens == 0


def test_unreadably_nested_arguments_are_priced_as_they_are() -> None:
    deep = "[ " * 100_000
    bill = pricing.price_calls([call("a", deep)], family_of("gpt-4o"), characters)
    assert bill.tokens == len(deep) + len("functions.a") + len("a") + 4
    assert pricing.price_calls([call("a", deep)] * 2, family_of("gpt-4o"), characters).tokens > 2 * len(deep)


# ── the other keys of a request


@pytest.mark.parametrize(
    ("choice", "api", "tokens"),
    [
        (None, "chat", 0),
        ("auto", "chat", 0),
        ("required", "chat", 0),
        ("none", "chat", 1),
        ("none", "responses", 1),
        ({"type": "function", "function": {"name": "abc"}}, "chat", len("functions.abc") + 6),
        ({"type": "custom", "custom": {"name": "abc"}}, "chat", len("functions.abc") + 6),
        ({"type": "custom", "name": "abc"}, "responses", len("functions.abc") + 6),
        ({"name": "abc"}, "chat", len("functions.abc") + 3),
        ({"type": "allowed_tools"}, "chat", 0),
        ({"type": "function", "name": "abc"}, "responses", len("functions.abc") + 6),
        ({"mode": "required", "type": "allowed_tools", "tools": []}, "responses", 0),
    ],
)
def test_a_tool_choice_costs_what_it_forces(choice: object, api: Any, tokens: int) -> None:
    assert pricing.price_tool_choice(choice, family_of("gpt-4o", api), characters).tokens == tokens


@pytest.mark.parametrize("named", [1, 2])
def test_a_list_of_allowed_tools_is_free_and_the_bound_of_one_tool_alone_is_that_of_a_forced_tool(named: int) -> None:
    allowed = [{"type": "function", "name": name} for name in ("look", "find")[:named]]
    choice = {"type": "allowed_tools", "mode": "required", "tools": allowed}
    price = pricing.price_tool_choice(choice, family_of("gpt-4o", "responses"), characters)
    forced = len("functions.look") + 6 if named == 1 else 0
    assert price == Count(0, Grade.BOUNDED, upper=forced)
    nested = {"type": "allowed_tools", "allowed_tools": {**choice, "tools": [{"function": one} for one in allowed]}}
    assert pricing.price_tool_choice(nested, family_of("gpt-4o"), characters) == price


@pytest.mark.parametrize(("api", "tools", "tokens"), [("responses", 1, 17), ("responses", 2, 0), ("chat", 1, 0)])
def test_a_required_tool_without_alternative_is_forced_on_responses(api: Any, tools: int, tokens: int) -> None:
    listed = [tool(name) for name in ("a", "b")[:tools]]
    assert pricing.price_tool_choice("required", family_of("gpt-4.1", api), characters, listed).tokens == tokens


@pytest.mark.parametrize("model", ["gpt-5", "gpt-5.4", "o3", "o4-mini"])
@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize(
    "choice", ["required", "none", {"type": "function", "name": "abc", "function": {"name": "abc"}}]
)
def test_a_tool_choice_is_free_in_the_harmony_generation(model: str, api: Any, choice: object) -> None:
    assert pricing.price_tool_choice(choice, family_of(model, api), characters, [tool("abc")]).tokens == 0


def test_gpt_4_of_2023_is_billed_less_for_a_forced_tool() -> None:
    forced = {"type": "function", "function": {"name": "abc"}}
    assert pricing.price_tool_choice(forced, family_of("gpt-4"), characters).tokens == len("functions.abc") + 3


@pytest.mark.parametrize("tools", [1, 2])
def test_gpt_4_of_2023_is_billed_two_for_a_required_tool_whatever_their_number(tools: int) -> None:
    listed = [tool(name) for name in ("a", "b")[:tools]]
    assert pricing.price_tool_choice("required", family_of("gpt-4-0613"), characters, listed).tokens == 2


@pytest.mark.parametrize(("setting", "tokens"), [(False, 78), (True, 0), (None, 0)])
def test_serial_calls_add_the_preamble_again_on_responses(setting: object, tokens: int) -> None:
    assert pricing.price_parallel_tool_calls(setting, family_of("gpt-5", "responses")).tokens == tokens
    assert pricing.price_parallel_tool_calls(setting, family_of("gpt-4o", "responses")).tokens == 0


PERSON: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "required": {"type": "string", "additionalProperties": False},
        "any": {"anyOf": [{"type": "object", "required": ["x"], "properties": {}}, {"type": "null"}]},
        "list": {"type": "array", "items": {"type": "object", "additionalProperties": False}},
    },
    "required": ["required"],
    "additionalProperties": False,
}
SENT = (
    '{"type":"object","properties":{"required":{"type":"string"},'
    '"any":{"anyOf":[{"type":"object","properties":{}},{"type":"null"}]},'
    '"list":{"type":"array","items":{"type":"object"}}}}'
)


@pytest.mark.parametrize(
    ("has", "around"),
    [
        (Has.NOTHING, 10 + len("person")),
        (Has.SYSTEM, 6 + len("person")),
        (Has.TOOLS, 5),
        (Has.SYSTEM | Has.TOOLS, 5),
    ],
)
def test_an_output_schema_costs_its_name_and_what_it_shows(has: Has, around: int) -> None:
    asked = {"type": "json_schema", "json_schema": {"name": "person", "strict": True, "schema": PERSON}}
    bill = pricing.price_response_format(asked, family_of("gpt-4o"), characters, has)
    assert bill.tokens == len(f"## person\n\n{SENT}") + around
    assert bill.upper > bill.tokens


def test_a_short_name_of_an_output_schema_is_billed_twice_on_chat() -> None:
    """0xPlaygrounds/rig (MIT), tests/cassettes/openai/refusal_matrix, read 2026-11."""
    schema = {
        "additionalProperties": False,
        "properties": {"answer": {"type": "string"}},
        "required": ["answer"],
        "type": "object",
    }
    request: dict[str, Any] = {
        "messages": [{"role": "user", "content": "Name one common tree species. Answer in the schema."}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}},
    }
    assert count_request(request, dialect="openai_chat", model="gpt-4o-2024-08-06").tokens == 46


def test_a_flat_output_schema_is_read_as_responses_spells_it() -> None:
    asked = {"type": "json_schema", "name": "p", "description": "Who.", "schema": PERSON}
    bill = pricing.price_response_format(asked, family_of("gpt-5", "responses"), characters)
    assert bill.tokens == len(f"## p\n\n// Who.\n{SENT}") + 4


def test_an_endless_output_schema_is_refused_by_name() -> None:
    schema: dict[str, Any] = {}
    for _ in range(5000):
        schema = {"items": schema}
    with pytest.raises(ToolError, match="nests deeper") as refused:
        pricing.price_response_format(
            {"type": "json_schema", "name": "p", "schema": schema}, family_of("gpt-4o"), characters
        )
    assert refused.value.tool == "p"


def test_limits_of_an_output_schema_are_enforced_and_not_shown() -> None:
    limited = {"type": "integer", "minimum": 1, "maximum": 9, "format": "int64"}
    asked = {"type": "json_schema", "json_schema": {"name": "p", "schema": {"properties": {"format": limited}}}}
    bill = pricing.price_response_format(asked, family_of("gpt-4o"), characters, Has.SYSTEM)
    assert bill.tokens == len('## p\n\n{"properties":{"format":{"type":"integer"}}}') + 6 + len("p")


@pytest.mark.parametrize("default", ["user", 0.5, None, {"deep": [1]}])
def test_the_default_of_an_output_schema_is_not_shown(default: object) -> None:
    asked = {"type": "json_schema", "name": "p", "schema": {"properties": {"default": {"default": default}}}}
    bill = pricing.price_response_format(asked, family_of("gpt-4o", "responses"), characters)
    assert bill.tokens == len('## p\n\n{"properties":{"default":{}}}') + 5


BOOK: Mapping[str, Any] = {
    "type": "object",
    "properties": {key: {"title": key.capitalize(), "type": "string"} for key in ("title", "author")},
    "required": ["title", "author"],
    "additionalProperties": False,
    "title": "Book",
}


def asking_for_a_book(*system: dict[str, Any]) -> dict[str, Any]:
    form = {"type": "json_schema", "json_schema": {"name": "Book", "schema": BOOK, "strict": True}}
    asked = {"role": "user", "content": "Please recommend a book"}
    return {"messages": [*system, asked], "response_format": form}


@pytest.mark.parametrize(
    ("ending", "tokens"),
    [(".", 0), ("!", 0), (")", 0), ("", 1), ("```", 1), (" CAPS", 1), (".\n", 0), ("  ]\n", 1)],
)
def test_a_break_ends_the_system_text_before_an_output_schema_and_is_one_token_with_punctuation(
    ending: str, tokens: int
) -> None:
    """10 recordings of 5 projects end in no full stop, and were billed one more."""
    bills = [
        count_request(request, dialect="openai_chat", model="gpt-4o").tokens
        for text in ("Be brief.", f"Be brief{ending}")
        for system in [{"role": "system", "content": text}]
        for request in (asking_for_a_book(system), {**asking_for_a_book(system), "response_format": None})
    ]
    assert (bills[2] - bills[3]) - (bills[0] - bills[1]) == tokens


@pytest.mark.parametrize("text", ["Be brief.", "Be brief"])
@pytest.mark.parametrize("parts", [str, lambda text: [{"type": "text", "text": text}]])
def test_a_build_with_an_output_schema_is_priced_like_its_request(text: str, parts: Any) -> None:
    assembler = Assembler(Budget(10_000, model="gpt-4o"), dialect=openai_chat)
    assembler.add_messages([{"role": "system", "content": parts(text)}, {"role": "user", "content": "A book?"}])
    built = assembler.set_output_schema(BOOK, name="Book").build()
    assert built.count == count_request(built.request(), dialect="openai_chat", model="gpt-4o")


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-5"])
def test_each_past_answer_costs_more_beside_an_output_schema(model: str) -> None:
    asked: dict[str, Any] = {"type": "json_schema", "json_schema": {"name": "p", "schema": {}}}
    first, third = (
        pricing.price_response_format(asked, family_of(model), characters, answers=n).tokens for n in (0, 2)
    )
    assert third - first == 8


@pytest.mark.parametrize("asked", [None, "text", {"type": "text"}, {"type": "json_object"}])
def test_other_output_formats_cost_nothing(asked: object) -> None:
    assert pricing.price_response_format(asked, family_of("gpt-4o"), characters).tokens == 0


# ── images: pamelafox/openai-messages-token-helper, tests/test_images (MIT), counts verified by the API, read 2026-11


@pytest.mark.parametrize(
    ("model", "width", "height", "detail", "tokens"),
    [
        ("gpt-4o", 1, 1, "auto", 255),
        ("gpt-4o", 1, 1, "low", 85),
        ("gpt-4o", 1126, 488, "auto", 595),
        ("gpt-4o-mini", 1, 1, "auto", 8500),
        ("gpt-4o-mini", 1, 1, "low", 2833),
        ("gpt-4o-mini", 1126, 488, "auto", 19834),
    ],
)
def test_a_tiled_image_costs_what_was_published(model: str, width: int, height: int, detail: Any, tokens: int) -> None:
    bill = price_image(width, height, detail, model)
    assert (bill.tokens, bill.grade) == (tokens, Grade.EXACT)


@pytest.mark.parametrize("model", ["gpt-4.1", "gpt-4.5-preview", "gpt-4-turbo", "gpt-4o-audio-preview", "gpt-4"])
def test_an_image_of_a_model_without_published_counts_is_bounded_by_one_more_tile(model: str) -> None:
    bill = price_image(1126, 488, "auto", model)
    assert bill == Count(595, Grade.BOUNDED, upper=595 + 170)


@pytest.mark.parametrize(("side", "tiles"), [(511, 1), (512, 1), (513, 4), (768, 4), (4096, 4)])
def test_tiles_are_counted_after_the_image_is_scaled_down(side: int, tiles: int) -> None:
    assert price_image(2000, 1500, "high", "gpt-4o").tokens == 85 + 170 * 4  # 1024 x 768: on the border of a tile
    assert price_image(side, side, "high", "gpt-4o").tokens == 85 + 170 * tiles


def tiles_by_fractions(width: int, height: int) -> int:
    sides = [Fraction(width), Fraction(height)]
    sides = [side * min(Fraction(1), 2048 / max(sides)) for side in sides]
    sides = [side * min(Fraction(1), 768 / min(sides)) for side in sides]
    return ceil(sides[0] / 512) * ceil(sides[1] / 512)


@given(st.integers(1, 10_000) | st.integers(1, 20).map(lambda n: 256 * n), st.integers(1, 10_000))
def test_tiles_are_those_of_exact_arithmetic(width: int, height: int) -> None:
    assert price_image(width, height, "high", "gpt-4o").tokens == 85 + 170 * tiles_by_fractions(width, height)


@given(
    st.integers(1, 10_000), st.integers(1, 10_000), st.sampled_from(["gpt-4o", "gpt-5", "gpt-5-mini", "o4-mini", None])
)
def test_an_image_stays_within_its_bound_and_may_be_rotated(width: int, height: int, model: str | None) -> None:
    upright, turned = price_image(width, height, "high", model), price_image(height, width, "high", model)
    assert upright == turned
    assert 0 < upright.tokens <= upright.upper


def test_an_image_of_too_many_patches_is_scaled_to_whole_ones() -> None:
    """1800 × 2400 makes 33 × 44 patches: OpenAI, "Images and vision", as commonly quoted."""
    assert price_image(1800, 2400, "auto", "gpt-4.1-mini").tokens == ceil(33 * 44 * 1.62)
    assert price_image(2400, 1800, "auto", "o4-mini").tokens == ceil(33 * 44 * 1.72)
    assert price_image(1, 100_000, "auto", "gpt-4.1-mini").tokens == ceil(1536 * 1.62)


def test_patches_are_capped() -> None:
    assert price_image(32, 32, "auto", "gpt-4.1-mini").tokens == 2
    huge = price_image(10_000, 10_000, "auto", "gpt-4.1-mini")
    assert huge.tokens <= 1536 * 1.62 + 1
    assert huge.grade is Grade.ESTIMATED


@pytest.mark.parametrize("size", [(0, 1), (1, 0)])
def test_an_image_without_pixels_is_refused(size: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="at least one pixel"):
        price_image(*size, "auto", "gpt-4o")


def test_families_are_immutable() -> None:
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        family_of("gpt-4o").primer = 1  # type: ignore[misc]
