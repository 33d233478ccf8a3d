"""Sixty turns against a provider whose bill nobody can count, through LiteLLM's own clients."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import litellm
import pytest

from assembler.dialects import anthropic, openai_chat
from assembler.integrations.litellm import AssemblerHook, fitted
from tests.integrations.bills import assert_fits_the_bills_that_it_is_told, base
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


def test_calls_streamed_and_whole_fit_the_bills_that_the_hook_is_told() -> None:
    def run(provider: Provider, turns: int) -> None:
        litellm.callbacks = [AssemblerHook(base("gpt-4o", openai_chat))]

        async def ask(history: list[Any], turn: int) -> Body:
            more: Any = {"stream": True, "stream_options": {"include_usage": True}} if turn % 2 else {}
            answer: Any = await litellm.acompletion(messages=history, **chat_at(provider), **more)
            if turn % 2:
                answer = litellm.stream_chunk_builder([chunk async for chunk in answer])
            return answer.model_dump(exclude_none=True)

        asyncio.run(talked(CHAT, ask, turns))

    assert_fits_the_bills_that_it_is_told(run, "gpt-4o", openai_chat)


def test_messages_fit_the_bills_that_the_hook_is_told() -> None:
    def run(provider: Provider, turns: int) -> None:
        litellm.callbacks = [AssemblerHook(base("claude-sonnet-4-5", anthropic))]
        own = {"name": LOOK_UP["name"], "description": "Looks up.", "input_schema": LOOK_UP["parameters"]}

        async def ask(history: list[Any], turn: int) -> Body:
            more: Any = {"model": "anthropic/claude-sonnet-4-5", "api_base": provider.url, "api_key": "x"}
            return await litellm.anthropic_messages(messages=history, tools=[own], max_tokens=200, **more)

        asyncio.run(talked(ANTHROPIC, ask, turns))

    assert_fits_the_bills_that_it_is_told(run, "claude-sonnet-4-5", anthropic)


@pytest.mark.parametrize("function", [litellm.completion, litellm.acompletion])
def test_a_wrapped_function_fits_the_bills_that_its_answers_tell(function: Any) -> None:
    def run(provider: Provider, turns: int) -> None:
        complete = fitted(function, base("gpt-4o", openai_chat))

        async def ask(history: list[Any], turn: int) -> Body:
            answer: Any = complete(messages=history, **chat_at(provider))
            return (await answer if asyncio.iscoroutine(answer) else answer).model_dump(exclude_none=True)

        asyncio.run(talked(CHAT, ask, turns))

    assert_fits_the_bills_that_it_is_told(run, "gpt-4o", openai_chat)
