"""The hooks of LiteLLM's SDK and proxy in single calls; `test_on_the_wire` has whole runs."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Iterator
from typing import Any

import litellm
import pytest
from litellm import BadRequestError, ContextWindowExceededError
from litellm.caching.caching import DualCache

from assembler import Assembler, AssemblyError, ContextLengthError, Summarize, TrimOldest, TrimSteps, count_request
from assembler.dialects import anthropic, openai_chat, openai_responses
from assembler.integrations.litellm import AssemblerHook, AssemblerProxyHook, fitted
from budgets import Budget, BudgetError
from tests.integrations.script import ANSWER, CALLS_OF_A_TURN, Trip, looked_up, planner, question
from tests.integrations.wire import Wire, serving

TURNS = 20
LIMIT = 2_800
LOOK_UP = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": "Look a question up in the almanac.",
        "parameters": {"type": "object", "properties": {"question": {"type": "string"}}, "required": ["question"]},
    },
}


@pytest.fixture
def wire() -> Iterator[Wire]:
    with serving() as served:
        yield served


@pytest.fixture(autouse=True)
def _no_callbacks() -> Iterator[None]:
    yield
    litellm.callbacks = []


def base(limit: int = LIMIT, policy: Any = None) -> Assembler:
    budget = Budget.for_model("gpt-4o", context_window=limit + ANSWER, max_output_tokens=ANSWER)
    return planner(Assembler(budget, on_overflow=policy or [TrimOldest(), TrimSteps()]))


def asked(wire: Wire, messages: list[Any], **more: Any) -> dict[str, Any]:
    return {"model": "openai/gpt-4o", "api_base": wire.url, "api_key": "none", "messages": messages, **more}


def results(message: Any) -> list[dict[str, Any]]:
    return [
        {"role": "tool", "tool_call_id": call.id, "content": looked_up(json.loads(call.function.arguments)["question"])}
        for call in message.tool_calls or ()
    ]


async def talk(wire: Wire, complete: Any, turns: int = TURNS, **more: Any) -> list[Any]:
    """A tool loop of so many turns; the messages of the model are appended as the objects that they came as."""
    messages: list[Any] = [{"role": "system", "content": "You plan trips."}]
    for turn in range(turns):
        messages.append({"role": "user", "content": question(turn)})
        for _ in range(CALLS_OF_A_TURN):
            before = copy.deepcopy(messages)
            answer = await complete(**asked(wire, messages, tools=[LOOK_UP], **more))
            assert messages == before
            messages += [answer.choices[0].message, *results(answer.choices[0].message)]
    return messages


def test_objects_of_the_sdk_and_other_arguments_are_left_as_they_are(wire: Wire) -> None:
    hook = AssemblerHook(base())
    litellm.callbacks = [hook]
    messages = asyncio.run(talk(wire, litellm.acompletion, temperature=0.5))
    assert len(wire.bodies) == TURNS * CALLS_OF_A_TURN
    assert wire.over(LIMIT) == []
    assert wire.invalid == []
    assert {body["temperature"] for body in wire.bodies} == {0.5}
    assert len(wire.bodies[-1]["messages"]) < len(messages) / 2
    assert "Köln &amp; Bonn" in json.dumps(wire.bodies[-1], ensure_ascii=False)
    assert hook.last_context is not None
    assert hook.report is not None


def test_a_structured_answer_is_priced_with_the_rest(wire: Wire) -> None:
    litellm.callbacks = [AssemblerHook(base())]
    asyncio.run(talk(wire, litellm.acompletion, response_format=Trip))
    assert wire.over(LIMIT) == []
    assert wire.invalid == []
    assert all(body["response_format"]["type"] == "json_schema" for body in wire.bodies)


def test_without_async_a_wrapped_function_fits_by_name_and_by_position(wire: Wire) -> None:
    complete = fitted(litellm.completion, base(300))
    messages = [{"role": "user", "content": question(turn)} for turn in range(30)]
    for call in (
        lambda: complete("openai/gpt-4o", messages, api_base=wire.url, api_key="none"),
        lambda: complete(**asked(wire, messages)),
    ):
        call()
    assert wire.bodies[0]["messages"] == wire.bodies[1]["messages"]
    assert 1 < len(wire.bodies[0]["messages"]) < 30
    assert wire.over(300) == []


def test_an_async_summarizer_is_asked_as_seldom_as_in_one_process(wire: Wire) -> None:
    written: list[int] = []

    async def summarizer(dropped: Any, previous: str | None, room: int) -> str:
        written.append(len(dropped))
        return "They talked about the weather."

    complete = fitted(litellm.acompletion, base(1_500, [Summarize(summarizer, keep_turns=1), TrimOldest()]))
    asyncio.run(talk(wire, complete, turns=12))
    assert 0 < len(written) < 12
    assert wire.over(1_500) == []
    assert "They talked about the weather." in json.dumps(wire.bodies[-1])


class Key:
    """What is read of LiteLLM's `UserAPIKeyAuth`, which needs all that the proxy does."""

    api_key = "hashed"


def hooked(hook: AssemblerProxyHook, data: dict[str, Any], kind: str = "acompletion") -> Any:
    return asyncio.run(hook.async_pre_call_hook(Key(), DualCache(), data, kind))


def test_the_proxy_fits_each_model_by_its_own_assembler_and_leaves_others_alone() -> None:
    hook = AssemblerProxyHook({"small": base(300), "large": base(3_000)})
    messages = [{"role": "user", "content": question(turn)} for turn in range(40)]
    sent = {name: hooked(hook, {"model": name, "messages": messages, "user": "u"}) for name in ("small", "large")}
    assert 1 < len(sent["small"]["messages"]) < len(sent["large"]["messages"]) < 42
    assert sent["small"]["user"] == "u"
    assert hooked(hook, {"model": "other", "messages": messages}) is None
    assert hooked(hook, {"model": "small", "input": "text"}, "aembedding") is None


@pytest.mark.parametrize("kind", ["aresponses", "anthropic_messages"])
def test_the_other_two_spellings_are_fitted_too(kind: str) -> None:
    place = "input" if kind == "aresponses" else "messages"
    messages = [{"role": "user", "content": question(turn)} for turn in range(40)]
    data = hooked(AssemblerProxyHook(base(600)), {"model": "m", place: messages, "max_tokens": 9}, kind)
    assert 0 < len(data[place]) < 40
    assert "Be brief." in (data.get("instructions") or data.get("system"))


def test_an_overflow_raises_our_error_in_the_sdk_and_litellms_own_on_the_proxy(wire: Wire) -> None:
    long = [{"role": "user", "content": "much too long " * 400}]
    litellm.callbacks = [AssemblerHook(base(200))]
    with pytest.raises(ContextLengthError):
        asyncio.run(litellm.acompletion(**asked(wire, long)))
    with pytest.raises(ContextWindowExceededError) as caught:
        hooked(AssemblerProxyHook(base(200)), {"model": "m", "messages": long})
    assert "much too long" not in str(caught.value)
    orphan = [{"role": "tool", "tool_call_id": "nobody", "content": "x"}, {"role": "user", "content": "?"}]
    with pytest.raises(BadRequestError):
        hooked(AssemblerProxyHook(base()), {"model": "m", "messages": orphan})
    assert wire.bodies == []


def test_messages_by_position_are_refused_where_no_hook_sees_them(wire: Wire) -> None:
    litellm.callbacks = [AssemblerHook(base())]
    with pytest.raises(AssemblyError, match="by name"):
        asyncio.run(
            litellm.acompletion("openai/gpt-4o", [{"role": "user", "content": "q"}], api_base=wire.url, api_key="k")
        )
    assert wire.bodies == []


def test_a_wrong_assembler_or_function_is_refused() -> None:
    with pytest.raises(BudgetError, match="Assembler"):
        AssemblerHook("gpt-4o")  # type: ignore[arg-type]
    with pytest.raises(BudgetError, match="acompletion"):
        fitted(litellm.embedding, base())
    assert AssemblerHook(base()).report is None


def test_a_claude_in_chats_spelling_is_priced_as_a_claude() -> None:
    budget = Budget.for_model("claude-sonnet-4-5", context_window=1_000, max_output_tokens=100)
    hook = AssemblerProxyHook(Assembler(budget, on_overflow=TrimOldest()))
    messages = [{"role": "user", "content": question(turn)} for turn in range(60)]
    data = hooked(hook, {"model": "claude", "messages": messages})
    price = count_request({"messages": data["messages"]}, dialect=openai_chat, model="claude-sonnet-4-5")
    assert len(data["messages"]) < 60
    assert price.upper <= 900


@pytest.mark.parametrize(
    "setting", [{"thinking": {"type": "enabled", "budget_tokens": 1_024}}, {"reasoning_effort": "low"}]
)
def test_the_thinking_of_a_claude_in_chats_spelling_is_priced_with_the_rest(setting: dict[str, Any]) -> None:
    messages = [{"role": "user", "content": question(0)}]
    limit = count_request({"messages": messages}, dialect=openai_chat, model="claude-sonnet-4-5").upper
    budget = Budget.for_model("claude-sonnet-4-5", context_window=limit + 100, max_output_tokens=100)
    hook = AssemblerProxyHook(Assembler(budget))
    assert hooked(hook, {"model": "claude", "messages": messages})["messages"] == messages
    with pytest.raises(ContextWindowExceededError):
        hooked(hook, {"model": "claude", "messages": messages, **setting})


@pytest.mark.parametrize(
    ("kind", "model", "option"),
    [
        ("acompletion", "gpt-4o", {"web_search_options": {"search_context_size": "low"}}),
        ("aresponses", "gpt-4o", {"text_format": Trip}),
        ("anthropic_messages", "claude-sonnet-4-5", {"reasoning_effort": "low"}),
        (
            "anthropic_messages",
            "claude-sonnet-4-5",
            {"mcp_servers": [{"type": "url", "url": "https://a.b", "name": "a"}]},
        ),
    ],
)
def test_an_option_that_costs_tokens_is_priced_with_the_rest(kind: str, model: str, option: dict[str, Any]) -> None:
    dialect = {"acompletion": openai_chat, "aresponses": openai_responses, "anthropic_messages": anthropic}[kind]
    request = {"input" if kind == "aresponses" else "messages": [{"role": "user", "content": question(0)}]}
    limit = count_request(request, dialect=dialect, model=model).upper
    budget = Budget.for_model(model, context_window=limit + 100, max_output_tokens=100)
    hook = AssemblerProxyHook(Assembler(budget))
    assert hooked(hook, {"model": "m", **request}, kind)
    with pytest.raises(ContextWindowExceededError):
        hooked(hook, {"model": "m", **request, **option}, kind)
