"""Reasoning that is billed only until the next question costs a later request nothing, whatever gives way."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, Context, ContextLengthError, ConversationError, Policy
from assembler.policies import ClearReasoning, ClearToolResults, KeepRelevant, TrimOldest, TrimSteps, Truncate
from budgets import Budget
from tests.calls import calls_of
from tests.scaled import in_turns, scaled

from .policies.drawn import NAMES, sessions

Message = dict[str, Any]
Api = tuple[str, str]

CLAUDE: list[Api] = [("anthropic", "claude-sonnet-4-5"), ("bedrock", "anthropic.claude-sonnet-4-5")]
GEMINI: Api = ("gemini", "gemini-2.5-pro")
TOOLS = [{"name": name, "description": "", "parameters": {"type": "object", "properties": {}}} for name in NAMES]
THINKING = {"type": "thinking", "thinking": "hm " * 300, "signature": "c2ln" * 20}
SIGNATURE = base64.b64encode(bytes(range(256)) * 5).decode()
FOUND = "word " * 500


def of_claude(number: int) -> list[Message]:
    """Turns with a call each, whose reasoning costs more than half as much as the result."""
    messages: list[Message] = []
    for place in range(number):
        call = {"type": "tool_use", "id": f"c{place}", "name": "search", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"c{place}", "content": FOUND}
        messages += [
            {"role": "user", "content": f"question {place}"},
            {"role": "assistant", "content": [THINKING, call]},
            {"role": "user", "content": [result]},
            {"role": "assistant", "content": [{"type": "text", "text": "ok"}]},
        ]
    return [*messages, {"role": "user", "content": "and now"}]


def of_gemini(number: int) -> list[Message]:
    messages: list[Message] = []
    for place in range(number):
        call = {"functionCall": {"name": "search", "args": {}}, "thoughtSignature": SIGNATURE}
        messages += [
            {"role": "user", "parts": [{"text": f"question {place}"}]},
            {"role": "model", "parts": [call]},
            {"role": "user", "parts": [{"functionResponse": {"name": "search", "response": {"found": FOUND}}}]},
            {"role": "model", "parts": [{"text": "ok"}]},
        ]
    return [*messages, {"role": "user", "parts": [{"text": "and now"}]}]


def assembled(api: Api, window: int, ladder: Policy | tuple[Policy, ...], history: Sequence[Message]) -> Assembler:
    made = Assembler(Budget(window, model=api[1]), dialect=api[0], on_overflow=ladder).add_capability(TOOLS)
    return made.add_messages(history)


LADDERS: dict[str, Policy | tuple[Policy, ...]] = {
    "results": (ClearToolResults(keep=0), TrimOldest()),
    "texts": (Truncate(100), TrimOldest()),
    "steps": (TrimSteps(keep=0), TrimOldest()),
    "reasoning first": (ClearReasoning(keep=0), ClearToolResults(keep=0)),
    "relevant": KeepRelevant(),
    "oldest": TrimOldest(),
    "a mark": TrimOldest(low_water=0.95),
}


@pytest.mark.parametrize(("name", "api", "over"), in_turns(2, LADDERS, [*CLAUDE, GEMINI], [1, 600]), ids=str)
def test_no_ladder_gives_up_more_than_three_results_for_a_request_that_is_a_result_too_long(
    name: str, api: Api, over: int
) -> None:
    """51 of 60 results and turns went, because old reasoning was taken to be billed."""
    ladder = LADDERS[name]
    history = of_gemini(30) if api is GEMINI else of_claude(30)
    whole = assembled(api, 10**6, TrimOldest(), history).build().count.upper
    context = assembled(api, whole - over, ladder, history).build()
    assert whole - over - 3 * 560 <= context.count.upper <= whole - over


@pytest.mark.parametrize("api", CLAUDE, ids="{0[0]}".format)
@scaled(0.3)
@given(history=sessions("anthropic", marks=(0,)))
def test_turns_cost_at_every_length_about_what_they_are_billed(api: Api, history: list[Message]) -> None:
    history = [*history, {"role": "user", "content": "And then?"}]
    plan = assembled(api, 10**6, TrimOldest(), history).plan().inside
    for length in range(1, len(history) + 1):
        ledger = plan.ledger.until(length)
        for start, _ in ledger.turns():
            try:
                sent = assembled(api, 10**6, TrimOldest(), history[start:length]).build().count
            except ConversationError:  # it ends with the model's words, or with calls
                continue
            cost = plan.fixed + ledger.since(start)
            assert sent.upper <= cost.upper + 8 * (length - start)  # the API's own words between messages
            assert cost.tokens <= sent.tokens + 30 * (length - start)


MARKED: list[Policy | tuple[Policy, ...]] = [
    TrimOldest(low_water=0.5),
    TrimOldest(low_water="auto"),
    (TrimOldest(low_water=0.6), ClearToolResults(keep=0)),
    (ClearReasoning(keep=0), TrimOldest(low_water=0.7), Truncate(20)),
    (TrimSteps(keep=1), TrimOldest()),
]


@scaled(0.1)
@given(
    api=st.sampled_from(CLAUDE),
    ladder=st.sampled_from(MARKED),
    history=sessions("anthropic", marks=(0,)),
    share=st.floats(0.3, 1),
)
def test_a_live_session_with_reasoning_sends_what_a_fresh_one_sends(
    api: Api, ladder: Policy | tuple[Policy, ...], history: list[Message], share: float
) -> None:
    def tried(made: Assembler) -> Any:
        try:
            context: Context = made.build()
        except (ContextLengthError, ConversationError) as refused:
            return type(refused)
        return context.request(), context.count

    history = [*history, {"role": "user", "content": "And then?"}, *history]
    window = int(share * assembled(api, 10**6, TrimOldest(), history[: len(history) // 2]).plan().count.upper)
    live = assembled(api, max(window, 1), ladder, [])
    for length, message in enumerate(history, 1):
        live.add_message(message)
        assert tried(live) == tried(assembled(api, max(window, 1), ladder, history[:length]))


def told_in_a_loop(number: int) -> list[Message]:
    """Turns in whose tool loop the user says more, which begins a turn and forgets no reasoning."""
    history = of_claude(number)[:-1]
    for place in range(number, 0, -1):
        history.insert(4 * place - 1, {"role": "user", "content": "be quick"})
    return [*history, {"role": "user", "content": "and now"}]


@pytest.mark.parametrize("api", CLAUDE, ids="{0[0]} {0[1]}".format)
@pytest.mark.parametrize("taken_back", [False, True])
def test_the_rows_of_a_report_are_those_of_a_fresh_assembler_once_reasoning_is_forgotten(
    api: Api, taken_back: bool
) -> None:
    def rows(made: Assembler) -> Any:
        return [row.to_dict() for row in made.plan().report.rows]

    history, live = told_in_a_loop(2), assembled(api, 10**6, TrimOldest(), [])
    for length, message in enumerate(history, 1):
        live.add_message(message)
        if taken_back and message["role"] == "user":
            rows(live.add_message({"role": "user", "content": "!"}))
            live.pop_message()
        assert rows(live) == rows(assembled(api, 10**6, TrimOldest(), history[:length]))


@scaled(1)
@given(history=sessions("anthropic", marks=(0,)), share=st.floats(0, 1.2))
def test_a_replay_finds_each_overflow_where_adding_up_every_length_does(history: list[Message], share: float) -> None:
    ledger = assembled(CLAUDE[0], 10**6, TrimOldest(), history).plan().inside.ledger
    line, most = ledger.timeline(), int(share * ledger.since(0).upper)

    def cost(start: int, stop: int) -> int:
        return ledger.until(stop).since(start).upper if start < stop else 0

    for start, _ in ledger.turns():
        stops = range(start + 1, ledger.length + 1)
        assert [line.tokens(start, stop) for stop in stops] == [cost(start, stop) for stop in stops]
        assert line.overflow(start, start, most) == next((stop for stop in stops if cost(start, stop) > most), None)
        grown = (stop for stop in stops if cost(start, stop) - cost(start, start + 1) > most)
        assert line.grown_by(start, start + 1, most) == next(grown, None)
        assert line.kept_after_each(start, start + 1, ledger.length) == sum(cost(start, stop) for stop in stops[:-1])


@pytest.mark.parametrize("ladder", [TrimOldest(), TrimOldest(low_water=0.5), (TrimOldest(0.5), ClearToolResults())])
def test_a_step_more_takes_as_much_work_after_many_turns_with_reasoning_as_after_few(ladder: Any) -> None:
    def work(turns: int) -> int:
        history = of_claude(turns + 2)
        made, later = assembled(CLAUDE[0], 10**6, ladder, history[: 4 * turns + 1]), iter(history[4 * turns + 1 :])
        made.build()

        def one_more() -> None:
            for message in itertools.islice(later, 4):
                made.add_message(message)
            made.build()

        one_more()
        return calls_of(one_more)

    assert work(160) <= 1.3 * work(20)
