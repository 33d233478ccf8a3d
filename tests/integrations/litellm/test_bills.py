"""Sixty turns against a provider whose bill nobody can count, through LiteLLM's own clients."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import litellm
import pytest

from assembler.dialects import anthropic, openai_chat
from assembler.integrations.fitting import LESSONS
from assembler.integrations.litellm import AssemblerHook, fitted
from tests.integrations.bills import AssertFits, base, either_way
from tests.integrations.bots import ANTHROPIC, LOOK_UP, Body
from tests.integrations.litellm.test_on_the_wire import CHAT, FUNCTION
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


async def again_while_refused(call: Callable[[], Awaitable[Any]]) -> Any:
    """As a router does, which calls the hook at each attempt."""
    for _ in range(LESSONS):
        with contextlib.suppress(litellm.BadRequestError):
            return await call()
    return await call()
