"""Policies and `repair` shorten an SDK's own objects, added as the SDK returned them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pydantic
import pytest

from assembler import (
    Assembler,
    ClearReasoning,
    ClearToolResults,
    MessageTypeError,
    TrimOldest,
    Truncate,
    count_request,
    repair,
)
from assembler.conversation.messages import edited, read_message
from assembler.policies import Policy
from budgets import Budget, tiktoken_counter


class FunctionCall(pydantic.BaseModel):
    """As `openai.types.responses.ResponseFunctionToolCall`."""

    type: str = "function_call"
    call_id: str
    name: str = "find_order"
    arguments: str
    id: str | None = None
    status: str | None = None


class CustomCall(pydantic.BaseModel):
    """As `openai.types.responses.ResponseCustomToolCall`."""

    type: str = "custom_tool_call"
    call_id: str
    name: str = "find_order"
    input: str


class Call(pydantic.BaseModel):
    """As `google.genai.types.FunctionCall`."""

    name: str
    args: dict[str, str]


class Answer(pydantic.BaseModel):
    """As `google.genai.types.FunctionResponse`."""

    name: str
    response: dict[str, str]


class Part(pydantic.BaseModel):
    """As `google.genai.types.Part`: bytes are base64 where they are JSON."""

    model_config = pydantic.ConfigDict(extra="forbid", ser_json_bytes="base64", val_json_bytes="base64")
    text: str | None = None
    thought: bool | None = None
    function_call: Call | None = None
    function_response: Answer | None = None
    thought_signature: bytes | None = None


class Content(pydantic.BaseModel):
    """As `google.genai.types.Content`."""

    model_config = pydantic.ConfigDict(extra="forbid", ser_json_bytes="base64", val_json_bytes="base64")
    role: str
    parts: list[Part]


LONG = "word " * 300


def responses() -> Iterator[list[object]]:
    for place in range(4):
        call = FunctionCall(call_id=f"c{place}", arguments='{"number": "A-1"}', id=f"fc_{place}", status="completed")
        yield [call, {"type": "function_call_output", "call_id": call.call_id, "output": LONG}]


def custom() -> Iterator[list[object]]:
    for place in range(4):
        call = CustomCall(call_id=f"c{place}", input=LONG)
        yield [call, {"type": "custom_tool_call_output", "call_id": call.call_id, "output": "found"}]


def contents() -> Iterator[list[object]]:
    for _ in range(4):
        call = Call(name="find_order", args={"number": "A-1"})
        asks = [Part(text=LONG, thought=True), Part(function_call=call, thought_signature=b"\xfb\xff signed")]
        found = Answer(name="find_order", response={"output": LONG})
        yield [Content(role="model", parts=asks), Content(role="user", parts=[Part(function_response=found)])]


def find_order(number: str) -> str:
    """Where an order is."""
    return number


def talk(answers: Iterator[list[object]]) -> list[object]:
    messages: list[object] = []
    for answer in answers:
        messages += [{"role": "user", "content": "Where is it?"}, *answer, {"role": "assistant", "content": "There."}]
    return [*messages, {"role": "user", "content": "And now?"}]


@pytest.mark.parametrize(
    ("dialect", "answers", "policy"),
    [
        ("openai_responses", responses, ClearToolResults(keep=1)),
        ("openai_responses", custom, Truncate(100)),
        ("gemini", contents, ClearToolResults(keep=1)),
        ("gemini", contents, ClearReasoning()),
        ("gemini", contents, Truncate(200)),
    ],
)
def test_a_policy_shortens_what_an_sdk_returned(dialect: str, answers: Any, policy: Policy) -> None:
    history = talk(answers())
    before = [message.model_dump() for message in history if isinstance(message, pydantic.BaseModel)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # an SDK warns where a field holds what it should not
        whole = Assembler(dialect=dialect).set_tools([find_order]).set_messages(history).build()
        budget = Budget(whole.count.upper * 4 // 5, counter=tiktoken_counter("o200k_base"))
        fitted = Assembler(budget, dialect=dialect, on_overflow=policy).set_tools([find_order]).set_messages(history)
        context = fitted.build()
    assert context.dropped
    assert all(item.outcome == "shortened" for item in context.dropped)
    assert len(str(context.request())) < len(str(whole.request()))
    assert [message.model_dump() for message in history if isinstance(message, pydantic.BaseModel)] == before
    assert {type(message) for message in context.messages} == {type(message) for message in history}


def test_a_signature_survives_the_shortening_of_its_message() -> None:
    def signatures(assembler: Assembler[Any]) -> list[str]:
        contents = assembler.build().request()["contents"]
        return [
            part["thought_signature"]
            for content in contents
            for part in content["parts"]
            if "thought_signature" in part
        ]

    whole = Assembler(dialect="gemini").set_tools([find_order]).set_messages(talk(contents()))
    budget = Budget(whole.build().count.upper * 4 // 5, counter=tiktoken_counter("o200k_base"))
    small = Assembler(budget, dialect="gemini", on_overflow=[ClearReasoning(), TrimOldest()])
    assert signatures(small.set_tools([find_order]).set_messages(talk(contents()))) == signatures(whole)


def test_repair_leaves_out_the_call_of_an_sdks_content_that_was_never_answered() -> None:
    asks = Content(role="model", parts=[Part(text="I look."), Part(function_call=Call(name="find_order", args={}))])
    messages, changes = repair([{"role": "user", "content": "Where?"}, asks, {"role": "user", "content": "Well?"}])
    Assembler(dialect="gemini").set_tools([find_order]).set_messages(messages).build()
    assert changes


@pytest.mark.parametrize(
    ("raw", "parts", "expected"),
    [
        (
            {"role": "tool", "tool_call_id": "c", "content": "long"},
            ["short"],
            r"a Result, got a str; .*parts=\(text,\)\)",
        ),
        (FunctionCall(call_id="c", arguments="{}"), ["{}"], r"a Call, got a str; .*arguments=json_text\)"),
        ({"role": "user", "content": "long"}, [], "has 1 part, got 0; pass None to leave one out"),
    ],
)
def test_a_part_in_place_of_another_kind_is_refused_with_the_way_to_write_it(
    raw: Any, parts: Any, expected: str
) -> None:
    with pytest.raises(MessageTypeError, match=expected):
        edited(read_message(raw, 0), parts)


class Text(pydantic.BaseModel):
    """As `openai.types.responses.ParsedResponseOutputText`: what was parsed is not sent."""

    __api_exclude__ = {"parsed"}
    type: str = "output_text"
    text: str
    annotations: list[dict[str, str]] = []
    logprobs: list[Any] | None = None
    parsed: Any = None


class Spoken(pydantic.BaseModel):
    """As `openai.types.responses.ParsedResponseOutputMessage`."""

    model_config = pydantic.ConfigDict(extra="allow")
    type: str = "message"
    id: str
    role: str = "assistant"
    status: str = "completed"
    content: list[Any]
    phase: str | None = None
    asynchronous: bool | None = pydantic.Field(default=None, alias="async")

    @property
    def __api_exclude__(self) -> dict[str, Any]:
        return {"content": {place: {"parsed"} for place, held in enumerate(self.content) if isinstance(held, Text)}}


CITED = {"type": "url_citation", "url": "https://a.example", "title": "w"}


def test_a_message_of_responses_goes_back_with_its_id_its_annotations_and_the_nulls_that_were_set() -> None:
    text = Text(text="so", annotations=[CITED], logprobs=None, parsed={"not": "sent"})
    answer = Spoken.model_validate({"id": "msg_1", "content": [text], "async": True, "dream": {"a": None}})
    history: list[Any] = [{"role": "user", "content": "q"}, answer, {"role": "user", "content": "on"}]
    context = Assembler(dialect="openai_responses").add_messages(history).build()
    assert context.request()["input"][1] == {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "so", "annotations": [CITED], "logprobs": None}],
        "async": True,
        "dream": {"a": None},
    }
    assert context.messages[1] is answer
    as_dict = Assembler(dialect="openai_responses").add_messages(context.request()["input"]).build()
    assert (as_dict.request(), as_dict.count) == (context.request(), context.count)


def test_a_long_message_of_responses_is_shortened_as_its_dict_is() -> None:
    answer: Any = Spoken(id="msg_1", content=[Text(text=LONG)])
    counts: list[int] = []
    for spoken in (answer, answer.model_dump(exclude_none=True)):
        history = [{"role": "user", "content": "q"}, spoken, {"role": "user", "content": "on"}]
        budget = Budget(150, counter=tiktoken_counter("o200k_base"))
        assembler = Assembler(budget, dialect="openai_responses", on_overflow=Truncate(20))
        context = assembler.add_messages(history).build()
        assert [item.outcome for item in context.dropped] == ["shortened"]
        counts.append(context.count.tokens)
    assert counts[0] == counts[1]


@pytest.mark.parametrize("content", [[], [{"type": "dream", "said": "d1d"}], [{"type": "output_text", "text": ""}]])
def test_reasoning_is_sent_back_with_a_message_without_words(content: list[Any]) -> None:
    thought: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "AAAA"}
    answer = {"type": "message", "id": "msg_1", "role": "assistant", "status": "incomplete", "content": content}
    history: list[Any] = [{"role": "user", "content": "q"}, thought, answer, {"role": "user", "content": "on"}]
    context = Assembler(dialect="openai_responses").add_messages(history).build()
    assert context.request()["input"] == history
    counted = count_request(context.request(), dialect="openai_responses")
    assert (context.count.tokens, context.count.upper) == (counted.tokens, counted.upper)


class ChatAnswer(pydantic.BaseModel):
    """As `openai.types.chat.ChatCompletionMessage`."""

    model_config = pydantic.ConfigDict(extra="allow")
    role: str = "assistant"
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[dict[str, Any]] | None = None


def test_extra_fields_of_a_call_are_sent_back_from_an_object_as_from_a_dict() -> None:
    signed = {
        "id": "c",
        "type": "function",
        "function": {"name": "find_order", "arguments": "{}"},
        "extra_content": {"google": {"thought_signature": "c2ln"}},
    }
    called = ChatAnswer(tool_calls=[signed], refusal=None)
    answer = {"role": "tool", "tool_call_id": "c", "content": "there"}
    history: list[Any] = [{"role": "user", "content": "q"}, called, answer]
    assembler = Assembler(dialect="openai_chat").set_tools([find_order]).set_messages(history)
    assert assembler.build().request()["messages"][1] == {"role": "assistant", "content": None, "tool_calls": [signed]}
