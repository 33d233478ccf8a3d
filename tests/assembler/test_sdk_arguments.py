"""What an SDK takes in place of JSON costs what the JSON that it sends costs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from assembler import Assembler, ToolError, count_request, fit_request
from budgets import Budget, Count, Grade

Body = dict[str, Any]

ASKED: Body = {"messages": [{"role": "user", "content": "Who is it?"}]}
CONTENTS: list[Body] = [{"role": "user", "parts": [{"text": "Who is it?"}]}]


class Person(BaseModel):
    """Someone."""

    name: str
    age: int | None = None


@dataclass
class Place:
    city: str


CLOSED: Body = {**Person.model_json_schema(), "required": ["name", "age"], "additionalProperties": False}
AGE: Body = {"anyOf": [{"type": "integer"}, {"type": "null"}], "title": "Age"}
"""OpenAI's SDK leaves out a default of null (openai 3.57, `to_strict_json_schema`, read 2026-11)."""
STRICT: Body = {
    "name": "Person",
    "schema": {**CLOSED, "properties": {**CLOSED["properties"], "age": AGE}},
    "strict": True,
}
PLACE: Body = {
    "properties": {"city": {"title": "City", "type": "string"}},
    "required": ["city"],
    "title": "Place",
    "type": "object",
}


class NotGiven:
    """As openai and anthropic name the class of an option that was not given."""


class Omit:
    """As openai names it for headers, and in later versions for options."""


class Part(BaseModel):
    text: str | None = None
    inline_data: None = None


class Content(BaseModel):
    role: str | None = None
    parts: list[Part] | None = None


class Config(BaseModel):
    """As google-genai has `GenerateContentConfig`, with some of its fields."""

    system_instruction: Any = None
    tools: Any = None
    temperature: float | None = None
    response_schema: Any = None


def _answer(**fields: Any) -> Body:
    return {**ASKED, **fields}


SAME: dict[str, tuple[str, str, Body, Body]] = {
    "a class of an answer on Chat": (
        "openai_chat",
        "gpt-4o",
        _answer(response_format=Person),
        _answer(response_format={"type": "json_schema", "json_schema": STRICT}),
    ),
    "a dataclass": (
        "openai_chat",
        "gpt-4o",
        _answer(response_format=Place),
        _answer(
            response_format={
                "type": "json_schema",
                "json_schema": {"name": "Place", "schema": {**PLACE, "additionalProperties": False}, "strict": True},
            }
        ),
    ),
    "a class of an answer on Responses": (
        "openai_responses",
        "gpt-5",
        {"input": "Who?", "text_format": Person, "text": {"verbosity": "low"}},
        {"input": "Who?", "text": {"verbosity": "low", "format": {"type": "json_schema", **STRICT}}},
    ),
    "a class of an answer at Anthropic": (
        "anthropic",
        "claude-sonnet-4-5",
        _answer(output_format=Person),
        _answer(output_format={"type": "json_schema", "schema": CLOSED}),
    ),
    "options that are not given": (
        "anthropic",
        "claude-sonnet-4-5",
        _answer(system=NotGiven(), tools=NotGiven(), thinking=Omit()),
        ASKED,
    ),
    "instructions that are not given": (
        "openai_responses",
        "gpt-5",
        {"input": "Who?", "instructions": NotGiven(), "text": Omit()},
        {"input": "Who?"},
    ),
    "a typed config": (
        "gemini",
        "gemini-2.0-flash",
        {
            "contents": [Content(role="user", parts=[Part(text="Who is it?")])],
            "config": Config(system_instruction=Content(parts=[Part(text="Be brief.")]), response_schema=Person),
        },
        {
            "contents": CONTENTS,
            "config": {
                "system_instruction": {"parts": [{"text": "Be brief."}]},
                "response_schema": Person.model_json_schema(),
            },
        },
    ),
    "a part alone": ("gemini", "gemini-2.5-flash", {"contents": [Part(text="Who is it?")]}, {"contents": CONTENTS}),
}


@pytest.mark.parametrize("case", SAME)
def test_what_an_sdk_takes_costs_what_it_sends(case: str) -> None:
    dialect, model, typed, sent = SAME[case]
    assert count_request(typed, dialect=dialect, model=model) == count_request(sent, dialect=dialect, model=model)


def test_the_class_of_an_answer_is_never_free() -> None:
    """It was graded exact and cost nothing."""
    bare = count_request(ASKED, dialect="openai_chat", model="gpt-4o")
    asked = count_request(_answer(response_format=Person), dialect="openai_chat", model="gpt-4o")
    assert isinstance(asked, Count)
    assert asked.tokens > bare.tokens + len(json.dumps(CLOSED)) // 8
    assert asked.grade is Grade.BOUNDED


def test_a_class_without_a_schema_is_refused_by_kind() -> None:
    class Opener:
        def __init__(self, door: Any) -> None:
            self.door = door

    with pytest.raises(ToolError, match="has no JSON schema"):
        count_request(_answer(response_format=Opener), dialect="openai_chat", model="gpt-4o")


def test_a_fitted_body_keeps_the_class_and_the_settings_of_a_typed_config() -> None:
    base = Assembler(Budget(10_000, max_output_tokens=10, model="gpt-4o"))
    assert (
        fit_request(_answer(response_format=Person), dialect="openai_chat", assembler=base)["response_format"] is Person
    )
    parsed = fit_request({"input": "Who?", "text_format": Person}, dialect="openai_responses", assembler=base)
    assert parsed["text_format"] is Person
    gemini = Assembler(Budget(10_000, max_output_tokens=10, model="gemini-2.5-flash"))
    config = Config(system_instruction="Be brief.", temperature=0.5)
    fitted = fit_request({"contents": CONTENTS, "config": config}, dialect="gemini", assembler=gemini)
    assert fitted["config"] == {"system_instruction": "Be brief.", "temperature": 0.5}
