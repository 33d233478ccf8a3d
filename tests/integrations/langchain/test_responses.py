"""What `ChatOpenAI(use_responses_api=True)` sends is priced: reasoning, answer formats, hosted calls."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain.agents.structured_output import ProviderStrategy
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI

from assembler import Assembler, ClearToolResults, Summarize, TrimOldest, Truncate, count_request
from assembler.dialects import Dialect, openai_chat, openai_responses
from assembler.integrations.langchain import AssemblerMiddleware
from budgets import Budget
from tests.integrations.contexts import contexts_of
from tests.integrations.provider import providing
from tests.integrations.script import Summarizer, Trip

CHAT = ChatOpenAI(model="gpt-5", api_key="none", use_responses_api=True, output_version="responses/v1")
SEALED = base64.b64encode(b"x" * 1_200).decode()


def base(window: int = 100_000, policy: Any = None) -> Assembler:
    budget = Budget.for_model("gpt-5", context_window=window, max_output_tokens=16)
    return Assembler(budget, dialect=openai_responses, on_overflow=policy or TrimOldest())


def asked(middleware: AssemblerMiddleware, messages: list[Any], **more: Any) -> ModelRequest[Any]:
    sent: list[ModelRequest[Any]] = []

    def handler(request: ModelRequest[Any]) -> ModelResponse[Any]:
        sent.append(request)
        return ModelResponse(result=[AIMessage("done")])

    middleware.wrap_model_call(ModelRequest(model=CHAT, messages=messages, **more), handler)
    return sent[0]


def wire(messages: list[BaseMessage], **more: Any) -> dict[str, Any]:
    return CHAT._get_request_payload(messages, **more)


def thought(turn: int) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": f"They want the weather of day {turn}. " * 4}]
    return {"type": "reasoning", "id": f"rs_{turn}", "summary": summary, "encrypted_content": SEALED}


def kept_by_v1(turn: int) -> list[Any]:
    call = {"type": "function_call", "id": f"fc_{turn}", "call_id": f"c{turn}", "name": "look_up", "arguments": "{}"}
    return [thought(turn), {"type": "text", "text": f"I look it up: {turn}.", "id": f"msg_{turn}"}, call]


def turn_of(number: int, content: Any, extra: Any = None) -> list[BaseMessage]:
    call = {"id": f"c{number}", "name": "look_up", "args": {}}
    return [
        HumanMessage(f"Question {number}?"),
        AIMessage(content, id=f"a{number}", tool_calls=[call], additional_kwargs=extra or {}),
        ToolMessage("sunny " * 9, tool_call_id=call["id"]),
        AIMessage([{"type": "text", "text": f"It is sunny, {number}.", "id": f"msg_b{number}"}]),
    ]


def history(turns: int) -> list[BaseMessage]:
    return [message for n in range(turns) for message in turn_of(n, kept_by_v1(n))] + [HumanMessage("And now?")]


def test_reasoning_of_the_responses_api_is_priced_as_it_is_sent() -> None:
    middleware, messages = AssemblerMiddleware(base()), history(9)
    sent = asked(middleware, messages).messages
    assert all(a is b for a, b in zip(sent, messages, strict=True))
    assert middleware.last_context is not None
    on_the_wire = count_request({"input": wire(sent)["input"]}, dialect=openai_responses, model="gpt-5")
    assert middleware.last_context.count.upper >= on_the_wire.upper
    assert middleware.last_context.count.tokens == pytest.approx(on_the_wire.tokens, rel=0.05)


@pytest.mark.parametrize("off", [-2, -1, 0, 1])
def test_a_budget_on_the_edge_of_sealed_reasoning_is_kept_on_the_wire(off: int) -> None:
    whole = AssemblerMiddleware(base())
    asked(whole, history(6))
    assert whole.last_context is not None
    limit = whole.last_context.count.upper + off
    sent = asked(AssemblerMiddleware(base(limit + 16)), history(6)).messages
    assert (len(sent) == len(history(6))) == (off >= 0)
    on_the_wire = count_request({"input": wire(sent)["input"]}, dialect=openai_responses, model="gpt-5")
    assert on_the_wire.upper <= limit


def test_fields_that_version_0_keeps_beside_the_content_are_priced() -> None:
    bare, with_thought = AssemblerMiddleware(base()), AssemblerMiddleware(base())
    asked(bare, [*turn_of(0, "I look."), HumanMessage("?")])
    asked(with_thought, [*turn_of(0, "I look.", {"reasoning": thought(0)}), HumanMessage("?")])
    assert bare.last_context is not None
    assert with_thought.last_context is not None
    assert with_thought.last_context.count.tokens - bare.last_context.count.tokens > 250


def test_a_shortened_text_keeps_its_block_and_the_reasoning_before_it() -> None:
    long = [thought(0), {"type": "text", "text": "long " * 900, "id": "msg_0"}]
    messages = [HumanMessage("q"), AIMessage(long), HumanMessage("?")]
    sent = asked(AssemblerMiddleware(base(1_200, Truncate(60))), messages).messages
    assert sent[1].content[0] == thought(0)
    assert sent[1].content[1]["id"] == "msg_0"
    assert len(sent[1].content[1]["text"]) < 900


@pytest.mark.parametrize(("model", "dialect"), [("gpt-4o", openai_chat), ("gpt-5", openai_responses)])
def test_cleared_arguments_that_were_no_json_are_not_sent(model: str, dialect: Dialect) -> None:
    """An answer that is cut off in the middle of a call leaves such arguments, which may be long."""
    broken: Any = {"id": "call_1", "name": "write", "args": '{"text": "' + "word " * 500, "error": None}
    messages = [
        HumanMessage("Write."),
        AIMessage("", invalid_tool_calls=[broken]),
        ToolMessage("not JSON", tool_call_id="call_1"),
        AIMessage("It failed."),
        HumanMessage("Why?"),
    ]
    budget = Budget.for_model(model, context_window=200, max_output_tokens=16)
    middleware = AssemblerMiddleware(Assembler(budget, dialect=dialect, on_overflow=ClearToolResults(keep=0)))
    sent = asked(middleware, messages).messages
    assert len(sent) == len(messages)
    client = ChatOpenAI(model=model, api_key="none", use_responses_api=dialect is openai_responses)
    body = {key: held for key, held in client._get_request_payload(sent).items() if key in ("messages", "input")}
    assert middleware.last_context is not None
    assert count_request(body, dialect=dialect, model=model) == middleware.last_context.count


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(("model", "dialect"), [("gpt-4o", openai_chat), ("gpt-5", openai_responses)])
def test_an_answer_in_the_providers_format_costs_what_openais_client_writes(
    model: str, dialect: Dialect, strict: bool
) -> None:
    """It moves the description out of the schema, leaves the title out, and closes the objects of a strict one."""
    middleware = AssemblerMiddleware(Assembler(Budget.for_model(model), dialect=dialect))
    contexts = contexts_of(middleware)
    with providing() as provider:
        more: Any = {"base_url": f"{provider.url}/v1", "api_key": "x", "use_responses_api": dialect is openai_responses}
        strategy = ProviderStrategy(Trip, strict=strict)
        agent: Any = create_agent(ChatOpenAI(model=model, **more), middleware=[middleware], response_format=strategy)
        agent.invoke({"messages": [HumanMessage("Where?")]})
        assert "Where to go." in str(provider.bodies)
        sent = [count_request(body, dialect=dialect, model=model) for body in provider.bodies]
    assert [context.count for context in contexts] == sent


def test_an_agent_and_its_sub_agent_in_one_thread_keep_their_own_summaries() -> None:
    summarizer = Summarizer()

    def calls_of(agents: list[str]) -> int:
        summarizer.written.clear()
        middleware = AssemblerMiddleware(base(900, [Summarize(summarizer, keep_turns=1), TrimOldest()]))
        for turn in range(3, 24):
            for agent in agents:
                messages = [HumanMessage(f"You are {agent}."), AIMessage("Yes."), *history(turn)]
                asked(
                    middleware,
                    [m if isinstance(m.content, str) else m.model_copy(update={"content": "."}) for m in messages],
                )
        return len(summarizer.written)

    alone = calls_of(["planner"])
    assert calls_of(["planner", "almanac"]) == 2 * alone > 0


def test_an_answer_without_a_word_costs_what_is_sent_of_it() -> None:
    messages = [HumanMessage("Why?"), AIMessage(""), HumanMessage("And now?")]
    middleware = AssemblerMiddleware(base())
    sent = asked(middleware, messages).messages
    assert middleware.last_context is not None
    assert len(wire(sent)["input"]) == 3
    on_the_wire = count_request({"input": wire(sent)["input"]}, dialect=openai_responses, model="gpt-5")
    assert middleware.last_context.count == on_the_wire


SERVED = {"type": "function_call", "id": "fc_0", "call_id": "c0", "name": "look_up", "status": "completed"}
EXTRAS = {"item_id": "fc_0", "status": "completed"}


@pytest.mark.parametrize(
    ("version", "block"),
    [
        ("responses/v1", {**SERVED, "arguments": "{}"}),
        ("v1", {"type": "tool_call", "id": "c0", "name": "look_up", "args": {}, "extras": EXTRAS}),
    ],
)
def test_a_call_that_its_message_keeps_as_the_servers_item_costs_what_is_sent_of_it(version: str, block: Any) -> None:
    budget = Budget.for_model("gpt-4o", max_output_tokens=16)
    middleware = AssemblerMiddleware(Assembler(budget, dialect=openai_responses))
    call = {"id": "c0", "name": "look_up", "args": {}}
    answer = AIMessage([block], tool_calls=[call], response_metadata={"output_version": version})
    sent = asked(middleware, [HumanMessage("q"), answer, ToolMessage("sunny", tool_call_id="c0")]).messages
    body = {"input": wire(sent)["input"]}
    assert [item.get("status") for item in body["input"]] == [None, "completed", None]
    assert middleware.last_context is not None
    assert middleware.last_context.count == count_request(body, dialect=openai_responses, model="gpt-4o")


def test_a_claudes_own_calls_and_sealed_thought_are_left_out_as_the_client_of_responses_does() -> None:
    own: list[Any] = [
        {"type": "redacted_thinking", "data": SEALED},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "towns"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
        {"type": "text", "text": "To Kyoto."},
    ]
    middleware = AssemblerMiddleware(base())
    sent = asked(middleware, [HumanMessage("Where to?"), AIMessage(own), HumanMessage("And then?")])
    assert middleware.last_context is not None
    assert middleware.last_context.count == count_request(wire(sent.messages), dialect=openai_responses, model="gpt-5")
