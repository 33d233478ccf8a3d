"""Gathered regions can be read back, removed and replaced, and None means nothing everywhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, ConversationError

QUESTION = {"role": "user", "content": "q"}
ANSWER = {"role": "assistant", "content": "a"}


@given(st.lists(st.sampled_from(["add", "pop", "fork"]), max_size=30))
def test_pop_message_undoes_add_message_and_no_fork_sees_it(deeds: list[str]) -> None:
    assembler, model = Assembler(), list[object]()
    others: list[tuple[Assembler, list[object]]] = []
    for number, deed in enumerate(deeds):
        if deed == "add":
            message = {"role": "user", "content": f"m{number}"}
            assembler.add_message(message)
            model.append(message)
        elif deed == "fork":
            others.append((assembler.fork(), list(model)))
        elif model:
            assert assembler.pop_message() is model.pop()
        else:
            with pytest.raises(IndexError):
                assembler.pop_message()
    for one, expected in [*others, (assembler, model)]:
        assert one.messages == expected
        assert one.build().messages == expected
        assert one.costs() == Assembler().add_messages(expected).costs()


def test_the_knowledge_of_a_turn_is_replaced_by_that_of_the_next() -> None:
    assembler = Assembler().add_knowledge("old", type="doc", source="a.md", score=0.5)
    (known,) = assembler.knowledge
    assert (known.text, known.type, known.source, known.score) == ("old", "doc", "a.md", 0.5)
    again = assembler.fork().clear_knowledge().add_knowledge("new", type="doc")
    assert [document.text for document in again.knowledge] == ["new"]
    assert [document.text for document in assembler.knowledge] == ["old"]
    assert "old" not in str(again.add_message(QUESTION).build().system)


def test_none_is_accepted_as_nothing_by_every_function() -> None:
    assembler = Assembler().add_instruction("x").add_capability([]).add_messages([QUESTION])
    assembler.add_instruction(None).add_capability(None).add_messages(None).add_knowledge(None, type="doc")
    assembler.add_output_schema(None).hold(None).anchor(None)
    assert assembler == Assembler()
    with pytest.raises(ConversationError):
        assembler.add_message(None)


def test_an_unanswered_call_can_be_taken_back() -> None:
    call = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]}
    assembler = Assembler(dialect="openai_chat").add_messages([QUESTION, call])
    assert assembler.pop_message() is call
    assert assembler.add_message(ANSWER).add_message(QUESTION).build().messages == [QUESTION, ANSWER, QUESTION]
