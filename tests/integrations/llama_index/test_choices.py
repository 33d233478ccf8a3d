"""A tool choice and calls one at a time cost what the provider bills for them, and the agent counts it."""

import asyncio
from typing import Any

import pytest
from llama_index.llms.openai import OpenAIResponses

from assembler import Assembler, count_request
from assembler.dialects import openai_responses
from assembler.integrations.llama_index import AssemblerFunctionAgent
from budgets import Budget
from tests.integrations.llama_index.test_on_the_wire import look_up
from tests.integrations.provider import providing


@pytest.mark.parametrize(
    ("model", "settings"),
    [("gpt-4o", {"initial_tool_choice": "look_up"}), ("gpt-5", {"allow_parallel_tool_calls": False})],
)
def test_the_settings_of_an_agent_cost_what_is_sent_of_them(model: str, settings: dict[str, Any]) -> None:
    budget = Budget.for_model(model, context_window=9_000, max_output_tokens=500)
    assembler = Assembler(budget, dialect=openai_responses)
    with providing(hosted=(), thinks=False) as provider:
        llm = OpenAIResponses(model=model, api_key="x", api_base=f"{provider.url}/v1", max_retries=0)
        agent = AssemblerFunctionAgent(assembler=assembler, llm=llm, tools=[look_up], streaming=False, **settings)
        counted: list[int] = []
        note = agent._fitting._remember
        agent._fitting._remember = lambda new, known: (counted.append(new.context.count.tokens), note(new, known))[1]

        async def run() -> None:
            await agent.run("Where to?")

        asyncio.run(run())
    keys = ("instructions", "input", "tools", "tool_choice", "parallel_tool_calls")
    bodies = [{key: body[key] for key in keys if key in body} for body in provider.bodies]
    assert len(bodies) > 1
    assert [count_request(body, dialect=openai_responses, model=model).tokens for body in bodies] == counted
