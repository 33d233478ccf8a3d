"""A run of the OpenAI Agents SDK, fifty turns long, under a window that holds eight of them."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Callable
from typing import Any

import pytest
from agents import (
    Agent,
    AgentOutputSchema,
    RunConfig,
    Runner,
    SQLiteSession,
    WebSearchTool,
    handoff,
    set_tracing_disabled,
)
from agents.run_config import CallModelData, ModelInputData
from pydantic import BaseModel

from assembler import Assembler, ConversationError, count_request, verify
from assembler.dialects import Dialect, openai_chat, openai_responses
from assembler.integrations.openai_agents import FitInput
from assembler.policies import ClearToolResults, Summarize, TrimOldest, TrimSteps, Truncate
from budgets import Budget, BudgetError, MissingExtraError
from tests.integrations.independent import assert_orphaned, assert_overflows, assert_sendable, recount
from tests.integrations.openai_agents.scripted import Scripted, look_up
from tests.integrations.script import ANSWER, CALLS_OF_A_TURN, TURNS, WINDOW, Summarizer, planner, question

set_tracing_disabled(True)


def base(window: int = WINDOW, policy: Any = None, dialect: Dialect = openai_responses, **more: int) -> Assembler:
    budget = Budget.for_model("gpt-4o", context_window=window, max_output_tokens=ANSWER, **more)
    return planner(Assembler(budget, on_overflow=policy or TrimOldest(), dialect=dialect))


def agent_of(model: Any, **more: Any) -> Agent[Any]:
    return Agent(name="planner", instructions="You plan trips.", model=model, tools=[look_up], **more)


def invoked(agent: Agent[Any], text: Any, config: RunConfig, session: Any = None) -> None:
    Runner.run_sync(agent, text, run_config=config, session=session)


def awaited(agent: Agent[Any], text: Any, config: RunConfig, session: Any = None) -> None:
    asyncio.run(Runner.run(agent, text, run_config=config, session=session))


def streamed(agent: Agent[Any], text: Any, config: RunConfig, session: Any = None) -> None:
    async def run() -> None:
        result = Runner.run_streamed(agent, text, run_config=config, session=session)
        assert [event async for event in result.stream_events()]

    asyncio.run(run())


RUNS: list[Callable[..., None]] = [invoked, awaited, streamed]


def watched(filter: FitInput) -> tuple[RunConfig, list[Any]]:
    """A run config whose filter is this one, and the contexts that it builds, call by call."""
    contexts: list[Any] = []

    async def fit(data: Any) -> Any:
        fitted = await filter(data)
        contexts.append(filter.last_context)
        return fitted

    return RunConfig(call_model_input_filter=fit), contexts


def fitted(filter: FitInput, items: list[Any], agent: Agent[Any] | None = None) -> ModelInputData:
    """What the model is given of one call, by the filter alone."""
    data = ModelInputData(input=items, instructions="You plan trips.")
    bare: Agent[Any] = Agent(name="bare")
    return asyncio.run(filter(CallModelData(data, agent or bare, None)))


def turns(count: int) -> list[Any]:
    items: list[Any] = []
    for turn in range(count):
        calls = [
            {"type": "function_call", "call_id": f"{turn}-{w}", "name": "look_up", "arguments": '{"question": "é"}'}
            for w in "ab"
        ]
        results = [
            {"type": "function_call_output", "call_id": call["call_id"], "output": "found " * 60} for call in calls
        ]
        block = {"type": "output_text", "text": f"answer {turn}", "annotations": []}
        items += [
            {"role": "user", "content": question(turn)},
            {"type": "reasoning", "id": f"rs_{turn}", "summary": [{"type": "summary_text", "text": "hm"}]},
            *calls,
            *results,
            {"type": "message", "role": "assistant", "id": f"msg_{turn}", "status": "completed", "content": [block]},
        ]
    return [*items, {"role": "user", "content": "and now?"}]


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("reasons", ["", "They want the weather first."])
def test_fifty_turns_stay_valid_and_within_budget(run: Callable[..., None], reasons: str) -> None:
    model, assembler = Scripted(reasons=reasons), base()
    config, contexts = watched(FitInput(assembler))
    agent, session = agent_of(model), SQLiteSession("one")
    for turn in range(TURNS):
        run(agent, question(turn), config, session)
    assert len(model.responses) == len(contexts) == TURNS * CALLS_OF_A_TURN
    assert assembler.budget is not None
    for body, chat, context in zip(model.responses, model.chats, contexts, strict=True):
        assert verify(body, dialect=openai_responses) == []
        assert verify(chat, dialect=openai_chat) == []
        priced = count_request(body, dialect=openai_responses, model="gpt-4o")
        assert priced.tokens == context.count.tokens
        assert priced.upper <= assembler.budget.input_limit
        assert recount(chat) <= assembler.budget.input_limit
    assert len(model.seen[-1]) < 100
    kept = asyncio.run(session.get_items())
    assert [item["content"] for item in kept if item.get("role") == "user"] == [question(n) for n in range(TURNS)]
    instructions = model.responses[-1]["instructions"]
    assert instructions.startswith("You plan trips.\n\nBe brief.\n\n<context")
    assert "Köln &amp; Bonn" in instructions


@pytest.mark.parametrize("run", [awaited, streamed])
def test_fifty_turns_cost_what_chat_completions_is_sent(run: Callable[..., None]) -> None:
    model, assembler = Scripted(), base(dialect=openai_chat)
    config, contexts = watched(FitInput(assembler))
    agent, session = agent_of(model), SQLiteSession("one")
    for turn in range(TURNS):
        run(agent, question(turn), config, session)
    assert len(model.chats) == len(contexts) == TURNS * CALLS_OF_A_TURN
    for body, context in zip(model.chats, contexts, strict=True):
        assert_sendable(body, context, assembler)


def test_the_kept_items_are_the_very_objects() -> None:
    items = turns(40)
    sent = fitted(FitInput(base()), items).input
    assert 1 < len(sent) < len(items)
    assert all(a is b for a, b in zip(sent, items[-len(sent) :], strict=True))


@pytest.mark.parametrize(
    "policy", [ClearToolResults(keep=2), Truncate(max_tokens=20), [TrimSteps(keep=1), Truncate(max_tokens=10)]]
)
def test_a_shortened_item_keeps_its_ids(policy: Any) -> None:
    items = turns(8)
    before = [dict(item) for item in items]
    sent = fitted(FitInput(base(1_500, policy)), items).input
    assert items == before
    assert verify({"input": sent}, dialect=openai_responses) == []
    shortened = [(a, b) for a, b in zip(sent, items, strict=True) if a is not b]
    assert shortened
    for new, old in shortened:
        assert {key for key in old if new[key] != old[key]} <= {"output", "arguments", "content"}


def test_tools_handoffs_and_the_schema_of_an_answer_are_priced() -> None:
    class Trip(BaseModel):
        """Where to go."""

        town: str

    costs: list[int] = []
    other: Agent[Any] = Agent(name="booker", handoff_description="Books what was planned.")
    for agent in (
        Agent(name="bare"),
        agent_of(None),
        agent_of(None, handoffs=[other]),
        agent_of(None, handoffs=[other], output_type=Trip),
    ):
        fit = FitInput(base())
        fitted(fit, turns(1), agent)
        assert fit.last_context is not None
        costs.append(fit.last_context.costs.capability)
    assert costs[0] == 0
    assert costs == sorted(set(costs))


def capability(agent: Agent[Any]) -> int:
    """Tokens of an agent's tool definitions."""
    fit = FitInput(base())
    fitted(fit, turns(1), agent)
    assert fit.last_context is not None
    return fit.last_context.costs.capability


@pytest.mark.parametrize("kind", [None, str, AgentOutputSchema(str)])
def test_an_answer_in_plain_text_has_no_schema_to_price(kind: Any) -> None:
    assert capability(agent_of(None, output_type=kind)) == capability(agent_of(None))


def test_the_schema_of_an_answer_costs_the_same_in_every_form() -> None:
    class Trip(BaseModel):
        """Where to go."""

        town: str

    made = capability(agent_of(None, output_type=AgentOutputSchema(Trip)))
    assert made == capability(agent_of(None, output_type=Trip)) > capability(agent_of(None))


def test_a_handoff_is_priced_in_every_form_unless_it_is_disabled() -> None:
    other: Agent[Any] = Agent(name="booker", handoff_description="Books what was planned.")
    given = capability(agent_of(None, handoffs=[other]))
    assert capability(agent_of(None, handoffs=[handoff(other)])) == given > capability(agent_of(None))
    assert capability(agent_of(None, handoffs=[handoff(other, is_enabled=False)])) == capability(agent_of(None))
    assert capability(agent_of(None, handoffs=[handoff(other, is_enabled=lambda *_: False)])) == given


@pytest.mark.parametrize("count", [1, 2])
def test_unanswered_calls_are_refused_and_the_error_names_the_first(count: int) -> None:
    calls = [
        {"type": "function_call", "call_id": f"c{number}", "name": "look_up", "arguments": "{}"}
        for number in range(count)
    ]
    with pytest.raises(ConversationError) as caught:
        fitted(FitInput(base()), [{"role": "user", "content": "q"}, *calls])
    assert caught.value.call_id == "c0"


def test_before_the_first_call_there_is_no_report_and_later_that_of_the_last_call() -> None:
    fit = FitInput(base())
    assert (fit.last_context, fit.report) == (None, None)
    fitted(fit, turns(40))
    assert fit.last_context is not None
    assert fit.report is not None
    assert fit.report.rows == fit.last_context.report.rows
    assert "dropped" in {row.outcome for row in fit.report.rows}


def test_a_value_that_is_not_an_assembler_is_refused_by_its_type() -> None:
    with pytest.raises(BudgetError, match="expected an Assembler, got Budget"):
        FitInput(Budget(100))  # type: ignore[arg-type]


def test_without_the_sdk_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "agents.run_config", None)
    monkeypatch.delitem(sys.modules, "assembler.integrations.openai_agents")
    with pytest.raises(MissingExtraError, match=r"pip install 'context-assembler\[openai-agents\]'"):
        importlib.import_module("assembler.integrations.openai_agents")


def test_a_provider_tool_is_priced_unless_the_budget_has_an_overhead() -> None:
    agent: Agent[Any] = Agent(name="searcher", tools=[WebSearchTool()])
    for budget, priced in ((base(8_000), True), (base(8_000, overhead=500), False)):
        fit = FitInput(budget)
        assert fitted(fit, turns(1), agent).input
        assert ("web_search" in str(fit.report)) is priced


def test_a_run_that_searches_the_web_makes_a_valid_second_turn() -> None:
    agent: Agent[Any] = Agent(name="searcher", tools=[WebSearchTool()])
    action = {"type": "search", "query": "walrus"}
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": action}
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    items: list[Any] = [*turns(1)[:1], thought, search, *turns(1)[1:], {"role": "user", "content": "and then?"}]
    assert fitted(FitInput(base(8_000)), items, agent).input == items


def test_items_of_hosted_tools_are_sent_in_the_next_call() -> None:
    search = {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "é"},
    }
    answer = {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed"}
    cited = {**answer, "content": [{"type": "output_text", "text": "Sunny.", "annotations": []}]}
    items = [{"role": "user", "content": "q"}, search, cited, {"role": "user", "content": "and now?"}]
    made = FitInput(base(20_000))
    assert fitted(made, items).input == items
    wire = count_request({"input": items}, dialect=openai_responses, model="gpt-4o")
    assert made.last_context is not None
    assert made.last_context.count.upper >= wire.upper


@pytest.mark.parametrize("run", RUNS)
def test_an_overflow_reaches_the_caller_as_an_error_of_this_library(run: Callable[..., None]) -> None:
    config = RunConfig(call_model_input_filter=FitInput(base(300)))
    assert_overflows(lambda: run(agent_of(Scripted()), "much too long " * 200, config))


def test_a_broken_history_reaches_the_caller_as_an_error_of_this_library() -> None:
    orphan = [
        {"role": "user", "content": "q"},
        {"type": "function_call_output", "call_id": "nobody", "output": "r"},
        {"role": "user", "content": "q"},
    ]
    assert_orphaned("nobody", lambda: fitted(FitInput(base()), orphan))


def test_a_summary_is_written_once_for_many_calls() -> None:
    summarizer = Summarizer()
    model = Scripted()
    fit = FitInput(base(1_500, [Summarize(summarizer, keep_turns=1), TrimOldest()]))
    session = SQLiteSession("one")
    for turn in range(8):
        invoked(agent_of(model), question(turn), RunConfig(call_model_input_filter=fit), session)
    assert 0 < len(summarizer.written) < 8
    assert any("They talked about" in str(item.get("content")) for item in model.seen[-1][:3])


def test_runs_at_once_that_share_a_filter_send_each_its_own() -> None:
    fit = FitInput(base())

    async def session(name: int) -> list[Any]:
        model = Scripted()
        items: list[Any] = []
        for turn in range(name + 1):
            result = await Runner.run(
                agent_of(model),
                [*items, {"role": "user", "content": f"{name}: {question(turn)}"}],
                run_config=RunConfig(call_model_input_filter=fit),
            )
            items = result.to_input_list()
        return model.seen[-1]

    async def together() -> list[list[Any]]:
        return await asyncio.gather(*map(session, range(4)))

    for name, sent in enumerate(asyncio.run(together())):
        asked = [item["content"] for item in sent if item.get("role") == "user"]
        assert asked == [f"{name}: {question(turn)}" for turn in range(name + 1)]
