"""The middleware in calls of Microsoft Agent Framework; `test_on_the_wire` has whole runs."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import pytest
from agent_framework import Agent, AgentSession, ChatContext, Content, Message
from agent_framework.openai import OpenAIChatClient, OpenAIChatCompletionClient

from assembler import Assembler, ContextLengthError, ConversationError, count_request
from assembler.conversation.messages import Result
from assembler.dialects import openai_chat, openai_responses
from assembler.integrations.agent_framework import AssemblerMiddleware
from assembler.integrations.agent_framework_messages import items_of, rewrite_message
from assembler.policies import ClearToolResults, Summarize, TrimOldest, TrimSteps, Truncate
from budgets import Budget, BudgetError
from tests.integrations.independent import assert_newest_objects
from tests.integrations.script import ANSWER, CALLS_OF_A_TURN, looked_up, planner, question
from tests.integrations.wire import Wire, serving

TURNS = 20
LIMIT = 2_800


def look_up(question: str) -> str:
    """Look a question up in the almanac."""
    return looked_up(question)


@pytest.fixture
def wire() -> Iterator[Wire]:
    with serving() as served:
        yield served


def base(limit: int = LIMIT, policy: Any = None, **more: Any) -> Assembler:
    budget = Budget.for_model("gpt-4o", context_window=limit + ANSWER, max_output_tokens=ANSWER)
    return planner(Assembler(budget, on_overflow=policy or [TrimOldest(), TrimSteps()], **more))


def agent_of(wire: Wire, middleware: AssemblerMiddleware, name: str = "planner") -> Agent:
    client = OpenAIChatCompletionClient(model="gpt-4o", api_key="none", base_url=wire.url)
    return Agent(client=client, name=name, instructions="You plan trips.", tools=[look_up], middleware=[middleware])


async def talk(agent: Agent, session: Any, turns: int, **more: Any) -> None:
    for turn in range(turns):
        await agent.run(question(turn), session=session, **more)


async def talk_once(agent: Agent, text: str) -> None:
    await agent.run(text)


def test_the_model_gets_the_messages_that_the_middleware_adds_and_not_those_that_it_drops(wire: Wire) -> None:
    middleware = AssemblerMiddleware(base())
    agent = agent_of(wire, middleware)
    session = agent.create_session()
    asyncio.run(talk(agent, session, TURNS))
    assert len(wire.bodies) == TURNS * CALLS_OF_A_TURN
    assert wire.over(LIMIT) == []
    assert wire.invalid == []
    assert sum(message["role"] == "user" for message in wire.bodies[-1]["messages"]) < TURNS / 2
    system = wire.bodies[-1]["messages"][0]["content"]
    assert system.startswith("You plan trips.\n\nBe brief.\n\n<context")
    assert middleware.context_of(session.session_id) is middleware.last_context
    assert middleware.report is not None


def test_the_priced_request_is_the_one_that_is_posted(wire: Wire) -> None:
    middleware = AssemblerMiddleware(base())
    agent = agent_of(wire, middleware)
    asyncio.run(talk(agent, agent.create_session(), 3))
    body = {key: wire.bodies[-1][key] for key in ("messages", "tools")}
    assert middleware.last_context is not None
    assert count_request(body, dialect=openai_chat, model="gpt-4o").tokens == pytest.approx(
        middleware.last_context.count.tokens, abs=4
    )


@pytest.mark.parametrize("limit", [10_000, 700])
def test_a_picture_beside_a_text_costs_what_the_chat_client_sends_of_it(wire: Wire, limit: int) -> None:
    picture = Content.from_data(PIXEL, "image/png")
    asked = Message("user", [Content.from_text("What is this?"), picture, Content.from_text("And that?"), picture])
    middleware = AssemblerMiddleware(base(limit, TrimOldest()))
    client = OpenAIChatCompletionClient(model="gpt-4o", api_key="none", base_url=wire.url)
    agent = Agent(client=client, middleware=[middleware])
    history = [Message("user", ["old " * 400]), Message("assistant", ["Hm."]), asked]
    asyncio.run(agent.run(history))
    (body,) = wire.bodies
    assert middleware.last_context is not None
    sent = count_request({"messages": body["messages"]}, dialect=openai_chat, model="gpt-4o")
    assert middleware.last_context.count == sent
    assert sent.upper <= limit
    assert len(body["messages"]) == (6 if limit > 700 else 4) + 1


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


def test_a_session_from_a_store_continues_in_another_process_with_the_same_bytes(wire: Wire) -> None:
    written: list[int] = []

    async def summarizer(dropped: Any, previous: str | None, room: int) -> str:
        written.append(len(dropped))
        return f"They talked, and before that: {previous}"

    def anew() -> Agent:
        return agent_of(wire, AssemblerMiddleware(base(1_500, [Summarize(summarizer, keep_turns=1), TrimOldest()])))

    async def stored(rebuilt: Callable[[], Agent]) -> list[Any]:
        written.clear()
        wire.bodies.clear()
        session = AgentSession(session_id="one")
        for turn in range(10):
            await rebuilt().run(question(turn), session=session)
            session = AgentSession.from_dict(json.loads(json.dumps(session.to_dict())))
        return [*wire.bodies, *written]

    stays = anew()
    assert asyncio.run(stored(lambda: stays)) == asyncio.run(stored(anew))
    assert written


def test_a_conversation_that_the_service_holds_is_refused_with_what_to_pass() -> None:
    with pytest.raises(ConversationError, match='"store": False'):
        fitted(AssemblerMiddleware(base()), [Message("user", ["q"])], conversation_id="resp_1")


def test_reasoning_whose_hosted_call_the_client_leaves_out_is_left_out_with_it() -> None:
    thoughts = [Content.from_text_reasoning(id=f"rs_{place}", text="why", protected_data="c2Vh") for place in range(2)]
    searched = Content.from_search_tool_call(call_id="ws_1", tool_name="web_search", arguments={"query": "q"})
    message = Message("assistant", [thoughts[0], searched, thoughts[1], "found"])
    history = [Message("user", ["q"]), message, Message("user", ["and now?"])]
    sent = fitted(AssemblerMiddleware(base(100_000, dialect=openai_responses)), history).messages
    assert sent[0] is history[0]
    assert [content.type for content in sent[1].contents] == ["search_tool_call", "text_reasoning", "text"]
    assert len(message.contents) == 4


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


def test_the_kept_messages_are_the_very_objects_and_the_given_list_is_not_changed() -> None:
    history = turns(40)
    before = list(history)
    sent = fitted(AssemblerMiddleware(base()), history).messages
    assert_newest_objects(sent, before)
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


def test_a_call_with_the_servers_status_costs_what_the_responses_client_sends_of_it() -> None:
    call = Content.from_function_call("c1", "look_up", arguments="{}", additional_properties={"status": "completed"})
    history = [Message("user", ["q"]), Message("assistant", [call])]
    history.append(Message("tool", [Content.from_function_result("c1", result="sunny")]))
    middleware = AssemblerMiddleware(base(100_000, dialect=openai_responses))
    fitted(middleware, history)
    client = OpenAIChatClient(model="gpt-4o", api_key="none")
    items = client._prepare_messages_for_openai(history, request_uses_service_side_storage=False)
    wire = count_request({"input": items}, dialect=openai_responses, model="gpt-4o")
    bare = count_request({"input": items[:1]}, dialect=openai_responses, model="gpt-4o")
    question = AssemblerMiddleware(base(100_000, dialect=openai_responses))
    fitted(question, history[:1])
    assert middleware.last_context is not None
    assert question.last_context is not None
    added = middleware.last_context.count.tokens - question.last_context.count.tokens
    assert added == wire.tokens - bare.tokens


PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def shown(text: str) -> list[Message]:
    seen = [Content.from_text(text), Content.from_data(PIXEL, "image/png")]
    return [
        Message("user", ["q"]),
        Message("assistant", [Content.from_function_call("c1", "look_up", arguments="{}")]),
        Message("tool", [Content.from_function_result("c1", result=seen)]),
    ]


def test_the_picture_in_a_result_costs_what_the_responses_client_sends_of_it() -> None:
    middleware = AssemblerMiddleware(base(100_000, dialect=openai_responses))
    sent = fitted(middleware, shown("see")).messages
    client = OpenAIChatClient(model="gpt-4o", api_key="none")
    items = client._prepare_messages_for_openai(sent, request_uses_service_side_storage=False)
    assert "input_image" in str(items)
    wire = count_request({"input": items}, dialect=openai_responses, model="gpt-4o")
    assert middleware.last_context is not None
    without = AssemblerMiddleware(base(100_000, dialect=openai_responses))
    plain = shown("see")
    plain[-1].contents[0].items = None
    fitted(without, plain)
    assert without.last_context is not None
    assert wire.upper <= middleware.last_context.count.upper
    assert middleware.last_context.count.tokens > without.last_context.count.tokens + 50


def test_a_text_after_a_call_is_sent_to_the_responses_api_as_the_framework_sends_it() -> None:
    # As an item without a type it would stand where only the model's items may.
    middleware = AssemblerMiddleware(base(100_000, dialect=openai_responses))
    call = Content.from_function_call("c1", "look_up", arguments="{}")
    history = [Message("user", ["q"]), Message("assistant", [call, Content.from_text("I look it up.")])]
    history.append(Message("tool", [Content.from_function_result("c1", result="r")]))
    sent = fitted(middleware, history).messages
    assert sent == history
    client = OpenAIChatClient(model="gpt-4o", api_key="none")
    items = client._prepare_messages_for_openai(sent, request_uses_service_side_storage=False)
    assert "I look it up." in str(items)
    wire = count_request({"input": items}, dialect=openai_responses, model="gpt-4o")
    assert middleware.last_context is not None
    assert wire.upper <= middleware.last_context.count.upper


def test_a_result_whose_text_is_shortened_keeps_its_picture() -> None:
    middleware = AssemblerMiddleware(base(100_000, dialect=openai_responses))
    *_, message = fitted(middleware, shown("see")).messages
    assert middleware.last_context is not None
    before = middleware.last_context.inside.view.message(2)
    (result,) = before.parts
    assert isinstance(result, Result)
    after = attrs.evolve(before, parts=(attrs.evolve(result, parts=("s", *result.parts[1:])),))
    (content,) = rewrite_message(message, items_of(message), [(before, after)]).contents
    assert [(item.type, item.text) for item in content.items] == [("text", "s"), ("data", None)]
    assert message.contents[0].items is not None
    assert message.contents[0].items[0].text == "see"


def test_an_overflow_reaches_the_caller_as_an_error_of_this_library(wire: Wire) -> None:
    agent = agent_of(wire, AssemblerMiddleware(base(300)))
    with pytest.raises(ContextLengthError):
        asyncio.run(talk_once(agent, "much too long " * 300))
    assert wire.bodies == []


def test_a_value_that_is_not_an_assembler_is_refused() -> None:
    with pytest.raises(BudgetError, match="Assembler"):
        AssemblerMiddleware("gpt-4o")  # type: ignore[arg-type]
