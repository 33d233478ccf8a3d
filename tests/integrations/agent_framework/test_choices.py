"""A tool choice costs what the provider bills for it, and the middleware counts it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agent_framework import Agent
from agent_framework.openai import OpenAIChatClient

from assembler import Assembler, count_request
from assembler.dialects import openai_responses
from assembler.integrations.agent_framework import AssemblerMiddleware
from budgets import Budget, Count
from tests.integrations.agent_framework.test_agent_framework import look_up
from tests.integrations.provider import providing


@pytest.mark.parametrize(
    "choice",
    [
        "required",
        {"mode": "required", "required_function_name": "look_up"},
        {"mode": "auto", "allowed_tools": ["look_up"]},
        "none",
    ],
)
def test_a_tool_choice_costs_what_is_sent_of_it(choice: Any) -> None:
    budget = Budget.for_model("gpt-4o", context_window=9_000, max_output_tokens=500)
    middleware = AssemblerMiddleware(Assembler(budget, dialect=openai_responses))
    counted: list[Count] = []
    note = middleware._fitting._remember
    middleware._fitting._remember = lambda new, known: (counted.append(new.context.count), note(new, known))[1]
    with providing(hosted=(), thinks=False) as provider:
        client = OpenAIChatClient(model="gpt-4o", api_key="x", base_url=f"{provider.url}/v1")
        options: Any = {"store": False, "tool_choice": choice}
        agent = Agent(client=client, tools=[look_up], default_options=options, middleware=[middleware])
        asyncio.run(_asked(agent))
    keys = ("instructions", "input", "tools", "tool_choice")
    bodies = [{key: body[key] for key in keys if key in body} for body in provider.bodies]
    assert "tool_choice" in bodies[0]
    assert [count_request(body, dialect=openai_responses, model="gpt-4o") for body in bodies] == counted


async def _asked(agent: Agent) -> None:
    await agent.run("Where to?")
