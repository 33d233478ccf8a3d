"""The laws of repair in every spelling: a valid history stays, a broken one is repaired once, no result is lost."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, ConversationError, repair, verify
from assembler.conversation.repair import NO_RESULT
from assembler.dialects import DIALECTS, Dialect

from .broken import FORMS, History, broken, conversations, question, results, spelled
from .drawn import histories
from .pairs_at_fault import CASES

forms = st.sampled_from(FORMS)
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {"name": "any", "parameters": {"type": "object", "properties": {}}},
}


def built(history: History, dialect: Dialect) -> dict[str, Any]:
    """The request of a history, which ends with the user, as every API wants it."""
    assembler = Assembler(dialect=dialect).add_capability([TOOL]).add_messages([*history, question()])
    return assembler.build().request()


@given(st.data())
def test_a_history_that_builds_is_not_changed(data: st.DataObject) -> None:
    form = data.draw(forms)
    history = data.draw(st.one_of(broken(form), conversations().map(lambda drawn: spelled(drawn, form))))
    dialect = DIALECTS[data.draw(st.sampled_from(list(DIALECTS)))]
    try:
        built(history, dialect)
    except ConversationError:
        return
    mended, changes = repair(history)
    assert changes == []
    assert all(a is b for a, b in zip(mended, history, strict=True))


@given(st.data())
def test_a_repaired_history_builds_in_every_dialect_and_is_not_repaired_again(data: st.DataObject) -> None:
    history = data.draw(forms.flatmap(broken))
    before = copy.deepcopy(history)
    mended, _ = repair(history)
    assert history == before
    again, changes = repair(mended)
    assert changes == []
    assert all(a is b for a, b in zip(again, mended, strict=True))
    for name, dialect in DIALECTS.items():
        request = built(mended, dialect)
        found = [violation for violation in verify(request, dialect=name) if name != "plain"]
        assert found == [], (name, found)


@given(forms.flatmap(broken))
def test_no_recorded_result_is_lost_while_one_is_invented_for_its_call(history: History) -> None:
    mended, _ = repair(history)
    came, kept = results([m for m in history if m != {"role": "user"}]), results(mended)
    invented = {call for call, text in kept if text == NO_RESULT}
    lost = {call for call, _ in (came - kept)}
    assert not invented & lost
    assert all(text == NO_RESULT for _, text in kept - came)


@given(histories())
def test_a_valid_history_of_any_text_is_left_alone(history: History) -> None:
    mended, changes = repair(history)
    assert changes == []
    assert all(a is b for a, b in zip(mended, history, strict=True))


def _gemini(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": [*parts]}


def _asks(number: int, name: str) -> dict[str, Any]:
    return {"function_call": {"name": name, "args": {"number": number}}}


def _answers(number: int, name: str) -> dict[str, Any]:
    return {"function_response": {"name": name, "response": {"output": f"answer {number}"}}}


@given(st.data())
def test_calls_without_ids_keep_their_answers_however_a_stream_cut_the_messages(data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from("fg"), min_size=1, max_size=5))
    asks, answers = ([make(number, name) for number, name in enumerate(names)] for make in (_asks, _answers))
    history = [_gemini("user", {"text": "q"})]
    for role, parts in (("model", asks), ("user", answers)):
        cuts = data.draw(st.lists(st.booleans(), min_size=len(parts), max_size=len(parts)))
        for part, cut in zip(parts, [True, *cuts[1:]], strict=True):
            history = (
                [*history, _gemini(role, part)] if cut else [*history[:-1], _gemini(role, *history[-1]["parts"], part)]
            )
    mended, _ = repair([*history, _gemini("user", {"text": "and then?"})])
    waiting: list[dict[str, Any]] = []
    for message in mended:
        for part in message["parts"]:
            if "function_call" in part:
                waiting.append(part["function_call"])
            elif "function_response" in part:
                response = part["function_response"]
                # the first one, as Gemini pairs
                asked = next(call for call in waiting if call["name"] == response["name"])
                waiting.remove(asked)
                assert response["response"]["output"] == f"answer {asked['args']['number']}"
    assert waiting == []


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_history_that_was_once_repaired_wrongly_is_repaired_correctly(case: Any) -> None:
    mended, changes = repair(case.history)
    assert mended == case.mended
    assert [(change.index, change.did) for change in changes] == case.changes
