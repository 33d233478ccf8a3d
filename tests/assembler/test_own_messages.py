"""A foreign message class is read by its registered reader and by no other."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import (
    Assembler,
    ClearToolResults,
    ContextLengthError,
    MessageTypeError,
    Summarize,
    TrimOldest,
    Truncate,
    repair,
)
from assembler.conversation.messages import read_message, reading, register_reader, unchanged
from assembler.testing import conversations
from budgets import Budget


class Wrapped:
    """A message that keeps its dict in an attribute that no reader knows."""

    def __init__(self, held: Any) -> None:
        self.held = held


class Louder(Wrapped):
    """One with a reader of its own."""


@given(conversations())
def test_wrapped_messages_make_the_request_of_the_bare_ones_and_are_returned_themselves(history: list[Any]) -> None:
    with reading(Wrapped, lambda message: message.held):
        wrapped = [Wrapped(message) for message in history]
        context = Assembler().add_messages(wrapped).build()
    assert context.request() == Assembler().add_messages(history).build().request()
    assert all(out is given for out, given in zip(context.messages, wrapped, strict=True))


def test_outside_the_block_the_class_is_refused_as_a_message() -> None:
    with reading(Wrapped, lambda message: message.held):
        pass
    with pytest.raises(MessageTypeError, match="register_reader"):
        read_message(Wrapped({"role": "user", "content": "q"}), 3)


def test_the_nearest_class_decides_and_the_outer_block_overrides_the_inner() -> None:
    message = Louder("hi")
    with reading(Wrapped, lambda m: {"role": "user", "content": m.held}):
        assert read_message(message, 0).parts == ("hi",)
        with reading(Louder, lambda m: {"role": "user", "content": m.held.upper()}):
            assert read_message(message, 0).parts == ("HI",)
        assert read_message(message, 0).parts == ("hi",)


def test_a_reader_that_raises_is_named_and_its_own_error_is_chained() -> None:
    with reading(Wrapped, lambda m: {"role": m.held["who"], "content": ""}), pytest.raises(MessageTypeError) as caught:
        Assembler().add_messages([{"role": "user", "content": "q"}, Wrapped({})])
    assert str(caught.value) == "message 1: the reader of Wrapped raised KeyError"
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize(
    ("writer", "problem"), [(lambda _: {}["role"], "raised KeyError"), (lambda _: None, "returned None")]
)
def test_a_writer_that_makes_nothing_is_named(writer: Any, problem: str) -> None:
    long = [Wrapped({"role": "user", "content": "word " * 200})]
    assembler = Assembler(Budget(100, model="gpt-4o"), on_overflow=Truncate(50)).add_messages
    with reading(Wrapped, lambda m: m.held, writer=writer), pytest.raises(MessageTypeError) as caught:
        assembler(long).build()
    assert f"the writer of Wrapped {problem}" in str(caught.value)


def test_a_message_that_its_owner_changes_is_read_again() -> None:
    with reading(Wrapped, lambda m: {"role": "user", "content": m.held}):
        message = Wrapped("one")
        assembler = Assembler().add_messages([message])
        assert assembler.build().request()["messages"][0]["content"] == "one"
        assert unchanged(read_message(message, 0))
        message.held = "two"
        assert assembler.build().request()["messages"][0]["content"] == "two"


def test_a_message_that_a_policy_shortens_is_returned_as_a_dict_and_the_owners_object_stays() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "word " * 500},
        {"role": "user", "content": "and?"},
    ]
    before = copy.deepcopy(messages)
    with reading(Wrapped, lambda m: m.held):
        assembler = Assembler(Budget(200), on_overflow=[ClearToolResults(keep=0), Truncate(50)])
        context = assembler.add_messages([Wrapped(message) for message in messages]).build()
    assert messages == before
    assert isinstance(context.messages[2], dict)
    assert sum(isinstance(message, Wrapped) for message in context.messages) == 3


@pytest.mark.parametrize("kind", [dict, list, str, object, "Wrapped", None])
def test_a_class_that_is_read_already_or_another_value_gets_no_reader(kind: Any) -> None:
    with pytest.raises(MessageTypeError, match="kind"):
        register_reader(kind, dict)


def test_an_instance_in_place_of_its_class_is_named_as_one() -> None:
    with pytest.raises(MessageTypeError, match="a message class of your own, got an instance of Wrapped"):
        register_reader(Wrapped({}), dict)  # type: ignore[arg-type,type-var]


def test_a_class_may_give_its_results_the_users_role_when_repair_adds_one() -> None:
    """A reader that follows docs/extending/messages.md for results of several calls."""

    def as_the_users(wrapped: Wrapped) -> Any:
        held = wrapped.held
        if held["role"] != "tool":
            return held
        result = {"type": "tool_result", "tool_use_id": held["tool_call_id"], "content": held["content"]}
        return {"role": "user", "content": [result]}

    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "name": "look", "args": {}}]}
    with reading(Wrapped, as_the_users, writer=Wrapped):
        mended, _ = repair([Wrapped({"role": "user", "content": "q"}), Wrapped(call)])
        assert isinstance(mended[2], Wrapped)
        assert mended[2].held["tool_call_id"] == "c1"


def test_a_reader_that_is_not_callable_or_returns_no_dict_is_refused_by_name() -> None:
    with pytest.raises(MessageTypeError, match="reader"):
        register_reader(Wrapped, "no function")  # type: ignore[arg-type]
    with reading(Wrapped, lambda m: m.held), pytest.raises(MessageTypeError, match=r"message 2.*Wrapped.*int"):
        read_message(Wrapped(5), 2)


@given(conversations())
def test_with_a_writer_every_message_that_a_policy_writes_has_its_own_class(history: list[Any]) -> None:
    def summarized(dropped: object, previous: object, most: int) -> str:
        return "so far"

    ladder = [ClearToolResults(keep=0), Truncate(20), Summarize(summarized, keep_turns=1)]
    with reading(Wrapped, lambda m: m.held, writer=Wrapped):
        costs = Assembler().add_messages(history).costs()
        for limit in (max(40, costs.total // 4), max(40, costs.total // 2)):
            wrapped = Assembler(Budget(limit), on_overflow=ladder).add_messages([Wrapped(one) for one in history])
            bare = Assembler(Budget(limit), on_overflow=ladder).add_messages(history)
            try:
                context = wrapped.build()
            except ContextLengthError:
                continue
            assert [message.held for message in context.messages] == bare.build().messages


@given(st.data(), conversations())
def test_with_a_writer_a_repaired_history_has_one_class(data: st.DataObject, history: list[Any]) -> None:
    lost = data.draw(st.sets(st.integers(0, max(0, len(history) - 1)), max_size=3))
    broken = [message for index, message in enumerate(history) if index not in lost]
    with reading(Wrapped, lambda m: m.held, writer=Wrapped):
        mended, changes = repair([Wrapped(message) for message in broken])
    assert ([message.held for message in mended], changes) == repair(broken)


def test_a_writer_that_writes_another_message_is_refused_by_name() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    asking = Wrapped({"role": "assistant", "content": None, "tool_calls": [call]})
    mute = reading(Wrapped, lambda m: m.held, writer=lambda fields: Wrapped({**fields, "content": "secret"}))
    with mute, pytest.raises(MessageTypeError, match="writer of Wrapped") as raised:
        repair([asking])
    assert "secret" not in str(raised.value)
    with pytest.raises(MessageTypeError, match="writer"):
        register_reader(Wrapped, lambda m: m.held, writer="no function")  # type: ignore[arg-type]


@given(st.text(min_size=1))
def test_the_error_of_a_raising_reader_names_the_place_and_quotes_nothing(secret: str) -> None:
    def failing(message: Wrapped) -> dict[str, Any]:
        raise KeyError(secret + "~secret")

    with reading(Wrapped, failing), pytest.raises(Exception, match="message 7") as raised:
        read_message(Wrapped({}), 7)
    assert "~secret" not in str(raised.value)


def test_a_message_that_its_reader_returns_as_pinned_stays() -> None:
    """The mark was looked for on the object alone, and the pinned turn was cut."""
    history = [{"role": ("user", "assistant")[place % 2], "content": "m" * 50} for place in range(5)]
    history[0]["pinned"] = True
    with reading(Wrapped, lambda message: message.held):
        wrapped = [Wrapped(message) for message in history]
        made = Assembler(Budget(150, counter=len), dialect="plain", on_overflow=TrimOldest()).add_messages(wrapped)
        assert made.build().messages == [*wrapped[:2], wrapped[4]]
        del history[0]["pinned"]
        assert made.build().messages == wrapped[2:]
