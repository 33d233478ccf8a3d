"""A tool choice costs what the provider bills for it, and the capability counts it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_ai import Agent, UsageLimits
from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
from pydantic_ai.providers.anthropic import AnthropicProvider

from assembler import Assembler, count_request
from assembler.dialects import anthropic
from assembler.integrations.pydantic_ai import FitContext
from budgets import Budget
from tests.integrations.contexts import contexts_of
from tests.integrations.provider import providing
from tests.integrations.script import Trip, looked_up

MODEL = "claude-opus-4-5"
THINKING = AnthropicModelSettings(anthropic_thinking={"type": "enabled", "budget_tokens": 1_024}, max_tokens=2_000)


def look_up(question: str) -> str:
    """Look a question up in the almanac."""
    return looked_up(question)


@pytest.mark.parametrize(
    ("settings", "sent"),
    [
        ({}, "any"),
        ({"tool_choice": "none"}, "tool"),
        (THINKING, "auto"),
        ({"thinking": "low"}, "auto"),
    ],
)
def test_the_choice_that_an_output_type_or_a_setting_makes_costs_what_is_sent(settings: Any, sent: str) -> None:
    capability = FitContext(Assembler(Budget.for_model(MODEL, context_window=9_000, max_output_tokens=500)))
    with providing(hosted=(), thinks=False) as provider:
        client = AnthropicProvider(api_key="x", base_url=provider.url)
        agent = Agent(
            AnthropicModel(MODEL, provider=client),
            tools=[look_up],
            output_type=Trip,
            capabilities=[capability],
            model_settings=settings,
        )
        contexts = contexts_of(capability)
        agent.run_sync("Where to?", usage_limits=UsageLimits(request_limit=4))
    keys = ("system", "messages", "tools", "tool_choice", "output_config", "output_format", "thinking")
    bodies = [{key: body[key] for key in keys if key in body} for body in provider.bodies]
    assert bodies[0]["tool_choice"]["type"] == sent
    priced = [count_request(body, dialect=anthropic, model=MODEL).upper for body in bodies]
    counted = [context.count.upper for context in contexts]
    assert len(priced) == len(counted)
    assert all(0 <= ours - theirs < 15 for ours, theirs in zip(counted, priced, strict=True))
