"""Whoever writes a policy: what it returns is held against the law, and nothing invalid is sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import pytest

from assembler import Assembler, ChatRegions, ConversationError, PlanError
from assembler.messages import Call, Message, Result, read_message
from assembler.messages.edit import edited
from assembler.policies import Change, Cut, Passage, Refuse, TrimOldest
from budgets import BudgetError, ContextLengthError

from . import by_hand
from .build import assembler_of, built, check, left
from .by_hand import History


def session() -> History:
    history: History = [{"role": "user", "content": "u" * 20}]
    for name in "ab":
        call = {"id": name, "type": "function", "function": {"name": "f", "arguments": "{}"}}
        history += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": name, "content": name * 20},
        ]
    return [*history, {"role": "assistant", "content": "done"}, {"role": "user", "content": "n" * 10}]


class Rewrites:
    """A policy that proposes what it was given, and nothing else."""

    def __init__(self, *changes: Any) -> None:
        self.changes = changes

    def rewrites(self, passage: Passage) -> Iterator[Change]:
        for change in self.changes:
            yield Change(change(passage) if callable(change) else change, "proposed")


class Shout:
    """Ten lines of one's own: long answers of the assistant keep their first sentence."""

    def rewrites(self, passage: Passage) -> Iterator[Change]:
        for index, message in passage:
            if message.role == "assistant" and index < passage.newest:
                parts = [part.split(".")[0] + "." if isinstance(part, str) else part for part in message.parts]
                yield Change({index: edited(message, parts)}, "first sentence kept")


def test_a_policy_of_ones_own_shortens_only_as_far_as_needed() -> None:
    history = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "One. Two. Three."},
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "Four. Five. Six."},
        {"role": "user", "content": "n"},
    ]
    context = built(history, by_hand.cost(history) - 1, Shout())
    assert context is not None
    check(context, history, 40)
    assert [message["content"] for message in context.request()["messages"]] == [
        "q",
        "One.",
        "q",
        "Four. Five. Six.",
        "n",
    ]
    assert "Shout: 1 × first sentence kept" in str(context.report)


def part_of(index: int, **changes: Any) -> Any:
    """A message whose first part of the kind is changed in place."""

    def change(passage: Passage) -> dict[int, Message]:
        message = passage.current(index)
        parts = [attrs.evolve(part, **changes) if isinstance(part, Call | Result) else part for part in message.parts]
        return {index: edited(message, parts)}

    return change


BREACHES = {
    "a call without its result": {1: None},
    "a result without its call": {2: None},
    "results of two steps crossed": {1: None, 4: None},
    "another role": lambda passage: {5: read_message({"role": "user", "content": "x"}, 5)},
    "a call taken out of its message": lambda passage: {1: read_message({"role": "assistant", "content": ""}, 1)},
    "a call of another id": lambda passage: {3: attrs.evolve(passage.current(3), parts=(Call("z", "f", ""),))},
}


@pytest.mark.parametrize("change", BREACHES.values(), ids=list(BREACHES))
def test_a_change_that_would_break_the_history_raises(change: Any) -> None:
    with pytest.raises((PlanError, ConversationError)):
        assembler_of(session(), 60, [Rewrites(change), TrimOldest()]).build()


SAFE = {
    "the same step twice": ({1: None, 2: None}, {1: None, 2: None}),
    "messages before the first": ({-1: None, -2: None}, {-6: None}),
    "a message that costs more": (lambda passage: {5: read_message({"role": "assistant", "content": "x" * 99}, 5)},),
    "a message that was dropped, again": (
        {1: None, 2: None},
        lambda passage: {1: passage.current(1), 2: None},
        lambda passage: {1: None, 2: None},
    ),
    "nothing": ({},),
}


@pytest.mark.parametrize("changes", SAFE.values(), ids=list(SAFE))
@pytest.mark.parametrize("limit", range(10, 84, 9))
def test_a_change_that_saves_nothing_is_never_counted_as_saving(changes: Any, limit: int) -> None:
    history = session()
    context = built(history, limit, [Rewrites(*changes), TrimOldest()])
    if context is not None:
        check(context, history, limit)


def test_a_pinned_message_is_never_touched() -> None:
    history = session()
    history[2]["pinned"] = True
    assert built(history, 60, Rewrites({1: None, 2: None}, part_of(2, parts=("",)))) is None
    assert left(history, 62, Rewrites({1: None, 2: None}, {3: None, 4: None})) == by_hand.public(
        [*history[:3], *history[5:]]
    )


class Cuts:
    def __init__(self, first: int, **summary: Any) -> None:
        self.verdict = Cut(first, "as told", read_message(summary, 0) if summary else None)

    def cut(self, ledger: Any, room: int) -> Cut:
        return self.verdict


@pytest.mark.parametrize("first", [-1, 1, 2, 5, 7, 99])
def test_a_cut_where_no_turn_begins_raises_alone_and_in_a_ladder(first: int) -> None:
    for ladder in (Cuts(first), [Cuts(first)], [TrimOldest(keep_turns=2), Cuts(first)], [Cuts(first), Refuse()]):
        with pytest.raises(PlanError, match="Cuts"):
            assembler_of(session(), 20, ladder).build()


def test_a_cut_that_leaves_too_much_is_no_verdict_and_the_next_rung_is_asked() -> None:
    history = session()
    assert left(history, 20, [Cuts(0), TrimOldest()]) == history[6:]
    with pytest.raises(ContextLengthError):
        assembler_of(history, 20, Cuts(0)).build()


def test_a_summary_of_ones_own_is_priced() -> None:
    history = session()
    context = built(history, 20, Cuts(6, role="user", content="told"))
    assert context is not None
    assert context.costs.total == 14
    assert built(history, 13, Cuts(6, role="user", content="told")) is None


def test_the_question_cannot_be_dropped() -> None:
    with pytest.raises(PlanError):
        assembler_of(session(), 77, Rewrites({6: None})).build()


@pytest.mark.parametrize("index", [-1, 8, 99])
def test_a_change_of_a_message_that_is_not_there_is_named(index: int) -> None:
    with pytest.raises(PlanError, match=f"message {index}, "):
        assembler_of(session(), 77, Rewrites({1: None, 2: None, index: None})).build()


def test_a_message_that_says_more_than_its_parts_is_not_sent() -> None:
    naive = Rewrites(lambda passage: {0: attrs.evolve(passage.current(0), parts=("u",))})
    try:
        context = assembler_of(session(), 70, naive).build()
    except PlanError:
        return
    assert by_hand.cost(context.request()["messages"]) <= 70


@pytest.mark.parametrize(
    "summary",
    [
        {"role": "tool", "tool_call_id": "z", "content": "an answer to nothing"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "z", "name": "f", "input": {}}]},
    ],
    ids=["a result without its call", "a call without its result"],
)
def test_a_summary_that_would_break_the_history_raises(summary: dict[str, Any]) -> None:
    with pytest.raises((PlanError, ConversationError)):
        assembler_of(session(), 50, Cuts(6, **summary)).build()


@pytest.mark.parametrize("bad", [None, 3, "trim", [], [TrimOldest()] * 0, [TrimOldest(), 3], TrimOldest, [TrimOldest]])
def test_what_is_no_policy_is_refused_at_once(bad: Any) -> None:
    with pytest.raises(BudgetError, match="on_overflow"):
        assembler_of([], 5, bad)


@pytest.mark.parametrize("bad", [None, 3, "chat_regions", ChatRegions, TrimOldest()])
def test_what_is_no_strategy_is_refused_at_once(bad: Any) -> None:
    with pytest.raises(BudgetError, match="strategy: expected a strategy"):
        Assembler(strategy=bad)


@pytest.mark.parametrize("share", [0, -0.5, 1.01, True, "half", float("nan")])
def test_a_share_that_is_none_is_refused_at_once(share: Any) -> None:
    with pytest.raises(BudgetError, match="low_water"):
        TrimOldest(low_water=share)
