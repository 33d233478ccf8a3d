"""Without a model the bound holds for every OpenAI model of that vocabulary."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, count_request
from assembler.dialects import DIALECTS
from assembler.testing import conversations
from budgets import Budget
from budgets.counters.tiktoken import tiktoken_counter
from tests.scaled import scaled

MODELS = ["gpt-3.5-turbo", "gpt-4", "gpt-4-turbo", "gpt-4o", "gpt-4.1", "gpt-5", "gpt-5.4", "o3", "o4-mini"]
TOOL: dict[str, Any] = {
    "name": "search",
    "description": "Finds it.",
    "parameters": {"type": "object", "properties": {"q": {"type": "string"}}},
}
CHOICES = ["auto", "none", "required", {"type": "function", "name": "search", "function": {"name": "search"}}, None]
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"answer": {"type": "string"}}}
FORMATS = {
    "openai_chat": {"response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA}}},
    "openai_responses": {"text": {"format": {"type": "json_schema", "name": "reply", "schema": SCHEMA}}},
}


@pytest.mark.parametrize("dialect", sorted(FORMATS))
@scaled(0.5)
@given(
    history=conversations("openai_chat"),
    tooled=st.booleans(),
    choice=st.sampled_from(CHOICES),
    formatted=st.booleans(),
    model=st.sampled_from(MODELS),
)
def test_the_bound_without_a_model_covers_what_each_family_counts(
    dialect: str, history: list[Any], tooled: bool, choice: object, formatted: bool, model: str
) -> None:
    spoken, counter = DIALECTS[dialect], tiktoken_counter("o200k_base")
    built = Assembler(Budget(1_000_000), dialect=spoken).add_capability([TOOL] if tooled else []).add_messages(history)
    request = built.build().request()
    if tooled and choice is not None:
        request["tool_choice"] = choice
    if formatted:
        request |= FORMATS[dialect]
    named = count_request(request, dialect=spoken, model=model, counter=counter)
    assert count_request(request, dialect=spoken, counter=counter).upper >= named.tokens


def test_a_greeting_without_a_model_is_bounded_by_what_gpt_4o_bills() -> None:
    request = {"messages": [{"role": "user", "content": "What is the capital of France?"}]}
    named = count_request(request, dialect="openai_chat", model="gpt-4o")
    unnamed = count_request(request, dialect="openai_chat")
    assert unnamed.tokens < named.tokens <= unnamed.upper
