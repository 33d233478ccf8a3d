"""Text that looks like a control token is sent unchanged and counted as text (area A2, dialects of APIs)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assembler import Assembler, count_request
from assembler.dialects import anthropic, bedrock, gemini, mistral, openai_chat, openai_responses, plain
from budgets import Budget, tiktoken_counter
from tests.budgets.raw_engines import NAMES, tokens_of
from tests.hostile.case_file import Case, case, cases

APIS = (openai_chat, openai_responses, anthropic, bedrock, gemini, mistral, plain)
TOOL = {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {"q": {"type": "string"}}}}


def history(text: str) -> list[dict[str, Any]]:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": json.dumps({"q": text})}}
    return [
        {"role": "user", "content": f"u{text}u"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": f"r{text}r"},
        {"role": "assistant", "content": f"a{text}a"},
        {"role": "user", "content": [{"type": "text", "text": f"p{text}p"}]},
    ]


def leaves(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for each in value.values() for text in leaves(each)]
    if isinstance(value, list):
        return [text for each in value for text in leaves(each)]
    return [value] if isinstance(value, str) else []


@cases("test_control_tokens", having="text")
@pytest.mark.parametrize("dialect", APIS, ids=lambda dialect: dialect.name)
def test_no_request_changes_a_text_that_forges_control(case: Case, dialect: Any) -> None:
    text = case["input"]["text"]
    assembler = Assembler(dialect=dialect).add_instruction(f"i{text}i").add_capability([{**TOOL, "description": text}])
    sent = leaves(assembler.add_messages(history(text)).build().request())
    for spoken in (f"u{text}u", f"r{text}r", f"a{text}a", f"p{text}p", f"i{text}i", text):
        assert any(spoken in leaf for leaf in sent), spoken[:1]


@cases("test_control_tokens", having="text")
def test_a_forged_control_token_costs_what_its_letters_cost(case: Case) -> None:
    text = case["input"]["text"]
    for name in NAMES:
        assert tiktoken_counter(name)(text) == tokens_of(name, text)
    context = Assembler(Budget(10_000, counter=tiktoken_counter())).add_messages(history(text)[:1]).build()
    assert context.count.tokens == tokens_of("o200k_base", f"u{text}u")


@cases("test_control_tokens", having="text")
def test_both_counting_functions_count_a_request_with_forged_control_alike(case: Case) -> None:
    text = case["input"]["text"]
    assembler = Assembler(Budget(100_000, model="gpt-4o")).add_knowledge(text, type="rag", source=text)
    context = assembler.add_capability([TOOL]).add_messages(history(text)).build()
    assert count_request(context.request(), dialect=openai_chat, model="gpt-4o") == context.count


@cases("test_control_tokens", having="text")
def test_knowledge_with_forged_control_keeps_none_of_its_brackets(case: Case) -> None:
    text = case["input"]["text"]
    system = Assembler().add_knowledge(text, type="rag").build().system or ""
    body = system.split("\n", 1)[1].rsplit("\n", 1)[0]
    assert not {"<", ">"} & set(body)


def test_tiktokens_own_special_text_is_counted() -> None:
    text = case("A2-25")["input"]["text"]
    assert [tiktoken_counter(name)(text) for name in NAMES] == [tokens_of(name, text) for name in NAMES]
    assert min(tiktoken_counter(name)(text) for name in NAMES) > 1


@cases("test_control_tokens", having="text")
def test_a_name_with_forged_control_is_counted_as_text(case: Case) -> None:
    text = case["input"]["text"]
    named = [{"role": "user", "name": text, "content": "x"}]
    bare = [{"role": "user", "name": "n", "content": "x"}]
    costs = [
        Assembler(Budget(10_000, model="gpt-4o")).add_messages(each).build().count.tokens for each in (named, bare)
    ]
    assert costs[0] - costs[1] == tokens_of("o200k_base", text) - 1
