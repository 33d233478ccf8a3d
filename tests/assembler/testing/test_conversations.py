"""Drawn conversations are valid, varied and small, as judged by `verify` and a few lines of the tests' own."""

from __future__ import annotations

import json
import unicodedata
from random import Random
from typing import Any

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from assembler import Assembler, ConversationError, fit_request, verify
from assembler.conversation.messages.spelling import spelling_with
from assembler.dialects import DIALECTS, anthropic
from assembler.drawn.spelling import SPELLINGS
from assembler.drawn.texts import HOSTILE, SCRIPTS
from assembler.regions.tools import read_tool
from assembler.testing import conversations, messages, requests, texts, tools
from tests.assembler.by_hand import pairs_hold
from tests.scaled import scaled

few = scaled(0.3)
search = settings(max_examples=150, deadline=None, database=None, phases=[Phase.generate, Phase.shrink])


@pytest.mark.parametrize("dialect", SPELLINGS)
@few
@given(data=st.data())
def test_a_drawn_request_breaks_no_rule(dialect: str, data: st.DataObject) -> None:
    request = data.draw(requests(dialect))
    assert [str(violation) for violation in verify(request, dialect=dialect)] == []
    assert verify(json.loads(json.dumps(request, allow_nan=False)), dialect=dialect) == []


@pytest.mark.parametrize("dialect", SPELLINGS)
@few
@given(data=st.data())
def test_a_request_built_from_a_drawn_one_breaks_no_rule_either(dialect: str, data: st.DataObject) -> None:
    fitted = fit_request(data.draw(requests(dialect, max_turns=2)), dialect=dialect, assembler=Assembler())
    assert verify(fitted, dialect=dialect) == []


BY_ROLE_AND_CONTENT = {"anthropic", "bedrock", "mistral", "openai_chat"}
HAVE_A_READER = BY_ROLE_AND_CONTENT.union(name for name in SPELLINGS if spelling_with(DIALECTS[name].api.shape))
"""The APIs whose raw messages `add_messages` takes. It may refuse another's: then `parse` alone reads them."""


@pytest.mark.parametrize("dialect", SPELLINGS)
@few
@given(data=st.data())
def test_the_messages_of_a_drawn_request_are_returned_themselves(dialect: str, data: st.DataObject) -> None:
    request = data.draw(requests(dialect, max_turns=2))
    history = request[SPELLINGS[dialect].history]
    tools = request.get("tools") or request.get("config", {}).get("tools")
    tools = tools or request.get("toolConfig", {}).get("tools", [])
    try:
        context = Assembler(dialect=dialect).add_capability(tools).add_messages(history).build()
    except ConversationError:
        assert dialect not in HAVE_A_READER
        return
    assert verify(context.request(), dialect=dialect) == []
    assert all(given is kept for given, kept in zip(history, context.messages, strict=True))


@few
@given(conversations())
def test_every_drawn_call_is_answered_once_and_the_user_or_a_tool_speaks_last(history: list[dict[str, Any]]) -> None:
    assert pairs_hold(history)
    assert history[-1]["role"] in ("user", "tool")


@few
@given(conversations(min_turns=2, max_turns=3))
def test_turns_are_as_many_as_asked_for(history: list[dict[str, Any]]) -> None:
    assert 2 <= sum(message["role"] == "user" for message in history) <= 3


TRAITS = {
    "parallel calls": lambda history: any(len(m.get("tool_calls", ())) > 1 for m in history),
    "several steps": lambda history: sum("tool_calls" in m for m in history) > 2,
    "several texts": lambda history: any(isinstance(m["content"], list) for m in history),
    "a name": lambda history: any("name" in m for m in history),
    "a system message": lambda history: history[0]["role"] == "system",
    "words beside calls": lambda history: any(m.get("tool_calls") and m["content"] for m in history),
    "answers out of order": lambda history: _disordered([m["tool_call_id"] for m in history if m["role"] == "tool"]),
    "a user who goes on": lambda history: any(a["role"] == b["role"] == "user" for a, b in zip(history, history[1:])),  # noqa: B905, RUF007
    "a long text": lambda history: any(isinstance(m["content"], str) and len(m["content"]) > 500 for m in history),
    "another script": lambda history: any(ord(max(json.dumps(history, ensure_ascii=False))) > 0x900 for _ in history),
    "arguments": lambda history: any(c["function"]["arguments"] != "{}" for m in history for c in _calls(m)),
}


def _calls(message: dict[str, Any]) -> list[dict[str, Any]]:
    return message.get("tool_calls", [])


def _disordered(ids: list[str]) -> bool:
    numbers = [int(each.removeprefix("call_")) for each in ids]
    return numbers != sorted(numbers)


@pytest.mark.slow
def test_a_few_hundred_conversations_show_every_trait() -> None:
    unseen = dict(TRAITS)

    @settings(few, max_examples=400, phases=[Phase.generate])
    @given(conversations())
    def look(history: list[dict[str, Any]]) -> None:
        for trait in [trait for trait, shown in unseen.items() if shown(history)]:
            del unseen[trait]

    look()
    assert not unseen


@pytest.mark.parametrize(
    ("dialect", "word"),
    [
        ("anthropic", '"thinking"'),
        ("gemini", '"thought"'),
        ("bedrock", "reasoningText"),
        ("openai_responses", '"reasoning"'),
    ],
)
def test_thinking_is_drawn_where_the_api_has_it(dialect: str, word: str) -> None:
    glance = settings(search, phases=[Phase.generate])
    find(conversations(dialect), lambda history: word in json.dumps(history), settings=glance)


def test_the_smallest_conversation_is_one_letter_of_the_user() -> None:
    assert find(conversations(), lambda _: True, settings=search) == [{"role": "user", "content": "a"}]


def test_a_conversation_with_a_call_shrinks_to_question_call_and_answer() -> None:
    start = Random(0)  # of 25 starts, one shrank less far
    found = find(conversations(), lambda drawn: any(m["role"] == "tool" for m in drawn), settings=search, random=start)
    assert [message["role"] for message in found] == ["user", "assistant", "tool"]
    assert found[1]["tool_calls"][0]["function"]["arguments"] == "{}"


@few
@given(messages(anthropic))
def test_single_messages_are_of_the_dialect_that_was_asked_for(message: dict[str, Any]) -> None:
    assert message["role"] in ("user", "assistant")
    assert isinstance(message["content"], str) or all("type" in block for block in message["content"])


@pytest.mark.parametrize("dialect", SPELLINGS)
@few
@given(data=st.data())
def test_a_drawn_tool_is_read_as_it_was_meant(dialect: str, data: st.DataObject) -> None:
    tool = read_tool(data.draw(tools(dialect)))
    assert tool.name.isascii()
    assert tool.parameters["type"] == "object"


@scaled(1)
@given(texts())
def test_no_text_is_blank_or_beyond_utf8(text: str) -> None:
    assert text.strip()
    assert text.encode()


@few
@given(conversations(texts=st.just("x")))
def test_texts_come_from_the_strategy_that_was_passed(history: list[dict[str, Any]]) -> None:
    spoken = [m["content"] for m in history if isinstance(m["content"], str)]
    assert set(spoken) <= {"x"}


def test_many_scripts_are_among_the_texts() -> None:
    scripts = {unicodedata.name(letter).split()[0] for text in SCRIPTS for letter in text if letter.isalpha()}
    assert len(scripts) >= 35
    assert len(set(HOSTILE)) == len(HOSTILE)


def test_an_unknown_dialect_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"'klingon'; known: .*anthropic"):
        conversations("klingon")


@pytest.mark.parametrize(("fewest", "most"), [(0, 1), (3, 2)])
def test_turns_out_of_order_are_refused(fewest: int, most: int) -> None:
    with pytest.raises(ValueError, match="1 <= min_turns <= max_turns"):
        conversations(min_turns=fewest, max_turns=most)
