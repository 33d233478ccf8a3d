"""A tool choice and calls one at a time cost what the provider bills for them, and the filter counts it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agents import Agent, ModelSettings, OpenAIResponsesModel, RunConfig, Runner
from openai import AsyncOpenAI

from assembler import Assembler, count_request
from assembler.dialects import openai_responses
from assembler.integrations.openai_agents import FitInput
from budgets import Budget
from tests.integrations.contexts import contexts_of
from tests.integrations.openai_agents.scripted import look_up
from tests.integrations.provider import providing

NAMED, SERIAL = ModelSettings(tool_choice="look_up"), ModelSettings(parallel_tool_calls=False)


@pytest.mark.parametrize(
    ("model", "of_agent", "of_run"),
    [
        ("gpt-5", None, SERIAL),
        ("gpt-5", SERIAL, ModelSettings(parallel_tool_calls=True)),
        ("gpt-4o", NAMED, None),
        ("gpt-4o", None, NAMED),
        ("gpt-4o", ModelSettings(tool_choice="required"), None),
    ],
)
def test_the_settings_of_an_agent_and_of_its_run_cost_what_is_sent_of_them(
    model: str, of_agent: ModelSettings | None, of_run: ModelSettings | None
) -> None:
    budget = Budget.for_model(model, context_window=9_000, max_output_tokens=500)
    fit = FitInput(Assembler(budget, dialect=openai_responses), model_settings=of_run)
    contexts = contexts_of(fit)
    with providing(hosted=(), thinks=False) as provider:

        async def run() -> None:
            client = AsyncOpenAI(api_key="x", base_url=f"{provider.url}/v1", max_retries=0)
            own = OpenAIResponsesModel(model, client)
            more: dict[str, Any] = {} if of_agent is None else {"model_settings": of_agent}
            agent: Agent[Any] = Agent(name="planner", model=own, tools=[look_up], **more)
            config = RunConfig(call_model_input_filter=fit, model_settings=of_run)
            await Runner.run(agent, "Where to?", run_config=config)

        asyncio.run(run())
    keys = ("instructions", "input", "tools", "tool_choice", "parallel_tool_calls")
    bodies = [{key: body[key] for key in keys if key in body} for body in provider.bodies]
    assert len(bodies) > 1
    counted = [context.count.tokens for context in contexts]
    assert [count_request(body, dialect=openai_responses, model=model).tokens for body in bodies] == counted
