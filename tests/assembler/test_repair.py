"""Repair makes any history valid, lists its changes, and keeps everything that was right."""

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
def test_a_repaired_history_is_valid_and_keeps_the_very_objects_that_were_right(history: History) -> None:
    before = copy.deepcopy(history)
    mended, changes = repair(history)
    assert history == before
    assert by_hand.pairs_hold(mended)  # type: ignore[arg-type]
    Assembler().add_messages(mended).build()
    given_ids = {id(message) for message in history}
    added = [message for message in mended if id(message) not in given_ids]
    assert len(added) == sum(change.did in ("added", "edited") for change in changes)
    assert repair(mended) == (mended, [])


CALLS: dict[str, dict[str, Any]] = {
    "openai": {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]},
    "legacy": {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
    "anthropic": {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
    "bedrock": {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "f", "input": {}}}]},
    "gemini": {"role": "model", "parts": [{"function_call": {"name": "f", "args": {}}}]},
    "gemini with id": {"role": "model", "parts": [{"function_call": {"id": "a", "name": "f", "args": {}}}]},
    "item": {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
    "custom item": {"type": "custom_tool_call", "call_id": "a", "name": "f", "input": "x"},
}


SAID = "no result was recorded"
ANSWERS: dict[str, dict[str, Any]] = {
    "openai": {"role": "tool", "tool_call_id": "a", "content": SAID},
    "legacy": {"role": "function", "name": "f", "content": SAID},
    "anthropic": {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "a", "content": SAID, "is_error": True}],
    },
    "bedrock": {
        "role": "user",
        "content": [{"toolResult": {"toolUseId": "a", "content": [{"text": SAID}], "status": "error"}}],
    },
    "gemini": {"role": "user", "parts": [{"function_response": {"name": "f", "response": {"error": SAID}}}]},
    "gemini with id": {
        "role": "user",
        "parts": [{"function_response": {"name": "f", "response": {"error": SAID}, "id": "a"}}],
    },
    "item": {"type": "function_call_output", "call_id": "a", "output": SAID},
    "custom item": {"type": "custom_tool_call_output", "call_id": "a", "output": SAID},
}


QUESTION = {"role": "user", "content": "q"}
RESULT = {"role": "tool", "tool_call_id": "a", "content": "r"}
BY_NAME = {"role": "tool", "name": "f", "content": "r"}
ITEM = {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
LOST = {"type": "tool_result", "tool_use_id": "lost", "content": "x"}
USED = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
TWICE = {"role": "assistant", "tool_calls": CALLS["openai"]["tool_calls"] * 2}


@pytest.mark.parametrize(
    ("history", "index", "did", "why"),
    [
        ([QUESTION, {"role": "user"}], 1, "dropped", "cannot be read: ConversationError"),
        ([QUESTION, RESULT], 1, "dropped", "answers no open call"),
        (
            [QUESTION, {"role": "user", "content": [LOST, {"type": "text", "text": "x"}]}],
            1,
            "edited",
            "a result in it answers no open call",
        ),
        ([QUESTION, CALLS["openai"]], 2, "added", "a call had no result"),
        ([QUESTION, CALLS["openai"], QUESTION], 2, "added", "a call had no result"),
        ([QUESTION, CALLS["openai"], QUESTION, RESULT], 3, "moved", "a result was away from its call"),
        ([QUESTION, CALLS["openai"], BY_NAME], 2, "edited", "its call is known by another name"),
        ([QUESTION, CALLS["gemini"], {**RESULT, "name": "g"}], 2, "edited", "its call is known by another name"),
        ([QUESTION, TWICE, RESULT], 1, "edited", "its call ids repeat, or its role cannot call"),
        ([QUESTION, {"role": "user", "content": [USED]}], 1, "dropped", "its call ids repeat, or its role cannot call"),
        (
            [QUESTION, ITEM, ITEM, {"type": "function_call_output", "call_id": "a", "output": "r"}],
            2,
            "dropped",
            "its call id is that of an open call",
        ),
    ],
)
def test_a_change_says_where_and_why(history: History, index: int, did: str, why: str) -> None:
    _, changes = repair(history)
    assert [(change.index, change.did, change.why) for change in changes] == [(index, did, why)]


def test_a_result_that_moves_as_a_whole_is_the_caller_s_own_object() -> None:
    mended, _ = repair([QUESTION, CALLS["openai"], QUESTION, RESULT])
    assert mended[2] is RESULT


def calling(*ids: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{**USED, "id": each} for each in ids]}


def answering(*ids: str) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": each, "content": f"of {each}"} for each in ids]


def test_a_repeated_id_is_found_whatever_is_between() -> None:
    mended, changes = repair([QUESTION, calling("a", "b", "a"), {"role": "user", "content": answering("a", "b")}])
    assert mended == [QUESTION, calling("a", "b"), {"role": "user", "content": answering("a", "b")}]
    assert [(change.index, change.did) for change in changes] == [(1, "edited")]


def test_calls_without_results_are_answered_in_the_order_in_which_they_were_made() -> None:
    calls = [{**CALLS["openai"]["tool_calls"][0], "id": each} for each in ("b", "a", "c")]
    mended, _ = repair([QUESTION, {"role": "assistant", "tool_calls": calls}])
    assert mended[2:] == [{**ANSWERS["openai"], "tool_call_id": each} for each in ("b", "a", "c")]


def test_results_in_two_messages_stay_where_they_are_and_so_does_the_text_beside_them() -> None:
    block = {"type": "text", "text": "here it is"}
    history = [
        QUESTION,
        calling("a", "b"),
        {"role": "user", "content": [*answering("a"), block]},
        {"role": "user", "content": [block, *answering("b")]},
    ]
    Assembler().add_messages(history).build()
    assert repair(history) == (history, [])


@pytest.mark.parametrize("spelling", CALLS)
def test_a_call_without_result_gets_one_in_its_own_spelling(spelling: str) -> None:
    history = [{"role": "user", "content": "q"}, CALLS[spelling]]
    mended, changes = repair(history)
    assert [change.did for change in changes] == ["added"]
    assert mended == [*history, ANSWERS[spelling]]
    assert Assembler().add_messages(mended).build().messages == mended


def test_a_result_without_call_is_dropped_and_the_text_beside_it_stays() -> None:
    block = {"type": "tool_result", "tool_use_id": "lost", "content": "x"}
    history = [{"role": "user", "content": [block, {"type": "text", "text": "and now?"}]}]
    mended, changes = repair(history)
    assert mended == [{"role": "user", "content": [{"type": "text", "text": "and now?"}]}]
    assert [(change.index, change.did) for change in changes] == [(0, "edited")]


@pytest.mark.parametrize("wrong", ["why?", b"why?", {"role": "user", "content": "why?"}])
def test_a_value_that_is_not_a_list_is_refused_and_not_repaired_to_nothing(wrong: Any) -> None:
    with pytest.raises(MessageTypeError, match=r"pass \[message\]"):
        repair(wrong)


def test_parallel_calls_without_ids_stay() -> None:
    asked = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}] * 2}
    answered = {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"a": 1}}}] * 2}
    history = [{"role": "user", "parts": [{"text": "hi"}]}, asked, answered]
    assert repair(history) == (history, [])


def test_nothing_is_an_empty_history() -> None:
    assert repair(None) == ([], [])
