"""Past calls and results of Claude cost what was billed for them: public test recordings, read 2026-11."""

from __future__ import annotations

from typing import Any

import pytest

from assembler import Assembler, count_request
from assembler.dialects import anthropic
from budgets import Budget

# tidyverse/ellmer (MIT), tests/testthat/_vcr/anthropic-tool.yml
NOW = {"description": "Return the current date", "name": "current_date"}
MONTH = {"description": "Return the full name of the current month", "name": "current_month"}
EMPTY = {"additionalProperties": False, "description": "", "type": "object"}
DATED: dict[str, Any] = {
    "system": "Always use a tool to answer. Reply with 'It is ____.'.",
    "tools": [{**NOW, "input_schema": EMPTY}, {**MONTH, "input_schema": EMPTY}],
}


def call(name: str, place: int = 0, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"t{place}", "name": name, "input": arguments}


def result(text: str, place: int = 0) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": f"t{place}", "content": text}


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(content)}


def assistant(*content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(content)}


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


CALLED = [
    user(text("What's the current date in Y-M-D format?")),
    assistant(call("current_date")),
    user(result("2024-01-01")),
]
ANSWERED = [*CALLED, assistant(text("It is 2024-01-01.")), user(text("What month is it? Provide the full name"))]
TWICE = [*ANSWERED, assistant(call("current_month", 1)), user(result("February", 1))]


@pytest.mark.parametrize(("messages", "billed"), [(CALLED, 680), (ANSWERED, 706), (TWICE, 756)])
def test_results_cost_one_more_until_they_are_answered_and_words_one_more_behind_them(
    messages: list[dict[str, Any]], billed: int
) -> None:
    request = {**DATED, "messages": messages}
    assert count_request(request, dialect=anthropic, model="claude-sonnet-4-5-20250929").tokens == billed


@pytest.mark.parametrize(
    ("asked", "described", "found", "billed"),
    [
        ("Hey, tell me the date", "Runs system commands, emits their output", "true", 438),
        ("Hey, run the 'date' command", "Runs system commands", '{"success":true}', 439),
    ],
)
def test_a_result_is_counted_between_its_tags(asked: str, described: str, found: str, billed: int) -> None:
    """llmrb/llm (0BSD), spec/fixtures/cassettes/anthropic: a brace is one piece with the tag before it."""
    schema = {"properties": {"command": {"type": "string"}}, "required": ["command"], "type": "object"}
    request: dict[str, Any] = {
        "messages": [
            user(text("You are a bot that can run UNIX system commands")),
            user(text(asked)),
            assistant(call("system", command="date")),
            user({**result(found), "content": [text(found)]}),
        ],
        "tools": [{"description": described, "name": "system", "input_schema": schema}],
    }
    assert count_request(request, dialect=anthropic, model="claude-3-5-sonnet-20240620").tokens == billed


def test_results_of_several_calls_are_counted_between_their_tags_with_their_tools_names() -> None:
    """tidyverse/ellmer (MIT), tests/testthat/_vcr/anthropic-tools-parallel.yml."""
    asked = "\n    What are Joe and Hadley's favourite colours?\n    Answer like name1: colour1, name2: colour2\n  "
    person = {"person": {"description": "Name of a person", "type": "string"}}
    schema = {
        "additionalProperties": False,
        "description": "",
        "properties": person,
        "required": ["person"],
        "type": "object",
    }
    request: dict[str, Any] = {
        "system": "Be very terse, not even punctuation.",
        "messages": [
            user(text(asked)),
            assistant(call("favourite_color", person="Joe"), call("favourite_color", 1, person="Hadley")),
            user(result("sage green"), result("red", 1)),
        ],
        "tools": [
            {"description": "Returns a person's favourite colour", "name": "favourite_color", "input_schema": schema}
        ],
    }
    assert count_request(request, dialect=anthropic, model="claude-3-5-sonnet-20241022").tokens == 593


@pytest.mark.parametrize("model", ["claude-3-5-haiku", "claude-sonnet-4-5", "claude-opus-4-7", "claude-sonnet-5"])
def test_a_build_costs_what_its_request_does_after_every_message_added_to_a_tool_loop(model: str) -> None:
    """A step of the model costs more or less after results, and keeps no such price after another step."""
    built = Assembler(Budget(100_000, model=model), dialect=anthropic)
    built.set_tools([{"name": name, "parameters": {"type": "object"}} for name in ("current_date", "current_month")])
    answered = [*TWICE, assistant(text("It is February.")), user(text("Thanks"))]
    for stop in (3, 5, 7, len(answered), 5, 3):
        context = built.set_messages(answered[:stop]).build()
        assert count_request(context.request(), dialect=anthropic, model=model).tokens == context.count.tokens
