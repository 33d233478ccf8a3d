"""Pinned turns stay whole, and beside them the newest turns that fit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assembler import Assembler, ConversationError
from assembler.dialects import plain
from assembler.policies import TrimOldest, first_user
from budgets import Budget, BudgetError, ContextLengthError
from tests.assembler import by_hand
from tests.assembler.by_hand import History, Message

from .build import built, check, left, wanted
from .drawn import any_session, unmarked


def marked(message: Message) -> bool:
    return message.get("pinned") is True


def loud(message: Message) -> bool:
    return "a" in str(message["content"])


@st.composite
def tight(draw: st.DrawFn, drawn: st.SearchStrategy[History], pinned: Any) -> tuple[History, int]:
    """A session, and a limit that lies on, or beside, what one of its cuts costs."""
    history = draw(drawn)
    turns = by_hand.turns_of(history)
    cut = draw(st.integers(0, len(turns) - 1))
    kept = [turn for at, turn in enumerate(turns) if at >= cut or by_hand.is_pinned(turn, pinned)]
    return history, max(by_hand.cost(by_hand.flat(kept)) + draw(st.integers(-2, 2)), 1)


def same_objects(one: Any, other: History | None) -> bool:
    if one is None or other is None:
        return one is other
    return [id(message) for message in one.messages] == [id(message) for message in other]


@given(tight(any_session, marked), st.integers(1, 3))
def test_marked_turns_and_the_longest_suffix_beside_them_are_kept(spot: tuple[History, int], keep: int) -> None:
    history, limit = spot
    context = built(history, limit, TrimOldest(keep_turns=keep))
    assert same_objects(context, by_hand.kept_with_pins(history, marked, limit, keep))
    if context is not None:
        check(context, history, limit)
        assert "pinned" not in by_hand.canonical(context.request())


@given(tight(unmarked, loud), st.integers(1, 2))
def test_a_predicate_pins_the_turns_of_the_messages_that_it_picks(spot: tuple[History, int], keep: int) -> None:
    history, limit = spot
    context = built(history, limit, TrimOldest(keep_turns=keep, pins=loud))
    assert same_objects(context, by_hand.kept_with_pins(history, loud, limit, keep))


@given(tight(unmarked, marked), st.sets(st.integers(0, 30), max_size=3))
def test_indexes_pin_the_turns_of_the_messages_there(spot: tuple[History, int], indexes: set[int]) -> None:
    history, limit = spot
    chosen = {id(message) for index, message in enumerate(history) if index in indexes}
    context = built(history, limit, TrimOldest(pins=frozenset(indexes)))
    expected = by_hand.kept_with_pins(history, lambda message: id(message) in chosen, limit)
    assert same_objects(context, expected)


@given(tight(unmarked, marked), st.booleans())
def test_first_user_pins_the_first_question_even_after_a_greeting(spot: tuple[History, int], greeted: bool) -> None:
    history, limit = spot
    if greeted:
        history, limit = [{"role": "assistant", "content": "hello"}, *history], limit + 5
    first = next(message for message in history if by_hand.opens_turn(message))
    context = built(history, limit, TrimOldest(pins=first_user))
    assert same_objects(context, by_hand.kept_with_pins(history, lambda message: message is first, limit))


@given(tight(any_session, marked), st.text("no", min_size=1, max_size=9))
def test_a_note_replaces_the_dropped_turns_and_takes_its_own_tokens(spot: tuple[History, int], note: str) -> None:
    history, limit = spot
    messages = left(history, limit, TrimOldest(note=note))
    kept = by_hand.kept_with_pins(history, marked, limit, noted=len(note))
    if kept is not None and len(kept) < len(history):
        kept = [{"role": "user", "content": note}, *kept]
    assert messages == wanted(kept)


def test_without_a_note_nothing_is_sent_about_dropped_turns() -> None:
    history = [{"role": "user", "content": letter * 5} for letter in "abc"]
    context = built(history, 5, TrimOldest())
    assert context is not None
    assert context.request() == {"messages": [history[2]]}


def test_no_note_is_sent_if_nothing_could_be_dropped() -> None:
    with pytest.raises(ContextLengthError) as raised:
        Assembler(Budget(5, counter=len), dialect=plain, on_overflow=TrimOldest(note="gone")).add_message(
            {"role": "user", "content": "x" * 9}
        ).build()
    assert raised.value.required == 9


def test_the_error_names_pins_that_overflow_alone() -> None:
    history = [{"role": "user", "content": letter * 5, "pinned": letter in "bd"} for letter in "abcde"]
    assembler = Assembler(Budget(14, counter=len), dialect=plain, on_overflow=TrimOldest()).add_messages(history)
    with pytest.raises(ContextLengthError, match="pinned messages 1, 3 need 10 besides the newest turn") as raised:
        assembler.build()
    assert raised.value.required == 15


@pytest.mark.parametrize("bad", [3, "2", [-1], [True], [1.0], b"1", None])
def test_a_value_that_is_not_a_pin_is_refused_at_once(bad: Any) -> None:
    with pytest.raises(BudgetError):
        TrimOldest(pins=bad)


def test_a_predicate_is_asked_once_a_message_however_often_one_builds() -> None:
    asked: list[Message] = []

    def pick(message: Message) -> bool:
        asked.append(message)
        return False

    assembler = Assembler(Budget(12, counter=len), dialect=plain, on_overflow=TrimOldest(pins=pick))
    for letter in "abcdefgh":
        assembler.add_message({"role": "user", "content": letter * 5}).build()
        assembler.fork().build()
    assert len(asked) == 8


# Each turn: is it pinned, and the sizes of the user's message and the assistant's.
priced_turns = st.lists(
    st.tuples(st.sampled_from([False, False, True]), st.lists(st.integers(0, 12), min_size=1, max_size=4)),
    min_size=1,
    max_size=9,
)


@example([(False, [5])] * 5, 20, 0.5, 1, 4)  # what fits without a note is not cut for the note's sake
@example([(True, [5]), *[(False, [5])] * 3, (False, [1])], 20, 0.5, 1, 0)  # a pinned turn is counted once
@given(
    priced_turns, st.integers(5, 60), st.sampled_from([0.1, 0.3, 0.5, 0.8, 1.0]), st.integers(1, 3), st.integers(0, 4)
)
def test_with_low_water_pins_and_a_note_leave_what_a_replayed_session_leaves(
    turns: list[tuple[bool, list[int]]], room: int, low: float, keep: int, noted: int
) -> None:
    history: History = []
    for pin, sizes in turns:
        history.append({"role": "user", "content": "x" * sizes[0], "pinned": pin})
        history += [{"role": "assistant", "content": "x" * size} for size in sizes[1:]]
    costs, pinned = [sizes for _, sizes in turns], [at for at, (pin, _) in enumerate(turns) if pin]
    share = max(int(low * room) - noted, 0) + noted
    first = by_hand.lived_cut(costs, pinned, room, share, keep, noted)
    kept = [at for at in range(len(turns)) if at >= first or at in pinned]
    note = "n" * noted or None
    context = built(history, room, TrimOldest(low, keep, note=note))
    if sum(sum(costs[at]) for at in kept) + (noted if first else 0) > room:
        assert context is None
        return
    assert context is not None
    expected = [message for at, turn in enumerate(by_hand.turns_of(history)) if at in kept for message in turn]
    assert [id(m) for m in context.messages[bool(noted and first) :]] == [id(m) for m in expected]
    assert first == 0 or noted == 0 or context.messages[0] == {"role": "user", "content": note}


@pytest.mark.parametrize("role", ["assistant", "user"])
def test_a_pinned_turn_whose_answer_changed_is_refused_even_before_the_cut(role: str) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    answer = {"role": "tool", "tool_call_id": "c", "content": "r"}
    history = [
        {"role": "user", "content": "p"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        answer,
        *({"role": "user", "content": "x" * 20} for _ in range(3)),
    ]
    assembler = Assembler(Budget(30, counter=len), dialect=plain, on_overflow=TrimOldest(pins={0}))
    assert assembler.add_messages(history).build().messages == [*history[:3], history[-1]]
    answer |= {"role": role, "tool_call_id": None}
    with pytest.raises(ConversationError, match="has no result") as raised:
        assembler.build()
    assert raised.value.index == 2
