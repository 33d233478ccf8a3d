"""Valid conversations break no rule, and each mutation breaks the intended one."""

from __future__ import annotations

import copy
import json
import re
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler.drawn.conversations import Conversation
from assembler.verify import verify
from tests.assembler.verify.conversations import SPELLINGS, STEPPED, TURNS, Request, answers_in, conversations
from tests.scaled import scaled


def fired(request: Any, dialect: str, model: str | None = None) -> set[str]:
    return {violation.rule for violation in verify(request, dialect=dialect, model=model)}


def turns_of(request: Request, dialect: str) -> list[Any]:
    return request[TURNS.get(dialect, "messages")]


@pytest.mark.parametrize("dialect", SPELLINGS)
@scaled(0.3)
@given(conversation=conversations())
def test_a_valid_conversation_breaks_nothing(dialect: str, conversation: Conversation) -> None:
    request = SPELLINGS[dialect](conversation)
    assert [str(violation) for violation in verify(request, dialect=dialect)] == []
    assert verify(json.loads(json.dumps(request)), dialect=dialect) == []


@pytest.mark.parametrize("dialect", SPELLINGS)
@scaled(0.3)
@given(conversation=conversations())
def test_a_request_is_left_as_it_was(dialect: str, conversation: Conversation) -> None:
    request = SPELLINGS[dialect](conversation)
    before = copy.deepcopy(request)
    verify(request, dialect=dialect)
    assert request == before


def has(turn: Request, *words: str) -> bool:
    return any(word in json.dumps(turn) for word in words)


def is_answer(turn: Request) -> bool:
    """Whether a turn of `STEPPED` holds a result, in whatever words: each is an r and a number."""
    return has(turn, '"r1"', '"r2"', '"r3"')


def drop_first_answer(turns: list[Request]) -> None:
    del turns[next(index for index, turn in enumerate(turns) if is_answer(turn))]


def drop_first_caller(turns: list[Request]) -> None:
    called = [index for index, turn in enumerate(turns) if has(turn, '"look"') and not is_answer(turn)]
    for index in [index for index in called if index < 5][::-1]:
        del turns[index]


def repeat_first_answer(turns: list[Request]) -> None:
    index = next(index for index, turn in enumerate(turns) if is_answer(turn))
    turns.insert(index, copy.deepcopy(turns[index]))


def one_id_for_two_calls(turns: list[Request]) -> None:
    text = re.sub(r'(call_|tooluse_|toolu_|00000000)2"', r'\g<1>1"', json.dumps(turns))
    turns[:] = json.loads(text)


def empty_question(turns: list[Request]) -> None:
    turns[:] = json.loads(json.dumps(turns).replace('"q2"', '""'))


def empty_answer(turns: list[Request]) -> None:
    turns[:] = json.loads(json.dumps(turns).replace('"a1"', '""'))


def end_on_the_assistant(turns: list[Request]) -> None:
    del turns[next(index for index, turn in enumerate(turns) if has(turn, '"a1"')) + 1 :]


def begin_with_the_assistant(turns: list[Request]) -> None:
    del turns[: next(index for index, turn in enumerate(turns) if has(turn, '"a1"'))]


APIS = ["anthropic", "bedrock", "chat_template", "gemini", "mistral", "openai_chat", "openai_responses", "plain"]
BROKEN: dict[Callable[[list[Request]], None], tuple[str, ...]] = {
    drop_first_answer: ("A5", "B1 N2", "N2", "G4", "M3", "O2", "R2", "N2"),
    drop_first_caller: ("A6 A8", "B1 N2", "N2", "G5", "M3", "O1", "R1 R3", "N2"),
    repeat_first_answer: ("A9", "B1 N2", "N2", "G5", "N2", "N2", "N2", "N2"),
    one_id_for_two_calls: ("A7 A9", "N2 N3", "N2 N3", "N3", "N2 N3", "N2 O4", "N2 N3", "N2 N3"),
    empty_question: ("A1", "B2", "N4", "G2", "", "", "", "N4"),
    empty_answer: ("A3", "B2", "N4", "G2", "N4", "O6", "", "N4"),
    end_on_the_assistant: ("", "B5", "", "G7", "M1", "", "", "N5"),
    begin_with_the_assistant: ("A2", "B5", "H1", "", "", "", "", "N1"),
}
"""One change to `STEPPED`, and the rules that each of `APIS`, in order, must find broken: those, and no other."""


@pytest.mark.parametrize("dialect", APIS)
@pytest.mark.parametrize("mutate", BROKEN, ids=lambda mutate: mutate.__name__)
def test_one_mutation_breaks_the_rule_that_forbids_it(mutate: Callable[[list[Request]], None], dialect: str) -> None:
    request = SPELLINGS[dialect](STEPPED)
    assert fired(request, dialect) == set()
    mutate(turns_of(request, dialect))
    assert fired(request, dialect) == set(BROKEN[mutate][APIS.index(dialect)].split())


@pytest.mark.parametrize("dialect", SPELLINGS)
@scaled(0.3)
@given(conversation=conversations(), data=st.data())
def test_a_lost_answer_is_always_reported(dialect: str, conversation: Conversation, data: st.DataObject) -> None:
    request = SPELLINGS[dialect](conversation)
    turns = turns_of(request, dialect)
    answers = answers_in(dialect, conversation)
    assert bool(answers) is any(exchange.steps for exchange in conversation.exchanges)
    if answers:
        del turns[data.draw(st.sampled_from(answers))]
        assert fired(request, dialect)


@pytest.mark.parametrize("dialect", SPELLINGS)
@scaled(0.3)
@given(conversation=conversations(), cut=st.integers(1, 12))
def test_cutting_the_oldest_messages_is_seen_when_it_orphans_an_answer(
    dialect: str, conversation: Conversation, cut: int
) -> None:
    request = SPELLINGS[dialect](conversation)
    turns = turns_of(request, dialect)
    if cut in answers_in(dialect, conversation):
        del turns[:cut]
        assert fired(request, dialect)


def test_a_claude_without_prefill_refuses_what_an_older_one_takes() -> None:
    request = SPELLINGS["anthropic"](STEPPED)
    end_on_the_assistant(request["messages"])
    assert fired(request, "anthropic", "claude-opus-4-1-20250805") == set()
    assert fired(request, "anthropic", "claude-opus-4-6") == {"A11"}


def test_gemini_3_demands_signatures_and_gemini_2_does_not() -> None:
    request = json.loads(json.dumps(SPELLINGS["gemini"](STEPPED)).replace('"thoughtSignature"', '"x"'))
    assert fired(request, "gemini", "gemini-2.5-pro") == set()
    assert fired(request, "gemini", "gemini-3.1-pro") == {"G8"}


def test_a_cache_mark_on_an_empty_text_is_two_violations() -> None:
    block = {"type": "text", "text": "", "cache_control": {"type": "ephemeral"}}
    request = {"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}, block]}]}
    assert fired(request, "anthropic") == {"A3", "A13"}
    block["text"] = "."
    assert fired(request, "anthropic") == set()


def test_more_messages_than_claude_takes_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = sys.modules["assembler.dialects.anthropic.rules"]
    assert rules._MOST_MESSAGES == 100_000
    monkeypatch.setattr(rules, "_MOST_MESSAGES", 3)
    messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}] * 2
    assert fired({"messages": messages[:3]}, "anthropic") == set()
    assert fired({"messages": messages}, "anthropic") == {"A2"}


def test_a_reference_may_stand_for_either_half_of_a_pair() -> None:
    reference = {"type": "item_reference", "id": "fc_1"}
    call = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
    assert fired({"input": [reference, output]}, "openai_responses") == set()
    assert fired({"input": [call, reference]}, "openai_responses") == set()
