"""A conversation that costs a little more as it is sent than the tokens left is cut further, not refused."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from assembler import (
    Assembler,
    CitedSources,
    ClearReasoning,
    ClearToolResults,
    ContextLengthError,
    KeepRelevant,
    Placement,
    Policy,
    Refuse,
    Summarize,
    TrimOldest,
)
from budgets import Budget

HISTORY: list[Any] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
"""Its turns cost 17 tokens less as they are sent if most of them are dropped, and 9 less as a whole."""
LADDER = [
    ClearToolResults(keep=2),
    TrimOldest(low_water=1.0, note="(older turns removed)"),
    ClearReasoning(keep=1),
    Summarize(lambda _dropped, _previous, most: "sum " * min(3, most), keep_turns=3),
]


def assembled(window: int) -> Assembler:
    strategy = CitedSources(placement=Placement.QUESTION)
    made = Assembler(Budget(window, model="gemma-3-27b-it"), dialect="gemini", on_overflow=LADDER, strategy=strategy)
    for place, text in enumerate(["doc one " * 5, "doc two"]):
        made.add_knowledge(text, type="doc", source="ab"[place], score=0.5 - place / 10)
    return made.add_messages(HISTORY)


def test_a_window_that_a_smaller_one_does_without_builds_at_once() -> None:
    """The policies were asked for one token less eight times, cut nothing until the eighth, and that was refused."""
    most = assembled(100_000).build().count.upper
    fitting: list[bool] = []
    for window in range(most, most - 60, -1):
        try:
            fitting.append(assembled(window).build().count.upper <= window)
        except ContextLengthError as error:
            assert error.smallest_window is not None
            assert error.smallest_window > window
            fitting.append(False)
    assert fitting == sorted(fitting, reverse=True)


@pytest.mark.parametrize("dialect", ["anthropic", "bedrock"])
def test_a_turn_fits_although_the_blank_message_after_it_would_not_alone(dialect: str) -> None:
    """Alone the blank is sent as "(no text)", which costs more than the words of the turn that it joins."""
    messages = [("user", "a" * 90), ("assistant", "b"), ("user", "c"), ("user", " "), ("assistant", "d"), ("user", "e")]

    def made(window: int, first: int, policy: Policy) -> Assembler:
        return Assembler(Budget(window, counter=len), dialect=dialect, on_overflow=policy).add_messages(
            messages[first:]
        )

    costs = {first: made(1_000, first, Refuse()).build().count.upper for first in (2, 3)}
    assert costs[2] < costs[3]
    for window in range(costs[2], costs[3] + 1):
        assert len(made(window, 0, TrimOldest()).build().messages) == len(messages[2:])


@pytest.mark.parametrize("dialect", ["anthropic", "bedrock", "gemini"])
def test_of_user_messages_that_are_sent_merged_as_many_stay_as_fit_as_they_are_sent(dialect: str) -> None:
    """Each is a turn of its own, and costs a little less beside the others than alone."""
    model = {"gemini": "gemini-of-tomorrow"}.get(dialect, "anthropic.claude-sonnet-4-5")
    messages = [("user", f"number {place} " * (1 + place % 3)) for place in range(8)]

    def cost(newest: int) -> int:
        alone = Assembler(Budget(100_000, model=model), dialect=dialect).add_messages(messages[-newest:])
        return alone.build().count.upper

    costs = [cost(newest) for newest in range(1, 9)]
    for window in range(costs[0], costs[-1] + 1):
        made = Assembler(Budget(window, model=model), dialect=dialect, on_overflow=TrimOldest()).add_messages(messages)
        assert len(made.build().messages) == sum(one <= window for one in costs)


@pytest.mark.parametrize("dialect", ["anthropic", "gemini", "mistral"])
@pytest.mark.parametrize(
    "ladder",
    [[KeepRelevant(lambda _, texts: [*range(len(texts))], keep_turns=1)], [ClearReasoning(), TrimOldest()]],
    ids=["chosen", "on a ladder"],
)
def test_no_policy_drops_a_turn_with_which_the_request_fits_as_it_is_sent(ladder: Any, dialect: str) -> None:
    """Both drop the oldest turn first. By the sum of the prices a turn went for 3 to 20 tokens that merging saves."""
    model = {"gemini": "gemini-2.5-flash", "mistral": "mistral-large-latest"}.get(dialect, "claude-sonnet-4-5")
    messages: list[Any] = []
    for place in range(4):
        ids, asked = [f"call{place:03}{side}" for side in "ab"], {"name": "find", "arguments": '{"q": "x"}'}
        calls = [{"id": one, "type": "function", "function": asked} for one in ids]
        messages += [{"role": "user", "content": f"question {place} " * 3}]
        messages += [{"role": "assistant", "content": "I look.", "tool_calls": calls}]
        messages += [{"role": "tool", "tool_call_id": one, "content": "found " * 9} for one in ids]
    messages.append({"role": "user", "content": "and now?"})
    tool = {"type": "function", "function": {"name": "find", "parameters": {"type": "object", "properties": {}}}}

    def made(window: int, first: int, policy: Any) -> Assembler:
        budget = Budget(window, model=model)
        return Assembler(budget, dialect=dialect, on_overflow=policy).set_tools([tool]).add_messages(messages[first:])

    costs = {first: made(10_000, first, Refuse()).build().count.upper for first in range(0, 17, 4)}
    for window in sorted({cost + off for cost in costs.values() for off in range(-2, 3) if cost + off >= costs[16]}):
        fitting = min(first for first, cost in costs.items() if cost <= window)
        assert len(made(window, 0, ladder).build().messages) == len(messages[fitting:]), window


TOOL: Any = {"type": "function", "function": {"name": "find", "parameters": {"type": "object", "properties": {}}}}
MODELS = {
    "anthropic": "claude-sonnet-4-5",
    "bedrock": "anthropic.claude-sonnet-4-5",
    "gemini": "gemini-2.5-flash",
    "mistral": "mistral-large-latest",
}
NEWEST = [{"role": "user", "content": "and now?"}]


def turn(number: int, steps: int, *, answered: bool = False, found: str = "found") -> list[Any]:
    """A question, so many steps that `found` something, and an answer if it is `answered`."""
    messages: list[Any] = [{"role": "user", "content": f"question {number}"}]
    for step in range(steps):
        called = {
            "id": f"call{number:03}{step:02}",
            "type": "function",
            "function": {"name": "find", "arguments": "{}"},
        }
        messages.append({"role": "assistant", "content": None, "tool_calls": [called]})
        messages.append({"role": "tool", "tool_call_id": called["id"], "content": found})
    return messages + [{"role": "assistant", "content": "done"}] * answered


def kept(dialect: str, window: int, policies: Any, messages: list[Any]) -> tuple[int, int]:
    """How many messages stay, and what the request costs."""
    budget = Budget(window, model=MODELS[dialect])
    made = Assembler(budget, dialect=dialect, on_overflow=policies).set_tools([TOOL]).add_messages(messages).build()
    return len(made.messages), made.count.upper


def order_of_age(_question: str, texts: Any) -> list[int]:
    return [*range(len(texts))]


LADDERS: list[Any] = [[ClearReasoning(), TrimOldest()], [KeepRelevant(order_of_age, keep_turns=1)]]


@pytest.mark.parametrize("dialect", MODELS)
@pytest.mark.parametrize("ladder", LADDERS, ids=["on a ladder", "chosen"])
@pytest.mark.parametrize("steps", [5, 40])
def test_a_turn_of_many_steps_stays_if_the_request_fits_with_it(dialect: str, ladder: Any, steps: int) -> None:
    """Merging spared more in its steps than was looked for in the one message that would be left without it."""
    stays = turn(0, steps) + NEWEST
    _, window = kept(dialect, 100_000, Refuse(), stays)
    assert kept(dialect, window, ladder, turn(1, 2) + stays)[0] == len(stays)


KINDS_OF_TURNS = [(steps, answered) for steps in range(3) for answered in (False, True)]


@pytest.mark.parametrize("dialect", ["anthropic", "mistral"])
def test_no_turn_goes_because_the_one_before_it_is_too_much(dialect: str) -> None:
    """What the larger request was over was taken off the next question, though the smaller one is spared more."""
    for kinds in product([(1, False), (2, False)], KINDS_OF_TURNS, [(1, False), (1, True)]):
        turns = [turn(place, steps, answered=answered) for place, (steps, answered) in enumerate(kinds)] + [NEWEST]
        ends = [[message for one in turns[first:] for message in one] for first in range(4)]
        costs = [kept(dialect, 100_000, Refuse(), end)[1] for end in ends]
        for window in costs[1:]:
            fitting = next(end for end, cost in zip(ends, costs, strict=True) if cost <= window)
            assert kept(dialect, window, LADDERS[0], ends[0])[0] == len(fitting), (kinds, window)


@pytest.mark.parametrize(("dialect", "most"), [("gemini", 3), ("anthropic", 6), ("mistral", 6)])
def test_policies_are_asked_again_only_for_what_merging_can_spare(dialect: str, most: int) -> None:
    """Three builds for Gemini, which spares nothing here, asked nine times: each for much more than could fit, and
    once again for what that answer was over.
    """
    asked: list[str] = []

    def order(question: str, texts: Any) -> list[int]:
        asked.append(question)
        return order_of_age(question, texts)

    messages = [
        message for place in range(60) for message in turn(place, 3, answered=True, found="found " * 200)
    ] + NEWEST
    _, whole = kept(dialect, 1_000_000, Refuse(), messages)
    for share in (3, 5, 8):
        kept(dialect, whole * share // 10 + 300, [KeepRelevant(order, keep_turns=1)], messages)
    assert 3 <= len(asked) <= most
