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
from tests.assembler.steps import answering, asking, calling, saying

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


@attrs.frozen
class Provider:
    """Bills by characters, a fixed hidden prompt on top, in its own words of usage."""

    dialect: str
    model: str
    usage: Callable[[int], dict[str, int]]

    def bill(self, request: dict[str, Any]) -> int:
        """Hidden tokens, and one for six characters of the JSON that was sent."""
        return HIDDEN + len(json.dumps(request, ensure_ascii=False)) // 6


PROVIDERS = [
    Provider("openai_chat", "gpt-4o", lambda bill: {"prompt_tokens": bill, "completion_tokens": 5}),
    Provider("openai_responses", "gpt-4o", lambda bill: {"input_tokens": bill, "output_tokens": 5}),
    Provider(
        "anthropic",
        "claude-sonnet-4-5",
        lambda bill: {"input_tokens": 20, "cache_read_input_tokens": bill - 20},
    ),
    Provider("gemini", "gemini-2.5-pro", lambda bill: {"prompt_token_count": bill}),
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
        bot.add_message(asking(dialect.name, f"Question {turn}, " + "please " * (turn % 7)))
        for calls in [True, False] if turn % 3 == 0 else [False]:
            context = bot.build()
            request = context.request()
            assert verify(request, dialect=dialect) == []
            bill = provider.bill(request)
            if turn:
                assert bill <= WINDOW
            kept.append(context.first_kept)
            bot.anchor(calibrate(context, provider.usage(bill)))
            if calls:
                call = None if dialect.name == "gemini" else f"c{turn}"
                called = calling(dialect.name, [call], "find", {"q": turn})
                bot.add_messages([*bot.messages, *called, answering(dialect.name, call, f"found {turn}", "find")])
            else:
                bot.add_message(saying(dialect.name, f"Answer {turn}."))
    assert kept == sorted(kept)
    assert kept[-1] > 0
