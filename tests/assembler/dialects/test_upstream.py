"""A model that a gateway serves in OpenAI's formats costs what its maker bills."""

from __future__ import annotations

from typing import Any

import pytest

from assembler import count_request
from assembler.dialects import anthropic, gemini, openai_chat, openai_responses
from budgets import Count, Grade

CLAUDES = ("openrouter/anthropic/claude-sonnet-4-5", "claude-3-7-sonnet-20250219", "us.anthropic.claude-opus-4-1-v1:0")
SCHEMA = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
ASKED = {"role": "user", "content": "Which word rhymes with river?"}
OF_CHAT: dict[str, Any] = {
    "type": "function",
    "function": {"name": "look", "description": "Looks a word up.", "parameters": SCHEMA},
}
OF_MESSAGES = {"name": "look", "description": "Looks a word up.", "input_schema": SCHEMA}


def chat(model: str, **options: Any) -> Count:
    return count_request({"messages": [ASKED], **options}, dialect=openai_chat, model=model)


def messages(model: str, **options: Any) -> Count:
    return count_request({"messages": [ASKED], **options}, dialect=anthropic, model=model)


@pytest.mark.parametrize("model", CLAUDES)
def test_a_claude_in_a_chat_body_costs_what_it_costs_in_its_own_form(model: str) -> None:
    assert chat(model) == messages(model)
    assert chat(model, tools=[OF_CHAT]) == messages(model, tools=[OF_MESSAGES])
    count = count_request({"input": [ASKED]}, dialect=openai_responses, model=model)
    assert count.tokens == messages(model).tokens


@pytest.mark.parametrize(
    ("chosen", "own"),
    [
        ("required", {"type": "any"}),
        ("auto", {"type": "auto"}),
        ({"type": "function", "function": {"name": "look"}}, {"type": "tool", "name": "look"}),
        ({"type": "function", "name": "look"}, {"type": "tool", "name": "look"}),
    ],
)
def test_the_choice_of_a_tool_is_billed_as_claude_bills_it(chosen: Any, own: Any) -> None:
    there = messages(CLAUDES[0], tools=[OF_MESSAGES], tool_choice=own)
    assert chat(CLAUDES[0], tools=[OF_CHAT], tool_choice=chosen) == there


@pytest.mark.parametrize("model", [*CLAUDES, "llama-3.3-70b-versatile", "gpt-4o"])
def test_a_function_that_is_forced_by_the_older_name_costs_what_a_forced_tool_does(model: str) -> None:
    forced = chat(model, tools=[OF_CHAT], tool_choice={"type": "function", "function": {"name": "look"}})
    legacy = chat(model, functions=[OF_CHAT["function"]], function_call={"name": "look"})
    assert abs(legacy.tokens - forced.tokens) == (3 if model == "gpt-4o" else 0)


@pytest.mark.parametrize(("mode", "own"), [("auto", {"type": "auto"}), ("required", {"type": "any"})])
def test_a_list_of_allowed_tools_is_billed_as_the_choice_of_its_mode(mode: str, own: Any) -> None:
    allowed = {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": [{"name": "look"}]}}
    there = messages(CLAUDES[0], tools=[OF_MESSAGES], tool_choice=own)
    assert chat(CLAUDES[0], tools=[OF_CHAT], tool_choice=allowed) == there


def test_an_answer_format_is_bounded_as_the_forced_tool_that_a_gateway_may_make_of_it() -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "rhyme", "schema": SCHEMA}}
    own = messages(CLAUDES[0], output_config={"format": {"type": "json_schema", "schema": SCHEMA}})
    forwarded = chat(CLAUDES[0], response_format=wanted)
    assert forwarded.tokens == own.tokens
    assert forwarded.upper >= own.upper + 226


def test_a_gemini_in_a_chat_body_costs_what_it_costs_in_its_own_form() -> None:
    own: dict[str, Any] = {"contents": [{"role": "user", "parts": [{"text": ASKED["content"]}]}]}
    there = count_request(own, dialect=gemini, model="gemini-2.5-flash")
    assert chat("openrouter/google/gemini-2.5-flash") == there


@pytest.mark.parametrize("model", ["openai/gpt-5", "openai/gpt-5.4-mini", "openai/o4-mini"])
def test_a_reasoning_model_on_a_gateway_is_priced_by_responses_and_bounded_by_chat(model: str) -> None:
    body = {"input": [ASKED], "tools": [{"type": "function", **OF_CHAT["function"]}]}
    there = count_request(body, dialect=openai_responses, model=model)
    own = chat(model, tools=[OF_CHAT])
    forwarded = chat(f"openrouter/{model}", tools=[OF_CHAT])
    assert forwarded.tokens == there.tokens
    assert forwarded.upper >= max(own.tokens, there.tokens)


@pytest.mark.parametrize("model", ["openai/gpt-5", "openai/gpt-5.4-mini", "openai/o4-mini"])
@pytest.mark.parametrize("calls", [1, 2])
def test_past_calls_of_a_reasoning_model_on_a_gateway_are_bounded_by_chat(model: str, calls: int) -> None:
    function = {"name": "look", "arguments": '{"word": "giver"}'}
    asked = [{"id": f"c{place}", "type": "function", "function": function} for place in range(calls)]
    found = [{"role": "tool", "tool_call_id": call["id"], "content": "one who gives"} for call in asked]
    messages: list[dict[str, Any]] = [ASKED, {"role": "assistant", "content": None, "tool_calls": asked}, *found]
    own, forwarded = (
        count_request({"messages": messages, "tools": [OF_CHAT]}, dialect=openai_chat, model=name)
        for name in (model, f"openrouter/{model}")
    )
    assert forwarded.upper >= own.tokens


def test_a_model_without_reasoning_is_billed_on_a_gateway_as_chat_bills_it() -> None:
    own = chat("openai/gpt-4o", tools=[OF_CHAT])
    assert chat("openrouter/openai/gpt-4o", tools=[OF_CHAT]).tokens == own.tokens


@pytest.mark.parametrize(
    "model",
    ["openrouter/anthropic/claude-sonnet-4.5", "openrouter/google/gemini-3-pro-preview", "openrouter/z-ai/glm-5"],
)
@pytest.mark.parametrize(
    "thought",
    [
        {"reasoning": "It rhymes with giver. " * 20},
        {"reasoning_details": [{"type": "reasoning.text", "text": "It rhymes with giver. " * 20, "signature": "s"}]},
        {"reasoning_details": [{"type": "reasoning.encrypted", "data": "c2lnbmVkIHRob3VnaHQ" * 20}]},
    ],
)
def test_reasoning_that_a_gateway_returns_is_in_the_bound(model: str, thought: dict[str, Any]) -> None:
    calls = [{"id": "c", "type": "function", "function": {"name": "look", "arguments": '{"word": "giver"}'}}]
    answer = {"role": "assistant", "content": "", "tool_calls": calls}
    found = {"role": "tool", "tool_call_id": "c", "content": "one who gives"}
    silent, loud = (
        count_request({"messages": [ASKED, one, found], "tools": [OF_CHAT]}, dialect=openai_chat, model=model)
        for one in (answer, {**answer, **thought})
    )
    assert loud.upper >= silent.upper + 80


@pytest.mark.parametrize("asked", [{"reasoning": {"effort": "low"}}, {"reasoning": {"max_tokens": 2_000}}])
def test_reasoning_that_is_asked_of_a_claude_costs_the_prompt_of_its_thinking(asked: dict[str, Any]) -> None:
    own = messages(CLAUDES[0], thinking={"type": "enabled", "budget_tokens": 2_000})
    assert chat(CLAUDES[0], **asked).tokens == own.tokens
    for refused in ({"enabled": False}, {"effort": "none"}, {}):
        assert chat(CLAUDES[0], reasoning=refused) == chat(CLAUDES[0])


def test_the_bound_of_a_mistral_on_a_gateway_includes_a_hosts_system_text() -> None:
    own, forwarded = chat("mistral-small-latest"), chat("openrouter/mistralai/mistral-small-latest")
    assert forwarded.tokens == own.tokens
    assert forwarded.upper >= own.upper + 400
    assert forwarded.grade is Grade.ESTIMATED


@pytest.mark.parametrize(
    ("deployed", "held"),
    [
        ("prod-gpt4o-eastus", "gpt-4o"),
        ("azure/chat_gpt_5_mini", "gpt-5-mini"),
        ("acme/claude3.5-sonnet", "claude-3.5-sonnet"),
        ("team-gemini-2.5-flash", "gemini-2.5-flash"),
    ],
)
def test_a_deployment_costs_what_the_model_in_its_name_costs_with_a_bound_for_another(deployed: str, held: str) -> None:
    guessed, own = chat(deployed, tools=[OF_CHAT]), chat(held, tools=[OF_CHAT])
    assert guessed.tokens == own.tokens
    assert guessed.grade is Grade.ESTIMATED
    assert guessed.upper >= 1.5 * own.tokens + 700


@pytest.mark.parametrize("host", ["ollama/", "ollama:", "llamagate/", "qwencloud/", "deepseek-proxy/"])
def test_the_name_of_a_host_is_not_taken_for_that_of_a_model(host: str) -> None:
    assert chat(f"{host}gpt-oss:20b") == chat("gpt-oss-20b")
    assert chat(f"{host}glm-5.1") == chat("glm-5.1")
    assert chat(f"{host}my-own").upper == chat("my-own").upper


@pytest.mark.parametrize(
    ("to_come", "newest"),
    [
        ("gpt-6.1-terra", "gpt-5.6-terra"),
        ("claude-opus-6", "claude-sonnet-5"),
        ("gemini-4-argon", "gemini-3.5-flash"),
        ("google-vertex/gemini-4-argon", "google-vertex/gemini-3.5-flash"),
        ("deepseek-v5", "deepseek-v4-flash"),
        ("meta-llama/llama-5-70b", "llama-3-70b"),
        ("qwen3.5-397b-a17b", "qwen3-235b-a22b"),
        ("moonshotai/kimi-k3", "kimi-k2-instruct"),
        ("z-ai/glm-6", "glm-5"),
    ],
)
def test_a_future_generation_costs_what_the_newest_does_with_a_bound_for_another_vocabulary(
    to_come: str, newest: str
) -> None:
    long = {"role": "user", "content": "Which word rhymes with river? " * 200}
    first, last = (
        count_request({"messages": [long], "tools": [OF_CHAT]}, dialect=openai_chat, model=model)
        for model in (to_come, newest)
    )
    assert first.tokens == last.tokens
    assert first.grade is Grade.ESTIMATED
    assert first.upper >= 1.5 * count_request({"messages": [long]}, dialect=openai_chat, model=newest).tokens


@pytest.mark.parametrize("model", ["claude-opus-6", "gemini-4-argon", "gpt-6-sol"])
def test_an_own_counter_is_trusted_for_a_future_generation(model: str) -> None:
    long = {"role": "user", "content": "Which word rhymes with river? " * 200}
    counted = count_request({"messages": [long]}, dialect=openai_chat, model=model, counter=len)
    assert counted.upper < 1.1 * counted.tokens
