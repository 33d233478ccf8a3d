"""Sixty turns against a provider with hidden tokens, through the framework's own OpenAI clients."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from agent_framework import Agent, AgentSession, InMemoryHistoryProvider
from agent_framework.exceptions import ChatClientException
from agent_framework.openai import OpenAIChatClient, OpenAIChatCompletionClient

from assembler.dialects import Dialect, openai_chat, openai_responses
from assembler.integrations.agent_framework import AssemblerMiddleware
from tests.integrations.agent_framework.test_on_the_wire import look_up
from tests.integrations.bills import AssertFits, base, either_way
from tests.integrations.provider import Provider
from tests.integrations.script import question

pytestmark = pytest.mark.timeout(600)


@either_way
@pytest.mark.parametrize("place", ["beside", "beneath"])
@pytest.mark.parametrize(
    ("kind", "dialect"), [(OpenAIChatClient, openai_responses), (OpenAIChatCompletionClient, openai_chat)]
)
def test_a_session_that_goes_through_json_fits_what_the_provider_takes(
    kind: Any, dialect: Dialect, place: str, assert_fits: AssertFits
) -> None:
    def run(provider: Provider, turns: int) -> None:
        async def talk() -> None:
            client = kind(model="gpt-4o", api_key="x", base_url=f"{provider.url}/v1")
            session = AgentSession()
            for turn in range(turns):
                middleware = AssemblerMiddleware(base("gpt-4o", dialect))
                more: Any = {"client": client, "middleware": [middleware], "default_options": {"store": False}}
                if place == "beneath":
                    more |= {"client": middleware.around(client), "middleware": None}
                    more |= {"require_per_service_call_history_persistence": True}
                    more |= {"context_providers": [InMemoryHistoryProvider()]}
                agent = Agent(instructions="You plan.", tools=[look_up], **more)
                if turn % 2:
                    await agent.run(question(turn), session=session)
                else:
                    await read(agent, question(turn), session)
                session = AgentSession.from_dict(json.loads(json.dumps(session.to_dict())))

        asyncio.run(talk())

    assert_fits(run, "gpt-4o", dialect)


async def read(agent: Any, asked: str, session: AgentSession) -> None:
    """A streamed turn, again while the provider refuses it."""
    for last in (False, False, False, True):
        try:
            await agent.run(asked, session=session, stream=True).get_final_response()
        except ChatClientException:
            if last:
                raise
        else:
            return
