"""A session that grows by messages builds what a fresh assembler builds, in every API's spelling."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assembler import Assembler, AssemblyError, TrimOldest, first_user
from assembler.dialects import DIALECTS, Emission
from assembler.dialects.dialect import GrowingDialect
from assembler.drawn.spelling import SPELLINGS
from assembler.testing.conversations import conversations
from budgets import Budget, BudgetError, Limit
from tests.assembler.drawn import histories
from tests.scaled import scaled

TOOLS = [{"name": name, "description": "", "parameters": {"type": "object"}} for name in ("look", "search")]
POLICIES: list[Any] = [TrimOldest(), TrimOldest(low_water=0.5), TrimOldest(pins=first_user), TrimOldest(note="cut")]


def outcome(assembler: Assembler) -> Any:
    try:
        context = assembler.build()
        return context.request(), context.count, context.report.to_dict(), [message.id for message in context.dropped]
    except AssemblyError as error:
        return str(error)


def test_a_thought_that_joins_its_answer_is_no_longer_an_empty_message() -> None:
    thought = {"type": "reasoning", "id": "rs_0", "summary": [{"type": "summary_text", "text": "a"}]}
    messages = [{"role": "user", "content": "a"}, thought, {"role": "assistant", "content": "a"}]
    growing = Assembler(Budget(40, counter=len), dialect="openai_chat")
    for message in messages:
        growing.add_message(message).build()
    assert outcome(growing) == outcome(Assembler(Budget(40, counter=len), dialect="openai_chat").add_messages(messages))


@pytest.mark.parametrize("dialect", list(DIALECTS))
@scaled(0.3)
@given(
    messages=st.one_of(histories(), st.sampled_from(list(SPELLINGS)).flatmap(conversations)),
    policy=st.sampled_from(POLICIES),
    window=st.sampled_from([40, 400, 4_000]) | st.sampled_from([0.6, 0.9, 1.0]),
    tools=st.booleans(),
    seen=st.lists(st.booleans(), min_size=1, max_size=9),
)
def test_a_grown_request_equals_one_that_is_written_at_once(
    dialect: str, messages: list[Any], policy: Any, window: float, tools: bool, seen: list[bool]
) -> None:
    def fresh(window: int) -> Assembler:
        made = Assembler(Budget(window, counter=len), dialect=dialect, on_overflow=policy)
        return made.add_capability(TOOLS) if tools else made

    try:
        whole = fresh(1_000_000).add_messages(messages).plan().count.upper
        limit = int(window * whole) if window <= 1 else int(window)
        growing = fresh(max(limit, 1))
        for stop, (message, built) in enumerate(zip(messages, itertools.cycle(seen), strict=False), 1):
            growing.add_message(message)
            if built or stop == len(messages):
                assert outcome(growing) == outcome(fresh(max(limit, 1)).add_messages(messages[:stop]))
    except AssemblyError:
        return


@pytest.mark.parametrize("policy", [TrimOldest(), TrimOldest(low_water=0.5)], ids=str)
@given(
    sizes=st.lists(st.integers(0, 30), min_size=1, max_size=14),
    documents=st.lists(st.integers(1, 30), max_size=3),
    cap=st.sampled_from([None, 20, 0.3, 0.9]),
    most=st.sampled_from([None, 40, 0.5]),
    floor=st.sampled_from([0, 15, 0.4]),
    window=st.integers(40, 120),
)
def test_a_session_under_limits_builds_at_every_message_what_is_built_at_once(
    policy: Any, sizes: list[int], documents: list[int], cap: Any, most: Any, floor: Any, window: int
) -> None:
    def fresh() -> Assembler:
        limits = {"knowledge": Limit(cap=cap), "conversation": Limit(floor=floor, cap=most)}
        made = Assembler(Budget(window, counter=len, limits=limits), dialect="plain", on_overflow=policy)
        for number, size in enumerate(documents):
            made.add_knowledge("k" * size, type="t", score=number)
        return made

    try:
        growing = fresh()
    except BudgetError:  # a floor above its cap
        assume(False)
        return
    messages = [{"role": "user", "content": "x" * size} for size in sizes]
    for stop, message in enumerate(messages, 1):
        assert outcome(growing.add_message(message)) == outcome(fresh().add_messages(messages[:stop]))


def calls(times: int) -> list[dict[str, Any]]:
    """An agent's turn of so many steps."""
    turn: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for step in range(times):
        call = {"id": f"c{step}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        turn.append({"role": "assistant", "content": None, "tool_calls": [call]})
        turn.append({"role": "tool", "tool_call_id": f"c{step}", "content": f"{step}"})
    return turn


@pytest.mark.parametrize("dialect", [name for name, one in DIALECTS.items() if isinstance(one, GrowingDialect)])
def test_another_step_writes_that_step_alone(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assembler = Assembler(Budget(10_000, counter=len), dialect=dialect).add_capability(TOOLS)
    history = calls(20)
    assembler.add_messages(history[:-2]).build().request()
    whole: list[Emission] = []
    emit = type(DIALECTS[dialect]).emit

    def watched(self: Any, layout: Any) -> Emission:
        whole.append(emit(self, layout))
        return whole[-1]

    monkeypatch.setattr(type(DIALECTS[dialect]), "emit", watched)
    for message in history[-2:]:
        assembler.add_message(message)
    grown = assembler.build().request()
    assert whole == []
    fresh = Assembler(Budget(10_000, counter=len), dialect=dialect).add_capability(TOOLS)
    assert grown == fresh.add_messages(history).build().request()
    assert len(whole) == 1


def thinking_session(thought: str) -> list[Any]:
    """A turn, one with a call, and one more: up to Claude 4.5 a thought beside a call is free once a turn has begun."""
    call: dict[str, Any] = {"type": "tool_use", "id": "c", "name": "look", "input": {}}
    thinking = [{"type": "thinking", "thinking": thought, "signature": "s"}] if thought else []
    return [
        *({"role": role, "content": letter * 50} for role, letter in (("user", "a"), ("assistant", "b"))),
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [*thinking, call]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "r"}]},
        *({"role": role, "content": "ok"} for role in ("assistant", "user", "assistant", "user")),
    ]


@pytest.mark.parametrize(
    ("thought", "dropped", "asked"),
    [("We think of it. " * 20, [0, 0, 0, 2, 2, 2, 0, 0, 0], [4, 5]), ("", [0] * 3 + [2] * 6, [4, 5])],
)
def test_a_turn_dropped_for_a_thought_returns_once_that_is_free(
    thought: str, dropped: list[int], asked: list[int]
) -> None:
    cuts: list[int] = []

    class Telling(TrimOldest):
        def cut(self, passage: Any, tokens_left: int, /) -> Any:
            cuts.append(passage.length)
            return super().cut(passage, tokens_left)

    def fresh(policy: Any, window: int) -> Assembler:
        budget = Budget(window, model="claude-sonnet-4-5")
        return Assembler(budget, dialect="anthropic", on_overflow=policy).add_capability(TOOLS)

    messages = thinking_session(thought)
    whole = fresh(TrimOldest(), 100_000).add_messages(messages).plan().count.upper
    window = whole + 79 if thought else whole - 45
    growing, found = fresh(Telling(), window), list[int]()
    for stop, message in enumerate(messages, 1):
        plan = growing.add_message(message).plan()
        found.append(len(plan.dropped))
        first_cuts = list(cuts)
        assert plan.count == fresh(TrimOldest(), window).add_messages(messages[:stop]).plan().count
        assert cuts == first_cuts
    assert found == dropped
    assert sorted(set(cuts)) == asked


def test_a_turn_dropped_for_a_signature_returns_once_that_is_free() -> None:
    call: dict[str, Any] = {"functionCall": {"name": "look", "args": {}}, "thoughtSignature": "c2ln" * 300}
    answer = {"functionResponse": {"name": "look", "response": {"found": 1}}}
    messages: list[Any] = [
        *({"role": role, "parts": [{"text": letter * 50}]} for role, letter in (("user", "a"), ("model", "b"))),
        {"role": "user", "parts": [{"text": "q"}]},
        {"role": "model", "parts": [call]},
        {"role": "user", "parts": [answer]},
        *({"role": role, "parts": [{"text": "ok"}]} for role in ("model", "user", "model", "user")),
    ]

    def fresh(window: int) -> Assembler:
        made = Assembler(Budget(window, model="gemini-2.5-pro"), dialect="gemini", on_overflow=TrimOldest())
        return made.add_capability(TOOLS)

    window = fresh(100_000).add_messages(messages[:5]).plan().count.upper - 5
    growing, found = fresh(window), list[int]()
    for stop, message in enumerate(messages, 1):
        plan = growing.add_message(message).plan()
        found.append(len(plan.dropped))
        assert plan.count == fresh(window).add_messages(messages[:stop]).plan().count
    assert found[4:7] == [2, 2, 0]
