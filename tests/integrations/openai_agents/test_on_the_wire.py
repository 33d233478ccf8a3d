"""Sixty turns through the SDK's own Responses model and OpenAI's client: what arrives is valid and fits."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agents import (
    Agent,
    CodeInterpreterTool,
    FileSearchTool,
    ModelSettings,
    OpenAIResponsesModel,
    Runner,
    SQLiteSession,
    WebSearchTool,
    function_tool,
    handoff,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

from assembler import Assembler, TrimOldest
from assembler.dialects import openai_responses
from assembler.integrations.openai_agents import FitInput
from budgets import Budget
from tests.integrations.ledger import line
from tests.integrations.openai_agents.scripted import look_up
from tests.integrations.openai_agents.test_filter import watched
from tests.integrations.provider import providing
from tests.integrations.script import Trip, question

set_tracing_disabled(True)

pytestmark = pytest.mark.timeout(600)  # the clients spell a hundred items anew for each call

TURNS = 60
WINDOW, ANSWER = 13_000, 1_000
CODE: Any = {"type": "code_interpreter", "container": {"type": "auto"}}


@function_tool
def book(question: str) -> str:
    """Book what was planned."""
    return f"booked {question}"


def base(window: int = WINDOW) -> Assembler:
    budget = Budget.for_model("gpt-5", context_window=window, max_output_tokens=ANSWER)
    return Assembler(budget, on_overflow=TrimOldest(), dialect=openai_responses).add_instruction("Be brief.")


def test_sixty_turns_with_hosted_tools_handoffs_compaction_and_a_schema() -> None:
    assembler = base()
    assert assembler.budget is not None
    config, contexts = watched(FitInput(assembler))
    kinds = ("web_search", "file_search", "code_interpreter")
    with providing(hosted=kinds, compacts=True) as provider:

        async def run() -> None:
            client = AsyncOpenAI(api_key="x", base_url=f"{provider.url}/v1", max_retries=0)
            model = OpenAIResponsesModel("gpt-5", client)
            settings = ModelSettings(store=False, response_include=["reasoning.encrypted_content"])
            own = [WebSearchTool(), FileSearchTool(vector_store_ids=["vs_1"]), CodeInterpreterTool(tool_config=CODE)]
            more: dict[str, Any] = {"model": model, "model_settings": settings, "output_type": Trip}
            booker: Agent[Any] = Agent(name="booker", instructions="You book.", tools=[book, *own], **more)
            planner: Agent[Any] = Agent(
                name="planner", instructions="You plan.", tools=[look_up, *own], handoffs=[handoff(booker)], **more
            )
            session = SQLiteSession("one")
            for turn in range(TURNS):
                await Runner.run(planner, question(turn), session=session, run_config=config)

        asyncio.run(run())
        found = line(
            "OpenAI Agents 0.24",
            "openai, Responses",
            provider,
            contexts,
            dialect=openai_responses,
            model="gpt-5",
            limit=assembler.budget.input_limit,
            hosted=", ".join(kinds),
        )
    assert found.calls >= 2 * TURNS
    assert any(context.dropped for context in contexts)
    assert (found.over, found.invalid, found.unpriced) == ([], [], [])
