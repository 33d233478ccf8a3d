"""Sixty turns against a provider with hidden tokens, through LiteLLM's own clients."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import litellm
import pytest
from openai import AsyncOpenAI, BadRequestError

from assembler.dialects import anthropic, openai_chat
from assembler.integrations.fitting import LESSONS
from assembler.integrations.litellm import AssemblerHook, fitted
from tests.integrations.bills import AssertFits, base, either_way
from tests.integrations.bots import ANTHROPIC, LOOK_UP, Body
from tests.integrations.litellm.test_on_the_wire import CHAT, FUNCTION, proxying
from tests.integrations.provider import Provider
from tests.integrations.script import looked_up, question

pytestmark = pytest.mark.timeout(900)  # LiteLLM's import alone takes ten seconds


@pytest.fixture(autouse=True)
def _no_callbacks() -> Iterator[None]:
    yield
    litellm.callbacks = []


async def talked(api: Any, ask: Any, turns: int) -> None:
    history: list[Any] = []
    for turn in range(turns):
        history.append({"role": "user", "content": question(turn)})
        results: list[tuple[str, str]] | None = None
        while results is None or results:
            answer: Body = await ask(history, turn)
            results = [(name, looked_up(asked)) for name, asked in api.calls(answer)]
            history += [*api.added(answer), *api.answered(results)]


def chat_at(provider: Provider) -> dict[str, Any]:
    return {"model": "openai/gpt-4o", "tools": [FUNCTION], "api_base": f"{provider.url}/v1", "api_key": "x"}


@either_way
def test_calls_streamed_and_whole_fit_what_the_provider_takes(assert_fits: AssertFits) -> None:
    def run(provider: Provider, turns: int) -> None:
        litellm.callbacks = [AssemblerHook(base("gpt-4o", openai_chat))]

        async def ask(history: list[Any], turn: int) -> Body:
            more: Any = {"stream": True, "stream_options": {"include_usage": True}} if turn % 2 else {}
            call = {**chat_at(provider), **more}
            answer: Any = await again_while_refused(lambda: litellm.acompletion(messages=history, **call))
            if turn % 2:
                answer = litellm.stream_chunk_builder([chunk async for chunk in answer])
            return answer.model_dump(exclude_none=True)

        asyncio.run(talked(CHAT, ask, turns))

    assert_fits(run, "gpt-4o", openai_chat)


@either_way
def test_messages_fit_what_the_provider_takes(assert_fits: AssertFits) -> None:
    def run(provider: Provider, turns: int) -> None:
        litellm.callbacks = [AssemblerHook(base("claude-sonnet-4-5", anthropic))]
        own = {"name": LOOK_UP["name"], "description": "Looks up.", "input_schema": LOOK_UP["parameters"]}

        async def ask(history: list[Any], turn: int) -> Body:
            more: Any = {"model": "anthropic/claude-sonnet-4-5", "api_base": provider.url, "api_key": "x"}
            call = {"tools": [own], "max_tokens": 200, **more}
            return await again_while_refused(lambda: litellm.anthropic_messages(messages=history, **call))

        asyncio.run(talked(ANTHROPIC, ask, turns))

    assert_fits(run, "claude-sonnet-4-5", anthropic)


@either_way
@pytest.mark.parametrize("function", [litellm.completion, litellm.acompletion])
def test_a_wrapped_function_fits_what_the_provider_takes(function: Any, assert_fits: AssertFits) -> None:
    def run(provider: Provider, turns: int) -> None:
        complete = fitted(function, base("gpt-4o", openai_chat))

        async def ask(history: list[Any], turn: int) -> Body:
            answer: Any = complete(messages=history, **chat_at(provider))
            return (await answer if asyncio.iscoroutine(answer) else answer).model_dump(exclude_none=True)

        asyncio.run(talked(CHAT, ask, turns))

    assert_fits(run, "gpt-4o", openai_chat)


PROXY = """
from assembler.dialects import openai_chat
from assembler.integrations.litellm import AssemblerProxyHook
from tests.integrations.bills import base

proxy_hook = AssemblerProxyHook({"small": base("gpt-4o", openai_chat)})
"""


@either_way
def test_calls_through_the_proxy_streamed_and_whole_fit_what_the_provider_takes(
    tmp_path: Path, assert_fits: AssertFits
) -> None:
    """Two clients at once, each in a session of its own, with a client that makes refused calls again."""
    pytest.importorskip("fastapi")

    def run(provider: Provider, turns: int) -> None:
        with proxying(tmp_path, provider, PROXY) as url:
            client = AsyncOpenAI(api_key="sk-x", base_url=f"{url}/v1", max_retries=0)

            def asking(session: str) -> Any:
                async def ask(history: list[Any], turn: int) -> Body:
                    call: Any = {"model": "small", "messages": history, "tools": [FUNCTION]}
                    call["extra_body"] = {"litellm_session_id": session}
                    if not turn % 2:
                        answer = await again_while_refused(lambda: client.chat.completions.create(**call))
                        return answer.model_dump(exclude_none=True)
                    call |= {"stream": True, "stream_options": {"include_usage": True}}
                    stream = await again_while_refused(lambda: client.chat.completions.create(**call))
                    chunks = [litellm.ModelResponseStream(**chunk.model_dump()) async for chunk in stream]
                    return litellm.stream_chunk_builder(chunks).model_dump(exclude_none=True)

                return ask

            async def both() -> None:
                await asyncio.gather(*(talked(CHAT, asking(name), turns // 2) for name in ("Ann", "Bob")))

            asyncio.run(both())

    assert_fits(run, "gpt-4o", openai_chat)


async def again_while_refused(call: Callable[[], Awaitable[Any]]) -> Any:
    """As a router does, which calls the hook at each attempt."""
    for _ in range(LESSONS):
        with contextlib.suppress(litellm.BadRequestError, BadRequestError):
            return await call()
    return await call()
