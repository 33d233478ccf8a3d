"""Calls that LiteLLM makes of another call: in the form of another API, or for one of its fallbacks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import litellm
import pytest

from assembler import Assembler, ContextLengthError, TrimOldest, count_request
from assembler.dialects import anthropic, openai_responses
from assembler.integrations.litellm import AssemblerHook
from budgets import Budget
from tests.assembler.decorated import PNG
from tests.integrations.provider import Body, Provider, providing

pytestmark = pytest.mark.timeout(900)  # LiteLLM's import alone takes ten seconds

INSTRUCTION = "Answer in one sentence."
PLAIN = {"type": "object", "properties": {"of": {"type": "string"}}}
SAID = [{"role": "user", "content": "How do I get to Kyoto?"}]

Ask = Callable[[Provider], Awaitable[Any]]


@pytest.fixture(autouse=True)
def _no_callbacks() -> Iterator[None]:
    yield
    litellm.callbacks = []


def base(limit: int = 2_000) -> Assembler:
    budget = Budget.for_model("gpt-4o", context_window=limit + 100, max_output_tokens=100)
    return Assembler(budget).add_instruction(INSTRUCTION)


def at(provider: Provider, **more: Any) -> Body:
    return {"api_base": f"{provider.url}/v1", "api_key": "x", **more}


def arrived(ask: Ask) -> list[Body]:
    with providing() as provider:
        asyncio.run(ask(provider))  # type: ignore[arg-type]
        return provider.bodies


async def streamed(call: Awaitable[Any]) -> None:
    async for _ in await call:
        pass


def router(provider: Provider) -> litellm.Router:
    named = {"small": "openai/gpt-4o", "large": "openai/gpt-4o-mini"}
    return litellm.Router(
        model_list=[{"model_name": name, "litellm_params": at(provider, model=model)} for name, model in named.items()]
    )


BRIDGES: dict[str, Ask] = {
    "Chat to Responses": lambda it: litellm.acompletion("openai/responses/gpt-4o", messages=SAID, **at(it)),
    "Responses to Messages": lambda it: litellm.aresponses(
        model="anthropic/claude-sonnet-4-5", input=SAID, api_base=it.url, api_key="x"
    ),
    "Messages to Responses": lambda it: litellm.anthropic_messages(
        model="openai/gpt-4o", messages=SAID, max_tokens=9, **at(it)
    ),
    "Messages to Responses, streamed": lambda it: streamed(
        litellm.anthropic_messages(model="openai/gpt-4o", messages=SAID, max_tokens=9, stream=True, **at(it))
    ),
    "Messages through a router": lambda it: router(it).aanthropic_messages(model="small", messages=SAID, max_tokens=9),
    "fallbacks": lambda it: litellm.acompletion(
        "openai/gpt-4o", messages=SAID, fallbacks=["openai/gpt-4o-mini"], **at(it)
    ),
    "fallbacks of a router": lambda it: router(it).acompletion(model="small", messages=SAID, fallbacks=["large"]),
}


@pytest.mark.parametrize("ask", BRIDGES.values(), ids=BRIDGES)
def test_a_call_that_becomes_another_one_gets_the_instruction_once(ask: Ask) -> None:
    litellm.callbacks = [AssemblerHook(base())]
    (body,) = arrived(ask)
    assert json.dumps(body).count(INSTRUCTION) == 1


def test_a_fallback_is_fitted_by_its_own_assembler() -> None:
    litellm.callbacks = [AssemblerHook({"openai/gpt-4o": base(30), "openai/gpt-4o-mini": base()})]
    messages = [{"role": "user", "content": "How do I get to Kyoto? " * 10}]
    models = ["openai/gpt-4o", "openai/gpt-4o-mini"]
    (body,) = arrived(lambda it: litellm.acompletion(models[0], messages=messages, fallbacks=models[1:], **at(it)))
    assert body["model"] == "gpt-4o-mini"
    assert json.dumps(body).count(INSTRUCTION) == 1


def test_the_next_call_with_an_id_of_an_answered_one_is_fitted_again() -> None:
    litellm.callbacks = [AssemblerHook(base())]

    async def twice(provider: Provider) -> None:
        for _ in range(2):
            await litellm.acompletion("openai/gpt-4o", messages=SAID, litellm_call_id="one", **at(provider))

    assert [json.dumps(body).count(INSTRUCTION) for body in arrived(twice)] == [1, 1]


def test_a_fallback_that_does_not_fit_is_not_sent() -> None:
    litellm.callbacks = [AssemblerHook(base(10))]
    with pytest.raises(Exception, match="context needs") as caught:
        arrived(lambda it: litellm.acompletion("openai/gpt-4o", messages=SAID, fallbacks=["openai/gpt-4o"], **at(it)))
    assert not isinstance(caught.value, ContextLengthError)  # LiteLLM's own, which has the text of the last one


@pytest.mark.parametrize("model", ["openai/gpt-4o", "openai/gpt-4o-mini", "openai/gpt-5"])
def test_a_small_picture_in_messages_form_is_bounded_by_what_another_makers_model_is_sent(model: str) -> None:
    budget = Budget.for_model(model, max_output_tokens=100)
    hook = AssemblerHook(Assembler(budget))
    litellm.callbacks = [hook]
    source = {"type": "base64", "media_type": "image/png", "data": PNG}
    messages = [{"role": "user", "content": [{"type": "image", "source": source}]}]
    (body,) = arrived(lambda it: litellm.anthropic_messages(model=model, messages=messages, max_tokens=9, **at(it)))
    assert hook.last_context is not None
    assert hook.last_context.count.upper >= count_request(body, dialect=openai_responses, model=model).upper


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "claude-opus-4-8"])
def test_a_picture_in_a_result_costs_what_claude_is_sent_of_it(model: str) -> None:
    hook = AssemblerHook(Assembler(Budget.for_model(model, max_output_tokens=100)))
    litellm.callbacks = [hook]
    call = {"id": "toolu_1", "type": "function", "function": {"name": "see", "arguments": "{}"}}
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    messages: list[Any] = [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "toolu_1", "content": [picture]},
    ]
    tools = [{"type": "function", "function": {"name": "see", "description": "See.", "parameters": PLAIN}}]
    (body,) = arrived(
        lambda it: litellm.acompletion(
            f"anthropic/{model}", messages=messages, tools=tools, api_base=it.url, api_key="x", max_tokens=9
        )
    )
    assert hook.last_context is not None
    assert hook.last_context.count == count_request(body, dialect=anthropic, model=model)


CALLED: list[Any] = [
    {"role": "user", "content": "Where to?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "toolu_1", "type": "function", "function": {"name": "see", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "toolu_1", "content": "Kyoto"},
]
BARE = {"type": "function", "function": {"name": "see", "description": "See."}}
FILLED: dict[str, Body] = {
    "a tool without parameters": {"messages": CALLED, "tools": [BARE]},
    "calls without tools": {"messages": CALLED},
    "a search": {"messages": SAID, "web_search_options": {"search_context_size": "low"}},
    "a search beside a tool": {"messages": CALLED, "tools": [BARE], "web_search_options": {}},
}


@pytest.mark.parametrize("call", FILLED.values(), ids=FILLED)
@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "claude-sonnet-5"])
def test_a_call_fits_a_claude_exactly_if_what_litellm_sends_of_it_does(model: str, call: Body) -> None:
    given = json.loads(json.dumps(call))

    def sent(budget: Budget) -> list[Body]:
        litellm.callbacks = [AssemblerHook(Assembler(budget))]
        claude = {"model": f"anthropic/{model}", "api_key": "x", "max_tokens": 9}
        return arrived(lambda it: litellm.acompletion(**claude, **call, api_base=it.url))

    (body,) = sent(Budget.for_model(model, max_output_tokens=100))
    limit = count_request(body, dialect=anthropic, model=model).upper
    assert sent(Budget(limit, model=model)) == [body]
    with pytest.raises(ContextLengthError):
        sent(Budget(limit - 1, model=model))
    assert call == given


def test_a_tool_that_litellm_adds_for_calls_is_left_to_it_once_the_calls_are_dropped() -> None:
    said = [{"role": "user", "content": "Where to? " * 600}, *CALLED[1:], {"role": "user", "content": "And now?"}]
    budget = Budget.for_model("claude-sonnet-4-5", context_window=1_000, max_output_tokens=100)
    litellm.callbacks = [AssemblerHook(Assembler(budget, on_overflow=TrimOldest()))]
    claude = {"model": "anthropic/claude-sonnet-4-5", "api_key": "x", "max_tokens": 9}
    (body,) = arrived(lambda it: litellm.acompletion(**claude, messages=said, api_base=it.url))
    assert [message["role"] for message in body["messages"]] == ["user"]
    assert "tools" not in body
