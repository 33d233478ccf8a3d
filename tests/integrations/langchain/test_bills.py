"""Sixty turns against a provider with hidden tokens, through LangGraph and OpenAI's client."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import create_react_agent

from assembler.dialects import openai_chat
from assembler.integrations.langchain import AssemblerMiddleware, PreModelHook
from tests.integrations.bills import AssertFits, base, either_way
from tests.integrations.langchain.scripted import look_up
from tests.integrations.provider import Provider
from tests.integrations.script import question

pytestmark = pytest.mark.timeout(600)
THREAD: Any = {"configurable": {"thread_id": "one"}}


def model_at(provider: Provider, **more: Any) -> ChatOpenAI:
    return ChatOpenAI(model="gpt-4o", api_key="x", base_url=f"{provider.url}/v1", max_retries=0, **more)


@either_way
@pytest.mark.parametrize("streaming", [False, True])
def test_an_agent_whose_process_is_rebuilt_at_each_turn_fits_what_the_provider_takes(
    streaming: bool, assert_fits: AssertFits
) -> None:
    def run(provider: Provider, turns: int) -> None:
        saver = InMemorySaver()
        for turn in range(turns):
            middleware = [AssemblerMiddleware(base("gpt-4o", openai_chat))]
            model = model_at(provider, streaming=streaming, stream_usage=True)
            agent: Any = create_agent(model, [look_up], middleware=middleware, checkpointer=saver)
            agent.invoke({"messages": [HumanMessage(question(turn))]}, THREAD)

    assert_fits(run, "gpt-4o", openai_chat)


@either_way
@pytest.mark.parametrize("mode", ["invoked", "awaited", "streamed"])
def test_langgraphs_older_agent_fits_what_the_provider_takes(mode: str, assert_fits: AssertFits) -> None:
    def run(provider: Provider, turns: int) -> None:
        hook = PreModelHook(base("gpt-4o", openai_chat).set_tools([look_up]))
        model = hook.around(model_at(provider, stream_usage=True))
        agent: Any = create_react_agent(model, [look_up], pre_model_hook=hook, checkpointer=InMemorySaver())
        for turn in range(turns):
            asked = {"messages": [HumanMessage(question(turn))]}
            if mode == "awaited":
                asyncio.run(agent.ainvoke(asked, THREAD))
            elif mode == "streamed":
                assert [*agent.stream(asked, THREAD, stream_mode="messages")]
            else:
                agent.invoke(asked, THREAD)

    assert_fits(run, "gpt-4o", openai_chat)
