"""The conversation manager in Strands' own event loop, with a model that keeps what it was sent."""

from __future__ import annotations

import asyncio
import base64
import copy
import json
from types import SimpleNamespace
from typing import Any

import pytest
from strands import Agent, tool
from strands.agent.state import AgentState
from strands.hooks import BeforeModelCallEvent
from strands.middleware import InvokeModelStage
from strands.models.openai import OpenAIModel
from strands.types.exceptions import ContextWindowOverflowException

from assembler import Assembler, ContextLengthError, ConversationError, count_request, verify
from assembler.dialects import bedrock, openai_chat, openai_responses, plain
from assembler.integrations.strands import AssemblerConversationManager
from assembler.policies import ClearToolResults, Refuse, Summarize, TrimOldest, TrimSteps
from budgets import Budget
from tests.integrations.script import Summarizer, librarian, shortening
from tests.integrations.strands.scripted import Scripted, bedrock_request, look_up

WINDOW = 2_500
TURNS = 50


def base(window: int = WINDOW, on_overflow: Any = None, **options: Any) -> Assembler:
    budget = Budget(window, max_output_tokens=100)
    policy = TrimOldest() if on_overflow is None else on_overflow
    return librarian(Assembler(budget, dialect=bedrock, on_overflow=policy, **options))


def agent_of(assembler: Assembler, **options: Any) -> tuple[Agent, Scripted, AssemblerConversationManager]:
    model, manager = Scripted(), AssemblerConversationManager(assembler)
    options = {"tools": [look_up], "system_prompt": "You are a librarian.", **options}
    agent = Agent(model=model, conversation_manager=manager, callback_handler=None, **options)
    return agent, model, manager


def assert_sendable(model: Scripted, limit: int) -> None:
    for call in model.seen:
        request = bedrock_request(call)
        assert verify(request, dialect="bedrock") == []
        assert count_request(request, dialect=bedrock).upper <= limit


PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.mark.parametrize("shorten", [False, True])
def test_a_picture_in_a_result_costs_what_strands_sends_of_it_to_chat_completions(shorten: bool) -> None:
    long = "found " * (600 if shorten else 1)
    picture = {"image": {"format": "png", "source": {"bytes": PIXEL}}}
    result = {"toolUseId": "t", "status": "success", "content": [{"text": long}, picture]}
    history: list[Any] = [
        {"role": "user", "content": [{"text": "q"}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t", "name": "look_up", "input": {}}}]},
        {"role": "user", "content": [{"toolResult": result}]},
    ]
    budget = Budget.for_model("gpt-4o", context_window=500 if shorten else 5_000, max_output_tokens=1)
    manager = AssemblerConversationManager(Assembler(budget, dialect=openai_chat, on_overflow=ClearToolResults(keep=0)))
    agent: Any = SimpleNamespace(state=AgentState())
    call: Any = SimpleNamespace(
        agent=agent, messages=history, system_prompt=None, tool_specs=[], tool_choice=None, structured_output_model=None
    )
    call.model, call.replace = None, lambda **changes: SimpleNamespace(**changes)
    sent = manager.fitted(call).messages
    body = {"messages": OpenAIModel.format_request_messages(sent)}
    assert str(sent).count("successfully") == str(history).count("successfully") == 0
    assert shorten != ("successfully" in str(body))
    assert manager.last_context is not None
    assert count_request(body, dialect=openai_chat, model="gpt-4o").upper <= manager.last_context.count.upper


def test_fifty_turns_with_tools_stay_valid_and_within_the_budget() -> None:
    agent, model, manager = agent_of(base())
    for turn in range(TURNS):
        agent(f"Question {turn}: what about it?")
    assert len(model.seen) > 2 * TURNS
    assert_sendable(model, WINDOW - 100)
    assert any(len(call["messages"]) < len(agent.messages) // 4 for call in model.seen)
    assert manager.report is not None
    assert manager.last_context is not None
    assert manager.last_context.dropped


def test_fifty_streamed_turns_stay_valid_and_within_the_budget() -> None:
    agent, model, _ = agent_of(base())

    async def session() -> None:
        for turn in range(TURNS):
            async for _ in agent.stream_async(f"Question {turn}: what about it?"):
                pass

    asyncio.run(session())
    assert len(model.seen) > 2 * TURNS
    assert_sendable(model, WINDOW - 100)


def test_the_count_is_that_of_what_was_sent() -> None:
    agent, model, manager = agent_of(base())
    for turn in range(12):
        agent(f"Question {turn}")
        assert manager.last_context is not None
        recount = count_request(bedrock_request(model.seen[-1]), dialect=bedrock)
        assert manager.last_context.count.tokens == recount.tokens


def test_the_history_of_the_agent_stays_whole_and_as_it_was() -> None:
    agent, _, _ = agent_of(base())
    for turn in range(20):
        before = copy.deepcopy(agent.messages)
        agent(f"Question {turn}")
        assert agent.messages[: len(before)] == before
    questions = [m for m in agent.messages if m["role"] == "user" and "text" in m["content"][0]]
    assert len(questions) == 20


def letters(call: dict[str, Any]) -> int:
    """The letters of all texts, names, arguments and tools of a call: the least it can cost by the letter."""
    total = len(call["system"] or "")
    for message in call["messages"]:
        for block in message["content"]:
            total += len(block.get("text", ""))
            if "toolUse" in block:
                total += len(block["toolUse"]["name"]) + len(compact(block["toolUse"]["input"]))
            if "toolResult" in block:
                total += sum(len(inner["text"]) for inner in block["toolResult"]["content"])
    return total + sum(len(compact(spec["inputSchema"]["json"])) + len(spec["name"]) for spec in call["tools"])


def compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def test_a_recount_by_the_letter_never_exceeds_the_budget() -> None:
    budget = Budget(3_000, max_output_tokens=500, counter=len)
    agent, model, _ = agent_of(Assembler(budget, dialect=plain, on_overflow=TrimOldest()))
    for turn in range(20):
        agent(f"Question {turn}?")
    costs = [letters(call) for call in model.seen]
    assert 1_500 < max(costs) <= 2_500


def call_of(messages: list[Any], system: Any = "You are a librarian.") -> Any:
    """A call as middleware gets it."""
    from strands.middleware import InvokeModelContext

    return InvokeModelContext(
        agent=SimpleNamespace(state=AgentState()), messages=messages, system_prompt=system,
        tool_specs=[look_up.tool_spec], tool_choice=None, invocation_state={}, model=SimpleNamespace(),
    )  # fmt: skip


def history(turns: int, size: int = 60) -> list[Any]:
    messages: list[Any] = []
    for n in range(turns):
        thought = {"reasoningContent": {"reasoningText": {"text": "Let me see.", "signature": f"s{n}"}}}
        calls = [
            {"toolUse": {"toolUseId": f"c{n}-{k}", "name": "look_up", "input": {"topic": "x" * 30}}} for k in (0, 1)
        ]
        results = [
            {"toolResult": {"toolUseId": f"c{n}-{k}", "status": "success", "content": [{"text": "word " * size}]}}
            for k in (0, 1)
        ]
        messages += [
            {"role": "user", "content": [{"text": f"Question {n}"}], "metadata": {"custom": {"n": n}}},
            {"role": "assistant", "content": [thought, *calls]},
            {"role": "user", "content": results},
            {"role": "assistant", "content": [{"text": f"Answer {n}"}]},
        ]
    return [*messages, {"role": "user", "content": [{"text": "And now?"}], "tracking_id": "id-of-the-last"}]


def test_the_kept_messages_are_the_very_objects_in_order() -> None:
    messages = history(12)
    fitted = AssemblerConversationManager(base()).fitted(call_of(messages))
    assert 0 < len(fitted.messages) < len(messages)
    for sent, own in zip(reversed(fitted.messages), reversed(messages), strict=False):
        assert sent is own


def test_everything_that_fits_stays() -> None:
    messages = history(3)
    fitted = AssemblerConversationManager(base(100_000)).fitted(call_of(messages))
    assert len(fitted.messages) == len(messages)
    assert all(sent is own for sent, own in zip(fitted.messages, messages, strict=True))


@pytest.mark.parametrize("policy", shortening(20).values(), ids=shortening(20))
def test_a_shortened_message_keeps_its_ids_its_signature_and_its_other_parts(policy: Any) -> None:
    messages = history(8)
    before = copy.deepcopy(messages)
    fitted = AssemblerConversationManager(base(2_100, policy)).fitted(call_of(messages))
    assert messages == before
    own = {id(message): message for message in messages}
    changed = [message for message in fitted.messages if id(message) not in own]
    assert changed
    for message in changed:
        for block in message["content"]:
            (kind,) = block
            assert kind in ("text", "toolUse", "toolResult", "reasoningContent")
    ids = [b["toolUse"]["toolUseId"] for m in fitted.messages for b in m["content"] if "toolUse" in b]
    answered = [b["toolResult"]["toolUseId"] for m in fitted.messages for b in m["content"] if "toolResult" in b]
    assert ids == answered
    signatures = [
        b["reasoningContent"]["reasoningText"]["signature"]
        for m in fitted.messages for b in m["content"] if "reasoningContent" in b
    ]  # fmt: skip
    assert set(signatures) <= {f"s{n}" for n in range(8)}
    assert fitted.messages[-1]["tracking_id"] == "id-of-the-last"
    request = bedrock_request({"messages": fitted.messages, "tools": fitted.tool_specs, "system": fitted.system_prompt,
                               "blocks": None})  # fmt: skip
    assert verify(request, dialect="bedrock") == []
    assert count_request(request, dialect=bedrock).upper <= 2_000


def test_a_long_turn_gives_up_its_oldest_steps() -> None:
    agent, model, _ = agent_of(base(1_600, (TrimOldest(), TrimSteps(keep=1))))
    for turn in range(10):
        agent(f"Question {turn}")
    assert_sendable(model, 1_500)


def test_a_summary_is_a_message_of_strands_and_is_made_once() -> None:
    summarizer = Summarizer()
    manager = AssemblerConversationManager(base(2_000, (Summarize(summarizer, keep_turns=2), TrimOldest())))
    call = call_of(history(10))
    fitted = manager.fitted(call)
    times = len(summarizer.written)
    assert fitted.messages[0]["content"][0]["text"].endswith("They talked about the weather.")
    manager.fitted(call)
    assert len(summarizer.written) == times


def test_instruction_and_knowledge_follow_the_prompt_of_the_agent() -> None:
    agent, model, _ = agent_of(base())
    agent("Hello?")
    system = model.seen[0]["system"]
    assert system.startswith("You are a librarian.\n\nAnswer from the archive.\n\n<context ")
    assert "Mondays &amp; Tuesdays" in system


def test_a_prompt_of_blocks_keeps_its_cache_point() -> None:
    blocks = [{"text": "You are a librarian."}, {"cachePoint": {"type": "default"}}]
    agent, model, manager = agent_of(base(), system_prompt=blocks)
    agent("Hello?")
    sent = model.seen[0]["blocks"]
    assert sent[:2] == blocks
    assert sent[2]["text"].startswith("Answer from the archive.")
    assert manager.last_context is not None
    assert count_request(bedrock_request(model.seen[0]), dialect=bedrock).upper <= manager.last_context.count.upper


def test_an_agent_without_a_prompt_is_left_without_one() -> None:
    agent, model, _ = agent_of(Assembler(Budget(10_000), dialect=bedrock), system_prompt=None)
    agent("Hello?")
    assert model.seen[0]["system"] is None


def test_tools_and_prompt_are_priced_with_the_history() -> None:
    room = {}
    for name, options in {"with": {}, "without": {"tools": [], "system_prompt": None}}.items():
        manager = AssemblerConversationManager(base(100_000))
        call = call_of(history(0))
        call = call.replace(tool_specs=[], system_prompt=None) if options else call
        manager.fitted(call)
        assert manager.last_context is not None
        room[name] = manager.last_context.costs
    assert room["with"].capability > room["without"].capability == 0
    assert room["with"].instruction > room["without"].instruction
    assert abs(room["with"].knowledge - room["without"].knowledge) <= 1 < room["with"].knowledge


def test_an_overflow_reaches_the_user_as_an_error_of_this_library_before_the_model_is_asked() -> None:
    agent, model, _ = agent_of(base(1_000, Refuse()))
    with pytest.raises(ContextLengthError) as caught:
        agent("word " * 2_000)
    assert model.seen == []
    assert caught.value.available == 900


def test_an_overflow_after_a_tool_result_reaches_the_user_as_an_error_of_this_library() -> None:
    @tool
    def look_up(topic: str, depth: int) -> str:
        """Look a topic up."""
        return "word " * 2_000

    agent, model, _ = agent_of(base(1_400, Refuse()), tools=[look_up])
    with pytest.raises(ContextLengthError):
        agent("Hello?")
    assert len(model.seen) == 1
    assert "toolResult" in agent.messages[-1]["content"][0]


def test_a_malformed_history_raises_an_error_of_this_library() -> None:
    orphan = {"toolResult": {"toolUseId": "nobody", "status": "success", "content": [{"text": "x"}]}}
    agent, _, _ = agent_of(base(), messages=[{"role": "user", "content": [orphan]}])
    with pytest.raises(ConversationError):
        agent("Hello?")


def test_an_overflow_of_the_provider_stays_its_own() -> None:
    manager = AssemblerConversationManager(base())
    with pytest.raises(ContextWindowOverflowException):
        manager.reduce_context(SimpleNamespace(), ContextWindowOverflowException("theirs"))
    manager.reduce_context(SimpleNamespace())
    manager.apply_management(SimpleNamespace())


def test_agents_that_share_a_manager_do_not_mix() -> None:
    manager = AssemblerConversationManager(base())
    agents = [Agent(model=Scripted(), conversation_manager=manager, callback_handler=None, tools=[look_up],
                    system_prompt=f"You are number {n}.") for n in range(2)]  # fmt: skip
    for turn in range(8):
        for agent in agents:
            agent(f"Question {turn}")
    for n, agent in enumerate(agents):
        model = agent.model
        assert isinstance(model, Scripted)
        assert all(call["system"].startswith(f"You are number {n}.") for call in model.seen)
        assert_sendable(model, WINDOW - 100)


def test_nothing_is_reported_before_the_first_call() -> None:
    manager = AssemblerConversationManager(base())
    assert manager.last_context is None
    assert manager.report is None


def test_other_middleware_sees_what_fits() -> None:
    agent, _, _ = agent_of(base())
    seen: list[int] = []

    def watch(call: Any) -> Any:
        seen.append(len(call.messages))
        return call

    agent.add_middleware(InvokeModelStage.Input, watch)
    for turn in range(20):
        agent(f"Question {turn}")
    assert max(seen) < len(agent.messages)


def test_an_async_summarizer_is_awaited_on_the_event_loop_of_the_run() -> None:
    loops: list[object] = []

    async def summarizer(dropped: Any, previous: str | None, tokens: int) -> str:
        loops.append(asyncio.get_running_loop())
        return "They asked about walruses."

    agent, model, _ = agent_of(base(2_100, [Summarize(summarizer, keep_turns=1), TrimOldest()]))

    async def run() -> object:
        for turn in range(12):
            await agent.invoke_async(f"Question {turn}? " + "Please look. " * 20)
        return asyncio.get_running_loop()

    own = asyncio.run(run())
    assert loops
    assert set(loops) == {own}
    assert "They asked about walruses." in str(model.seen[-1])


def test_a_tool_that_must_be_called_and_tools_of_the_provider_are_priced() -> None:
    manager = AssemblerConversationManager(Assembler(Budget(100_000, model="gpt-5"), dialect=openai_responses))
    call = call_of(history(0))
    own = {"params": {"tools": [{"type": "web_search"}]}}
    forced = call.replace(tool_choice={"tool": {"name": "look_up"}})
    with_own = call.replace(model=SimpleNamespace(get_config=lambda: own))
    contexts = []
    for each in (call, forced, with_own):
        manager.fitted(each)
        contexts.append(manager.last_context)
    plain_one, forced_one, own_one = (context.request() for context in contexts if context is not None)
    assert "tool_choice" not in plain_one
    assert forced_one["tool_choice"] == {"type": "function", "name": "look_up"}
    assert {"type": "web_search"} in own_one["tools"]


def test_a_state_is_stored_in_the_agent_only_if_there_is_something_to_remember() -> None:
    call = call_of(history(20))
    AssemblerConversationManager(base()).fitted(call)
    assert call.agent.state.get("context_assembler") is None
    policy = [Summarize(lambda *_: "They talked.", keep_turns=2), TrimOldest()]
    AssemblerConversationManager(base(on_overflow=policy)).fitted(call)
    assert "They talked." in str(call.agent.state.get("context_assembler"))


def test_neighbours_of_one_role_go_out_as_one_turn() -> None:
    asked = [{"role": "user", "content": [{"text": word}]} for word in ("Hello.", "Are you there?")]
    agent, model, _ = agent_of(base(100_000), messages=copy.deepcopy(asked))
    agent("What about it?")
    answer = {"role": "user", "content": [{"text": "Hello."}, {"text": "Are you there?"}, {"text": "What about it?"}]}
    assert model.seen[0]["messages"] == [answer]
    assert verify(bedrock_request(model.seen[0]), dialect="bedrock") == []
    assert [message["content"] for message in agent.messages[:2]] == [message["content"] for message in asked]


def test_a_call_that_a_hook_cancels_is_not_settled() -> None:
    agent, model, _ = agent_of(base())

    def cancel(event: BeforeModelCallEvent) -> None:
        event.cancel = "not today"

    agent.add_hook(cancel, BeforeModelCallEvent)
    assert str(agent("Where to?")).strip() == "not today"
    assert model.seen == []
