"""A cut to the low-water mark is the one that replaying the session finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from assembler import (
    Assembler,
    BudgetError,
    Change,
    ClearToolResults,
    KeepRelevant,
    MarkupError,
    Passage,
    TrimOldest,
    Truncate,
)
from assembler.dialects import plain
from assembler.policies import Policy
from assembler.policies.trim_oldest import KeptSoFar, LowWater
from budgets import Budget, ContextLengthError
from tests.benchmarks.cache_economy import run_session
from tests.benchmarks.kinds import KINDS, arrivals
from tests.calls import calls_of
from tests.scaled import scaled

from . import by_hand

# Each turn is a list of message sizes: the user's, then the assistant's.
sessions = st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=5), min_size=1, max_size=14)
shares = st.sampled_from([0.1, 0.3, 0.5, 0.8, 1.0])


def history_of(costs: list[list[int]]) -> list[dict[str, Any]]:
    history: list[dict[str, Any]] = []
    for turn in costs:
        for place, size in enumerate(turn):
            history.append({"role": "assistant" if place else "user", "content": "x" * size})
    return history


def kept_from(history: list[dict[str, Any]], room: int, low: LowWater) -> int | None:
    policy = TrimOldest(low_water=low)
    assembler = Assembler(Budget(room, counter=len), dialect=plain, on_overflow=policy).add_messages(history)
    try:
        return len(assembler.build().dropped)
    except ContextLengthError:
        return None


@given(sessions, st.integers(5, 60), shares)
def test_the_cut_is_the_one_that_replaying_the_session_gives(costs: list[list[int]], room: int, low: float) -> None:
    found = kept_from(history_of(costs), room, low)
    turn = by_hand.lived_cut(costs, (), room, int(low * room))
    if sum(sum(sizes) for sizes in costs[turn:]) > room:
        assert found is None
    else:
        assert found == sum(len(sizes) for sizes in costs[:turn])


@given(sessions, st.integers(5, 60), shares, st.sampled_from([None, "gone", "turns are left out"]))
def test_a_policy_that_has_nothing_to_drop_changes_neither_the_mark_nor_its_note(
    costs: list[list[int]], room: int, low: float, note: str | None
) -> None:
    """In a ladder the tokens of the note were counted twice, so one turn too many was dropped."""

    def sent(*ladder: Policy) -> list[Any] | None:
        assembler = Assembler(Budget(room, counter=len), dialect=plain, on_overflow=ladder)
        try:
            return assembler.add_messages(history_of(costs)).build().request()["messages"]
        except ContextLengthError:
            return None

    policy = TrimOldest(low_water=low, note=note)
    assert sent(policy, Truncate(1_000)) == sent(policy)


@scaled(0.5)
@given(sessions, st.integers(5, 60), shares)
def test_a_growing_history_keeps_its_first_message_until_it_overflows(
    costs: list[list[int]], room: int, low: float
) -> None:
    history = history_of(costs)
    before: int | None = 0
    for stop in range(1, len(history) + 1):
        now = kept_from(history[:stop], room, low)
        assume(now is not None)
        assert now is not None
        assert before is not None
        assert now >= before
        if now > before:
            overflowing = by_hand.cost(history[before:stop])
            assert overflowing > room
            left = by_hand.cost(history[now:stop])
            assert left <= int(low * room) or by_hand.turns_of(history[now:stop]) == [history[now:stop]]
        before = now


@scaled(0.5)
@given(sessions, st.integers(5, 60), st.one_of(shares, st.just("auto")), st.data())
def test_the_cut_does_not_depend_on_earlier_builds(
    costs: list[list[int]], room: int, low: LowWater, data: st.DataObject
) -> None:
    history = history_of(costs)
    policy = TrimOldest(low_water=low)
    lived = Assembler(Budget(room, counter=len), dialect=plain, on_overflow=policy)
    for message in history:
        lived.add_message(message)
        if data.draw(st.booleans()):
            try:
                lived.build()
            except ContextLengthError:
                pass
    try:
        found = len(lived.build().dropped)
    except ContextLengthError:
        found = None
    assert found == kept_from(history, room, low)


@given(sessions, st.integers(5, 60))
def test_an_automatic_mark_is_the_one_that_replaying_the_session_gives(costs: list[list[int]], room: int) -> None:
    found = kept_from(history_of(costs), room, "auto")
    turn = by_hand.auto_cut(costs, room)
    if sum(sum(sizes) for sizes in costs[turn:]) > room:
        assert found is None
    else:
        assert found == sum(len(sizes) for sizes in costs[:turn])


@scaled(0.5)
@given(sessions, st.integers(5, 60))
def test_an_automatic_mark_moves_at_cuts_only(costs: list[list[int]], room: int) -> None:
    history = history_of(costs)
    before: int | None = 0
    for stop in range(1, len(history) + 1):
        now = kept_from(history[:stop], room, "auto")
        assume(now is not None)
        if now != before:
            assert by_hand.cost(history[before:stop]) > room
        before = now


def test_an_automatic_mark_fills_a_window_of_large_turns_as_well_as_one_of_small_turns() -> None:
    """A cut of large turns frees more than needed, so a fixed mark would leave their windows emptier."""
    large, small = [[130 + place * 37 % 90, 20] for place in range(40)], [[5, 3]] * 600
    fixed = [fill(costs, 0.5) for costs in (large, small)]
    auto = [fill(costs, "auto") for costs in (large, small)]
    assert fixed[0] < fixed[1] - 0.05
    assert auto[0] > fixed[0] + 0.02
    assert abs(auto[1] - 0.74) < 0.03


def fill(costs: list[list[int]], low: LowWater) -> float:
    """How full a room of 1,000 is after each message of the second half."""
    assembler = Assembler(Budget(1_000, counter=len), dialect=plain, on_overflow=TrimOldest(low_water=low))
    levels = [assembler.add_message(message).build().count.tokens for message in history_of(costs)]
    second = levels[len(levels) // 2 :]
    return sum(second) / (1_000 * len(second))


def test_an_automatic_mark_of_a_ladder_holds_half_of_the_window() -> None:
    rungs = [ClearToolResults(keep=1), TrimOldest(low_water="auto")]
    history = history_of([[3, 4]] * 40)
    auto, fixed = (
        Assembler(Budget(50, counter=len), dialect=plain, on_overflow=[rungs[0], trim]).add_messages(history).build()
        for trim in (rungs[1], TrimOldest(low_water=0.5))
    )
    assert auto.messages == fixed.messages


def test_any_other_word_is_refused_as_a_mark() -> None:
    with pytest.raises(BudgetError, match=r"low_water is a share of the tokens left, 0 < low_water <= 1"):
        TrimOldest(low_water="low")  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_fixed_mark_that_fills_the_window_as_much_reads_a_twentieth_less(kind: str) -> None:
    calls = arrivals(kind)
    auto = run_session(calls, TrimOldest(low_water="auto"))
    marks = [run_session(calls, TrimOldest(low_water=mark / 20)) for mark in range(8, 17)]
    assert 0.65 < auto.fill < 0.75
    assert auto.outside <= 1.05 * min(fixed.outside for fixed in marks if fixed.fill >= auto.fill)


def test_an_automatic_mark_follows_how_full_the_window_was_on_average() -> None:
    assert KeptSoFar().share("auto", 100) == KeptSoFar(2, 148).share("auto", 100) == pytest.approx(0.48)
    assert KeptSoFar(2, 144).share("auto", 100) == pytest.approx(
        0.56
    )  # emptier than wanted: the next cut goes less far
    assert KeptSoFar(2, 152).share("auto", 100) == pytest.approx(0.40)
    assert (KeptSoFar(1, 0).share("auto", 100), KeptSoFar(1, 100).share("auto", 100)) == (0.85, 0.15)
    assert KeptSoFar(1, 100).share("auto", 0) == pytest.approx(0.48)
    assert KeptSoFar(2, 148).share(0.3, 100) == 0.3


@pytest.mark.parametrize(("given", "field"), [({"low_water": 2}, "low_water"), ({"note": 7}, "note")])
def test_an_argument_that_is_refused_is_named_with_its_policy(given: dict[str, Any], field: str) -> None:
    with pytest.raises((BudgetError, MarkupError), match=rf"TrimOldest.*{field}"):
        TrimOldest(**given)


@pytest.mark.parametrize("keep", [1, 2, 3, 4])
def test_with_a_mark_the_protected_turns_stay(keep: int) -> None:
    """Turns of one message and of two by turns, and a mark that would leave nothing."""
    history = history_of([[3, 3] if turn % 3 == 0 else [3] for turn in range(9)])
    starts = [index for index, message in enumerate(history) if message["role"] == "user"]
    policy = TrimOldest(low_water=0.01, keep_turns=keep)
    ledger = Assembler(Budget(1_000, counter=len), dialect=plain).add_messages(history).build().inside.ledger
    whole = sum(len(message["content"]) for message in history)
    assert policy.cut(ledger, whole - 1).first_kept == starts[-keep]


def test_a_note_is_sent_only_if_something_was_dropped() -> None:
    ledger = (
        Assembler(Budget(1_000, counter=len), dialect=plain).add_messages(history_of([[5]] * 4)).build().inside.ledger
    )
    policy = TrimOldest(note="gone")
    assert policy.cut(ledger, 24).summary is None
    assert policy.cut(ledger, 23).summary is not None


@given(
    st.lists(st.integers(1, 60), min_size=4, max_size=14),
    st.integers(60, 200),
    st.lists(st.integers(0, 50), max_size=4),
)
def test_a_ladder_at_a_mark_leaves_the_same_whatever_was_left_before(
    sizes: list[int], window: int, rules: list[int]
) -> None:
    def outcome_after(*instructions: int) -> Any:
        ladder = [Truncate(20), TrimOldest(0.5)]
        made = Assembler(Budget(window, counter=len), dialect=plain, on_overflow=ladder)
        made.add_messages([{"role": "user", "content": "u" * size} for size in sizes])
        outcome: Any = None
        for letters in instructions:
            try:
                outcome = made.add_instruction("i" * letters).build().request()
            except ContextLengthError as error:
                outcome = str(error)
        return outcome

    assert outcome_after(*rules, 10) == outcome_after(10)


class Asked:
    """A policy that changes nothing and counts how often it is asked."""

    def __init__(self) -> None:
        self.times = 0

    def rewrites(self, passage: Passage) -> Iterator[Change]:
        self.times += 1
        return iter(())


def questions(messages: int) -> int:
    """How often a policy is asked about one turn of messages of 3 tokens, of which 10 fit."""
    asked = Asked()
    assembler = Assembler(Budget(30, counter=len), dialect=plain, on_overflow=[asked, TrimOldest(0.5)])
    with pytest.raises(ContextLengthError):
        assembler.add_messages(history_of([[3] * messages])).build()
    return asked.times


def test_a_replay_asks_ever_more_seldom_while_no_policy_makes_the_conversation_fit() -> None:
    """Each question reads all that stays: one for each message made the error for a long turn take minutes."""
    assert questions(800) < 1.5 * questions(200)


def test_a_replay_asks_after_each_of_the_first_thirty_messages_that_do_not_fit() -> None:
    assert questions(40) - questions(36) == questions(16) - questions(12) > 0


HOPELESS = [
    [Truncate(4), TrimOldest(0.5)],
    [ClearToolResults(1), TrimOldest(0.3, note="n")],
    [KeepRelevant(low_water=0.5)],
]
"""Ladders whose replays ask at each overflow."""


@scaled(0.2)
@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(0, 90)), min_size=1, max_size=4),
    st.integers(10, 150),
    st.sampled_from(HOPELESS),
    st.sets(st.integers(1, 300), max_size=6),
)
@example([(1, 92), *[(3, 0)] * 8], 20, HOPELESS[0], {*range(93, 101)})
def test_a_session_that_failed_for_long_plans_what_a_fresh_assembler_plans(
    turns: list[tuple[int, int]], room: int, ladder: list[Policy], planned_at: set[int]
) -> None:
    """A turn of many messages is too large by itself; later turns may fit again."""
    history = history_of([[size, *[2] * answers] for size, answers in turns])
    made = Assembler(Budget(room, counter=len), dialect=plain, on_overflow=ladder)
    lived = made.fork()

    def outcome(assembler: Assembler) -> Any:
        try:
            plan = assembler.plan()
        except ContextLengthError as error:
            return error.required, error.smallest_window
        return plan.count, plan.kept, str(plan.report)

    for stop, message in enumerate(history, 1):
        lived.add_message(message)
        if stop in planned_at or stop == len(history):
            assert outcome(lived) == outcome(made.fork().add_messages(history[:stop]))


@pytest.mark.parametrize("behind", [[], [Truncate(500)]])
@pytest.mark.parametrize("first", [Assembler.plan, Assembler.build, Assembler.costs])
def test_a_second_system_message_that_does_not_fit_is_too_long_and_no_fault_of_the_plan(
    behind: list[Policy], first: Callable[[Assembler], object]
) -> None:
    """A replay that began beside one system message ended before the other: the error was a `PlanError`."""
    ladder = [TrimOldest(low_water=0.5), *behind]
    assembler = Assembler(Budget(40, counter=len), dialect=plain, on_overflow=ladder)
    first(assembler.add_message({"role": "system", "content": "s" * 30}))
    assembler.add_message({"role": "system", "content": "t" * 30})
    for again in (assembler.plan, assembler.build):
        with pytest.raises(ContextLengthError) as caught:
            again()
        assert (caught.value.required, caught.value.smallest_window) == (60, 60)


@pytest.mark.parametrize("behind", [[], [Truncate(500)]])
def test_a_message_of_no_tokens_cuts_nothing_from_a_window_that_is_full_to_the_token(behind: list[Policy]) -> None:
    """The second turn overflows and then fills the window alone; the third adds no token."""
    ladder = [TrimOldest(low_water=0.5), *behind]
    assembler = Assembler(Budget(20, counter=len), dialect=plain, on_overflow=ladder)
    for sizes, kept in (([[5], [20]], 1), ([[5], [20], [0]], 2), ([[5], [20], [0], [1]], 2)):
        assert len(assembler.fork().add_messages(history_of(sizes)).build().messages) == kept


def test_twice_as_many_pinned_turns_take_twice_as_many_calls_to_refuse() -> None:
    """Every question of the replay added up what all pinned turns cost."""

    def calls(turns: int) -> int:
        history = [
            message
            for turn in range(turns)
            for message in (
                {"role": "user", "content": f"question {turn}", "pinned": True},
                {"role": "assistant", "content": "answer"},
            )
        ]
        budget = Budget(turns * 9, counter=len)
        assembler = Assembler(budget, dialect=plain, on_overflow=TrimOldest(0.5, note="gone")).add_messages(history)

        def refuse() -> None:
            with pytest.raises(ContextLengthError):
                assembler.build()

        return calls_of(refuse)

    calls(20)  # what is found once in a process
    assert calls(400) <= 2.2 * calls(200)
