"""The loop on each provider's page, for sixty turns, anchored at every bill, against a scripted provider."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import attrs
import pytest

from assembler import Assembler, TrimOldest, calibrate
from assembler.dialects import DIALECTS
from assembler.verify import verify
from budgets import Budget

TURNS = 60
HIDDEN = 90
WINDOW = 900
DOUBT = 60
"""Tokens kept free: this provider counts characters, and the rules know nothing of it for what is new."""
TOOL: dict[str, Any] = {
    "name": "find",
    "description": "Finds.",
    "parameters": {"type": "object", "properties": {"q": {}}},
}

Answer = Callable[[int, bool], list[dict[str, Any]]]
"""What the model says at a turn, as that API's own messages: a call, or a text."""


def chat(turn: int, calls: bool) -> list[dict[str, Any]]:
    if not calls:
        return [{"role": "assistant", "content": f"Answer {turn}."}]
    call = {"id": f"c{turn}", "type": "function", "function": {"name": "find", "arguments": f'{{"q": {turn}}}'}}
    return [{"role": "assistant", "content": None, "tool_calls": [call]}]


def responses(turn: int, calls: bool) -> list[dict[str, Any]]:
    if not calls:
        return [
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": f"Answer {turn}."}]}
        ]
    return [{"type": "function_call", "call_id": f"c{turn}", "name": "find", "arguments": f'{{"q": {turn}}}'}]


def claude(turn: int, calls: bool) -> list[dict[str, Any]]:
    block: dict[str, Any] = {"type": "text", "text": f"Answer {turn}."}
    if calls:
        block = {"type": "tool_use", "id": f"c{turn}", "name": "find", "input": {"q": turn}}
    return [{"role": "assistant", "content": [block]}]


def gemini(turn: int, calls: bool) -> list[dict[str, Any]]:
    part: dict[str, Any] = {"function_call": {"name": "find", "args": {"q": turn}}} if calls else {"text": f"A {turn}."}
    return [{"role": "model", "parts": [part]}]


RESULTS: dict[str, Callable[[int], dict[str, Any]]] = {
    "openai_chat": lambda turn: {"role": "tool", "tool_call_id": f"c{turn}", "content": f"found {turn}"},
    "openai_responses": lambda turn: {
        "type": "function_call_output",
        "call_id": f"c{turn}",
        "output": f"found {turn}",
    },
    "anthropic": lambda turn: {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": f"c{turn}", "content": f"found {turn}"}],
    },
    "gemini": lambda turn: {
        "role": "user",
        "parts": [{"function_response": {"name": "find", "response": {"output": f"found {turn}"}}}],
    },
}


@attrs.frozen
class Provider:
    """Bills by characters, a fixed hidden prompt on top, in its own words of usage."""

    dialect: str
    model: str
    answer: Answer
    usage: Callable[[int], dict[str, int]]

    def bill(self, request: dict[str, Any]) -> int:
        """Hidden tokens, and one for six characters of the JSON that was sent."""
        return HIDDEN + len(json.dumps(request, ensure_ascii=False)) // 6


PROVIDERS = [
    Provider("openai_chat", "gpt-4o", chat, lambda bill: {"prompt_tokens": bill, "completion_tokens": 5}),
    Provider("openai_responses", "gpt-4o", responses, lambda bill: {"input_tokens": bill, "output_tokens": 5}),
    Provider(
        "anthropic",
        "claude-sonnet-4-5",
        claude,
        lambda bill: {"input_tokens": 20, "cache_read_input_tokens": bill - 20},
    ),
    Provider("gemini", "gemini-2.5-pro", gemini, lambda bill: {"prompt_token_count": bill}),
]


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.dialect)
def test_sixty_turns_of_a_bot_that_anchors_every_call_stay_valid_and_within_the_window(provider: Provider) -> None:
    dialect = DIALECTS[provider.dialect]
    bot = Assembler(
        Budget(WINDOW, model=provider.model, safety_margin=DOUBT),
        dialect=dialect,
        on_overflow=TrimOldest(low_water=0.6),
    )
    bot.add_instruction("Be brief.").add_capability([TOOL])
    kept: list[int] = []
    for turn in range(TURNS):
        question = {"role": "user", "content": f"Question {turn}, " + "please " * (turn % 7)}
        bot.add_message(
            question if provider.dialect != "gemini" else {"role": "user", "parts": [{"text": question["content"]}]}
        )
        for calls in [True, False] if turn % 3 == 0 else [False]:
            context = bot.build()
            request = context.request()
            assert verify(request, dialect=dialect) == []
            bill = provider.bill(request)
            if turn:
                assert bill <= WINDOW
            kept.append(context.first_kept)
            bot.anchor(calibrate(context, provider.usage(bill)))
            for said in provider.answer(turn, calls):
                bot.add_message(said)
            if calls:
                bot.add_message(RESULTS[provider.dialect](turn))
    assert kept == sorted(kept)
    assert kept[-1] > 0
