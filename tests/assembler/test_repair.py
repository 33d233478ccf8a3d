"""Repair makes any history valid, says what it did, and touches nothing that was right."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, MessageTypeError, repair

from . import by_hand
from .drawn import histories

History = list[dict[str, Any]]


@st.composite
def broken(draw: st.DrawFn) -> History:
    """A history that lost, doubled or swapped some messages."""
    history = draw(histories())
    for _ in range(draw(st.integers(1, 4))):
        if not history:
            break
        place = draw(st.integers(0, len(history) - 1))
        match draw(st.sampled_from(["drop", "double", "swap", "spoil"])):
            case "drop":
                history = history[:place] + history[place + 1 :]
            case "double":
                history = [*history[: place + 1], history[place], *history[place + 1 :]]
            case "swap":
                other = draw(st.integers(0, len(history) - 1))
                history[place], history[other] = history[other], history[place]
            case _:
                history = [*history[:place], {"role": "user"}, *history[place:]]
    return history


@given(broken())
def test_what_comes_out_is_accepted_and_what_was_right_is_the_same_object(history: History) -> None:
    before = copy.deepcopy(history)
    mended, changes = repair(history)
    assert history == before
    assert by_hand.pairs_hold(mended)  # type: ignore[arg-type]
    Assembler().add_messages(mended).build()
    given_ids = {id(message) for message in history}
    added = [message for message in mended if id(message) not in given_ids]
    assert len(added) == sum(change.did in ("added", "edited") for change in changes)
    assert repair(mended) == (mended, [])


@given(histories())
def test_a_valid_history_is_left_alone(history: History) -> None:
    mended, changes = repair(history)
    assert changes == []
    assert all(a is b for a, b in zip(mended, history, strict=True))


CALLS: dict[str, dict[str, Any]] = {
    "openai": {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]},
    "legacy": {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
    "anthropic": {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
    "bedrock": {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "f", "input": {}}}]},
    "gemini": {"role": "model", "parts": [{"function_call": {"name": "f", "args": {}}}]},
    "gemini with id": {"role": "model", "parts": [{"function_call": {"id": "a", "name": "f", "args": {}}}]},
}


@pytest.mark.parametrize("spelling", CALLS)
def test_a_call_without_result_gets_one_in_its_own_spelling(spelling: str) -> None:
    history = [{"role": "user", "content": "q"}, CALLS[spelling]]
    mended, changes = repair(history)
    assert [change.did for change in changes] == ["added"]
    assert len(mended) == 3
    assert Assembler().add_messages(mended).build().messages == mended


def test_a_result_without_call_goes_and_the_text_beside_it_stays() -> None:
    block = {"type": "tool_result", "tool_use_id": "lost", "content": "x"}
    history = [{"role": "user", "content": [block, {"type": "text", "text": "and now?"}]}]
    mended, changes = repair(history)
    assert mended == [{"role": "user", "content": [{"type": "text", "text": "and now?"}]}]
    assert [(change.index, change.did) for change in changes] == [(0, "edited")]


@pytest.mark.parametrize("wrong", ["why?", b"why?", {"role": "user", "content": "why?"}])
def test_what_is_no_list_is_refused_and_not_mended_to_nothing(wrong: Any) -> None:
    with pytest.raises(MessageTypeError, match=r"pass \[message\]"):
        repair(wrong)
