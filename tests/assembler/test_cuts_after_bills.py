"""No turn that a billed request left out comes back, whatever its bill was, also where an API merges messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from assembler import Assembler, Change, ClearToolResults, Passage, TrimOldest, Truncate, calibrate
from assembler.dialects import DIALECTS
from budgets import Budget

MODELS = {
    "openai_chat": "gpt-4o",
    "openai_responses": "gpt-5",
    "anthropic": "claude-sonnet-4-5",
    "bedrock": "anthropic.claude-sonnet-4-5",
    "gemini": "gemini-2.5-pro",
    "mistral": "mistral-large-latest",
}
TURNS = 12
POLICIES: list[Any] = [TrimOldest(), TrimOldest(low_water=0.5), [Truncate(30), TrimOldest()]]


def question(turn: int) -> dict[str, Any]:
    """Every third is blank: some APIs get a text in its place, unless another question comes before."""
    return {"role": "user", "content": " " if turn % 3 == 2 else f"question {turn} " * 5}


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("dialect", sorted(MODELS))
@pytest.mark.parametrize("billed", [-60, -20, 0, 20])
def test_a_request_begins_no_earlier_than_the_one_that_was_billed(dialect: str, policy: Any, billed: int) -> None:
    def assembler_at(window: int) -> Assembler:
        return Assembler(Budget(window, model=MODELS[dialect]), dialect=DIALECTS[dialect], on_overflow=policy)

    whole = assembler_at(100_000).add_messages([question(turn) for turn in range(TURNS)]).build()
    live, first = assembler_at(whole.count.upper // 2), 0
    for turn in range(2 * TURNS):
        context = live.add_message(question(turn)).build()
        kept = context.inside.kept
        assert kept[0] >= first
        assert [*kept] == [*range(kept[0], turn + 1)]
        first = kept[0]
        live.anchor(calibrate(context, max(context.by_rule.tokens + billed, 1)))
    assert first > 0


@pytest.mark.parametrize("dialect", sorted(MODELS))
def test_a_turn_that_would_fit_again_after_a_cheap_bill_stays_away(dialect: str) -> None:
    def live() -> Assembler:
        made = Assembler(Budget(window, model=MODELS[dialect]), dialect=DIALECTS[dialect], on_overflow=TrimOldest())
        return made.add_messages([question(0), question(1), question(3)])

    window = 100_000
    window = live().build().count.upper - 1
    cut = live().build()
    assert [*cut.inside.kept] == [1, 2]
    cheap = live().anchor(calibrate(cut, max(1, cut.by_rule.tokens - 40)))
    assert [*cheap.build().inside.kept] == [1, 2]
    assert [*cheap.add_message({"role": "user", "content": "and?"}).build().inside.kept] == [1, 2, 3]


class Clearing:
    """`ClearToolResults` that counts how often it is asked."""

    asked = 0

    def rewrites(self, passage: Passage) -> Iterator[Change]:
        Clearing.asked += 1
        yield from ClearToolResults(keep=1).rewrites(passage)


def step(number: int) -> list[dict[str, Any]]:
    call = {"id": f"c{number}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    return [
        question(number),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": f"line {number} " * 20},
    ]


def test_what_was_cleared_stays_so_after_a_bill_without_asking_the_policy_again() -> None:
    """Each bill repeated every change of all that stayed: 40 ms a build in a window of 16,000 tokens, now 5."""

    def made() -> Assembler:
        return Assembler(Budget(1_500, model="gpt-4o"), on_overflow=[Clearing(), TrimOldest(low_water=0.5)])

    live, history, bill, Clearing.asked = made(), list[dict[str, Any]](), None, 0
    fresh_asked = 0
    for number in range(40):
        for message in step(number):
            history.append(message)
            live.add_message(message)
        if number % 7 == 6:
            history[-6]["content"] = "edited in place"
        asked = Clearing.asked
        context = live.build()
        live_asked = Clearing.asked - asked
        fresh = made().add_messages([*map(dict, history)]).anchor(bill).build()
        fresh_asked += Clearing.asked - asked - live_asked
        assert (context.request(), context.count) == (fresh.request(), fresh.count)
        Clearing.asked = asked + live_asked
        bill = calibrate(context, context.by_rule.tokens + 7)
        live.anchor(bill)
        history.append({"role": "assistant", "content": "fine"})
        live.add_message(history[-1])
    assert context.inside.trimmed.changed
    assert Clearing.asked < fresh_asked / 2
