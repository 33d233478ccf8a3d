"""Sixty turns against a provider with hidden tokens, through the SDK's own models and OpenAI's client."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

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
from openai import AsyncOpenAI, BadRequestError

from assembler.dialects import openai_chat, openai_responses
from assembler.integrations.openai_agents import FitInput
from tests.integrations.bills import FEW, AssertFits, base, either_way
from tests.integrations.openai_agents.scripted import look_up
from tests.integrations.provider import Provider
from tests.integrations.script import question

set_tracing_disabled(True)
pytestmark = pytest.mark.timeout(600)


@either_way
def test_an_agent_on_responses_fits_what_the_provider_takes(assert_fits: AssertFits) -> None:
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

            async def ask(asked: str, runs: list[Any]) -> None:
                await Runner.run(agent, asked, session=session, run_config=config, hooks=fitting)

            for turn in range(turns):
                await again_while_refused(ask, question(turn), fitting)

        asyncio.run(talk())

    assert_fits(run, "gpt-4o", openai_responses)


@either_way
def test_two_streamed_sessions_at_once_on_chat_completions_fit_what_the_provider_takes(assert_fits: AssertFits) -> None:
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

            async def ask(asked: str, runs: list[Any]) -> None:
                result = Runner.run_streamed(agent, asked, session=session, run_config=config, hooks=fitting)
                runs.append(result)
                async for _ in result.stream_events():
                    pass

            for turn in range(max(turns // 2, FEW)):
                await again_while_refused(ask, question(turn), fitting)

        async def together() -> None:
            client = AsyncOpenAI(api_key="x", base_url=f"{provider.url}/v1", max_retries=0)
            await asyncio.gather(talk("Ann", client), talk("Bob", client))

        asyncio.run(together())

    assert_fits(run, "gpt-4o", openai_chat)


async def again_while_refused(ask: Callable[[str, list[Any]], Awaitable[None]], asked: str, fitting: FitInput) -> None:
    runs: list[Any] = []
    while True:
        try:
            return await ask(asked, runs)
        except BadRequestError as error:
            if not await fitting.learn(error, *runs[-1:]):
                raise
