"""A tool choice costs what the provider bills for it, and the middleware counts it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agent_framework import Agent, Content, Message
from agent_framework.openai import OpenAIChatClient, OpenAIChatCompletionClient

from assembler import Assembler, Truncate, count_request
from assembler.dialects import openai_chat, openai_responses
from assembler.integrations.agent_framework import AssemblerMiddleware
from budgets import Budget
from tests.assembler.decorated import PNG
from tests.integrations.agent_framework.test_agent_framework import look_up
from tests.integrations.contexts import contexts_of
from tests.integrations.provider import providing


@pytest.mark.parametrize(
    "choice",
    [
        "required",
        {"mode": "required", "required_function_name": "look_up"},
        {"mode": "auto", "allowed_tools": ["look_up"]},
        "none",
    ],
)
def test_a_tool_choice_costs_what_is_sent_of_it(choice: Any) -> None:
    budget = Budget.for_model("gpt-4o", context_window=9_000, max_output_tokens=500)
    middleware = AssemblerMiddleware(Assembler(budget, dialect=openai_responses))
    contexts = contexts_of(middleware)
    with providing(hosted=(), thinks=False) as provider:
        client = OpenAIChatClient(model="gpt-4o", api_key="x", base_url=f"{provider.url}/v1")
        options: Any = {"store": False, "tool_choice": choice}
        agent = Agent(client=client, tools=[look_up], default_options=options, middleware=[middleware])
        asyncio.run(_asked(agent))
    keys = ("instructions", "input", "tools", "tool_choice")
    bodies = [{key: body[key] for key in keys if key in body} for body in provider.bodies]
    assert "tool_choice" in bodies[0]
    counted = [context.count for context in contexts]
    assert [count_request(body, dialect=openai_responses, model="gpt-4o") for body in bodies] == counted


def said(*contents: Any) -> list[Any]:
    return [Message("user", ["Where to?"]), Message("assistant", list(contents)), Message("user", ["And then?"])]


CALL = Content.from_function_call(call_id="c1", name="look_up", arguments='{"question": "towns"}')
FOUND = Message("tool", [Content.from_function_result(call_id="c1", result="Kyoto")])
PICTURE = Content.from_uri(
    uri=f"data:image/png;base64,{PNG}", media_type="image/png", additional_properties={"detail": "low"}
)
THOUGHT = Content.from_text_reasoning(text="Let me look it up.")


@pytest.mark.parametrize(
    "history",
    [
        said("To Kyoto.", "Or to Nara."),
        said(THOUGHT, "To Kyoto."),
        said(""),
        [Message("user", ["What is this?", PICTURE])],
        [Message("user", ["Where to?"]), Message("assistant", ["I look.", CALL]), FOUND],
        [Message("user", ["Where to?"]), Message("assistant", [CALL, "I look."]), FOUND],
        [Message("user", ["Where to?"]), Message("assistant", [THOUGHT, CALL]), FOUND],
    ],
    ids=["two texts", "thought", "empty", "picture", "text and call", "call and text", "thought and call"],
)
def test_the_contents_of_a_message_cost_what_the_chat_client_sends_of_them(history: list[Any]) -> None:
    middleware = AssemblerMiddleware(Assembler(Budget.for_model("gpt-4o", context_window=9_000, max_output_tokens=500)))
    contexts = contexts_of(middleware)
    with providing(hosted=(), thinks=False) as provider:
        client = OpenAIChatCompletionClient(model="gpt-4o", api_key="x", base_url=f"{provider.url}/v1")
        agent = Agent(client=client, tools=[look_up], middleware=[middleware])
        asyncio.run(_asked(agent, history))
    counted = [context.count for context in contexts]
    assert [count_request(body, dialect=openai_chat, model="gpt-4o") for body in provider.bodies] == counted


@pytest.mark.parametrize("policies", [{}, {"on_overflow": Truncate(max_tokens=20)}], ids=["whole", "shortened"])
def test_the_texts_of_an_answer_cost_what_the_responses_client_sends_of_them(policies: Any) -> None:
    window = 120 if policies else 9_000
    budget = Budget.for_model("gpt-4o", context_window=window, max_output_tokens=0)
    middleware = AssemblerMiddleware(Assembler(budget, dialect=openai_responses, **policies))
    with providing(hosted=(), thinks=False) as provider:
        client = OpenAIChatClient(model="gpt-4o", api_key="x", base_url=f"{provider.url}/v1")
        agent = Agent(client=client, default_options={"store": False}, middleware=[middleware])
        asyncio.run(_asked(agent, said("To Kyoto.", "Or to Nara, " * 60, "Or to Osaka.")))
    (body,) = [{"input": body["input"]} for body in provider.bodies]
    assert len(body["input"][1]["content"]) == 3
    assert ("Or to Nara, " * 60 in str(body)) == (not policies)
    assert middleware.last_context is not None
    assert count_request(body, dialect=openai_responses, model="gpt-4o") == middleware.last_context.count


async def _asked(agent: Agent, asked: Any = "Where to?") -> None:
    await agent.run(asked)
