"""Sixty turns against a provider with hidden tokens, through Pydantic AI's own model and OpenAI's client."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from assembler.dialects import openai_chat
from assembler.integrations.pydantic_ai import FitContext
from tests.integrations.bills import AssertFits, base, either_way
from tests.integrations.provider import Provider
from tests.integrations.script import look_up, question

pytestmark = pytest.mark.timeout(600)


@either_way
def test_an_agent_fits_what_the_provider_takes(assert_fits: AssertFits) -> None:
    def run(provider: Provider, turns: int) -> None:
        model = OpenAIChatModel("gpt-4o", provider=OpenAIProvider(base_url=f"{provider.url}/v1", api_key="x"))
        fitting: Any = FitContext(base("gpt-4o", openai_chat))
        agent: Any = Agent(model, tools=[look_up], capabilities=[fitting])
        history: list[ModelMessage] = []
        for turn in range(turns):
            if turn % 2:
                history = agent.run_sync(question(turn), message_history=history).all_messages()
            else:
                result = agent.run_stream_sync(question(turn), message_history=history)
                result.get_output()
                history = result.all_messages()

    assert_fits(run, "gpt-4o", openai_chat)
