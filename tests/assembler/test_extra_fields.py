"""Fields beside a Chat message's content are sent, priced and cleared; empty fields are not sent."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from assembler import Assembler, ClearReasoning, Context, count_request, fit_request, verify
from assembler.conversation.messages import read_message
from assembler.dialects import DIALECTS, Dialect, openai_chat, plain
from budgets import Budget, Grade

THOUGHT = "first the weather, then the plan " * 70
FIELDS: dict[str, Any] = {
    "reasoning_content": THOUGHT,
    "reasoning": THOUGHT,
    "thinking": THOUGHT,
    "reasoning_details": [{"type": "reasoning.text", "text": THOUGHT}, {"type": "reasoning.encrypted", "data": "eHg="}],
    "thinking_blocks": [{"type": "thinking", "thinking": THOUGHT, "signature": "c2ln"}],
}
UNREAD: dict[str, Any] = {
    "annotations": [{"type": "url_citation", "url_citation": {"url": "https://a.example", "title": THOUGHT}}],
    "audio": {"id": "audio_1", "transcript": THOUGHT},
    "provider_specific_fields": {"note": THOUGHT},
}
CALL = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {"name": "look", "parameters": {"type": "object", "properties": {}}},
}


class Answer(BaseModel):
    """An answer as SDKs model it: what their classes do not name is kept as an extra."""

    model_config = ConfigDict(extra="allow")
    role: str = "assistant"
    content: str | None = None
    tool_calls: list[dict[str, Any]] | None = None
    function_call: None = None
    refusal: None = None
    annotations: list[Any] = []


def loop(answer: Any) -> list[Any]:
    return [{"role": "user", "content": "q"}, answer, {"role": "tool", "tool_call_id": "a", "content": "sunny"}]


def built(answer: Any, dialect: Dialect = openai_chat, model: str = "gpt-4o") -> Context:
    assembler = Assembler(Budget.for_model(model), dialect=dialect).add_capability([TOOL])
    return assembler.add_messages(loop(answer)).build()


@pytest.mark.parametrize("model", ["gpt-4o", "deepseek-chat"])
@pytest.mark.parametrize("field", [*FIELDS, *UNREAD])
def test_a_sent_field_costs_the_build_and_the_request_the_same(field: str, model: str) -> None:
    bare: dict[str, Any] = {"role": "assistant", "content": "", "tool_calls": [CALL]}
    message = {**bare, field: {**FIELDS, **UNREAD}[field]}
    context = built(message, model=model)
    assert context.request()["messages"][1] == message
    assert context.count.grade is Grade.ESTIMATED
    assert context.count.upper > built(bare, model=model).count.upper + 400
    assert count_request(context.request(), dialect=openai_chat, model=model) == context.count


@pytest.mark.parametrize("field", FIELDS)
def test_reasoning_on_an_object_is_sent_like_that_of_a_dict(field: str) -> None:
    message: dict[str, Any] = {"content": "hm", "tool_calls": [CALL], field: FIELDS[field]}
    of_chain = SimpleNamespace(type="ai", content="hm", tool_calls=[CALL], additional_kwargs={field: FIELDS[field]})
    wanted = built({"role": "assistant", **message})
    for spelled in (Answer(**message), SimpleNamespace(role="assistant", **message), of_chain):
        context = built(spelled)
        assert context.request() == wanted.request()
        assert context.count == wanted.count


def test_the_pictures_of_a_message_object_are_sent_like_those_of_a_dict() -> None:
    asked: dict[str, Any] = {"role": "user", "content": "What is it?", "images": ["iVBORw0KGgo="]}  # as Ollama has them
    assembler = Assembler(Budget.for_model("gpt-4o"))
    wanted, of_class = (assembler.fork().add_message(answer).build() for answer in (asked, SimpleNamespace(**asked)))
    assert of_class.request() == wanted.request() == {"messages": [asked]}
    assert of_class.count == wanted.count


@pytest.mark.parametrize("empty", [{}, {"refusal": None}, {"annotations": [], "audio": None, "function_call": None}])
def test_an_empty_field_is_not_sent(empty: dict[str, Any]) -> None:
    bare: dict[str, Any] = {"role": "assistant", "content": "", "tool_calls": [CALL]}
    assert built({**bare, **empty}).request()["messages"][1] == bare
    dumped = Answer(content=None, tool_calls=[CALL]).model_dump()
    context = built(dumped)
    assert context.request()["messages"][1] == {**bare, "content": None}
    assert context.count.grade is not Grade.ESTIMATED


COLUMNS = ("name", "tool_calls", "tool_call_id", "function_call")


@pytest.mark.parametrize("empty", ["", None])
@pytest.mark.parametrize("dialect", ["openai_chat", "mistral"])
def test_the_empty_columns_of_a_table_of_messages_are_not_sent(dialect: str, empty: Any) -> None:
    """An empty `function_call` was a bare AttributeError, and the others went to an API that refuses them."""
    messages = [{"role": role, "content": role} for role in ("user", "assistant", "user")]
    rows = [{**dict.fromkeys(COLUMNS, empty), **one} for one in messages]
    assert Assembler(dialect=dialect).add_messages(rows).build().request()["messages"] == messages


@pytest.mark.parametrize("empty", [{}, "", 0, False, ()])
@pytest.mark.parametrize("column", ["tool_calls", "function_call"])
def test_an_empty_value_of_any_kind_is_no_call(column: str, empty: Any) -> None:
    messages = [{"role": role, "content": role} for role in ("user", "assistant", "user")]
    context = Assembler().add_messages([messages[0], {**messages[1], column: empty}, messages[2]]).build()
    assert context.request("openai_chat")["messages"] == messages


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("kind", [dict, Answer, SimpleNamespace])
def test_the_reasoning_of_past_turns_is_cleared_from_its_field(field: str, kind: Any) -> None:
    message = kind(role="assistant", content="", tool_calls=[CALL], **{field: FIELDS[field]})
    history = [*loop(message), {"role": "assistant", "content": "sunny"}, {"role": "user", "content": "and now?"}]
    budget = Budget(200, model="gpt-4o")
    context = Assembler(budget, dialect=openai_chat, on_overflow=ClearReasoning()).add_messages(history).build()
    assert field not in context.request()["messages"][1]
    assert context.messages[1] is not message
    assert read_message(message, 1).seen[field]


@pytest.mark.parametrize("name", [name for name in DIALECTS if name not in ("openai_chat", "plain")])
@pytest.mark.parametrize("field", [field for field in (*FIELDS, *UNREAD) if field != "audio"])
def test_another_api_is_not_sent_the_field_and_the_report_says_so(name: str, field: str) -> None:
    answer = {"role": "assistant", "content": "", "tool_calls": [CALL], field: {**FIELDS, **UNREAD}[field]}
    context = Assembler(dialect=DIALECTS[name]).add_capability([TOOL]).add_messages(loop(answer)).build()
    assert THOUGHT not in str(context.request())
    assert "left out" in str(context.report) or "without another model's reasoning" in str(context.report)
    assert verify(context.request(), dialect=name) == []


def test_texts_are_priced_with_the_fields_that_are_sent_beside_them() -> None:
    answer = {"role": "assistant", "content": "a", "annotations": ["x y z"]}
    history = [{"role": "user", "content": "q"}, answer]
    assert Assembler(dialect=plain).add_messages(history).build().count.grade is Grade.ESTIMATED


@pytest.mark.parametrize("content", [{}, {"content": None}, {"content": "x"}])
def test_an_answer_of_sound_that_the_server_keeps_is_estimated_also_without_a_text(content: dict[str, Any]) -> None:
    asked = {"role": "user", "content": "q"}
    history = [asked, {"role": "assistant", **content, "audio": {"id": "audio_1"}}, asked]
    count = count_request({"messages": history}, dialect=openai_chat, model="gpt-4o-audio-preview")
    assert count.grade is Grade.ESTIMATED
    assert count.tokens > 1_000


@pytest.mark.parametrize("kind", [dict, Answer, SimpleNamespace])
@pytest.mark.parametrize("more", [{"content": None}, {"content": "x"}])
def test_an_answer_of_sound_goes_back_by_its_id_alone_and_is_priced_by_its_transcript(kind: Any, more: Any) -> None:
    """OpenAI takes nothing else back, and a minute of sound is megabytes."""
    asked, whole = {"role": "user", "content": "q"}, {"id": "audio_1", "data": "UklGRg" * 90, "expires_at": 9}
    message = kind(role="assistant", **more, audio={**whole, "transcript": THOUGHT})
    heard = {"role": "assistant", **more, "audio": {"id": "audio_1", "transcript": THOUGHT}}
    base = Assembler(Budget.for_model("gpt-4o-audio-preview"), dialect=openai_chat)
    context, by_transcript = (base.fork().add_messages([asked, each, asked]).build() for each in (message, heard))
    assert context.request()["messages"] == [asked, {**heard, "audio": {"id": "audio_1"}}, asked]
    assert context.notes() == ()
    assert context.messages[1] is message
    assert context.count == by_transcript.count
    unheard = count_request(context.request(), dialect=openai_chat, model="gpt-4o-audio-preview")
    assert context.count.upper < unheard.upper
    assert THOUGHT in str(context.request("anthropic"))


def test_a_body_with_the_sound_of_an_answer_is_mended() -> None:
    asked = {"role": "user", "content": "q"}
    body = {"messages": [asked, {"role": "assistant", "audio": {"id": "audio_1", "data": "UklGRg"}}, asked]}
    assert [found.rule for found in verify(body, dialect=openai_chat)] == ["S5"]
    base = Assembler(Budget.for_model("gpt-4o-audio-preview"), dialect=openai_chat)
    assert fit_request(body, assembler=base)["messages"][1]["audio"] == {"id": "audio_1"}


@pytest.mark.parametrize("field", ["annotations", "provider_specific_fields", "x_new"])
def test_a_field_beside_no_content_is_in_the_bound(field: str) -> None:
    asked = {"role": "user", "content": "q"}
    held = {**UNREAD, "x_new": THOUGHT}[field]
    bare, with_field = (
        count_request({"messages": [asked, {"role": "assistant", "content": None, **more}, asked]}, dialect=openai_chat)
        for more in ({}, {field: held})
    )
    assert with_field.grade is Grade.ESTIMATED
    assert with_field.upper - bare.upper > len(THOUGHT.split())


@pytest.mark.parametrize("content", [None, ""])
@pytest.mark.parametrize(
    "field", [{"id": "msg_1"}, {"metadata": {"a": 1}}, {"annotations": [{"type": "url_citation"}]}, {"index": 0}]
)
def test_an_answer_with_nothing_but_a_field_that_says_nothing_is_left_out(
    content: str | None, field: dict[str, Any]
) -> None:
    """The API refuses an assistant message without content and calls. Any unknown field kept it in."""
    asked = {"role": "user", "content": "q"}
    history = [asked, {"role": "assistant", "content": content, **field}, asked]
    context = Assembler(Budget(1_000, model="gpt-4o"), dialect="openai_chat").set_messages(history).build()
    request = context.request()
    assert request["messages"] == [asked, asked]
    assert count_request(request, dialect="openai_chat", model="gpt-4o") == context.count
    assert "left out" in str(context.report)


@pytest.mark.parametrize("field", [{"refusal": "No."}, {"audio": {"id": "audio_1"}}])
def test_an_answer_that_is_a_refusal_or_a_sound_needs_no_content(field: dict[str, Any]) -> None:
    asked = {"role": "user", "content": "q"}
    history = [asked, {"role": "assistant", "content": None, **field}, asked]
    request = Assembler(dialect="openai_chat").set_messages(history).build().request()
    assert request["messages"][1] == history[1]
