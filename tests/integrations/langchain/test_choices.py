"""A tool choice costs what the provider bills for it, and the middleware counts it."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import wrap_model_call
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from assembler import Assembler, count_request
from assembler.dialects import anthropic
from assembler.integrations.langchain import AssemblerMiddleware
from budgets import Budget
from tests.integrations.contexts import contexts_of
from tests.integrations.langchain.scripted import look_up
from tests.integrations.provider import providing
from tests.integrations.script import Trip

MODEL = "claude-opus-4-5"
THINKS: Any = {"thinking": {"type": "enabled", "budget_tokens": 1_024}}
PDF = base64.b64encode(b"%PDF-1.4\n1 0 obj<</Type/Page>>endobj").decode()


@wrap_model_call
def forcing(request: Any, handler: Any) -> Any:
    """Another middleware, which forces a tool until it was called."""
    return handler(request.override(tool_choice="look_up" if len(request.messages) == 1 else None))


@wrap_model_call
def forcing_any(request: Any, handler: Any) -> Any:
    """The same with any tool."""
    return handler(request.override(tool_choice="any" if len(request.messages) == 1 else None))


@pytest.mark.parametrize(
    "options", [{"response_format": ToolStrategy(Trip)}, {"middleware": [forcing]}, {"middleware": [forcing_any]}]
)
def test_a_forced_call_of_claude_costs_what_is_sent_of_it(options: dict[str, Any]) -> None:
    sent, counted = sent_and_counted([HumanMessage("Where to?")], options)
    assert "tool_choice" in sent[0]
    assert [count_request(body, dialect=anthropic, model=MODEL).upper for body in sent] == counted


def test_a_forced_call_that_claudes_client_leaves_out_beside_thinking_is_not_priced() -> None:
    sent, counted = sent_and_counted([HumanMessage("Where to?")], {"response_format": ToolStrategy(Trip)}, **THINKS)
    assert "tool_choice" not in sent[0]
    assert [count_request(body, dialect=anthropic, model=MODEL).upper for body in sent] == counted


@wrap_model_call
def answering(request: Any, handler: Any) -> Any:
    """Another middleware, which asks for an answer of its own."""
    return handler(request.override(model_settings={"response_format": Trip}))


def test_an_answer_that_another_middleware_asks_for_in_the_settings_costs_what_is_sent_of_it() -> None:
    sent, counted = sent_and_counted([HumanMessage("Where to?")], {"middleware": [answering]})
    assert "output_config" in sent[0]
    assert [count_request(body, dialect=anthropic, model=MODEL).upper for body in sent] == counted


DATA = {"base64": PDF, "mime_type": "application/pdf"}
SAID = {"title": "Towns to see", "context": "Written by a guide.", "citations": {"enabled": True}}


@pytest.mark.parametrize(
    "block",
    [
        {"type": "file", **DATA, **SAID},
        {"type": "file", **DATA, "extras": SAID},
        {"type": "text-plain", "text": "Kyoto is far.", "mime_type": "text/plain", **SAID},
        {"type": "image", "file_id": "file_1"},
    ],
    ids=["document", "extras", "text", "image of an id"],
)
def test_a_document_costs_what_claude_is_sent_of_its_title_its_context_and_its_citations(block: dict[str, Any]) -> None:
    sent, counted = sent_and_counted([HumanMessage([block, "And this?"])], {})
    assert [count_request(body, dialect=anthropic, model=MODEL).upper for body in sent] == counted


def test_an_answer_in_langchains_own_blocks_costs_what_claude_is_sent_of_it() -> None:
    signed = {"type": "reasoning", "reasoning": "Let me look. " * 9, "extras": {"signature": "abcd" * 60}}
    asked = {"type": "server_tool_call", "id": "srvtoolu_1", "name": "web_search", "args": {"query": "towns"}}
    page = {"type": "web_search_result", "url": "https://a.b", "title": "Towns", "encrypted_content": "abcd" * 60}
    found = {"tool_call_id": "srvtoolu_1", "output": [page], "extras": {"block_type": "web_search_tool_result"}}
    content: Any = [signed, asked, {"type": "server_tool_result", **found}, {"type": "text", "text": "To Kyoto."}]
    own = {"output_version": "v1", "model_provider": "anthropic"}
    history = [HumanMessage("Where to?"), AIMessage(content, response_metadata=own), HumanMessage("And then?")]
    sent, counted = sent_and_counted(history, {})
    assert "server_tool_use" in str(sent[0])
    assert [count_request(body, dialect=anthropic, model=MODEL).upper for body in sent] == counted


@pytest.mark.parametrize(
    ("history", "options", "settings"),
    [
        ([HumanMessage("Where to?")], {"response_format": ProviderStrategy(Trip)}, {}),
        ([HumanMessage("Where to?")], {}, {"thinking": {"type": "enabled", "budget_tokens": 1_024}}),
        (
            [
                HumanMessage("Where to?"),
                AIMessage("", tool_calls=[{"name": "look_up", "args": {"question": "towns"}, "id": "call_1"}]),
                ToolMessage("no such almanac", tool_call_id="call_1", status="error"),
            ],
            {},
            {},
        ),
    ],
)
def test_a_schema_thinking_and_a_failed_result_cost_what_claude_is_sent_of_them(
    history: list[Any], options: dict[str, Any], settings: dict[str, Any]
) -> None:
    sent, counted = sent_and_counted(history, options, **settings)
    assert [count_request(body, dialect=anthropic, model=MODEL).upper for body in sent] == counted


def test_two_answers_side_by_side_cost_what_claude_is_sent_of_them() -> None:
    history = [HumanMessage("Where to?"), AIMessage("To Kyoto."), AIMessage("Or Nara."), HumanMessage("And then?")]
    sent, counted = sent_and_counted(history, {})
    assert [message["role"] for message in sent[0]["messages"]] == ["user", "assistant", "user"]
    assert str(sent[0]).count("To Kyoto.") == str(sent[0]).count("Or Nara.") == 1
    assert [count_request(body, dialect=anthropic, model=MODEL).upper for body in sent] == counted


def test_a_call_after_an_answer_is_sent_once_with_it() -> None:
    called = AIMessage("", tool_calls=[{"name": "look_up", "args": {"question": "towns"}, "id": "call_1"}])
    history = [HumanMessage("Where to?"), AIMessage("Wait."), called, ToolMessage("Kyoto", tool_call_id="call_1")]
    sent, counted = sent_and_counted(history, {})
    first = sent[0]["messages"][1]["content"]
    assert [block["type"] for block in first] == ["text", "tool_use"]
    assert [count_request(body, dialect=anthropic, model=MODEL).upper for body in sent] == counted


KEYS = ("system", "messages", "tools", "tool_choice", "output_config", "output_format", "thinking")


def sent_and_counted(history: list[Any], options: dict[str, Any], **settings: Any) -> tuple[list[Any], list[int]]:
    """The bodies of a run, and the bound of each."""
    middleware = AssemblerMiddleware(Assembler(Budget.for_model(MODEL, context_window=9_000, max_output_tokens=500)))
    with providing(hosted=(), thinks=False) as provider:
        more: Any = {"max_tokens": 2_000, "max_retries": 0, **settings}
        model = ChatAnthropic(model=MODEL, api_key="x", base_url=provider.url, **more)
        others = options.get("middleware", [])
        agent: Any = create_agent(
            model, [look_up], **{**options, "middleware": [*others, middleware]}, system_prompt="You plan trips."
        )
        contexts = contexts_of(middleware)
        agent.invoke({"messages": history})
    counted = [context.count.upper for context in contexts]
    return [{key: body[key] for key in KEYS if key in body} for body in provider.bodies], counted
