"""Sixty turns against a provider whose bill nobody can count, through the SDK's own models and OpenAI's client."""

from __future__ import annotations

import asyncio

import pytest
from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    SQLiteSession,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

from assembler.dialects import openai_chat, openai_responses
from assembler.integrations.openai_agents import FitInput
from tests.integrations.bills import FEW, assert_fits_the_bills_that_it_is_told, base
from tests.integrations.openai_agents.scripted import look_up
from tests.integrations.provider import Provider
from tests.integrations.script import question

set_tracing_disabled(True)
pytestmark = pytest.mark.timeout(600)


def test_an_agent_on_responses_fits_the_bills_that_its_hooks_are_told() -> None:
    def run(provider: Provider, turns: int) -> None:
        fitting = FitInput(base("gpt-4o", openai_responses))

        async def talk() -> None:
            client = AsyncOpenAI(api_key="x", base_url=f"{provider.url}/v1", max_retries=0)
            agent = Agent(
                name="planner",
                instructions="You plan.",
                tools=[look_up],
                model=OpenAIResponsesModel("gpt-4o", client),
                model_settings=ModelSettings(store=False),
            )
            session = SQLiteSession("one")
            config = RunConfig(call_model_input_filter=fitting)
            for turn in range(turns):
                await Runner.run(agent, question(turn), session=session, run_config=config, hooks=fitting)

        asyncio.run(talk())

    assert_fits_the_bills_that_it_is_told(run, "gpt-4o", openai_responses)


def test_two_streamed_sessions_at_once_on_chat_completions_fit_the_bills_that_their_hooks_are_told() -> None:
    def run(provider: Provider, turns: int) -> None:
        fitting = FitInput(base("gpt-4o", openai_chat))

        async def talk(name: str, client: AsyncOpenAI) -> None:
            model = OpenAIChatCompletionsModel("gpt-4o", client)
            settings = ModelSettings(include_usage=True)
            agent = Agent(
                name=name, instructions=f"You are {name}.", tools=[look_up], model=model, model_settings=settings
            )
            session = SQLiteSession(name)
            config = RunConfig(call_model_input_filter=fitting)
            for turn in range(max(turns // 2, FEW)):
                result = Runner.run_streamed(agent, question(turn), session=session, run_config=config, hooks=fitting)
                async for _ in result.stream_events():
                    pass

        async def together() -> None:
            client = AsyncOpenAI(api_key="x", base_url=f"{provider.url}/v1", max_retries=0)
            await asyncio.gather(talk("Ann", client), talk("Bob", client))

        asyncio.run(together())

    assert_fits_the_bills_that_it_is_told(run, "gpt-4o", openai_chat)
