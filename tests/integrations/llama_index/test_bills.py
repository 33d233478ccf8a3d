"""Sixty turns against a provider with hidden tokens, through LlamaIndex and OpenAI's client."""

import asyncio  # annotations stand as they are: LlamaIndex reads those of tools
import json
from typing import Any

import pytest
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.workflow import Context as Run
from llama_index.llms.openai import OpenAI

from assembler.dialects import openai_chat
from assembler.integrations.llama_index import AssemblerFunctionAgent, AssemblerMemory
from tests.integrations.bills import AssertFits, assert_makes_a_refused_call_again, base, either_way
from tests.integrations.provider import Provider
from tests.integrations.script import look_up, question

pytestmark = pytest.mark.timeout(900)


@either_way
@pytest.mark.parametrize("streaming", [False, True])
def test_an_agent_whose_context_goes_through_json_fits_what_the_provider_takes(
    streaming: bool, assert_fits: AssertFits
) -> None:
    def run(provider: Provider, turns: int) -> None:
        asked: Any = {"stream_options": {"include_usage": True}} if streaming else {}
        llm = OpenAI(model="gpt-4o", api_key="x", api_base=f"{provider.url}/v1", max_retries=0, additional_kwargs=asked)

        def agent() -> AssemblerFunctionAgent:
            more: Any = {"assembler": base("gpt-4o", openai_chat), "llm": llm, "streaming": streaming}
            return AssemblerFunctionAgent(name="planner", system_prompt="You plan.", tools=[look_up], **more)

        async def talk() -> None:
            planner = agent()
            kept, memory = Run(planner), AssemblerMemory.from_defaults()
            for turn in range(turns):
                await planner.run(user_msg=question(turn), ctx=kept, memory=memory, max_iterations=30)
                planner, stored = agent(), json.dumps(kept.to_dict())
                kept = Run.from_dict(planner, json.loads(stored))

        asyncio.run(talk())

    assert_fits(run, "gpt-4o", openai_chat)


@pytest.mark.parametrize("mode", ["chat", "achat", "stream", "astream"])
def test_an_engine_whose_memory_goes_through_json_makes_a_refused_call_again(mode: str) -> None:
    def run(provider: Provider, turns: int) -> None:
        assembler = base("gpt-4o", openai_chat)
        llm = OpenAI(model="gpt-4o", api_key="x", api_base=f"{provider.url}/v1", max_retries=0)
        memory = AssemblerMemory.from_defaults(assembler=assembler)

        async def awaited(engine: SimpleChatEngine, asked: str) -> None:
            if mode == "achat":
                await engine.achat(asked)
                return
            answer = await engine.astream_chat(asked)
            assert [word async for word in answer.async_response_gen()]

        for turn in range(2 * turns):
            engine = SimpleChatEngine.from_defaults(llm=memory.around(llm), memory=memory)
            asked = question(turn) * 3
            if mode == "chat":
                engine.chat(asked)
            elif mode == "stream":
                assert [*engine.stream_chat(asked).response_gen]
            else:
                asyncio.run(awaited(engine, asked))
            memory = AssemblerMemory.from_string(memory.to_string(), assembler=assembler)

    assert_makes_a_refused_call_again(run, "gpt-4o", openai_chat)
