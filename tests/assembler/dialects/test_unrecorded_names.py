"""A model without a recording is priced by its nearest generation, as an estimate with a bound of its own."""

from __future__ import annotations

from typing import Any

import pytest

from assembler import Assembler, count_request
from assembler.dialects import DIALECTS
from budgets import Grade

TOOL = {
    "name": "get_weather",
    "description": "Get the weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string", "description": "The city."}}},
}
WORDS = "The quick brown fox jumps over the lazy dog, again and again, while 17 engineers count tokens. " * 40
CALL = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Rome"}'}}
HISTORY: list[Any] = [
    {"role": "user", "content": WORDS},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "Sunny, 21 degrees."},
    {"role": "user", "content": "And tomorrow?"},
]

UNRECORDED = {
    "openai_chat": [
        *("gpt-5.7", "gpt-5-8-mini", "gpt-5.10", "openrouter/openai/gpt-5.9", "gpt-6", "gpt-6.1-sol", "gpt-oss-2-120b"),
        *("grok-4.5", "grok-4.20-reasoning", "grok-5", "grok-code-fast-2", "grok-latest"),
        *("deepseek-v5", "deepseek-r2", "qwen3.5-plus", "qwen-max", "qwen4-72b", "glm-5.1", "glm-6"),
        *("kimi-k2.6", "kimi-k3", "kimi-latest", "llama-5-70b", "gemma-4-27b"),
    ],
    "openai_responses": ["gpt-5.7", "gpt-6", "grok-5"],
    "anthropic": [
        *("claude-opus-5-5", "claude-sonnet-5.5", "claude-5.5-opus", "claude-haiku-5", "claude-fable-5-1"),
        *("claude-mythos-5", "claude-mythos-1", "claude-opus-6", "claude-opus-4-9", "claude-sonnet-latest"),
    ],
    "gemini": ["gemini-3.6-flash", "gemini-3.8-flash", "gemini-4-pro", "gemini-flash-latest", "gemini-omni-1.1-flash"],
    "bedrock": ["amazon.nova-3-pro-v1:0", "us.anthropic.claude-opus-5-5-v1:0", "moonshotai.kimi-k3"],
    "mistral": ["mistral-large-4", "mistral-medium-5", "mistral-small-6"],
}


def request(dialect: str) -> dict[str, Any]:
    assembler = Assembler(dialect=DIALECTS[dialect]).add_instruction("You are helpful.").add_capability([TOOL])
    return assembler.add_messages(HISTORY).build().request()


@pytest.mark.parametrize("dialect", UNRECORDED)
def test_a_model_without_a_recording_is_estimated_and_bounded_by_less_than_three_times_its_count(dialect: str) -> None:
    sent = request(dialect)
    for model in UNRECORDED[dialect]:
        count = count_request(sent, dialect=dialect, model=model)
        assert count.grade is Grade.ESTIMATED, model
        assert count.tokens * 1.05 < count.upper < count.tokens * 3, model


@pytest.mark.parametrize(
    ("dialect", "unrecorded", "recorded"),
    [
        ("openai_chat", "gpt-5.7", "gpt-5.4"),
        ("anthropic", "claude-opus-5-5", "claude-opus-5"),
        ("anthropic", "claude-sonnet-5-5", "claude-opus-5"),  # whose prompt for tools it has, as published
        ("gemini", "gemini-3.8-flash", "gemini-3.5-flash"),
        ("bedrock", "amazon.nova-3-pro-v1:0", "amazon.nova-2-lite-v1:0"),
        ("mistral", "mistral-large-4", "mistral-large-latest"),
        ("openai_chat", "glm-5.1", "glm-5"),
    ],
)
def test_it_is_counted_like_the_newest_recorded_generation(dialect: str, unrecorded: str, recorded: str) -> None:
    near, known = (count_request(request(dialect), dialect=dialect, model=model) for model in (unrecorded, recorded))
    assert abs(near.tokens - known.tokens) <= known.tokens * 0.02
    assert near.upper > known.upper


@pytest.mark.parametrize("other", ["claude-sonnet-5", "claude-opus-5", "claude-opus-4-8", "claude-opus-4-7"])
def test_its_bound_holds_for_every_prompt_for_tools_of_its_vocabulary_so_far(other: str) -> None:
    bound = count_request(request("anthropic"), dialect="anthropic", model="claude-haiku-5").upper
    assert bound > count_request(request("anthropic"), dialect="anthropic", model=other).tokens
