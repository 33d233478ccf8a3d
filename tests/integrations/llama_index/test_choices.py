"""A tool choice and calls one at a time cost what the provider bills for them, and the agent counts it."""

import asyncio
import base64
from contextlib import suppress
from typing import Any

import pytest
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage, ImageBlock, TextBlock
from llama_index.core.workflow import WorkflowRuntimeError
from llama_index.llms.openai import OpenAI, OpenAIResponses

from assembler import Assembler, count_request
from assembler.dialects import Dialect, openai_chat, openai_responses
from assembler.integrations.llama_index import AssemblerFunctionAgent
from budgets import Budget
from tests.assembler.decorated import PNG
from tests.integrations.bots import SCHEMA
from tests.integrations.contexts import contexts_of
from tests.integrations.llama_index.test_on_the_wire import look_up
from tests.integrations.provider import providing


def counted_and_sent(
    kind: Any, dialect: Dialect, of_llm: dict[str, Any], asked: Any = "Where to?", history: Any = None, **settings: Any
) -> tuple[list[int], list[int]]:
    """What was counted for each call of a run, and what its body costs."""
    model = of_llm["model"]
    budget = Budget.for_model(model, context_window=9_000, max_output_tokens=500)
    with providing(hosted=(), thinks=False) as provider:
        llm = kind(api_key="x", api_base=f"{provider.url}/v1", max_retries=0, **of_llm)
        assembler = Assembler(budget, dialect=dialect)
        agent = AssemblerFunctionAgent(assembler=assembler, llm=llm, tools=[look_up], streaming=False, **settings)
        contexts = contexts_of(agent)

        async def run() -> None:
            with suppress(WorkflowRuntimeError):  # of a tool that is forced at each call
                await agent.run(asked, chat_history=history, max_iterations=3)

        asyncio.run(run())
    bodies = [{key: body[key] for key in KEYS if key in body} for body in provider.bodies]
    assert len(bodies) > 1
    counted = [context.count.tokens for context in contexts]
    return counted, [count_request(body, dialect=dialect, model=model).tokens for body in bodies]


KEYS = ("instructions", "input", "messages", "tools", "tool_choice", "parallel_tool_calls", "text", "response_format")


@pytest.mark.parametrize(
    ("model", "settings"),
    [("gpt-4o", {"initial_tool_choice": "look_up"}), ("gpt-5", {"allow_parallel_tool_calls": False})],
)
def test_the_settings_of_an_agent_cost_what_is_sent_of_them(model: str, settings: dict[str, Any]) -> None:
    counted, sent = counted_and_sent(OpenAIResponses, openai_responses, {"model": model}, **settings)
    assert counted == sent


NAMED = {"type": "function", "function": {"name": "look_up"}}
FORMAT = {"name": "trip", "schema": SCHEMA, "strict": True}


@pytest.mark.parametrize(
    ("kind", "dialect", "extra"),
    [
        (OpenAI, openai_chat, {"tool_choice": NAMED}),
        (OpenAI, openai_chat, {"response_format": {"type": "json_schema", "json_schema": FORMAT}}),
        (OpenAIResponses, openai_responses, {"tool_choice": {"type": "function", "name": "look_up"}}),
        (OpenAIResponses, openai_responses, {"text": {"format": {"type": "json_schema", **FORMAT}}}),
    ],
)
def test_what_the_llm_itself_adds_costs_what_is_sent_of_it(kind: Any, dialect: Dialect, extra: dict[str, Any]) -> None:
    counted, sent = counted_and_sent(kind, dialect, {"model": "gpt-4o", "additional_kwargs": extra})
    assert counted == sent


@pytest.mark.parametrize(("kind", "dialect"), [(OpenAI, openai_chat), (OpenAIResponses, openai_responses)])
def test_a_picture_costs_what_its_detail_costs(kind: Any, dialect: Dialect) -> None:
    picture = ImageBlock(image=base64.b64decode(PNG), image_mimetype="image/png", detail="low")
    asked = ChatMessage(role="user", blocks=[TextBlock(text="What is this?"), picture])
    counted, sent = counted_and_sent(kind, dialect, {"model": "gpt-4o"}, asked)
    assert counted == sent


@pytest.mark.parametrize(("kind", "dialect"), [(OpenAI, openai_chat), (OpenAIResponses, openai_responses)])
def test_the_arguments_of_a_past_call_cost_what_the_client_makes_of_them(kind: Any, dialect: Dialect) -> None:
    asked = {"topic": "straße", "near": ["a", 1]}
    history = [
        ChatMessage("Where to?", role="user"),
        ChatMessage(role="assistant", blocks=[ToolCallBlock(tool_call_id="c", tool_name="look_up", tool_kwargs=asked)]),
        ChatMessage("Kyoto", role="tool", additional_kwargs={"tool_call_id": "c"}),
        ChatMessage("To Kyoto.", role="assistant"),
    ]
    counted, sent = counted_and_sent(kind, dialect, {"model": "gpt-4o"}, history=history)
    assert counted == sent
