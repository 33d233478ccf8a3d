"""An agent of LangChain, fifty turns long, under a window that holds eight of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRequest, ModelResponse
from langchain.agents.structured_output import AutoStrategy, ToolStrategy
from langchain_core.messages import AIMessage, BaseMessage, FunctionMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel

from assembler import (
    Assembler,
    ClearReasoning,
    ClearToolResults,
    Summarize,
    TrimOldest,
    Truncate,
    UnsupportedContentError,
    count_request,
)
from assembler.dialects import anthropic, openai_chat, openai_responses
from assembler.integrations.fitting import CONVERSATIONS, Asked, Fitting
from assembler.integrations.langchain import AssemblerMiddleware
from budgets import Budget, BudgetError
from tests.integrations.contexts import contexts_of
from tests.integrations.independent import assert_newest_objects, assert_orphaned, assert_overflows, assert_sendable
from tests.integrations.langchain.scripted import CHAT, Scripted, look_up
from tests.integrations.script import ANSWER, CALLS_OF_A_TURN, TURNS, WINDOW, Summarizer, planner, question

THREAD: Any = {"configurable": {"thread_id": "one"}}


def base(window: int = WINDOW, policy: Any = None) -> Assembler:
    budget = Budget.for_model("gpt-4o", context_window=window, max_output_tokens=ANSWER)
    return planner(Assembler(budget, on_overflow=policy or TrimOldest()))


def invoked(agent: Any, text: str, config: Any) -> None:
    agent.invoke({"messages": [HumanMessage(text)]}, config)


def awaited(agent: Any, text: str, config: Any) -> None:
    asyncio.run(agent.ainvoke({"messages": [HumanMessage(text)]}, config))


def streamed(agent: Any, text: str, config: Any) -> None:
    chunks = list(agent.stream({"messages": [HumanMessage(text)]}, config, stream_mode="messages"))
    assert chunks


RUNS: list[Callable[[Any, str, Any], None]] = [invoked, awaited, streamed]


def asked(middleware: AssemblerMiddleware, messages: list[Any], **more: Any) -> ModelRequest[Any]:
    """What the model is given of one request, by the middleware alone."""
    sent: list[ModelRequest[Any]] = []

    def handler(request: ModelRequest[Any]) -> ModelResponse[Any]:
        sent.append(request)
        return ModelResponse(result=[AIMessage("done")])

    middleware.wrap_model_call(ModelRequest(model=Scripted(), messages=messages, **more), handler)
    return sent[0]


def turns(count: int) -> list[BaseMessage]:
    history: list[BaseMessage] = []
    for turn in range(count):
        calls = [{"id": f"{turn}-{which}", "name": "look_up", "args": {"question": "é"}} for which in "ab"]
        history += [
            HumanMessage(question(turn), id=f"q{turn}"),
            AIMessage("", id=f"c{turn}", tool_calls=calls, response_metadata={"turn": turn}),
            *(ToolMessage("found " * 60, tool_call_id=call["id"], artifact=object()) for call in calls),
            AIMessage(f"answer {turn}", id=f"a{turn}"),
        ]
    return [*history, HumanMessage("and now?", id="last")]


@pytest.mark.parametrize("run", RUNS)
def test_fifty_turns_stay_valid_and_within_budget(run: Callable[[Any, str, Any], None]) -> None:
    model, assembler = Scripted(), base()
    middleware = AssemblerMiddleware(assembler)
    contexts = contexts_of(middleware)
    agent = create_agent(
        model, [look_up], system_prompt="You plan trips.", middleware=[middleware], checkpointer=InMemorySaver()
    )
    for turn in range(TURNS):
        run(agent, question(turn), THREAD)
    assert len(model.bodies) == len(contexts) == TURNS * CALLS_OF_A_TURN
    for body, context in zip(model.bodies, contexts, strict=True):
        assert_sendable(body, context, assembler)
    assert len(model.seen[-1]) < 100
    kept = agent.get_state(THREAD).values["messages"]
    assert sum(isinstance(message, HumanMessage) for message in kept) == TURNS
    assert middleware.context_of("one") is middleware.last_context
    system = model.seen[-1][0].text
    assert system.startswith("You plan trips.\n\nBe brief.\n\n<context")
    assert "Köln &amp; Bonn" in system


def test_the_kept_messages_are_the_very_objects() -> None:
    history = turns(40)
    before = list(history)
    sent = asked(AssemblerMiddleware(base()), history).messages
    assert_newest_objects(sent, history)
    assert all(a is b for a, b in zip(history, before, strict=True))


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
HISTORIES: dict[str, list[BaseMessage]] = {
    "blocks": [HumanMessage(["one", {"type": "text", "text": "two"}])],
    "an image in LangChain's own spelling": [
        HumanMessage([{"type": "image", "base64": PIXEL, "mime_type": "image/png"}, {"type": "text", "text": "?"}])
    ],
    "an image in OpenAI's": [
        HumanMessage([{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}])
    ],
    "names": [HumanMessage("q", name="Ann"), AIMessage("a", name="planner"), HumanMessage("q")],
    "a call that could not be read": [
        HumanMessage("q"),
        AIMessage("", invalid_tool_calls=[{"id": "t", "name": "look_up", "args": "{'", "error": "no JSON"}]),
        ToolMessage("no JSON", tool_call_id="t"),
    ],
    "a name among the additional fields": [HumanMessage("q", additional_kwargs={"name": "Ann"})],
    "an older call of a function": [
        HumanMessage("q"),
        AIMessage("", additional_kwargs={"function_call": {"name": "look_up", "arguments": '{"question": "towns"}'}}),
        FunctionMessage("found", name="look_up"),
    ],
    "a spoken answer": [HumanMessage("q"), AIMessage("", additional_kwargs={"audio": {"id": "a"}}), HumanMessage("q")],
    "an answer without a word": [HumanMessage("q"), AIMessage(""), HumanMessage("q")],
    "a result of blocks": [
        HumanMessage("q"),
        AIMessage("", tool_calls=[{"id": "t", "name": "look_up", "args": {}}]),
        ToolMessage([{"type": "text", "text": "found"}], tool_call_id="t"),
    ],
}


@pytest.mark.parametrize("name", HISTORIES)
def test_a_history_costs_what_is_sent_of_it(name: str) -> None:
    middleware = AssemblerMiddleware(base())
    request = asked(middleware, HISTORIES[name])
    body = CHAT._get_request_payload([request.system_message, *request.messages])
    assert middleware.last_context is not None
    wire = {"messages": body["messages"]}
    assert count_request(wire, dialect=openai_chat, model="gpt-4o").tokens == middleware.last_context.count.tokens


def test_a_spoken_answer_stays_although_it_has_no_text() -> None:
    messages = HISTORIES["a spoken answer"]
    assert [*map(id, asked(AssemblerMiddleware(Assembler(dialect=openai_chat)), messages).messages)] == [
        *map(id, messages)
    ]


def test_an_older_call_of_a_function_is_shortened_with_its_result() -> None:
    called = {"function_call": {"name": "look_up", "arguments": '{"question": "' + "towns " * 60 + '"}'}, "name": "Ann"}
    step = [AIMessage("", additional_kwargs=called), FunctionMessage("found " * 90, name="look_up")]
    messages = [HumanMessage("q"), *step, HumanMessage("q")]
    sent = asked(AssemblerMiddleware(base(ANSWER + 100, Truncate(max_tokens=12))), messages).messages
    assert len(sent[1].additional_kwargs["function_call"]["arguments"]) < 200
    assert sent[1].additional_kwargs["name"] == "Ann"
    assert len(sent[2].content) < 90
    assert messages[1].additional_kwargs == called


def test_reasoning_of_claude_is_left_out_of_a_call_of_the_responses_api() -> None:
    message = AIMessage(
        [{"type": "thinking", "thinking": "hm " * 500, "signature": "c2ln"}, {"type": "text", "text": "a"}]
    )
    budget = Budget.for_model("gpt-4o", context_window=300 + ANSWER, max_output_tokens=ANSWER)
    middleware = AssemblerMiddleware(Assembler(budget, dialect=openai_responses))
    assert asked(middleware, [HumanMessage("q"), message, HumanMessage("q")]).messages[1] is message


def test_a_text_file_for_claude_costs_its_text() -> None:
    budget = Budget.for_model("claude-sonnet-4-5", context_window=20_000, max_output_tokens=ANSWER)
    middleware = AssemblerMiddleware(Assembler(budget))
    block = {"type": "text-plain", "text": "clams " * 300, "mime_type": "text/plain"}
    messages = [HumanMessage([block, {"type": "text", "text": "?"}])]
    assert asked(middleware, messages).messages[0] is messages[0]
    assert middleware.last_context is not None
    assert 300 < middleware.last_context.count.tokens < 3_000


def test_a_file_by_its_url_is_bounded_and_not_refused() -> None:
    budget = Budget.for_model("claude-sonnet-4-5", context_window=1_000_000, max_output_tokens=ANSWER)
    middleware = AssemblerMiddleware(Assembler(budget))
    block = {"type": "file", "url": "https://a.org/a.pdf", "mime_type": "application/pdf"}
    messages = [HumanMessage([block, {"type": "text", "text": "?"}])]
    assert asked(middleware, messages).messages[0] is messages[0]
    assert middleware.last_context is not None
    assert middleware.last_context.count.upper > 100_000


def test_a_block_without_a_price_is_refused_with_an_error_of_this_library() -> None:
    messages = [HumanMessage([{"type": "video", "url": "https://a.org/a.mp4"}])]
    with pytest.raises(UnsupportedContentError, match="a video block"):
        asked(AssemblerMiddleware(base()), messages)


def test_reasoning_costs_nothing_if_it_is_not_sent() -> None:
    message = AIMessage([{"type": "reasoning", "reasoning": "hm " * 500}, {"type": "text", "text": "a"}])
    request = asked(AssemblerMiddleware(base(300)), [HumanMessage("q"), message, HumanMessage("q")])
    assert request.messages[1] is message


def test_reasoning_that_is_cleared_leaves_the_rest_of_its_message() -> None:
    thoughts = [{"type": "thinking", "thinking": "hm " * 100, "signature": "c2lnbmVk"}, {"type": "text", "text": "a"}]
    messages = [AIMessage(thoughts, id="one"), AIMessage(thoughts, id="two")]
    history = [HumanMessage("q"), messages[0], HumanMessage("q"), messages[1], HumanMessage("q")]
    whole = Assembler(Budget.for_model("gpt-4o"), dialect=anthropic).add_messages(history).build().count.upper
    budget = Budget.for_model("gpt-4o", context_window=whole - 1 + ANSWER, max_output_tokens=ANSWER)
    assembler = Assembler(budget, dialect=anthropic, on_overflow=ClearReasoning(keep=1))
    sent = asked(AssemblerMiddleware(assembler), history).messages
    assert [block["type"] for block in sent[1].content] == ["text"]
    assert sent[1].id == "one"
    assert sent[3] is messages[1]


def test_a_bare_schema_asked_for_is_priced_as_a_tool() -> None:
    class Trip(BaseModel):
        """Where to go."""

        town: str

    bare, answered = AssemblerMiddleware(base()), AssemblerMiddleware(base())
    asked(bare, turns(1), tools=[look_up])
    asked(answered, turns(1), tools=[look_up], response_format=AutoStrategy(Trip))
    assert bare.last_context is not None
    assert answered.last_context is not None
    assert bare.last_context.costs.capability < answered.last_context.costs.capability


def test_a_value_that_is_not_an_assembler_raises_an_error_that_says_what_to_pass() -> None:
    with pytest.raises(BudgetError, match="Assembler"):
        AssemblerMiddleware("assembler")  # type: ignore[arg-type]
    assert AssemblerMiddleware(base()).report is None
    assert AssemblerMiddleware(base()).context_of("nobody") is None


def test_only_so_many_conversations_are_remembered() -> None:
    fitting = Fitting(base())
    for run in range(CONVERSATIONS + 1):
        fitting.fit([{"role": "user", "content": "q"}], Asked(tools=[]), run=run)
    assert fitting.context_of(0) is None
    assert fitting.context_of(CONVERSATIONS) is fitting.last_context


@pytest.mark.parametrize("policy", [ClearToolResults(keep=2), Truncate(max_tokens=20)])
def test_a_shortened_result_keeps_everything_but_its_text(policy: Any) -> None:
    history = turns(8)
    sent = asked(AssemblerMiddleware(base(1_500, policy)), history).messages
    assert len(sent) == len(history)
    shortened = [(a, b) for a, b in zip(sent, history, strict=True) if a is not b]
    assert shortened
    for new, old in shortened:
        if isinstance(new, AIMessage):  # a cleared call keeps its id and name, and loses its arguments
            assert new.model_copy(update={"tool_calls": old.tool_calls}) == old
            assert [call["id"] for call in new.tool_calls] == [call["id"] for call in old.tool_calls]
            continue
        assert len(new.content) < len(old.content)
        assert new.artifact is old.artifact
        assert new.model_copy(update={"content": old.content}) == old
    assert any(isinstance(new, ToolMessage) for new, _ in shortened)


def test_blocks_that_are_not_sent_as_text_outlive_a_shortening() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "c2lnbmVk"}
    use = {"type": "tool_use", "id": "t", "name": "look_up", "input": {"question": "x"}}
    long = AIMessage([thinking, {"type": "text", "text": "long " * 500, "index": 1}, use])
    long.tool_calls = [{"id": "t", "name": "look_up", "args": {"question": "x"}, "type": "tool_call"}]
    history = [HumanMessage("q"), long, ToolMessage("r", tool_call_id="t"), HumanMessage("and?")]
    sent = asked(AssemblerMiddleware(base(600, Truncate(max_tokens=50))), history).messages
    assert [block["type"] for block in sent[1].content] == ["thinking", "text", "tool_use"]
    assert sent[1].content[0] is long.content[0]
    assert sent[1].content[2] is long.content[2]
    assert sent[1].content[1]["index"] == 1
    assert len(sent[1].content[1]["text"]) < 500
    assert sent[1].tool_calls == long.tool_calls


def test_a_prompt_of_blocks_keeps_them_and_their_cache_marks() -> None:
    block = {"type": "text", "text": "You plan trips.", "cache_control": {"type": "ephemeral"}}
    own = SystemMessage([block])
    request = asked(AssemblerMiddleware(base()), turns(1), system_message=own)
    assert request.system_message is not None
    assert request.system_message.content[0] is own.content[0]
    assert request.system_message.content[1]["text"].startswith("Be brief.\n\n<context")


def test_a_base_with_nothing_to_say_leaves_the_prompt_alone() -> None:
    own = SystemMessage("You plan trips.")
    request = asked(AssemblerMiddleware(Assembler()), turns(1), system_message=own)
    assert request.system_message is own


def test_tools_and_the_schema_of_an_answer_are_priced() -> None:
    class Trip(BaseModel):
        """Where to go."""

        town: str

    bare, tooled, answered = (AssemblerMiddleware(base()) for _ in range(3))
    asked(bare, turns(1))
    asked(tooled, turns(1), tools=[look_up])
    asked(answered, turns(1), tools=[look_up], response_format=ToolStrategy(Trip))
    costs = [middleware.last_context.costs.capability for middleware in (bare, tooled, answered)]
    assert costs[0] == 0 < costs[1] < costs[2]


def test_a_tool_of_the_provider_s_goes_with_the_others() -> None:
    search = {"type": "web_search_20250305", "name": "web_search"}
    assert asked(AssemblerMiddleware(base()), turns(1), tools=[search]).tools == [search]


def test_a_tool_of_the_provider_is_priced_or_stands_in_the_overhead() -> None:
    search = {"type": "web_search_20250305", "name": "web_search"}
    priced = AssemblerMiddleware(Assembler(Budget.for_model("gpt-4o"), dialect=anthropic))
    asked(priced, turns(1), tools=[search, look_up])
    assert priced.last_context is not None
    assert priced.last_context.costs.capability > 500
    budget = Budget.for_model("gpt-4o", context_window=WINDOW, overhead=500)
    request = asked(AssemblerMiddleware(Assembler(budget)), turns(1), tools=[search])
    assert request.tools == [search]


@pytest.mark.parametrize("run", RUNS)
def test_an_overflow_reaches_the_caller_as_an_error_of_this_library(run: Callable[[Any, str, Any], None]) -> None:
    agent = create_agent(Scripted(), [look_up], middleware=[AssemblerMiddleware(base(300))])
    assert_overflows(lambda: run(agent, "much too long " * 200, {}))


def test_a_broken_history_reaches_the_caller_as_an_error_of_this_library() -> None:
    orphan = [HumanMessage("q"), ToolMessage("r", tool_call_id="nobody"), HumanMessage("q")]
    agent = create_agent(Scripted(), [look_up], middleware=[AssemblerMiddleware(base())])
    assert_orphaned("nobody", lambda: agent.invoke({"messages": orphan}))


def test_a_summary_is_written_once_for_many_calls() -> None:
    summarizer = Summarizer()
    model = Scripted()
    middleware = AssemblerMiddleware(base(1_500, [Summarize(summarizer, keep_turns=1), TrimOldest()]))
    agent = create_agent(model, [look_up], middleware=[middleware], checkpointer=InMemorySaver())
    for turn in range(8):
        invoked(agent, question(turn), THREAD)
    assert 0 < len(summarizer.written) < 8
    assert any("They talked about" in message.text for message in model.seen[-1][:3])


def test_threads_that_share_a_middleware_keep_their_own_reports() -> None:
    middleware = AssemblerMiddleware(base())

    def session(name: int) -> int:
        agent = create_agent(Scripted(), [look_up], middleware=[middleware], checkpointer=InMemorySaver())
        for turn in range(name + 1):
            invoked(agent, question(turn), {"configurable": {"thread_id": f"thread {name}"}})
        context = middleware.context_of(f"thread {name}")
        assert context is not None
        return len(context.messages)

    with ThreadPoolExecutor(4) as pool:
        lengths = list(pool.map(session, range(4)))
    # A turn is a question, two calls with their results, a call with its own, and an answer: the last is not sent.
    assert lengths == [7 * (name + 1) - 1 for name in range(4)]


def test_the_private_names_that_the_middleware_uses_are_still_there() -> None:
    from langchain.agents import factory
    from langgraph.runtime import ExecutionInfo, Runtime

    assert callable(factory._supports_provider_strategy)
    assert "execution_info" in Runtime.__dataclass_fields__
    assert {"thread_id", "run_id"} <= ExecutionInfo.__dataclass_fields__.keys()
