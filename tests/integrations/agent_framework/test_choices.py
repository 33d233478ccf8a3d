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
from assembler.policies import ClearReasoning
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


def answer(*contents: Any) -> list[Any]:
    return [Message("user", ["Where to?"]), Message("assistant", list(contents)), Message("user", ["And then?"])]


CALL = Content.from_function_call(call_id="c1", name="look_up", arguments='{"question": "towns"}')
FOUND = Message("tool", [Content.from_function_result(call_id="c1", result="Kyoto")])
PICTURE = Content.from_uri(
    uri=f"data:image/png;base64,{PNG}", media_type="image/png", additional_properties={"detail": "low"}
)
THOUGHT = Content.from_text_reasoning(text="Let me look it up.")
DETAILS = Content.from_text_reasoning(protected_data='[{"type": "reasoning.text", "text": "Let me look it up."}]')
REFUSAL = Content.from_text("I will not.", additional_properties={"model_output_kind": "refusal"})


def file(media_type: str, uri: str = "data:;base64,UklGRiQAAABXQVZF") -> Content:
    return Content.from_uri(uri=uri, media_type=media_type)


FILES = [
    Message("user", ["What is this?", file(kind)])
    for kind in ("application/pdf", "text/plain", "video/mp4", "image/png")
]
SOUNDS = [Message("user", ["What is this?", file(kind)]) for kind in ("audio/wav", "audio/mpeg", "audio/ogg")]
BY_URL = Message("user", ["What is this?", file("application/pdf", "https://example.org/a.pdf")])


@pytest.mark.parametrize(
    "history",
    [
        answer("To Kyoto.", "Or to Nara."),
        answer(THOUGHT, "To Kyoto."),
        answer(""),
        [Message("user", ["What is this?", PICTURE])],
        [Message("user", ["Where to?"]), Message("assistant", ["I look.", CALL]), FOUND],
        [Message("user", ["Where to?"]), Message("assistant", [CALL, "I look."]), FOUND],
        [Message("user", ["Where to?"]), Message("assistant", [THOUGHT, CALL]), FOUND],
        answer(DETAILS, "To Kyoto."),
        answer(DETAILS),
        [Message("user", ["Where to?"]), Message("assistant", ["I look.", DETAILS, CALL]), FOUND],
        answer(REFUSAL),
        answer("To Kyoto.", DETAILS, REFUSAL),
        [Message("user", ["Where to?"]), Message("assistant", [REFUSAL, CALL]), FOUND],
        [Message("user", ["", "Where to?"])],
        FILES,
        SOUNDS,
        [BY_URL],
    ],
    ids=[
        *("two texts", "thought", "empty", "picture", "text and call", "call and text", "thought and call"),
        *("details", "details alone", "details and call", "refusal", "text and refusal", "refusal and call"),
        *("an empty text", "files", "sounds", "a file by its URL"),
    ],
)
def test_the_contents_of_a_message_cost_what_the_chat_client_sends_of_them(history: list[Any]) -> None:
    middleware = AssemblerMiddleware(
        Assembler(Budget.for_model("gpt-4o", context_window=20_000, max_output_tokens=500))
    )
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
        asyncio.run(_asked(agent, answer("To Kyoto.", "Or to Nara, " * 60, "Or to Osaka.")))
    (body,) = [{"input": body["input"]} for body in provider.bodies]
    assert len(body["input"][1]["content"]) == 3
    assert ("Or to Nara, " * 60 in str(body)) == (not policies)
    assert middleware.last_context is not None
    assert count_request(body, dialect=openai_responses, model="gpt-4o") == middleware.last_context.count


def summary(text: str) -> Content:
    return Content.from_text_reasoning(id="rs_1", text=text, protected_data="Z0FB" * 30)


RESPONSES: dict[str, list[Any]] = {
    "the summaries of one reasoning": answer(summary("Where could it be?"), summary("In Kyoto."), "To Kyoto."),
    "summaries and a call": [
        Message("user", ["Where to?"]),
        Message("assistant", [summary("Where?"), summary("Kyoto."), CALL]),
        FOUND,
    ],
    "reasoning without its id": answer(THOUGHT, DETAILS, "To Kyoto."),
    "texts around a call": [Message("user", ["Where to?"]), Message("assistant", ["I look.", CALL, "Done."]), FOUND],
    "a refusal": answer("To Kyoto.", REFUSAL),
    "an empty text": [Message("user", ["", "Where to?"])],
    "files": FILES,
}


@pytest.mark.parametrize("history", RESPONSES.values(), ids=RESPONSES)
def test_the_contents_of_a_message_cost_what_the_responses_client_sends_of_them(history: list[Any]) -> None:
    budget = Budget.for_model("gpt-4o", context_window=20_000, max_output_tokens=500)
    middleware = AssemblerMiddleware(Assembler(budget, dialect=openai_responses))
    contexts = contexts_of(middleware)
    with providing(hosted=(), thinks=False) as provider:
        client = OpenAIChatClient(model="gpt-4o", api_key="x", base_url=f"{provider.url}/v1")
        agent = Agent(client=client, tools=[look_up], default_options={"store": False}, middleware=[middleware])
        asyncio.run(_asked(agent, history))
    keys = ("instructions", "input", "tools", "tool_choice")
    bodies = [{key: body[key] for key in keys if key in body} for body in provider.bodies]
    counted = [context.count for context in contexts]
    assert [count_request(body, dialect=openai_responses, model="gpt-4o") for body in bodies] == counted


@pytest.mark.parametrize(
    ("policy", "window"), [(ClearReasoning(), 250), (Truncate(max_tokens=20), 230)], ids=["cleared", "shortened"]
)
def test_the_summaries_of_a_reasoning_stay_together_or_go_together(policy: Any, window: int) -> None:
    budget = Budget.for_model("gpt-4o", context_window=window, max_output_tokens=0)
    middleware = AssemblerMiddleware(Assembler(budget, dialect=openai_responses, on_overflow=policy))
    history = answer(summary("Where could it be? " * 9), summary("In Kyoto. " * 9), "Or to Nara, " * 40)
    with providing(hosted=(), thinks=False) as provider:
        client = OpenAIChatClient(model="gpt-4o", api_key="x", base_url=f"{provider.url}/v1")
        agent = Agent(client=client, default_options={"store": False}, middleware=[middleware])
        asyncio.run(_asked(agent, history))
    kinds = [item["type"] for item in provider.bodies[0]["input"]]
    summaries = [len(item["summary"]) for item in provider.bodies[0]["input"] if item["type"] == "reasoning"]
    assert (kinds, summaries) == (
        (["message"] * 3, [])
        if isinstance(policy, ClearReasoning)
        else (["message", "reasoning", "message", "message"], [2])
    )
    assert middleware.last_context is not None
    body = {"input": provider.bodies[0]["input"]}
    assert count_request(body, dialect=openai_responses, model="gpt-4o") == middleware.last_context.count
    assert [content.type for content in history[1].contents] == ["text_reasoning", "text_reasoning", "text"]


async def _asked(agent: Agent, asked: Any = "Where to?") -> None:
    await agent.run(asked)
