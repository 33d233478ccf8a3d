"""An answer to Chat's older `function_call` is sent as one, with the name of the call, whatever it came with."""

from __future__ import annotations

from typing import Any

import pytest

from assembler import Assembler, Truncate, verify
from budgets import Budget
from tests.assembler.one_price import APIS, GATEWAYS, Api, assembled, billed
from tests.scaled import in_turns

NAME = "look_up_the_weather"
ASKED = {"role": "user", "content": "And?"}
SUNNY: dict[str, Any] = {"role": "function", "name": NAME, "content": "sunny"}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
ANSWERS: dict[str, dict[str, Any]] = {
    "named": SUNNY,
    "illegally named": {**SUNNY, "name": "look up: the weather"},
    "nameless": {"role": "function", "content": "sunny"},
    "named nothing": {**SUNNY, "name": ""},
    "named null": {**SUNNY, "name": None},
    "named a number": {**SUNNY, "name": 5},
    "of parts without a type": {**SUNNY, "content": [{"text": "sunny"}]},
    "failed": {**SUNNY, "is_error": True},
    "of the role tool": {**SUNNY, "role": "tool"},
}


def called(name: str = NAME, **others: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "function_call": {"name": name, "arguments": "{}", **others}}


@pytest.mark.parametrize("api", [api for api in (*APIS, *GATEWAYS) if api.dialect != "plain"], ids=str)
@pytest.mark.parametrize(("kind", "name"), in_turns(2, ANSWERS, [NAME, "look up: the weather"]))
def test_an_answer_to_an_older_call_is_valid_and_costs_what_it_is_sent_as(api: Api, name: str, kind: str) -> None:
    """It was sent as a tool's answer, to a call that was not there, or without the name that the API requires."""
    context = assembled(api, [ASKED, called(name), ANSWERS[kind], ASKED]).build()
    assert [str(found) for found in verify(context.request(), dialect=api.dialect)] == []
    assert context.count == billed(context, api)


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_chat_is_sent_an_answer_to_an_older_call_under_the_name_of_the_call(answer: dict[str, Any]) -> None:
    request = Assembler(dialect="openai_chat").add_messages([ASKED, called(), answer, ASKED]).build().request()
    sent = request["messages"][2]
    assert {**sent, "content": "sunny"} == SUNNY
    assert sent["content"] in ("sunny", [{"type": "text", "text": "sunny"}])


def test_a_picture_in_an_answer_to_an_older_call_follows_it() -> None:
    answer = {**SUNNY, "content": [{"type": "text", "text": "sunny"}, PICTURE]}
    request = Assembler(dialect="openai_chat").add_messages([ASKED, called(), answer, ASKED]).build().request()
    assert [message["role"] for message in request["messages"]] == ["user", "assistant", "function", "user", "user"]
    assert verify(request, dialect="openai_chat") == []


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_a_shortened_answer_to_an_older_call_stays_one(answer: dict[str, Any]) -> None:
    answer = {**answer, "content": "sunny and warm " * 100}
    budget = Budget(150, model="gpt-4o")
    assembler = Assembler(budget, on_overflow=Truncate(20)).add_messages([ASKED, called(), answer, ASKED])
    context = assembler.build()
    assert context.dropped
    assert verify(context.request(), dialect="openai_chat") == []
    assert context.count == billed(context, Api("openai_chat", "gpt-4o"))


@pytest.mark.parametrize("given", [{"city": "Oslo"}, None])
def test_the_arguments_of_an_older_call_are_sent_as_a_text(given: Any) -> None:
    history = [ASKED, called(arguments=given), SUNNY, ASKED]
    request = Assembler(dialect="openai_chat").add_messages(history).build().request()
    sent = request["messages"][1]["function_call"]["arguments"]
    assert sent == ('{"city":"Oslo"}' if given else "{}")
    assert verify(request, dialect="openai_chat") == []
    assert history[1]["function_call"]["arguments"] == given


@pytest.mark.parametrize("dialect", ["openai_chat", "openai_responses", "gemini", "mistral"])
@pytest.mark.parametrize("call_id", [{}, {"id": "c1"}])
def test_ollamas_word_for_the_name_of_a_call_answers_it_like_the_name(dialect: str, call_id: dict[str, str]) -> None:
    call = {**call_id, "function": {"name": "look_up", "arguments": {"city": "Paris"}}}
    asked = [{"role": "user", "content": "Weather?"}, {"role": "assistant", "content": "", "tool_calls": [call]}]
    answered = {f"tool_call_{key}": value for key, value in call_id.items()}
    contexts = []
    for word in ("name", "tool_name"):
        answer = {"role": "tool", word: "look_up", "content": "11 degrees", **answered}
        assembler = Assembler(Budget(9_000, model="gpt-4o"), dialect=dialect)
        contexts.append(assembler.set_messages([*asked, answer]).build())
        assert contexts[-1].request("plain")["messages"][-1] == answer
        assert not [note for note in contexts[-1].notes(dialect) if "field" in note]
    assert "tool_name" not in str(contexts[1].request())
    if not (call_id and dialect == "openai_chat"):  # which is sent an answer with an id and a name as it came
        assert contexts[1].request() == contexts[0].request()
    assert contexts[1].count == contexts[0].count
