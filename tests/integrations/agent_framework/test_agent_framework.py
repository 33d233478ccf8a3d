"""Sixty turns of Microsoft Agent Framework through its own OpenAI client to a server on loopback."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from typing import Any

import pytest
from agent_framework import Agent, ChatContext, Content, Message
from agent_framework.openai import OpenAIChatClient, OpenAIChatCompletionClient
from pydantic import BaseModel

from assembler import (
    Assembler,
    ClearToolResults,
    ContextLengthError,
    Summarize,
    TrimOldest,
    TrimSteps,
    Truncate,
    count_request,
)
from assembler.dialects import openai_chat, openai_responses
from assembler.integrations.agent_framework import AssemblerMiddleware
from budgets import Budget, BudgetError
from tests.integrations.script import ANSWER, CALLS_OF_A_TURN, looked_up, question
from tests.integrations.wire import Wire, serving

TURNS = 60
LIMIT = 2_800


def look_up(question: str) -> str:
    """Look a question up in the almanac."""
    return looked_up(question)


class Trip(BaseModel):
    """Where to go."""

    town: str


@pytest.fixture
def wire() -> Iterator[Wire]:
    with serving() as served:
        yield served


def base(limit: int = LIMIT, policy: Any = None, **more: Any) -> Assembler:
    budget = Budget.for_model("gpt-4o", context_window=limit + ANSWER, max_output_tokens=ANSWER)
    said = Assembler(budget, on_overflow=policy or [TrimOldest(), TrimSteps()], **more)
    return said.add_instruction("Be brief.").add_knowledge("The user lives in Köln & Bonn.", type="entity")


def agent_of(wire: Wire, middleware: AssemblerMiddleware, name: str = "planner") -> Agent:
    client = OpenAIChatCompletionClient(model="gpt-4o", api_key="none", base_url=wire.url)
    return Agent(client=client, name=name, instructions="You plan trips.", tools=[look_up], middleware=[middleware])


async def talk(agent: Agent, session: Any, turns: int, **more: Any) -> None:
    for turn in range(turns):
        await agent.run(question(turn), session=session, **more)


async def talk_once(agent: Agent, text: str) -> None:
    await agent.run(text)


async def streamed(agent: Agent, session: Any, turns: int) -> None:
    for turn in range(turns):
        assert [update async for update in agent.run(question(turn), session=session, stream=True)]


@pytest.mark.parametrize("run", [talk, streamed])
def test_sixty_turns_stay_valid_and_within_the_budget_on_the_wire(wire: Wire, run: Any) -> None:
    middleware = AssemblerMiddleware(base())
    agent = agent_of(wire, middleware)
    session = agent.create_session()
    asyncio.run(run(agent, session, TURNS))
    assert len(wire.bodies) == TURNS * CALLS_OF_A_TURN
    assert wire.over(LIMIT) == []
    assert wire.invalid == []
    assert sum(message["role"] == "user" for message in wire.bodies[-1]["messages"]) < TURNS / 3
    system = wire.bodies[-1]["messages"][0]["content"]
    assert system.startswith("You plan trips.\n\nBe brief.\n\n<context")
    assert middleware.context_of(session.session_id) is middleware.last_context
    assert middleware.report is not None


def test_what_is_priced_is_what_is_posted(wire: Wire) -> None:
    middleware = AssemblerMiddleware(base())
    agent = agent_of(wire, middleware)
    asyncio.run(talk(agent, agent.create_session(), 3))
    body = {key: wire.bodies[-1][key] for key in ("messages", "tools")}
    assert middleware.last_context is not None
    assert count_request(body, dialect=openai_chat, model="gpt-4o").tokens == pytest.approx(
        middleware.last_context.count.tokens, abs=4
    )


def test_a_structured_answer_is_priced_with_the_rest(wire: Wire) -> None:
    agent = agent_of(wire, AssemblerMiddleware(base()))
    asyncio.run(talk(agent, agent.create_session(), 20, options={"response_format": Trip}))
    assert all(body["response_format"]["type"] == "json_schema" for body in wire.bodies)
    assert wire.over(LIMIT) == []
    assert wire.invalid == []


def test_agents_and_sessions_that_share_a_middleware_keep_their_own_summaries(wire: Wire) -> None:
    written: list[int] = []

    async def summarizer(dropped: Any, previous: str | None, room: int) -> str:
        written.append(len(dropped))
        return "They talked."

    async def sessions(names: list[str]) -> int:
        written.clear()
        wire.bodies.clear()
        middleware = AssemblerMiddleware(base(1_500, [Summarize(summarizer, keep_turns=1), TrimOldest()]))
        agents = [agent_of(wire, middleware, name) for name in names]
        held = [agent.create_session() for agent in agents]
        for turn in range(10):
            for name, agent, session in zip(names, agents, held, strict=True):
                await agent.run(f"{name}: {question(turn)}", session=session)
        return len(written)

    alone = asyncio.run(sessions(["planner"]))
    assert 0 < alone < 10
    assert asyncio.run(sessions(["planner", "almanac"])) <= 2 * alone + 2


def fitted(middleware: AssemblerMiddleware, messages: list[Message], **options: Any) -> ChatContext:
    client: Any = OpenAIChatCompletionClient(model="gpt-4o", api_key="none")
    context = ChatContext(client=client, messages=messages, options=options)

    async def nothing() -> None:
        pass

    asyncio.run(middleware.process(context, nothing))
    return context


def turns(count: int) -> list[Message]:
    history: list[Message] = []
    for turn in range(count):
        calls = [Content.from_function_call(f"{turn}{w}", "look_up", arguments='{"question": "é"}') for w in "ab"]
        results = [Content.from_function_result(call.call_id, result="found " * 60) for call in calls]
        history += [
            Message("user", [question(turn)]),
            Message("assistant", calls, message_id=f"m{turn}"),
            Message("tool", results),
            Message("assistant", [f"answer {turn}"]),
        ]
    return [*history, Message("user", ["and now?"])]


def test_what_stays_is_the_very_objects_and_the_list_that_came_is_left_alone() -> None:
    history = turns(40)
    before = list(history)
    sent = fitted(AssemblerMiddleware(base()), history).messages
    assert 1 < len(sent) < len(before)
    assert all(a is b for a, b in zip(sent, before[-len(sent) :], strict=True))
    assert history == before


@pytest.mark.parametrize("policy", [ClearToolResults(keep=2), Truncate(max_tokens=20)])
def test_shortened_results_of_one_message_keep_their_calls(policy: Any) -> None:
    history = turns(8)
    sent = fitted(AssemblerMiddleware(base(1_400, policy)), history).messages
    assert [message.role for message in sent] == [message.role for message in history]
    shortened = [(a, b) for a, b in zip(sent, history, strict=True) if a is not b and b.role == "tool"]
    assert shortened
    for new, old in shortened:
        assert [content.call_id for content in new.contents] == [content.call_id for content in old.contents]
        assert all(content.result == "found " * 60 for content in old.contents)
        assert any(len(content.result) < 300 for content in new.contents)


def test_reasoning_and_hosted_calls_are_priced_as_the_responses_client_sends_them() -> None:
    sealed = base64.b64encode(b"x" * 1_200).decode()
    thought = Content.from_text_reasoning(id="rs_1", text="They want the weather.", protected_data=sealed)
    call = Content.from_function_call("c1", "look_up", arguments="{}")
    history = [
        Message("user", ["q"]),
        Message("assistant", [thought, "I look.", call]),
        Message("tool", [Content.from_function_result("c1", result="sunny")]),
    ]
    middleware = AssemblerMiddleware(base(100_000, dialect=openai_responses))
    fitted(middleware, history)
    client = OpenAIChatClient(model="gpt-4o", api_key="none")
    items = client._prepare_messages_for_openai(history, request_uses_service_side_storage=False)
    wire = count_request({"input": items}, dialect=openai_responses, model="gpt-4o")
    assert middleware.last_context is not None
    assert wire.tokens > 100
    assert wire.upper <= middleware.last_context.count.upper


def test_an_overflow_reaches_the_caller_as_ours(wire: Wire) -> None:
    agent = agent_of(wire, AssemblerMiddleware(base(300)))
    with pytest.raises(ContextLengthError):
        asyncio.run(talk_once(agent, "much too long " * 300))
    assert wire.bodies == []


def test_what_is_no_assembler_is_refused() -> None:
    with pytest.raises(BudgetError, match="Assembler"):
        AssemblerMiddleware("gpt-4o")  # type: ignore[arg-type]
