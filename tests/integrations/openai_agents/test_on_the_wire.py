"""Sixty turns through the SDK's own Responses model and OpenAI's client: what arrives is valid and fits."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Sequence
from typing import Any

import pytest
from agents import (
    Agent,
    CodeInterpreterTool,
    FileSearchTool,
    ModelSettings,
    OpenAIResponsesModel,
    Runner,
    RunState,
    SQLiteSession,
    WebSearchTool,
    function_tool,
    handoff,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

from assembler import Assembler, Context, TrimOldest
from assembler.dialects import openai_responses
from assembler.integrations.openai_agents import FitInput
from budgets import Budget
from tests.integrations.ledger import Line, line
from tests.integrations.openai_agents.scripted import look_up
from tests.integrations.openai_agents.test_filter import watched
from tests.integrations.provider import Provider, providing
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


@function_tool(needs_approval=True)
def approve(question: str) -> str:
    """Book what was planned, once the user agreed."""
    return f"booked {question}"


def found(client: str, provider: Provider, contexts: list[Context], hosted: Sequence[str]) -> Line:
    more: Any = {"dialect": openai_responses, "model": "gpt-5", "limit": WINDOW - ANSWER, "hosted": ", ".join(hosted)}
    return line("OpenAI Agents 0.24", client, provider, contexts, **more)


def test_sixty_turns_with_hosted_tools_handoffs_compaction_and_a_schema() -> None:
    config, contexts = watched(FitInput(base()))
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
        result = found("openai, Responses", provider, contexts, kinds)
    assert result.calls >= 2 * TURNS
    assert any(context.dropped for context in contexts)
    assert (result.over, result.invalid, result.unpriced) == ([], [], [])


def test_sixty_turns_interrupted_for_approval_whose_state_goes_through_json_to_another_process() -> None:
    contexts: list[Context] = []
    interrupted = 0
    with providing() as provider, tempfile.TemporaryDirectory() as folder:

        async def ask(asked: Any) -> Any:
            """A turn, or the rest of one, in a process that knows nothing but the stored session and state."""
            client = AsyncOpenAI(api_key="x", base_url=f"{provider.url}/v1", max_retries=0)
            settings = ModelSettings(store=False, response_include=["reasoning.encrypted_content"])
            more: Any = {"model": OpenAIResponsesModel("gpt-5", client), "model_settings": settings}
            tools = [look_up, approve, WebSearchTool()]
            planner: Agent[Any] = Agent(name="planner", instructions="You plan.", tools=tools, output_type=Trip, **more)
            if isinstance(asked, dict):
                asked = await RunState.from_json(planner, asked)
                for item in asked.get_interruptions():
                    asked.approve(item)
            fitting = FitInput(base())
            config, seen = watched(fitting)
            session = SQLiteSession("one", f"{folder}/sessions.db")
            result = await Runner.run(planner, asked, session=session, run_config=config, hooks=fitting)
            contexts.extend(seen)
            session.close()
            return json.loads(json.dumps(result.to_state().to_json())) if result.interruptions else result

        async def run() -> None:
            nonlocal interrupted
            for turn in range(TURNS):
                result = await ask(question(turn))
                while isinstance(result, dict):
                    interrupted += 1
                    result = await ask(result)
                assert isinstance(result.final_output, Trip)

        asyncio.run(run())
        result = found("the same, interrupts", provider, contexts, ["web_search"])
    assert result.calls == 3 * TURNS
    assert interrupted == TURNS
    assert any(context.dropped for context in contexts)
    assert (result.over, result.invalid, result.unpriced) == ([], [], [])
