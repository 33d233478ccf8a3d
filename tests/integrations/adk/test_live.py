"""A live session: ADK shows a plugin each typed message alone, in a request whose settings are those of the session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

from google.adk.agents import LiveRequestQueue, LlmAgent
from google.adk.agents.run_config import RunConfig
from google.adk.models.base_llm import BaseLlm
from google.adk.models.base_llm_connection import BaseLlmConnection
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from pydantic import PrivateAttr

from assembler import Assembler
from assembler.integrations.adk import AssemblerPlugin
from budgets import Budget
from tests.integrations.adk.test_adk import runner_of


class Live(BaseLlm, BaseLlmConnection):
    """A model that is its own connection. It notes each message, and the instruction that a reconnection would send."""

    model: str = "gemini-2.5-flash"
    _heard: list[tuple[Any, Any]] = PrivateAttr(default_factory=list)
    _request: Any = PrivateAttr()
    _asked: asyncio.Queue[types.Content] = PrivateAttr(default_factory=asyncio.Queue)

    @asynccontextmanager
    async def connect(self, llm_request: Any) -> AsyncIterator[BaseLlmConnection]:
        self._request = llm_request
        yield self

    async def send_content(self, content: types.Content) -> None:
        self._heard.append((content.parts, self._request.config.system_instruction))
        await self._asked.put(content)

    async def receive(self) -> AsyncGenerator[LlmResponse, None]:
        await self._asked.get()
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="Yes.")]))
        yield LlmResponse(turn_complete=True)

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        yield LlmResponse()

    async def send_history(self, history: Any) -> None: ...

    async def send_realtime(self, blob: Any) -> None: ...

    async def close(self) -> None: ...


def test_the_instruction_of_a_live_session_does_not_grow_with_each_typed_message() -> None:
    model = Live()
    assembler = Assembler(Budget(600, max_output_tokens=100, model=model.model)).add_instruction("Be brief.")
    runner = runner_of(LlmAgent(name="guide", model=model, instruction="You guide."), AssemblerPlugin(assembler))
    typed = [[types.Part(text=text)] for text in ("Left?", "word " * 700, "Right?")]

    async def talk() -> None:
        session = await runner.session_service.create_session(app_name=runner.app_name, user_id="u")
        queue, answered = LiveRequestQueue(), 0
        queue.send_content(types.Content(role="user", parts=typed[0]))
        settings: Any = {"run_config": RunConfig(response_modalities=[types.Modality.TEXT])}
        events = runner.run_live(user_id="u", session_id=session.id, live_request_queue=queue, **settings)
        async with aclosing(events):
            async for event in events:
                answered += bool(event.turn_complete)
                if answered == len(typed):
                    break
                if event.turn_complete:
                    queue.send_content(types.Content(role="user", parts=typed[answered]))

    asyncio.run(asyncio.wait_for(talk(), 60))
    assert [parts for parts, _ in model._heard] == typed
    assert len({instruction for _, instruction in model._heard}) == 1
