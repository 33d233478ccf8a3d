"""An output schema and a tool choice are sent in each API's own field and priced with the request."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from assembler import Assembler, ContextLengthError, ToolError, count_request
from assembler.dialects import DIALECTS, chat_template, openai_chat
from assembler.drawn.spelling import SPELLINGS
from assembler.regions.output_schema import written_by_the_sdk
from assembler.regions.strict_schema import write_strictly
from budgets import Budget
from tests.assembler.dialects.test_chat_template import TOKENIZERS
from tests.assembler.one_price import Api, costs_its_request
from tests.scaled import scaled

SCHEMA = {
    "title": "order",
    "description": "What became of an order.",
    "type": "object",
    "properties": {"number": {"type": "string", "description": "as printed"}, "open": {"type": "boolean"}},
    "required": ["number", "open"],
    "additionalProperties": False,
}


class Line(BaseModel):
    """One line of an order."""

    article: str
    pieces: int = 1


class Order(BaseModel):
    """An order."""

    number: str = Field(description="as printed")
    lines: list[Line]


def find_order(number: str) -> str:
    """Where an order is."""
    return number


def refund(number: str, amount: float) -> str:
    """Pay an order back."""
    return number


def built(
    name: str, schema: object, choice: str | None, tools: list[Any], instruction: str, window: int = 50_000
) -> Any:
    assembler = Assembler(Budget(window, model=SPELLINGS[name].models[0]), dialect=DIALECTS[name])
    assembler.add_instruction(instruction).add_capability(tools, choice=choice if tools else None)
    return assembler.add_output_schema(schema).add_message({"role": "user", "content": "Where is A-1?"}).build()


@pytest.mark.parametrize("name", DIALECTS)
@scaled(0.3)
@given(
    schema=st.sampled_from([None, SCHEMA, Order]),
    choice=st.sampled_from([None, "auto", "none", "required", "refund"]),
    tools=st.sampled_from([[], [refund], [find_order, refund]]),
    instruction=st.sampled_from(["", "You are the support desk of a shop."]),
)
def test_a_build_costs_what_its_own_request_costs(
    name: str, schema: object, choice: str | None, tools: list[Any], instruction: str
) -> None:
    context = built(name, schema, choice, tools, instruction)
    costs_its_request(context, Api(name, SPELLINGS[name].models[0]))


def schemas(tree: Any) -> Iterator[dict[str, Any]]:
    """Every dict in a request that could be a schema of an object, also one that stands there as JSON text."""
    if isinstance(tree, str) and tree.startswith("{"):
        tree = json.loads(tree)
    if isinstance(tree, dict):
        if "properties" in tree:
            yield tree
        tree = list(tree.values())
    for item in tree if isinstance(tree, list) else ():
        yield from schemas(item)


@pytest.mark.parametrize("name", DIALECTS)
def test_each_api_gets_the_callers_schema_in_a_field_or_a_note_says_that_it_has_none(name: str) -> None:
    context = built(name, SCHEMA, None, [], "")
    sent = [*schemas({key: value for key, value in context.request().items() if key != "messages"})]
    assert context.notes() if not sent else [{**sent[0], "description": ""}] == [{**SCHEMA, "description": ""}]


@pytest.mark.parametrize(
    ("name", "chosen"),
    [
        ("openai_chat", {"type": "function", "function": {"name": "refund"}}),
        ("openai_responses", {"type": "function", "name": "refund"}),
        ("anthropic", {"type": "tool", "name": "refund"}),
        ("mistral", {"type": "function", "function": {"name": "refund"}}),
    ],
)
def test_a_tool_is_chosen_by_its_name(name: str, chosen: object) -> None:
    assert built(name, None, "refund", [find_order, refund], "").request()["tool_choice"] == chosen


def test_gemini_and_bedrock_choose_inside_their_tool_settings() -> None:
    google = built("gemini", None, "refund", [refund], "").request()["config"]["tool_config"]
    assert google == {"function_calling_config": {"mode": "ANY", "allowed_function_names": ["refund"]}}
    amazon = built("bedrock", None, "refund", [refund], "").request()["toolConfig"]["toolChoice"]
    assert amazon == {"tool": {"name": "refund"}}


def test_a_model_is_closed_so_that_strict_decoding_takes_it() -> None:
    form = built("openai_chat", Order, None, [], "").request()["response_format"]["json_schema"]
    assert (form["name"], form["strict"]) == ("Order", True)
    line = form["schema"]["$defs"]["Line"]
    assert (line["required"], line["additionalProperties"]) == (["article", "pieces"], False)


def test_a_schema_that_strict_decoding_would_refuse_is_not_called_strict() -> None:
    loose = {"type": "object", "properties": {"a": {"type": "string"}}}
    assert "strict" not in built("openai_chat", loose, None, [], "").request()["response_format"]["json_schema"]


def test_a_schema_takes_its_tokens_and_the_budget_holds() -> None:
    whole = built("openai_chat", SCHEMA, None, [], "").count.upper
    assert whole > built("openai_chat", None, None, [], "").count.upper + 40
    built("openai_chat", SCHEMA, None, [], "", window=whole)
    with pytest.raises(ContextLengthError):
        built("openai_chat", SCHEMA, None, [], "", window=whole - 1)


def test_a_schema_stays_with_its_fork_survives_a_pickle_and_is_removed_by_none() -> None:
    base = Assembler(Budget.for_model("gpt-4o")).add_message({"role": "user", "content": "?"})
    asking = base.fork().add_output_schema(SCHEMA)
    assert "response_format" not in base.build().request()
    again = pickle.loads(pickle.dumps(asking))
    assert again.build().request() == asking.build().request()
    manifest = asking.plan().manifest()
    assert asking.replay(manifest).request() == asking.build().request()
    assert "response_format" not in asking.add_output_schema(None).build().request()


def test_changing_the_given_or_the_sent_schema_changes_nothing() -> None:
    schema = json.loads(json.dumps(SCHEMA))
    asking = (
        Assembler(Budget.for_model("gpt-4o")).add_output_schema(schema).add_message({"role": "user", "content": "?"})
    )
    first = asking.build().request()
    first["response_format"]["json_schema"]["schema"]["properties"].clear()
    schema["properties"].clear()
    assert asking.build().request()["response_format"]["json_schema"]["schema"]["properties"] == SCHEMA["properties"]


def test_a_chat_template_has_no_place_for_a_schema_and_the_note_says_so() -> None:
    dialect = chat_template(next(iter(TOKENIZERS.values())))
    assembler = Assembler(Budget(50_000), dialect=dialect).add_output_schema(SCHEMA)
    context = assembler.add_message({"role": "user", "content": "hello"}).build()
    assert any("output schema left out" in note for note in context.report.notes)


@pytest.mark.parametrize("schema", ["text", 5, [SCHEMA], Order(number="1", lines=[])])
def test_a_value_that_is_not_a_schema_is_refused(schema: object) -> None:
    with pytest.raises(ToolError, match="output schema"):
        Assembler().add_output_schema(schema)


@pytest.mark.parametrize("name", ["", "two words", "x" * 65, 5])
def test_a_name_that_an_api_would_refuse_is_refused(name: Any) -> None:
    with pytest.raises(ToolError, match="name"):
        Assembler().add_output_schema({"type": "object"}, name=name or "two words")


def test_a_choice_of_no_tool_is_refused() -> None:
    with pytest.raises(ToolError, match="choice"):
        Assembler().add_capability([refund], choice="find_order")


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-5", "deepseek-chat"])
def test_each_answer_in_the_history_costs_what_it_costs_beside_an_answer_format(model: str) -> None:
    messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}] * 6 + [
        {"role": "user", "content": "?"}
    ]
    bot = Assembler(Budget(10_000, model=model), dialect=openai_chat).add_messages(messages)
    bot.add_output_schema({"type": "object", "properties": {"town": {"type": "string"}}}, name="trip")
    context = bot.build()
    assert context.count == count_request(context.request(), dialect=openai_chat, model=model)
    assert bot.costs() == context.costs


def test_a_model_as_openais_sdk_writes_it_keeps_its_titles_and_its_docstring_inside() -> None:
    class Stop(BaseModel):
        town: str
        nights: int | None = None

    class Route(BaseModel):
        """Where to go."""

        stops: list[Stop]

    written = written_by_the_sdk(Route)
    assert (written.name, written.description, written.strict) == ("Route", None, True)
    assert (written.schema["title"], written.schema["description"]) == ("Route", "Where to go.")
    stop = written.schema["$defs"]["Stop"]
    assert (stop["required"], stop["additionalProperties"]) == (["town", "nights"], False)
    assert stop["properties"]["town"] == {"title": "Town", "type": "string"}


def test_a_reference_with_words_beside_it_is_written_out_and_a_default_of_null_left_out_as_openais_sdk_does() -> None:
    class Town(BaseModel):
        name: str

    class Route(BaseModel):
        start: Town = Field(description="Where it starts.")
        end: Town | None = None

    closed = {"required": ["name"], "title": "Town", "type": "object", "additionalProperties": False}
    town = {"properties": {"name": {"title": "Name", "type": "string"}}, **closed}
    assert written_by_the_sdk(Route).schema == {
        "$defs": {"Town": town},
        "properties": {
            "start": {**town, "description": "Where it starts."},
            "end": {"anyOf": [{"$ref": "#/$defs/Town"}, {"type": "null"}]},
        },
        "required": ["start", "end"],
        "title": "Route",
        "type": "object",
        "additionalProperties": False,
    }


def test_a_class_that_holds_itself_stays_a_reference_below() -> None:
    """Its first definition is written out, as OpenAI's SDK does; for the second the SDK comes to no end."""
    both = {"$ref": "#/$defs/Node"}
    kids = {"properties": {"kids": {"type": "array", "items": both}}, "type": "object"}
    closed = {**kids, "required": ["kids"], "additionalProperties": False}
    assert write_strictly({"$defs": {"Node": kids}, **both}) == {"$defs": {"Node": closed}, **closed}
    endless: Any = {"properties": {"other": {**both, "description": "Another."}}, "type": "object"}
    written = write_strictly({"$defs": {"Node": endless}, **both})
    assert (written["$ref"], written["$defs"]["Node"]["properties"]) == ("#/$defs/Node", endless["properties"])


@pytest.mark.parametrize(
    ("dialect", "model", "alone"), [("openai_chat", "gpt-4o", 4), ("anthropic", "claude-sonnet-4-5", -1)]
)
def test_the_answer_format_costs_as_much_less_beside_a_system_message_as_beside_an_instruction(
    dialect: str, model: str, alone: int
) -> None:
    """For a system message in the history's head: the server writes the format into it."""

    def added(instruction: str | None, *head: tuple[str, str]) -> int:
        made = Assembler(Budget(100_000, model=model), dialect=DIALECTS[dialect]).set_instruction(instruction)
        made.set_messages([*head, ("user", "hi")])
        without = made.build().count.tokens
        context = made.set_output_schema(SCHEMA).build()
        assert context.count == count_request(context.request(), dialect=DIALECTS[dialect], model=model)
        return context.count.tokens - without

    assert added(None, ("system", "Be brief.")) == added("Be brief.") == added(None) - alone
