"""What the clients of other APIs than Bedrock's make of Strands' messages is priced as it is sent."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import boto3
import pytest
from strands import Agent
from strands.models import BedrockModel
from strands.models.anthropic import AnthropicModel
from strands.models.gemini import GeminiModel
from strands.models.openai import OpenAIModel
from strands.models.openai_responses import OpenAIResponsesModel

from assembler import Assembler, ClearReasoning, ClearToolResults, ContextLengthError, Truncate, count_request
from assembler.integrations.strands import AssemblerConversationManager
from budgets import Budget, Count
from tests.integrations.contexts import contexts_of
from tests.integrations.provider import Body, Provider, providing
from tests.integrations.strands.test_on_the_wire import look_up

THINKING = {"thinking": {"type": "enabled", "budget_tokens": 2_000}}
CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
AWS: Any = {"aws_access_key_id": "x", "aws_secret_access_key": "x", "region_name": "us-east-1"}
SIGNATURE = "abcd" * 60


def at(provider: Provider, path: str = "", key: str = "base_url") -> dict[str, Any]:
    return {"api_key": "x", key: f"{provider.url}{path}"}


MODELS: dict[str, tuple[Callable[[Provider], Any], str]] = {
    "bedrock": (
        lambda it: BedrockModel(
            boto_session=boto3.Session(**AWS), endpoint_url=it.url, model_id=CLAUDE, additional_request_fields=THINKING
        ),
        "claude-sonnet-4-5",
    ),
    "anthropic": (
        lambda it: AnthropicModel(client_args=at(it), model_id="claude-sonnet-4-5", max_tokens=4_000, params=THINKING),
        "claude-sonnet-4-5",
    ),
    "openai_chat": (lambda it: OpenAIModel(client_args=at(it, "/v1"), model_id="gpt-4o"), "gpt-4o"),
    "openai_responses": (lambda it: OpenAIResponsesModel(client_args=at(it, "/v1"), model_id="gpt-5"), "gpt-5"),
    "gemini": (
        lambda it: GeminiModel(
            client_args={"api_key": "x", "http_options": {"base_url": it.url}}, model_id="gemini-2.5-flash"
        ),
        "gemini-2.5-flash",
    ),
}


NOVA = "amazon.nova-lite-v1:0"


def called(*content: Any, status: str = "success") -> list[Any]:
    """A question, a call after a thought, its result with this content, and the answer."""
    thought = {"reasoningContent": {"reasoningText": {"text": "Let me look it up. " * 9, "signature": SIGNATURE}}}
    call = {"toolUse": {"toolUseId": "t1", "name": "look_up", "input": {"question": "towns"}}}
    result = {"toolResult": {"toolUseId": "t1", "status": status, "content": list(content)}}
    return [
        {"role": "user", "content": [{"text": "Where to?"}]},
        {"role": "assistant", "content": [thought, call]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": [{"text": "To Kyoto."}]},
    ]


WRAPPED = 9
"""Tokens that Strands writes for Gemini around a shortened result, beyond what is counted; 4 around a cleared one."""

TEXT: Any = {"document": {"format": "txt", "name": "towns", "source": {"bytes": b"Kyoto is far. " * 20}}}


PROMPT: Any = [{"text": "You plan"}, {"text": "trips."}]


def sent_and_counted(
    dialect: str, history: list[Any], prompt: Any = PROMPT, instruction: str = "", **more: Any
) -> tuple[Body, Count]:
    make, name = MODELS[dialect]
    budget = Budget.for_model(name, **more.pop("window", {"max_output_tokens": 500}))
    base: Any = Assembler(budget, dialect=dialect, **more)
    manager = AssemblerConversationManager(base.set_instruction(instruction))
    contexts = contexts_of(manager)
    with providing(hosted=()) as provider:
        agent = Agent(
            model=make(provider),
            conversation_manager=manager,
            messages=[*history],
            tools=[look_up],
            system_prompt=prompt,
            callback_handler=None,
        )
        with suppress(ContextLengthError):  # of the later calls of the loop
            agent("And how do I get there?")
    return provider.bodies[0], contexts[0].count


@pytest.mark.parametrize("dialect", MODELS)
@pytest.mark.parametrize(
    "history",
    [called({"text": "Kyoto"}), called({"json": {"towns": ["Kyoto"], "near": False}}), called(TEXT, {"text": "See."})],
    ids=["text", "json", "document"],
)
def test_a_history_costs_what_the_client_sends_of_it(dialect: str, history: list[Any]) -> None:
    body, counted = sent_and_counted(dialect, history)
    assert counted == count_request(body, dialect=dialect, model=MODELS[dialect][1])


def sent_to_nova(**settings: Any) -> tuple[Body, Count]:
    """The first request of a turn after a result of JSON, and its count."""
    history = called({"json": {"towns": ["Köln"] * 40, "near": False}})
    history[1]["content"].pop(0)  # its client sends Nova no signed reasoning
    budget = Budget.for_model(NOVA, max_output_tokens=0, **settings.pop("window", {}))
    manager = AssemblerConversationManager(Assembler(budget, dialect="bedrock", **settings))
    contexts = contexts_of(manager)
    with providing(hosted=(), thinks=False) as provider:
        model = BedrockModel(boto_session=boto3.Session(**AWS), endpoint_url=provider.url, model_id=NOVA)
        more: Any = {"conversation_manager": manager, "messages": history, "callback_handler": None}
        with suppress(ContextLengthError):  # of the later calls of the loop
            Agent(model=model, tools=[look_up], **more)("And how do I get there?")
    return provider.bodies[0], contexts[0].count


@pytest.mark.parametrize("policy", [ClearToolResults(keep=0), Truncate(max_tokens=20)])
def test_a_result_of_json_costs_the_text_that_bedrocks_client_sends_of_it_to_nova(policy: Any) -> None:
    whole, priced = sent_to_nova()
    assert "u00f6ln" in str(whole)
    body, counted = sent_to_nova(window={"context_window": priced.upper - 20}, on_overflow=policy)
    assert str(body).count("u00f6ln") < str(whole).count("u00f6ln")
    assert [count_request(sent, dialect="bedrock", model=NOVA) for sent in (whole, body)] == [priced, counted]


@pytest.mark.parametrize("dialect", MODELS)
@pytest.mark.parametrize("prompt", [PROMPT, [{"text": " You plan\n"}, {"text": "trips.\n"}], "You plan trips."])
def test_a_prompt_costs_what_the_client_sends_of_it_beside_the_text_of_the_assembler(dialect: str, prompt: Any) -> None:
    body, counted = sent_and_counted(dialect, [], prompt, "Be brief.")
    assert counted.upper == count_request(body, dialect=dialect, model=MODELS[dialect][1]).upper
    assert str(body).count("You plan") == str(body).count("Be brief.") == 1


@pytest.mark.parametrize("dialect", ["openai_chat", "openai_responses"])
def test_arguments_that_a_policy_leaves_of_a_call_are_sent_as_an_object(dialect: str) -> None:
    history = called({"text": "Kyoto " * 90})
    history[1]["content"][1]["toolUse"]["input"] = {"question": "straße", "near": ["a", 1], "more": "towns " * 90}
    whole, priced = sent_and_counted(dialect, history)
    assert priced == count_request(whole, dialect=dialect, model=MODELS[dialect][1])
    window = {"context_window": priced.upper - 60, "max_output_tokens": 0}
    policy = Truncate(max_tokens=20)
    body, counted = sent_and_counted(dialect, history, window=window, on_overflow=policy)
    assert "towns " * 90 not in str(body)
    assert counted == count_request(body, dialect=dialect, model=MODELS[dialect][1])


@pytest.mark.parametrize("dialect", MODELS)
def test_two_texts_of_a_result_cost_what_the_client_makes_of_them(dialect: str) -> None:
    body, counted = sent_and_counted(dialect, called({"text": "Kyoto"}, {"text": "Nara"}))
    assert counted == count_request(body, dialect=dialect, model=MODELS[dialect][1])


@pytest.mark.parametrize("texts", [["To Kyoto.", "Or to Nara."], []], ids=["two texts", "empty"])
def test_an_answer_costs_what_the_client_of_responses_makes_of_its_texts(texts: list[str]) -> None:
    answer = {"role": "assistant", "content": [{"text": text} for text in texts]}
    history = [{"role": "user", "content": [{"text": "Where to?"}]}, answer]
    body, counted = sent_and_counted("openai_responses", history)
    assert counted == count_request(body, dialect="openai_responses", model="gpt-5")


@pytest.mark.parametrize("dialect", ["openai_chat", "openai_responses"])
def test_what_a_policy_leaves_of_two_texts_costs_what_is_sent_of_it(dialect: str) -> None:
    history = called({"text": "Kyoto " * 90}, {"text": "Nara " * 90})
    whole = sent_and_counted(dialect, history)[1]
    window = {"context_window": whole.upper - 20, "max_output_tokens": 0}
    body, counted = sent_and_counted(dialect, history, window=window, on_overflow=Truncate(max_tokens=20))
    assert "Kyoto" in str(body)
    assert "Nara " * 90 not in str(body)
    assert counted == count_request(body, dialect=dialect, model=MODELS[dialect][1])


@pytest.mark.parametrize("dialect", ["gemini", "anthropic"])
@pytest.mark.parametrize("policy", [ClearReasoning(keep=0), ClearToolResults(keep=0), Truncate(max_tokens=20)])
def test_what_a_policy_leaves_is_still_in_the_form_that_strands_sends(dialect: str, policy: Any) -> None:
    history = called(TEXT, {"text": "Kyoto " * 90})
    whole = sent_and_counted(dialect, history)[1]
    window = {"context_window": whole.upper - 20, "max_output_tokens": 0}
    body, counted = sent_and_counted(dialect, history, window=window, on_overflow=[policy, ClearToolResults(keep=0)])
    assert counted.upper <= whole.upper - 20
    sent = count_request(body, dialect=dialect, model=MODELS[dialect][1])
    assert sent.tokens - counted.tokens <= (WRAPPED if dialect == "gemini" else 0)
