"""Command models cost what the text of their open templates does, written out by hand, and what Cohere billed."""

from __future__ import annotations

from typing import Any

import pytest

from assembler import count_request
from assembler.dialects import openai_chat
from budgets import Count

A = "command-a-03-2025"


def tool(name: str, description: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def asked(text: str, *tools: dict[str, Any], system: str = "") -> dict[str, Any]:
    messages = [{"role": "user", "content": text}]
    if system:
        messages.insert(0, {"role": "system", "content": system})
    return {"messages": messages, **({"tools": list(tools)} if tools else {})}


def answered(text: str, name: str, result: str, **said: object) -> list[dict[str, Any]]:
    call = {"id": "c", "type": "function", "function": {"name": name, "arguments": "{}"}}
    return [
        {"role": "user", "content": text},
        {"role": "assistant", "tool_calls": [call], **said},
        {"role": "tool", "tool_call_id": "c", "content": result},
    ]


def price(body: dict[str, Any], model: str = A) -> Count:
    return count_request(body, dialect=openai_chat, model=model, counter=len)


def more(body: dict[str, Any], than: dict[str, Any], model: str = A) -> int:
    return price(body, model).tokens - price(than, model).tokens


# ── what Cohere billed ───────────────────────────────────────────────────────────────────────────────────────────────

NOTHING_TO_SAY: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
STRICT = tool(
    "best_language_to_learn", "Gets the best language to learn", {**NOTHING_TO_SAY, "additionalProperties": False}
)
BEST = tool("best_language_to_learn", "Gets the best language to learn", NOTHING_TO_SAY)
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "Name of the person"},
        "age": {"type": "integer", "description": "Age of the person"},
    },
    "required": ["name", "age"],
}
OLD = "The person's name is John, and he is 30 years old"

# crmne/ruby_llm (MIT), spec/fixtures/vcr_cassettes, and langchain-ai/langchain-cohere (MIT), read 2026-11.
BILLED = [
    (A, asked("Count from 1 to 3"), 502),
    (
        A,
        {"messages": answered("What's the best language to learn?", BEST["function"]["name"], "Ruby"), "tools": [BEST]},
        1515,
    ),
    ("command-a-plus-05-2026", asked("What's the best language to learn?", STRICT), 243),
    ("command-r", asked(OLD, tool("Person", "Name and age of the person", PERSON)), 917),
]


@pytest.mark.parametrize(("model", "body", "billed"), BILLED)
def test_a_recorded_request_costs_what_was_billed_within_one_token(
    model: str, body: dict[str, Any], billed: int
) -> None:
    counted = count_request(body, dialect=openai_chat, model=model)
    assert abs(counted.tokens - billed) <= 1
    assert counted.upper >= billed


# ── the text of the templates, counted by its characters ─────────────────────────────────────────────────────────────

LOOK = tool("look", "Looks.", {"type": "object", "properties": {"at": {"type": "string", "description": ""}}})
WAIT = tool("wait", "", {"type": "object", "properties": {}})


def test_command_a_is_shown_a_definition_as_json_without_empty_descriptions() -> None:
    shown = (
        '{"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {"at": {"type": '
        '"string"}}}, "responses": null}'
    )
    assert more(asked("Hi", WAIT, LOOK), than=asked("Hi", WAIT)) == len(shown) + 1


def test_command_r_is_shown_a_function_of_python() -> None:
    parameters = {
        "type": "object",
        "properties": {"zoom": {"type": "number"}, "at": {"type": "string", "description": "Where."}},
        "required": ["at"],
    }
    shown = (
        "```python\ndef look(at: str, zoom: Optional[float] = None) -> List[Dict]:\n"
        '"""Looks.\n\nArgs:\nat (str): Where.\nzoom (Optional[float]): \n"""\npass\n```\n\n'
    )
    assert more(asked("Hi", WAIT, tool("look", "Looks.", parameters)), asked("Hi", WAIT), "command-r") == len(shown)


def test_a_default_prompt_stands_in_for_a_missing_system_text_beside_the_tools_of_command_r() -> None:
    assert more(asked("Hi", WAIT), asked("Hi", WAIT, system="Hm."), "command-r") == 137 - 3 - len("Hm.")


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        ("Ruby", '{"content": "Ruby"}'),
        ('say "hi"', '{"content": "say \\"hi\\""}'),
        ('{"roll":3}', '{"roll": 3}'),
        ("[3]", '{"content": "[3]"}'),
    ],
)
def test_a_result_is_a_document_or_the_object_that_it_is(result: str, shown: str) -> None:
    given = {"messages": answered("Roll.", "roll", result), "tools": [WAIT]}
    empty = {"messages": answered("Roll.", "roll", "{}"), "tools": [WAIT]}
    assert more(given, than=empty) == len(shown) - len("{}")


def test_a_text_beside_calls_costs_its_marks_even_if_it_is_empty() -> None:
    silent = {"messages": answered("Roll.", "roll", "3"), "tools": [WAIT]}
    blank = {"messages": answered("Roll.", "roll", "3", content=""), "tools": [WAIT]}
    assert more(blank, than=silent) == 2


def test_a_tool_that_must_be_called_costs_eighteen_more() -> None:
    body = asked("Hi", WAIT)
    assert more({**body, "tool_choice": "required"}, than=body) == 18


@pytest.mark.parametrize("text", ["नमस्ते दुनिया, आप कैसे हैं", "வணக்கம் உலகம் எப்படி", "สวัสดีชาวโลกสบายดีไหม"])
def test_the_bound_of_a_text_holds_what_commands_own_vocabulary_needs_for_scripts_of_few_pieces(text: str) -> None:
    """Command R+'s tokenizer takes at most 1.2 tokens for a letter of these scripts, on average of a text."""
    counted = count_request(asked(text), dialect=openai_chat, model=A)
    assert counted.upper >= 495 + 1.2 * len(text)
