"""Mistral: every request has the API's order, ids and ending, and costs what the report says."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, ConversationError, UnsupportedContentError, count_request
from assembler.conversation.messages import read_message
from assembler.dialects import mistral, openai_chat
from assembler.dialects.writing.call_ids import make_nine_characters
from assembler.dialects.writing.notes import BRIDGE
from assembler.verify import verify
from budgets import Budget, Grade, open_model_counter, tiktoken_counter

from ..drawn import histories, words

TOOL = {"type": "function", "function": {"name": "search", "description": "d", "parameters": {"type": "object"}}}


def own(text: str) -> int:
    """A stand-in for the model's tokenizer: one token per word, and one per run of anything else."""
    return len(re.findall(r"\w+|[^\w]+", text))


def asked(history: list[dict[str, Any]], rules: str | None = None, **budget: Any) -> Any:
    assembler = Assembler(Budget(10**6, model="mistral-small", **budget), dialect=mistral).add_messages(history)
    if any(message.get("tool_calls") for message in history):
        assembler.add_capability([TOOL, {**TOOL, "function": {**TOOL["function"], "name": "get_weather"}}])
    return (assembler if rules is None else assembler.add_instruction(rules)).build()


def billed(request: dict[str, Any]) -> int:
    """The open template, written independently (mistral-common, InstructTokenizerV13 and V15)."""
    total = 1 + 12
    for message in request["messages"]:
        content, calls = message["content"], message.get("tool_calls") or []
        text = content if isinstance(content, str) else "".join(chunk["text"] for chunk in content or ())
        text = text.rstrip(" ") if message["role"] == "assistant" else text
        total += own(text) + (2 if message["role"] != "assistant" else 0 if message.get("prefix") else 1)
        for call in calls:
            arguments = json.dumps(json.loads(call["function"]["arguments"]), ensure_ascii=False)
            total += 2 + own(call["function"]["name"]) + own(arguments)
    if tools := request.get("tools"):
        total += 2 + own(json.dumps(tools, ensure_ascii=False))
    return total


@given(histories(), st.none() | words)
def test_what_is_emitted_breaks_no_rule_of_the_api(history: list[dict[str, Any]], rules: str | None) -> None:
    request = asked(history, rules).request()
    assert verify(request, dialect="mistral") == []
    json.dumps(request, allow_nan=False).encode()


@given(histories(), words)
def test_a_raw_request_costs_what_the_open_template_says(history: list[dict[str, Any]], rules: str) -> None:
    request = asked(history, rules).request()
    counted = count_request(request, dialect=mistral, model="mistral-small-latest", counter=own)
    assert counted.tokens == billed(request)
    assert counted.upper >= counted.tokens


@given(histories(), words)
def test_the_bound_of_a_build_holds_what_its_request_costs(history: list[dict[str, Any]], rules: str) -> None:
    context = asked(history, rules, counter=own)
    request = context.request()
    assert context.count.upper >= billed(request)
    assert context.count.tokens == billed(request)


@given(histories())
def test_an_emitted_request_is_read_and_emitted_again_unchanged(history: list[dict[str, Any]]) -> None:
    request = asked(history).request()
    assert mistral.emit(mistral.parse(request)).request == request


@given(st.text())
def test_an_id_is_nine_letters_and_a_legal_one_stays(call_id: str) -> None:
    assert re.fullmatch("[a-zA-Z0-9]{9}", make_nine_characters(call_id))
    assert (
        make_nine_characters(make_nine_characters(call_id))
        == make_nine_characters(call_id)
        == make_nine_characters(str(call_id))
    )


def step(*ids: str, **message: Any) -> list[dict[str, Any]]:
    calls = [{"id": one, "type": "function", "function": {"name": "search", "arguments": "{}"}} for one in ids]
    answers = [{"role": "tool", "tool_call_id": one, "content": f"answer to {one}"} for one in reversed(ids)]
    return [{"role": "assistant", "content": None, "tool_calls": calls, **message}, *answers]


def test_call_and_answer_get_the_same_legal_id_and_the_answer_its_tools_name() -> None:
    sent = asked([{"role": "user", "content": "q"}, *step("call_1" * 20, "gRgYUmPLP")]).request()["messages"]
    first, second = (call["id"] for call in sent[1]["tool_calls"])
    assert second == "gRgYUmPLP"
    assert [message["tool_call_id"] for message in sent[2:]] == [second, first]
    assert [message["name"] for message in sent[2:]] == ["search", "search"]


def test_a_bridge_separates_a_tool_answer_from_the_user_and_the_report_says_so() -> None:
    history = [{"role": "user", "content": "q"}, *step("a"), {"role": "user", "content": "never mind"}]
    context = asked(history)
    assert [message["role"] for message in context.request()["messages"]] == [
        "user", "assistant", "tool", "assistant", "user",
    ]  # fmt: skip
    assert context.request()["messages"][3] == {"role": "assistant", "content": "Understood."}
    assert "1 assistant message(s) 'Understood.' put between" in str(context.report)
    assert context.messages == history


def test_a_system_message_after_an_answer_is_sent_as_the_users() -> None:
    roles = ("developer", "user", "system", "assistant", "system", "user", "system")
    context = asked([{"role": role, "content": f"text {place}"} for place, role in enumerate(roles)])
    sent = [message["role"] for message in context.request()["messages"]]
    assert sent == ["system", "user", "system", "assistant", "user", "user", "user"]
    assert "2 system message(s) after an answer sent as the user's" in str(context.report)


def test_an_assistant_message_at_the_end_is_a_prefix_and_only_there() -> None:
    history = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "once", "prefix": True},
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "to continue"},
    ]
    context = asked(history)
    assert [message.get("prefix") for message in context.request()["messages"]] == [None, None, None, True]
    assert "sent as a prefix" in str(context.report)


def test_a_note_names_what_the_api_cannot_express() -> None:
    history = [
        {"role": "user", "content": [{"type": "text", "text": "q"}, {"type": "text", "text": ""}], "name": "ann"},
        {"role": "assistant", "content": "a", "refusal": None, "audio": None, "reasoning_content": "hm"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}]},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}, "and no"], "tool_calls": []},
        {"role": "assistant", "content": ""},
        {"role": "user", "content": "q"},
    ]
    context = asked(history)
    assert context.request()["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "q"}]},
        {"role": "assistant", "content": "a"},
        {"role": "assistant", "content": [{"type": "text", "text": "no"}, {"type": "text", "text": "and no"}]},
        {"role": "user", "content": "q"},
    ]
    assert verify(context.request(), dialect=mistral) == []
    report = str(context.report)
    assert "1 message(s) sent without the speaker's name" in report
    assert "2 reasoning part(s) of another model left out" in report
    assert "2 empty assistant message(s) left out" in report


def test_an_assistant_message_of_empty_parts_is_left_out() -> None:
    history = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [{"type": "text", "text": ""}, {"type": "refusal", "refusal": ""}]},
        {"role": "user", "content": "q"},
    ]
    context = asked(history, counter=own)
    assert context.request()["messages"] == [{"role": "user", "content": "q"}] * 2
    assert context.count.tokens == billed(context.request())


def test_mistrals_own_thinking_is_sent_unchanged_and_priced() -> None:
    chunk = {"type": "thinking", "thinking": [{"type": "text", "text": "three more words"}], "closed": True}
    answer = {"role": "assistant", "content": [chunk, {"type": "text", "text": "a"}]}
    request = {"messages": [{"role": "user", "content": "q"}, answer, {"role": "user", "content": "q"}]}
    assert mistral.emit(mistral.parse(request)).request == request
    with_it = count_request(request, dialect=mistral, counter=own)
    answer["content"] = [{"type": "text", "text": "a"}]
    assert with_it.tokens - count_request(request, dialect=mistral, counter=own).tokens == 2 + own("three more words")


def test_an_anthropic_message_of_results_and_a_question_is_split_for_mistral() -> None:
    history = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"q": 1}}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "found"},
                {"type": "text", "text": "and now?"},
            ],
        },
    ]
    context = asked(history, counter=own)
    request = context.request()
    assert [message["role"] for message in request["messages"]] == ["user", "assistant", "tool", "assistant", "user"]
    assert verify({**request, "tools": [TOOL]}, dialect=mistral) == []
    assert context.count.tokens == billed(request)
    assert context.count.upper >= billed(request)


def test_a_users_message_of_results_alone_costs_no_users_frame() -> None:
    history = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "search", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "found"}]},
    ]
    context = asked(history, counter=own)
    assert context.count.tokens == billed(context.request())


def test_gemini_calls_and_legacy_functions_get_ids() -> None:
    gemini = [
        {"role": "user", "parts": [{"text": "q"}]},
        {"role": "model", "parts": [{"function_call": {"name": "f", "args": {"a": 1}}}]},
        {"role": "user", "parts": [{"function_response": {"name": "f", "response": {"r": 2}}}]},
    ]
    legacy = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "r"},
    ]
    for history in (gemini, legacy):
        sent = asked(history).request()["messages"]
        assert sent[1]["tool_calls"][0]["id"] == sent[2]["tool_call_id"]
        assert (sent[2]["role"], sent[2]["name"]) == ("tool", "f")
        assert verify({"messages": sent, "tools": [TOOL]}, dialect=mistral) == []


def test_a_tool_without_a_schema_gets_an_empty_one_and_is_priced_with_it() -> None:
    bare = {"type": "function", "function": {"name": "f", "description": None, "strict": None}}
    assembler = Assembler(Budget(10**6, model="mistral-small", counter=own), dialect=mistral)
    context = assembler.add_capability([bare]).add_messages([("user", "q")]).build()
    [sent] = context.request()["tools"]
    assert sent == {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
    sent["function"] = {"name": "f", "description": "", "parameters": sent["function"]["parameters"]}
    assert context.count.tokens == 1 + 12 + 2 + own("q") + 2 + own(json.dumps([sent]))


def test_a_schema_without_a_type_becomes_an_objects_and_keeps_its_fields() -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"properties": {"q": {"type": "string"}}}}}
    context = Assembler(dialect=mistral).add_message({"role": "user", "content": "q"}).add_capability([tool]).build()
    (sent,) = context.request()["tools"]
    assert sent["function"]["parameters"] == {"type": "object", "properties": {"q": {"type": "string"}}}
    assert "type" not in tool["function"]["parameters"]


@pytest.mark.parametrize(
    ("content", "sent"),
    [
        (["a", "", "b"], [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
        ([{"type": "refusal", "refusal": "no"}], [{"type": "text", "text": "no"}]),
        ([{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "a"}], "a"),
    ],
)
def test_parts_of_an_answer_are_sent_as_texts(content: list[Any], sent: object) -> None:
    history = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": content},
        {"role": "user", "content": "r"},
    ]
    request = asked(history).request()
    written = request["messages"][1]["content"]
    assert written == sent or written == [{"type": "text", "text": sent}]
    assert verify(request, dialect="mistral") == []


def test_an_answer_without_parts_is_left_out_unless_it_has_a_call() -> None:
    call = {"id": "abcdefghi", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    history = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [], "tool_calls": []},
        {"role": "user", "content": "r"},
        {"role": "assistant", "content": [{"type": "text", "text": ""}], "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "abcdefghi", "content": "found"},
    ]
    sent = asked(history).request()["messages"]
    assert [message["role"] for message in sent] == ["user", "user", "assistant", "tool"]
    assert sent[2]["content"] == ""
    assert "tool_calls" in sent[2]


def test_without_tools_the_request_has_no_key_for_them_and_without_messages_there_is_none() -> None:
    assembler = Assembler(dialect=mistral)
    assert assembler.build().messages == []
    with pytest.raises(ConversationError, match="at least one message"):
        assembler.build().request()
    assert assembler.add_instruction("rules").build().request() == {"messages": [{"role": "user", "content": "rules"}]}


PDF_AT = "https://a.example/f.pdf"
PDF_IN = "data:application/pdf;base64,JVBERi0xLjQ="


@pytest.mark.parametrize(
    ("part", "address"),
    [
        ({"type": "document", "source": {"type": "url", "url": PDF_AT}}, PDF_AT),
        ({"type": "input_file", "file_url": PDF_AT}, PDF_AT),
        ({"type": "file", "url": PDF_AT}, PDF_AT),
        ({"type": "input_file", "filename": "f.pdf", "file_data": PDF_IN}, PDF_IN),
        ({"type": "file", "file": {"filename": "f.pdf", "file_data": PDF_IN}}, PDF_IN),
        (
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjQ="}},
            PDF_IN,
        ),
    ],
)
@pytest.mark.parametrize("declared", [{}, {"pages": 3}], ids=["unseen", "declared"])
def test_another_apis_document_is_sent_as_a_document_at_an_address(part: Any, address: str, declared: Any) -> None:
    asked = {"role": "user", "content": [{**part, **declared}, {"type": "text", "text": "What is it?"}]}
    context = Assembler(Budget(400_000, model="mistral-large-latest"), dialect="mistral").add_message(asked).build()
    sent = context.request()
    assert sent["messages"][0]["content"][0] == {"type": "document_url", "document_url": address}
    assert not verify(sent, dialect="mistral")
    if not declared:
        assert count_request(sent, dialect="mistral", model="mistral-large-latest") == context.count


def test_a_film_in_a_tools_answer_is_refused_with_its_place() -> None:
    film = {"type": "video_url", "video_url": {"url": "https://a.example/f.mp4"}}
    history = [{"role": "user", "content": "q"}, *step("a")]
    history[-1]["content"] = [film]
    with pytest.raises(UnsupportedContentError, match="video") as raised:
        asked(history)
    assert raised.value.index == 2


def test_an_answer_format_replaces_the_settings_and_its_schema_is_bounded() -> None:
    request: dict[str, Any] = {"messages": [{"role": "user", "content": "q"}]}
    plain = count_request(request, dialect=mistral, counter=own)
    free = count_request({**request, "response_format": {"type": "json_object"}}, dialect=mistral, counter=own)
    schema = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}
    held = count_request({**request, "response_format": schema}, dialect=mistral, counter=own)
    assert (plain.tokens - free.tokens, plain.upper - free.upper) == (12, 0)
    assert held.upper == plain.upper + own(json.dumps(schema["json_schema"]))
    assert held.grade is Grade.ESTIMATED


def test_mistrals_own_vocabulary_replaces_openais_and_no_other_counter() -> None:
    message = read_message({"role": "user", "content": "SOME_CAPITALS 12345"}, 0)
    bundled = mistral.pricer("mistral-large-latest", tiktoken_counter()).message(message)
    counted = mistral.pricer("mistral-large-latest", own).message(message)
    assert bundled.tokens == 2 + open_model_counter("tekken")("SOME_CAPITALS 12345")
    assert (counted.tokens, counted.upper) == (2 + own("SOME_CAPITALS 12345"),) * 2


@given(histories())
def test_the_conversation_is_that_of_chat_completions(history: list[dict[str, Any]]) -> None:
    context = asked(history)
    sent, chat = (context.request(dialect)["messages"] for dialect in (mistral, openai_chat))
    bridge = {"role": "assistant", "content": BRIDGE}
    assert [message["content"] or "" for message in sent if message != bridge] == [m["content"] or "" for m in chat]
