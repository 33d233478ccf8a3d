"""What the capability counts before a call is what the body costs that Pydantic AI's own model then sends."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from pydantic_ai import Agent, ModelRetry, ModelSettings, NativeOutput, PromptedOutput, UnexpectedModelBehavior
from pydantic_ai.messages import BinaryContent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from assembler import Assembler, count_request, verify
from assembler.dialects import Dialect, anthropic, openai_chat, openai_responses
from assembler.integrations.pydantic_ai import FitContext
from budgets import Budget
from tests.integrations.contexts import contexts_of
from tests.integrations.provider import providing
from tests.integrations.pydantic_ai.test_messages import PIXEL
from tests.integrations.script import Trip, looked_up

CHAT = ("messages", "tools", "tool_choice", "response_format", "parallel_tool_calls")
RESPONSES = ("input", "instructions", "tools", "tool_choice", "text", "parallel_tool_calls")
MESSAGES = ("messages", "system", "tools", "tool_choice", "output_config")


def chat(url: str) -> OpenAIChatModel:
    return OpenAIChatModel("gpt-4o", provider=OpenAIProvider(base_url=f"{url}/v1", api_key="x"))


def responses(url: str) -> OpenAIResponsesModel:
    return OpenAIResponsesModel("gpt-5", provider=OpenAIProvider(base_url=f"{url}/v1", api_key="x"))


def messages(url: str) -> AnthropicModel:
    return AnthropicModel("claude-sonnet-4-5", provider=AnthropicProvider(base_url=url, api_key="x"))


Made = tuple[Callable[[str], Any], Dialect, str, tuple[str, ...]]
APIS: dict[str, Made] = {
    "chat": (chat, openai_chat, "gpt-4o", CHAT),
    "responses": (responses, openai_responses, "gpt-5", RESPONSES),
    "messages": (messages, anthropic, "claude-sonnet-4-5", MESSAGES),
}
PICTURE = BinaryContent(PIXEL, media_type="image/png")


def look_up(question: str) -> str:
    """Look a question up in the almanac."""
    return looked_up(question)


def shown(question: str) -> Any:
    """Look a question up in the almanac."""
    return PICTURE


def told_and_shown(question: str) -> Any:
    """Look a question up in the almanac."""
    return ["sunny", PICTURE, {"degrees": 21}]


def listed(question: str) -> Any:
    """Look a question up in the almanac."""
    return ["sunny", {"degrees": 21}, "warm"]


def refusing(question: str) -> str:
    """Look a question up in the almanac."""
    if "weather" in question:
        raise ModelRetry("Ask again, and name the town.")
    return looked_up(question)


ONE_BY_ONE = ModelSettings(parallel_tool_calls=False)
INSTRUCTIONS: Any = ["You plan trips.", lambda: "Today is Monday."]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("tool", "options"),
    [
        (look_up, {"instructions": INSTRUCTIONS}),
        (look_up, {"instructions": INSTRUCTIONS, "output_type": NativeOutput(Trip)}),
        (look_up, {"system_prompt": ["You plan trips\n", "\nToday is Monday\n"]}),
        (look_up, {"system_prompt": ["You plan trips"], "instructions": "Speak English"}),
        (look_up, {"instructions": "Speak English"}),
        (look_up, {"model_settings": ONE_BY_ONE}),
        (refusing, {}),
        (listed, {}),
    ],
    ids=[
        "instructions",
        "an answer format",
        "prompts",
        "a prompt and instructions",
        "an instruction",
        "one call at a time",
        "a retry",
        "a list",
    ],
)
def test_each_body_costs_what_was_counted(api: str, tool: Any, options: dict[str, Any]) -> None:
    sent, counted, faults = run(APIS[api], tool, options)
    assert sent == counted
    assert faults == []


@pytest.mark.parametrize("api", ["responses", "messages"])
@pytest.mark.parametrize("tool", [shown, told_and_shown])
def test_a_picture_in_a_result_costs_what_is_sent_of_it(api: str, tool: Any) -> None:
    sent, counted, faults = run(APIS[api], tool, {})
    assert sent == counted
    assert faults == []


def test_a_schema_in_the_instructions_costs_responses_what_is_sent_of_it() -> None:
    options = {"instructions": "You plan trips.", "output_type": PromptedOutput(Trip)}
    sent, counted, faults = run(APIS["responses"], look_up, options)
    assert sent == counted
    assert faults == []


def run(made: Made, tool: Any, options: dict[str, Any]) -> tuple[list[int], list[int], list[Any]]:
    """The bound of each body of two turns, what was counted for it, and what its API would refuse."""
    make, dialect, name, keys = made
    budget = Budget.for_model(name, context_window=12_000, max_output_tokens=1_000)
    capability = FitContext(Assembler(budget, dialect=dialect).set_instruction("Be brief."))
    with providing(hosted=(), thinks=False) as provider:
        agent: Any = Agent(make(provider.url), tools=[tool], capabilities=[capability], retries=3, **options)
        contexts = contexts_of(capability)
        history: Any = []
        with suppress(UnexpectedModelBehavior):  # the provider answers no schema that it only reads of
            for question in ("Where to?", "And then?"):
                history = agent.run_sync(question, message_history=history).all_messages()
    assert len(provider.bodies) >= 6
    bodies = [{key: body[key] for key in keys if key in body} for body in provider.bodies]
    sent = [count_request(body, dialect=dialect, model=name).upper for body in bodies]
    faults = [fault for body in bodies for fault in verify(body, dialect=dialect)]
    return sent, [context.by_rule.upper for context in contexts], faults
