"""Sixty turns through the framework and its own OpenAI clients: what arrives is valid, priced, and fits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from agent_framework import Agent, AgentSession, InMemoryHistoryProvider, Message, tool
from agent_framework.openai import OpenAIChatClient, OpenAIChatCompletionClient
from agent_framework.orchestrations import HandoffBuilder

from assembler import Assembler, Context, ConversationError, TrimOldest
from assembler.dialects import Dialect, openai_chat, openai_responses
from assembler.integrations.agent_framework import AssemblerMiddleware
from budgets import Budget
from tests.integrations.ledger import Line, line
from tests.integrations.provider import Provider, providing
from tests.integrations.script import Trip, looked_up, question

pytestmark = pytest.mark.timeout(600)  # the clients spell a hundred items anew for each call

TURNS = 60
CODE: Any = {"type": "code_interpreter", "container": {"type": "auto"}}
WEB: Any = {"type": "web_search"}


class Watched(AssemblerMiddleware):
    """Keeps the context of every call."""

    def __init__(self, assembler: Assembler, contexts: list[Context]) -> None:
        super().__init__(assembler)
        self.contexts = contexts

    async def process(self, context: Any, call_next: Callable[[], Awaitable[None]]) -> None:
        async def noted() -> None:
            assert self.last_context is not None
            self.contexts.append(self.last_context)
            await call_next()

        await super().process(context, noted)


@tool(approval_mode="never_require")
def look_up(question: str) -> str:
    """Look a question up in the almanac."""
    return looked_up(question)


@tool(approval_mode="always_require")
def book(question: str) -> str:
    """Book what was planned, once the user agreed."""
    return f"booked {question}"


def base(model: str, dialect: Dialect, policy: Any = None) -> Assembler:
    budget = Budget.for_model(model, context_window=11_000, max_output_tokens=1_000)
    return Assembler(budget, dialect=dialect, on_overflow=policy or TrimOldest()).add_instruction("Be brief.")


def responses_at(provider: Provider) -> Any:
    return OpenAIChatClient(model="gpt-5", api_key="x", base_url=f"{provider.url}/v1")


async def asked(agent: Any, turn: int, session: AgentSession, **more: Any) -> Any:
    """The end of a turn: what needs the user's approval gets it, and the run goes on. Every third turn is streamed."""
    asked: Any = question(turn)
    while True:
        stream = turn % 3 == 2
        result: Any = agent.run(asked, session=session, stream=stream, **more)
        result = await (result.get_final_response() if stream else result)
        if not result.user_input_requests:
            return result
        asked = [Message("user", [each.to_function_approval_response(True) for each in result.user_input_requests])]


def found(client: str, provider: Provider, contexts: list[Context], dialect: Dialect, model: str, hosted: str) -> Line:
    more: Any = {"dialect": dialect, "model": model, "limit": 10_000, "hosted": hosted, "verbatim": False}
    return line("Agent Framework 1.23", client, provider, contexts, **more)


def test_sixty_turns_with_hosted_tools_approvals_a_sub_agent_and_a_schema_on_responses() -> None:
    contexts: list[Context] = []
    middleware = [Watched(base("gpt-5", openai_responses), contexts)]
    with providing(hosted=("web_search", "code_interpreter"), compacts=True) as provider:

        async def run() -> None:
            client = responses_at(provider)
            more: Any = {"client": client, "middleware": middleware, "default_options": {"store": False}}
            booker = Agent(name="booker", instructions="You book.", tools=[look_up, WEB], **more)
            sub_agent = booker.as_tool(name="ask_booker", arg_name="question")
            more["instructions"] = "You plan trips."
            planner = Agent(name="planner", tools=[look_up, book, WEB, CODE], **more)
            guide = Agent(name="guide", tools=[look_up, sub_agent, WEB], **more)
            session = planner.create_session()
            for turn in range(TURNS):
                agent = guide if turn % 4 == 3 else planner
                result = await asked(agent, turn, session, options={"response_format": Trip})
                assert isinstance(result.value, Trip)
                session = AgentSession.from_dict(json.loads(json.dumps(session.to_dict())))

        asyncio.run(run())
        result = found("OpenAIChatClient, Responses", provider, contexts, openai_responses, "gpt-5", "web, code")
    assert result.calls > 3 * TURNS
    assert any(context.dropped for context in contexts)
    assert (result.over, result.invalid, result.unpriced) == ([], [], [])


def test_sixty_turns_with_approvals_and_a_schema_on_chat_completions() -> None:
    contexts: list[Context] = []
    middleware = [Watched(base("gpt-4o", openai_chat), contexts)]
    with providing() as provider:

        async def run() -> None:
            client: Any = OpenAIChatCompletionClient(model="gpt-4o", api_key="x", base_url=f"{provider.url}/v1")
            agent = Agent(client=client, instructions="Plan.", tools=[look_up, book], middleware=middleware)
            session = agent.create_session()
            for turn in range(TURNS):
                await asked(agent, turn, session, options={"response_format": Trip})

        asyncio.run(run())
        result = found("OpenAIChatCompletionClient", provider, contexts, openai_chat, "gpt-4o", "")
    assert result.calls == 3 * TURNS
    assert any(context.dropped for context in contexts)
    assert (result.over, result.invalid, result.unpriced) == ([], [], [])


def test_a_history_that_is_loaded_beneath_all_middleware_is_refused_with_what_to_do() -> None:
    """At the first answer of a tool, before which such an agent cannot be recognised."""
    with providing() as provider:
        more: Any = {"tools": [look_up], "default_options": {"store": False}}
        more["middleware"] = [AssemblerMiddleware(base("gpt-5", openai_responses))]
        agent = Agent(client=responses_at(provider), require_per_service_call_history_persistence=True, **more)
        with pytest.raises(ConversationError, match=r"HandoffBuilder.*around\(client\)"):
            asyncio.run(agent.run(question(0), session=agent.create_session()))


def watched_beneath(client: Any, contexts: list[Context]) -> Any:
    """A client that is fitted beneath all middleware, and keeps the context of every call."""
    middleware = AssemblerMiddleware(base("gpt-5", openai_responses))
    fitting = middleware._fitting
    fit = fitting.afit

    async def noted(*given: Any, **more: Any) -> Context:
        contexts.append(await fit(*given, **more))
        return contexts[-1]

    fitting.afit = noted  # type: ignore[method-assign]
    return middleware.around(client)


def test_sixty_turns_of_a_workflow_that_hands_over() -> None:
    contexts: list[Context] = []
    handed = 0
    with providing() as provider:
        more: Any = {"tools": [look_up, WEB], "default_options": {"store": False}}
        more |= {"require_per_service_call_history_persistence": True}
        client = watched_beneath(responses_at(provider), contexts)
        planner, booker = (
            Agent(client=client, name=name, instructions=does, context_providers=[InMemoryHistoryProvider()], **more)
            for name, does in (("planner", "Plan."), ("booker", "Book."))
        )

        async def run() -> None:
            nonlocal handed
            workflow: Any = HandoffBuilder(participants=[planner, booker]).with_start_agent(planner).build()
            workflow._runner._max_iterations = (
                1_000  # the builder takes no number; an answer of the user's starts no new count
            )
            answer: Any = {"message": question(0)}
            for turn in range(TURNS):
                if turn % 3 == 2:
                    stream = workflow.run(**answer, stream=True)
                    assert [event async for event in stream]
                    result = await stream.get_final_response()
                else:
                    result = await workflow.run(**answer)
                handed += any(event.type == "handoff_sent" for event in result)
                answer = {
                    "responses": {
                        event.request_id: event.data.create_response(question(turn + 1))
                        for event in result.get_request_info_events()
                    }
                }

        asyncio.run(run())
        result = found("OpenAIChatClient, handoffs", provider, contexts, openai_responses, "gpt-5", "web")
    assert result.calls > 3 * TURNS
    assert handed > TURNS // 4
    assert any(context.dropped for context in contexts)
    assert (result.over, result.invalid, result.unpriced) == ([], [], [])
