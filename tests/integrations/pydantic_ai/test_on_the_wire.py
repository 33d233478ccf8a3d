"""Sixty turns through Pydantic AI's own models and the providers' clients: what arrives is valid, priced, and fits."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, NativeOutput, Tool
from pydantic_ai.capabilities import NativeTool
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter
from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
from pydantic_ai.models.openai import OpenAIResponsesModel, OpenAIResponsesModelSettings
from pydantic_ai.native_tools import CodeExecutionTool, WebSearchTool
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from assembler import Assembler, Context, TrimOldest
from assembler.dialects import Dialect, anthropic, openai_responses
from assembler.integrations.pydantic_ai import FitContext
from budgets import Budget, Count, Grade
from tests.integrations.ledger import Line, line
from tests.integrations.provider import Provider, providing
from tests.integrations.script import Trip, looked_up, question

pytestmark = pytest.mark.timeout(600)  # the clients spell a hundred items anew for each call

TURNS = 60


class Watched(FitContext):
    """Keeps the context of every request."""

    def __init__(self, assembler: Assembler) -> None:
        super().__init__(assembler)
        self.contexts: list[Context] = []

    async def prepare_model_request(self, ctx: Any, request_context: Any) -> Any:
        fitted = await super().prepare_model_request(ctx, request_context)
        assert self.last_context is not None
        self.contexts.append(self.last_context)
        return fitted


def base(model: str, dialect: Dialect, held: Count | None = None) -> Assembler:
    budget = Budget.for_model(model, context_window=12_000, max_output_tokens=1_000)
    return Assembler(budget, dialect=dialect, on_overflow=TrimOldest()).add_instruction("Be brief.").hold(held)


def look_up(question: str) -> str:
    """Look a question up in the almanac."""
    return looked_up(question)


def approve(question: str) -> str:
    """Book what was planned, once the user agreed."""
    return f"booked {question}"


def ran(agent: Agent[None, Any], turns: int) -> list[Any]:
    history: list[ModelMessage] = []
    answers: list[Any] = []
    for turn in range(turns):
        result = agent.run_sync(question(turn), message_history=history)
        answers.append(result.output)
        history = result.all_messages()
    return answers


def found(client: str, provider: Provider, watched: Watched, dialect: Dialect, model: str, hosted: str) -> Line:
    assert watched._fitting.assembler.budget is not None
    limit = watched._fitting.assembler.budget.input_limit
    more: Any = {"dialect": dialect, "model": model, "limit": limit, "hosted": hosted, "verbatim": False}
    return line("Pydantic AI 2.68", client, provider, watched.contexts, **more)


def test_sixty_turns_with_hosted_tools_and_a_schema_on_responses() -> None:
    watched = Watched(base("gpt-5", openai_responses))
    with providing(hosted=("web_search", "code_interpreter"), compacts=True) as provider:
        model = OpenAIResponsesModel("gpt-5", provider=OpenAIProvider(base_url=f"{provider.url}/v1", api_key="x"))
        agent: Any = Agent(
            model,
            tools=[look_up],
            output_type=NativeOutput(Trip),
            model_settings=OpenAIResponsesModelSettings(openai_store=False),
            capabilities=[NativeTool(WebSearchTool()), NativeTool(CodeExecutionTool()), watched],
        )
        assert all(isinstance(answer, Trip) for answer in ran(agent, TURNS))
        result = found("openai, Responses", provider, watched, openai_responses, "gpt-5", "web search, code")
    assert result.calls == 3 * TURNS
    assert any(context.dropped for context in watched.contexts)
    assert (result.over, result.invalid, result.unpriced) == ([], [], [])


def test_sixty_turns_with_thinking_and_hosted_search_on_anthropic() -> None:
    watched = Watched(base("claude-sonnet-4-5", anthropic, Count(29, Grade.ESTIMATED, upper=180)))
    with providing(compacts=True) as provider:
        thinking: Any = {"type": "enabled", "budget_tokens": 2_000}
        agent: Any = Agent(
            AnthropicModel("claude-sonnet-4-5", provider=AnthropicProvider(base_url=provider.url, api_key="x")),
            tools=[look_up],
            model_settings=AnthropicModelSettings(anthropic_thinking=thinking, max_tokens=4_000),
            capabilities=[NativeTool(WebSearchTool()), watched],
        )
        ran(agent, TURNS)
        result = found("anthropic, Messages", provider, watched, anthropic, "claude-sonnet-4-5", "web search")
    assert result.calls == 3 * TURNS
    assert (result.over, result.invalid, result.unpriced) == ([], [], [])


def test_sixty_turns_interrupted_for_approval_with_a_sub_agent_and_a_history_that_goes_through_json() -> None:
    watched, interrupted = Watched(base("gpt-5", openai_responses)), 0
    with providing(hosted=("web_search",)) as provider:
        model = OpenAIResponsesModel("gpt-5", provider=OpenAIProvider(base_url=f"{provider.url}/v1", api_key="x"))
        settings = OpenAIResponsesModelSettings(openai_store=False)
        scout: Any = Agent(model, model_settings=settings, capabilities=[NativeTool(WebSearchTool()), watched])

        async def look_up(question: str) -> str:
            """Ask a colleague who looks things up."""
            return (await scout.run(question)).output

        agent: Any = Agent(
            model,
            tools=[look_up, Tool(approve, requires_approval=True)],
            output_type=[NativeOutput(Trip), DeferredToolRequests],
            model_settings=settings,
            capabilities=[watched],
        )
        history: list[ModelMessage] = []
        for turn in range(TURNS):
            result = agent.run_sync(question(turn), message_history=history)
            while isinstance(result.output, DeferredToolRequests):
                interrupted += 1
                stored = ModelMessagesTypeAdapter.validate_json(result.all_messages_json())
                agreed = DeferredToolResults(approvals={call.tool_call_id: True for call in result.output.approvals})
                result = agent.run_sync(message_history=stored, deferred_tool_results=agreed)
            history = ModelMessagesTypeAdapter.validate_json(result.all_messages_json())
        line = found("the same, interrupts", provider, watched, openai_responses, "gpt-5", "web search")
    assert line.calls == 5 * TURNS
    assert interrupted == TURNS
    assert any(context.dropped for context in watched.contexts)
    assert (line.over, line.invalid, line.unpriced) == ([], [], [])
