"""Incomplete and wrong calls are sent as the API takes them, and priced as they are sent."""

from __future__ import annotations

from typing import Any

import pytest

from assembler import Assembler, ConversationError, count_request, verify
from assembler.dialects import DIALECTS
from budgets import Budget

ASKED: dict[str, Any] = {"name": "f", "arguments": "{}"}
GIVEN: dict[str, Any] = {"name": "g", "input": "x"}
CALLS: dict[str, dict[str, Any]] = {
    "no type": {"function": ASKED},
    "a null for a type": {"type": None, "function": ASKED},
    "an object for a type": {"type": {"a": 1}, "function": ASKED},
    "the type of another kind": {"type": "custom", "function": ASKED},
    "a type of nobody's": {"type": "zzz", "function": ASKED},
    "a null beside the function": {"type": "function", "function": ASKED, "custom": None},
    "a null for a function": {"type": "function", "function": None, "name": "f", "args": {}},
    "a list for a function": {"type": "function", "function": [], "name": "f", "args": {}},
    "a number for a custom tool": {"custom": 5, "name": "f", "args": {}},
    "a custom tool without a type": {"custom": GIVEN},
    "a custom tool of a number for a type": {"type": 5, "custom": GIVEN},
    "a custom tool beside a null": {"type": "custom", "custom": GIVEN, "function": None},
    "a custom tool that is given nothing": {"type": "custom", "custom": {"name": "g"}},
    "a custom tool that is given a null": {"type": "custom", "custom": {"name": "g", "input": None}},
    "a custom tool that is given an object": {"type": "custom", "custom": {"name": "g", "input": {"a": 1}}},
    "both": {"type": "custom", "custom": GIVEN, "function": ASKED},
}
TOOLS = [{"name": "f"}, {"type": "custom", "custom": {"name": "g"}}]


@pytest.mark.parametrize("label", CALLS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_odd_call_is_sent_as_its_api_takes_it_and_priced_as_sent(dialect: str, label: str) -> None:
    answer = {"role": "assistant", "content": None, "tool_calls": [{"id": "abcdefghi", **CALLS[label]}]}
    history = [{"role": "user", "content": "hi"}, answer, {"role": "tool", "tool_call_id": "abcdefghi", "content": "r"}]
    context = Assembler(dialect=dialect).add_capability(TOOLS).add_messages(history).build()
    assert count_request(context.request(), dialect=dialect) == context.count
    assert dialect == "plain" or verify(context.request(), dialect=dialect) == []


@pytest.mark.parametrize("kind", ["human", "text", "", 5, ["message"], None, "message"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_type_that_another_library_puts_on_a_message_does_not_make_it_an_item(dialect: str, kind: Any) -> None:
    asked = {"role": "user", "content": "hi", "type": kind}
    context = Assembler(dialect=dialect).add_message(asked).build()
    assert count_request(context.request(), dialect=dialect) == context.count
    assert dialect == "plain" or verify(context.request(), dialect=dialect) == []


def test_answers_beside_a_schema_cost_an_estimate_what_they_cost_one_by_one() -> None:
    messages = [{"role": role, "content": "yes"} for role in ("user", "assistant") * 3]
    made = Assembler(dialect="openai_chat").add_messages(messages)
    context = made.add_output_schema({"type": "object", "properties": {"a": {"type": "string"}}}).build()
    assert count_request(context.request(), dialect="openai_chat") == context.count


def test_a_number_beyond_what_python_prints_is_refused_whatever_class_it_is_of() -> None:
    class Huge(int):
        pass

    for odd in (10**700, Huge(10**700)):
        with pytest.raises(ConversationError, match="more digits"):
            Assembler(dialect="openai_chat").add_message({"role": "user", "content": "hi", "metadata": {"n": odd}})


@pytest.mark.parametrize("signature", [{"a": 1}, ["a"], 7, True])
def test_a_thought_signature_that_is_not_text_is_refused(signature: Any) -> None:
    call = {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": signature}
    history = [{"role": "user", "parts": [{"text": "q"}]}, {"role": "model", "parts": [call]}]
    with pytest.raises(ConversationError, match="thought signature"):
        Assembler(dialect="gemini").add_messages(history).build()
    with pytest.raises(ConversationError, match="thought signature"):
        count_request({"contents": history}, dialect="gemini")


@pytest.mark.parametrize("part", ["x", None, 7, []])
def test_a_part_of_a_function_response_that_is_not_an_object_is_refused(part: Any) -> None:
    history = [
        {"role": "user", "parts": [{"text": "q"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}, "parts": [part]}}]},
    ]
    with pytest.raises(ConversationError, match="function response"):
        Assembler(dialect="gemini").add_messages(history).build()


@pytest.mark.parametrize("detail", ["low", "high", "auto", None])
@pytest.mark.parametrize("dialect", ["openai_chat", "openai_responses"])
def test_a_picture_without_its_type_keeps_the_detail_that_it_is_billed_by(dialect: str, detail: str | None) -> None:
    pixel = (
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
        "AAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )
    picture = {"image_url": {"url": pixel} if detail is None else {"url": pixel, "detail": detail}}
    asked = {"role": "user", "content": [{"type": "text", "text": "look"}, picture]}
    context = Assembler(Budget(10_000, model="gpt-5"), dialect=dialect).add_message(asked).build()
    assert count_request(context.request(), dialect=dialect, model="gpt-5") == context.count


WRITTEN_ANEW = [
    ("openai_chat", "gpt-4o"),
    ("openai_chat", "deepseek-chat"),
    ("openai_chat", "deepseek-v4-flash"),
    ("openai_chat", "deepseek-v3.1"),
    ("openai_chat", "meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8"),
    ("openai_chat", "qwen3-coder"),
    ("mistral", "ministral-3b-latest"),
    ("anthropic", "claude-opus-4-7"),
    ("gemini", "gemini-2.5-pro"),
]
"""Models to which the values of arguments are written in another form than that of the text."""
ODD_ARGUMENTS = {
    **{f"{levels} levels": '{"a":' + "[" * levels + "]" * levels + "}" for levels in (188, 189, 190, 50_000)},
    **{f"{levels} objects": '{"a": ' * levels + "1" + "}" * levels for levels in (189, 190, 191, *range(940, 990, 5))},
    "half a surrogate pair": '{"a": ["\\ud800"]}',
    "half a surrogate pair for a key": '{"\\ud800": 1}',
    "no finite numbers": '{"a": [NaN, -Infinity, 1e999]}',
}


@pytest.mark.parametrize("label", ODD_ARGUMENTS)
@pytest.mark.parametrize(("dialect", "model"), WRITTEN_ANEW)
def test_odd_arguments_cost_the_same_wherever_they_are_read(dialect: str, model: str, label: str) -> None:
    """Python's own limit of nesting depends on how deep its stack is, which differs between a build and a count."""
    given = ODD_ARGUMENTS[label]
    call = {"id": "abcdefghi", "type": "function", "function": {"name": "f", "arguments": given}}
    answer = {"role": "assistant", "content": None, "tool_calls": [call]}
    history = [
        {"role": "user", "content": "hi"},
        answer,
        {"role": "tool", "tool_call_id": "abcdefghi", "content": given},
    ]
    made = Assembler(Budget(10_000_000, model=model), dialect=dialect).add_capability(TOOLS[:1]).add_messages(history)
    context = made.build()
    assert count_request(context.request(), dialect=dialect, model=model) == context.count
