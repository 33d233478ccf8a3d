"""A value of another type than an API's reference names is read whole, or refused where it is added."""

from __future__ import annotations

from typing import Any

import pytest

from assembler import (
    Assembler,
    Context,
    ConversationError,
    MarkupError,
    Truncate,
    UnsupportedContentError,
    count_request,
    verify,
)
from assembler.conversation.messages import read_message
from assembler.conversation.messages.read import unchanged
from assembler.dialects import DIALECTS
from budgets import Budget
from tests.assembler.apis import TAKE_PICTURES as APIS
from tests.assembler.decorated import PNG

Dict = dict[str, Any]
TOOL: Dict = {"name": "ask", "description": "Asks.", "parameters": {"type": "object", "properties": {}}}
ASKED: Dict = {"role": "user", "content": "q"}


def built(api: str, *history: Dict) -> Context[Any]:
    return Assembler(dialect=api).add_capability([TOOL]).add_messages([ASKED, *history]).build()


def texts(value: object) -> list[str]:
    """Every text of two letters or more in capitals, which are the texts that the tests pass in."""
    if isinstance(value, dict):
        return [text for held in value.values() for text in texts(held)]
    if isinstance(value, list):
        return [text for held in value for text in texts(held)]
    return [value] if isinstance(value, str) and value.isupper() else []


def assert_valid(context: Context[Any], api: str) -> None:
    assert verify(context.request(), dialect=api) == []
    assert count_request(context.request(), dialect=DIALECTS[api]) == context.count


def answered_on_bedrock(content: object) -> list[Dict]:
    use = {"toolUse": {"toolUseId": "a", "name": "ask", "input": {}}}
    result = {"toolResult": {"toolUseId": "a", "content": content}}
    return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]


@pytest.mark.parametrize("content", ["SHIPPED", [{"text": "SHIPPED"}], ["SHIPPED"]])
@pytest.mark.parametrize("api", APIS)
def test_the_text_of_a_result_of_bedrocks_is_not_taken_apart(api: str, content: object) -> None:
    """A text was read letter by letter, and each became a text of its own."""
    context = built(api, *answered_on_bedrock(content))
    assert texts(context.request()) == ["SHIPPED"]
    assert_valid(context, api)


def test_a_bare_text_that_holds_the_word_json_is_a_text_of_the_result() -> None:
    context = built("bedrock", *answered_on_bedrock(["no json here"]))
    assert context.request()["messages"][2]["content"][0]["toolResult"]["content"] == [{"text": "no json here"}]


@pytest.mark.parametrize("content", [{"text": "SHIPPED"}, {"json": {"a": 1}}, None, 5, True])
def test_a_result_of_bedrocks_that_is_no_list_and_no_text_is_refused_with_its_form(content: object) -> None:
    """Of an object its keys were sent, in place of its values."""
    with pytest.raises(ConversationError, match=r"message 2: .* must be a list, got .* write \[\{'json': value\}\]"):
        built("bedrock", *answered_on_bedrock(content))
    assert_valid(built("bedrock", *answered_on_bedrock([{"json": {"value": content}}])), "bedrock")


def answered_on_gemini(value: object, **more: object) -> list[Dict]:
    answer = {"name": "ask", "response": value, **more}
    call = {"functionCall": {"name": "ask", "args": {}}}
    return [{"role": "model", "parts": [call]}, {"role": "user", "parts": [{"functionResponse": answer}]}]


VALUES = [
    (["SHIPPED"], '["SHIPPED"]'),
    ("SHIPPED", "SHIPPED"),
    ([], "[]"),
    (5, "5"),
    (0, "0"),
    (False, "false"),
]


@pytest.mark.parametrize("value", [*(value for value, _ in VALUES), ""])
def test_an_answer_of_geminis_that_is_no_object_is_sent_as_the_output_of_one(value: object) -> None:
    """An empty object was sent in its place, while other APIs got its text."""
    context = built("gemini", *answered_on_gemini(value))
    assert context.request()["contents"][2]["parts"][0]["functionResponse"]["response"] == {"output": value}
    assert_valid(context, "gemini")
    assert context.notes("gemini") == ()


@pytest.mark.parametrize("api", [api for api in APIS if api != "gemini"])
@pytest.mark.parametrize(("value", "text"), VALUES)
def test_an_answer_of_geminis_that_is_no_object_goes_to_other_apis_as_its_text(
    api: str, value: object, text: str
) -> None:
    context = built(api, *answered_on_gemini(value))
    assert_valid(context, api)
    assert repr(text) in repr(context.request())


def test_an_answer_that_costs_more_is_priced_higher() -> None:
    short, long = (built("gemini", *answered_on_gemini([value])).count for value in ("a", "a " * 50))
    assert long.tokens >= short.tokens + 40


@pytest.mark.parametrize("value", ["word " * 400, ["word " * 400], {"output": "word " * 400}])
def test_an_answer_of_any_type_is_shortened_and_not_emptied(value: object) -> None:
    history = [*answered_on_gemini(value), {"role": "user", "parts": [{"text": "and?"}]}]
    assembler = Assembler(dialect="gemini", budget=Budget(120), on_overflow=[Truncate(40)]).add_capability([TOOL])
    context = assembler.add_messages([ASKED, *history]).build()
    sent = context.request()["contents"][2]["parts"][0]["functionResponse"]["response"]
    assert isinstance(sent, dict)
    assert "word word" in str(sent)
    assert "shortened" in str(sent)
    assert_valid(context, "gemini")


def test_arguments_of_geminis_that_came_as_a_text_are_sent_as_an_object() -> None:
    """The API refuses a text there. No other API was sent one."""
    history = answered_on_gemini({})
    history[0]["parts"][0]["functionCall"]["args"] = '{"where": "HERE"}'
    context = built("gemini", *history)
    assert context.request()["contents"][1]["parts"][0]["functionCall"]["args"] == {"where": "HERE"}
    assert_valid(context, "gemini")
    history[0]["parts"][0]["functionCall"]["args"] = "HERE"
    context = built("gemini", *history)
    assert texts(context.request()) == ["HERE"]
    assert context.notes("gemini") == ("1 call(s) whose arguments are no JSON object sent with them as one text",)
    assert_valid(context, "gemini")


@pytest.mark.parametrize("parts", [{"inlineData": {"mimeType": "image/png", "data": PNG}}, "SHIPPED", 5])
def test_parts_of_an_answer_of_geminis_that_are_no_list_are_refused(parts: object) -> None:
    """Other APIs were sent nothing of them."""
    with pytest.raises(ConversationError, match=r"must be a list, got .* put the part into a list"):
        built("gemini", *answered_on_gemini({}, parts=parts))


CALL: Dict = {"type": "function_call", "call_id": "a", "name": "ask", "arguments": "{}"}
ANSWER: Dict = {"type": "function_call_output", "call_id": "a", "output": "r"}
SECOND, SECOND_ANSWER = {**CALL, "call_id": "b"}, {**ANSWER, "call_id": "b"}
TEXT: Dict = {"type": "text", "text": "ONE"}
OUTPUT: Dict = {**TEXT, "type": "output_text"}
SAID: Dict = {"type": "message", "role": "assistant", "status": "completed", "content": [TEXT]}
IN_PLACES = {
    "between a call and its output": [CALL, SAID, ANSWER],
    "before a call": [SAID, CALL, ANSWER],
    "between two calls": [CALL, SAID, SECOND, ANSWER, SECOND_ANSWER],
    "between two outputs": [CALL, SECOND, ANSWER, SAID, SECOND_ANSWER],
}


@pytest.mark.parametrize("content", [[TEXT], [OUTPUT, {**TEXT, "text": "TWO"}], [{"text": "ONE"}], "ONE"])
@pytest.mark.parametrize("place", IN_PLACES)
@pytest.mark.parametrize("api", APIS)
def test_an_item_with_parts_of_another_api_keeps_its_place_in_a_step(api: str, place: str, content: object) -> None:
    """Chat and Mistral were sent its text as a message between the call and the answer, which they refuse."""
    history = [{**SAID, "content": content} if item is SAID else item for item in IN_PLACES[place]]
    context = built(api, *history)
    assert "".join(texts(context.request())) == "".join(texts(content))
    assert_valid(context, api)
    of_outputs = [{**SAID, "content": [OUTPUT]} if item is SAID else item for item in IN_PLACES[place]]
    assert roles(built(api, *of_outputs)) == roles(context)


def roles(context: Context[Any]) -> list[str]:
    listed = next(held for key, held in context.request().items() if key in ("messages", "input", "contents"))
    return [each.get("role", each.get("type")) for each in listed]


@pytest.mark.parametrize("api", APIS)
def test_an_item_without_a_content_is_sent_to_no_api(api: str) -> None:
    """Responses was sent the null, which it refuses."""
    context = built(api, {**SAID, "content": None}, ASKED)
    assert set(roles(context)) == {"user"}
    assert_valid(context, api)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("content", [[OUTPUT], "ONE"])
def test_calls_and_a_refusal_beside_an_items_content_are_sent(api: str, content: object) -> None:
    """Responses was sent the calls under a key that it does not have, and the output of a call that it did not see."""
    call = {"id": "a", "type": "function", "function": {"name": "ask", "arguments": "{}"}}
    context = built(api, {**SAID, "content": content, "tool_calls": [call], "refusal": "NO"}, ANSWER, ASKED)
    assert "".join(texts(context.request())) == "ONENO"
    assert_valid(context, api)
    with_parts = built(api, {**SAID, "content": content, "refusal": "NO"}, ASKED)
    assert "".join(texts(with_parts.request())) == "ONENO"
    assert_valid(with_parts, api)


WORDS: Dict = {"type": "text", "text": "WORDS"}
STEP: Dict = {"type": "step-start"}
SEARCH: Dict = {"type": "tool-search", "toolCallId": "t", "state": "output-available", "output": {"text": "FOUND"}}


@pytest.mark.parametrize("content", ["WORDS", "WORDS ", [WORDS], "", " ", None, []])
@pytest.mark.parametrize("api", APIS)
def test_a_text_under_content_and_parts_is_sent_once(api: str, content: object) -> None:
    """Only the content was sent, also if it was empty."""
    message = {"role": "user", "content": content, "parts": [WORDS]}
    context = Assembler(dialect=api).add_messages([message]).build()
    assert [text.strip() for text in texts(context.request())] == ["WORDS"]
    assert "parts" not in context.request().get("messages", [{}])[0]
    assert_valid(context, api)


@pytest.mark.parametrize("content", ["WORDS", ""])
@pytest.mark.parametrize("api", APIS)
def test_parts_that_say_more_than_the_content_are_read_in_its_place(api: str, content: str) -> None:
    answer = {"role": "assistant", "content": content, "parts": [STEP, SEARCH, WORDS]}
    context = built(api, answer, ASKED)
    sent = " ".join(part for part in str(context.request()).replace("\\n", " ").split() if part.isascii())
    assert (sent.count("WORDS"), sent.count("FOUND")) == (1, 1)
    assert any("left out" in note for note in context.notes(api))  # the beginning of a step
    assert_valid(context, api)


DIFFERENT: dict[str, Dict] = {
    "another text": {"content": "A", "parts": [WORDS]},
    "a part of the text": {"content": "WORDS AND MORE", "parts": [WORDS]},
    "a file": {"content": "A", "parts": [{"inlineData": {"mimeType": "image/png", "data": PNG}}]},
    "other blocks": {"content": [WORDS], "parts": [SEARCH]},
    "calls": {
        "role": "assistant",
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "ask", "arguments": "{}"}}],
        "parts": [WORDS],
    },
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_message_whose_content_and_parts_differ_is_refused_until_one_is_left_out(name: str) -> None:
    message = {"role": "user", **DIFFERENT[name]}
    with pytest.raises(ConversationError, match="leave one of them out"):
        built("anthropic", message)
    alone = {key: held for key, held in message.items() if key not in ("content", "tool_calls")}
    assert built("anthropic", alone, ASKED).request()["messages"]


def test_a_message_with_two_bodies_is_noticed_only_when_it_changes() -> None:
    message: Dict = {"role": "user", "content": "", "parts": [{"type": "text", "text": "WORDS"}]}
    read = read_message(message, 0)
    assert unchanged(read)
    assert read.raw is message
    message["parts"][0]["text"] = "OTHER"
    assert not unchanged(read)


@pytest.mark.parametrize("content", ["A", None])
@pytest.mark.parametrize("refusal", [["WORDS"], {"text": "WORDS"}, 5])
def test_a_refusal_that_is_no_text_is_refused(content: str | None, refusal: object) -> None:
    """Other APIs than Chat were sent nothing of it."""
    with pytest.raises(ConversationError, match=r"message 1: refusal must be text, got .* join its texts"):
        built("openai_chat", {"role": "assistant", "content": content, "refusal": refusal})


def test_a_function_call_that_is_no_dict_is_refused() -> None:
    with pytest.raises(ConversationError, match="message 1: function_call must be a dict, got str"):
        built("openai_chat", {"role": "assistant", "content": "A", "function_call": "WORDS"})


@pytest.mark.parametrize("part", [{"type": "reasoning", "text": "HM"}, "BARE", 5])
def test_a_part_that_is_no_text_beside_the_repeated_one_is_noted_or_refused(part: object) -> None:
    answer = {"role": "assistant", "content": "WORDS", "parts": [WORDS, part]}
    if isinstance(part, dict):
        assert built("openai_chat", answer, ASKED).notes("openai_chat")
    else:
        with pytest.raises(ConversationError, match="must be a dict"):
            built("openai_chat", answer, ASKED)


CALLED: Dict = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "ask", "arguments": "{}"}}],
}
FAILURES: dict[str, Any] = {"anthropic": True, "bedrock": "error", "gemini": {"error": "BOOM"}}
"""How each API that can says that a call failed."""


@pytest.mark.parametrize("api", APIS)
def test_a_failed_call_is_marked_as_the_api_marks_it_or_a_note_says_that_it_cannot_be(api: str) -> None:
    """Chat was sent Anthropic's word, and Anthropic was not."""
    context = built(api, CALLED, {"role": "tool", "tool_call_id": "c1", "content": "BOOM", "is_error": True})
    assert texts(context.request()) == ["BOOM"]
    assert_valid(context, api)
    sent = str(context.request())
    assert "mark(s) of a failed call" in " ".join(context.notes()) or repr(FAILURES[api]) in sent


@pytest.mark.parametrize("parts", [{"text": "SHIPPED"}, ({"text": "SHIPPED"},), [{"text": "SHIPPED"}]])
@pytest.mark.parametrize("api", APIS)
def test_one_part_or_a_tuple_of_parts_is_read_as_a_list_and_is_not_taken_for_changed(api: str, parts: object) -> None:
    message: Dict = {"role": "user", "parts": parts}
    assembler = Assembler(dialect=api).set_messages([message])
    assert texts(assembler.build().request()) == ["SHIPPED"]
    message["parts"] = [{"text": "LOST"}]
    assert texts(assembler.build().request()) == ["LOST"]


class Refusing(dict[str, Any]):
    def get(self, *_: Any) -> Any:
        raise KeyError("secret")


@pytest.mark.parametrize("api", APIS)
def test_a_dict_that_answers_no_question_is_copied_and_sent(api: str) -> None:
    assert texts(Assembler(dialect=api).set_messages([Refusing(role="user", content="SHIPPED")]).build().request()) == [
        "SHIPPED"
    ]


def test_the_error_for_a_medium_in_no_apis_form_names_the_api_that_was_asked_for() -> None:
    part = {"type": "input_audio", "input_audio": "YWJj"}
    with pytest.raises(UnsupportedContentError, match=r"^openai_responses cannot carry"):
        Assembler(dialect="openai_responses").set_messages([{"role": "user", "content": [part]}]).build()


@pytest.mark.parametrize("thought", [False, True])
@pytest.mark.parametrize("text", [5, True, ["AB"], [], {"text": "AB"}, {}])
def test_a_text_of_geminis_that_is_no_text_is_refused_where_it_is_added(text: object, thought: bool) -> None:
    made = Assembler(dialect="gemini").add_message(ASKED)
    with pytest.raises(MarkupError, match=r"conversation\[1\]: expected text"):
        made.add_message({"role": "model", "parts": [{"text": text, **({"thought": True} if thought else {})}]})
    assert made.messages == [ASKED]


@pytest.mark.parametrize("part", [{"type": None, "text": "AB"}, {"type": None, "image": {"format": "png"}}])
def test_a_part_whose_type_is_null_is_refused_as_one_without_a_type(part: Dict) -> None:
    """It was sent with its null to APIs that demand a type."""
    with pytest.raises(ConversationError, match="a content part has no type"):
        Assembler(dialect="openai_chat").add_message({"role": "user", "content": [part]})


@pytest.mark.parametrize(
    "thought",
    [
        {"type": "thinking", "thinking": 7, "signature": "c2ln"},
        {"type": "thinking", "thinking": {"text": "AB"}, "signature": "c2ln"},
        {"type": "thinking", "thinking": None, "signature": "c2ln"},
        {"type": "thinking", "signature": "c2ln"},
        {"type": "thinking", "thinking": "AB", "signature": ""},
        {"type": "redacted_thinking", "data": ""},
        {"reasoningContent": {"reasoningText": {"text": 7, "signature": "c2ln"}}},
        {"reasoningContent": {"reasoningText": {"text": "AB", "signature": ""}}},
    ],
    ids=str,
)
def test_a_thought_that_claude_would_refuse_is_left_out_with_a_note(thought: Dict) -> None:
    answer = {"text": "CD"} if "reasoningContent" in thought else {"type": "text", "text": "CD"}
    context = built("anthropic", {"role": "assistant", "content": [thought, answer]}, ASKED)
    assert texts(context.request()["messages"]) == ["CD"]
    assert context.report.notes == ("1 reasoning part(s) of another model left out",)
    assert verify(context.request(), dialect="anthropic") == []
    assert count_request(context.request(), dialect="anthropic") == context.count


@pytest.mark.parametrize(
    ("status", "sent"),
    [
        ("success", {"status": "success"}),
        ("error", {"status": "error"}),
        *((odd, {}) for odd in ("ok", "", 5, [], None)),
    ],
)
def test_a_status_that_bedrock_does_not_know_is_not_sent_to_it(status: object, sent: Dict) -> None:
    """Converse takes "success" and "error" alone, and a tool result without a status as one that succeeded."""
    use = {"toolUse": {"toolUseId": "a", "name": "ask", "input": {}}}
    block = {"toolUseId": "a", "content": [{"text": "AB"}], "status": status}
    history = [{"role": "assistant", "content": [use]}, {"role": "user", "content": [{"toolResult": block}]}]
    context = built("bedrock", *history)
    (answer,) = context.request()["messages"][-1]["content"]
    assert answer == {"toolResult": {"toolUseId": "a", "content": [{"text": "AB"}], **sent}}
    assert verify(context.request(), dialect="bedrock") == []
    assert count_request(context.request(), dialect="bedrock") == context.count


@pytest.mark.parametrize("kind", [["x"], {}, 7, True])
@pytest.mark.parametrize(("role", "part"), [("user", "input_text"), ("assistant", "output_text")])
def test_a_type_of_a_message_that_is_no_text_is_not_sent(role: str, part: str, kind: object) -> None:
    """A column of the caller's own. It was left out beside a plain text, and sent to Responses beside parts."""
    message: Dict = {"type": kind, "role": role, "content": [{"type": part, "text": "AB"}]}
    context = built("openai_responses", message, ASKED)
    assert "AB" in texts(context.request())
    assert verify(context.request(), dialect="openai_responses") == []
    assert count_request(context.request(), dialect="openai_responses") == context.count


ODD_PARTS: dict[str, Dict] = {
    "under data": {"type": "odd", "data": b"x"},
    "under bytes": {"type": "odd", "bytes": b"x"},
    "deeper": {"type": "odd", "odd": {"data": b"x"}},
    "in a list": {"type": "odd", "odd": [{"bytes": b"x"}]},
    "a sound": {"type": "input_audio", "input_audio": {"data": b"x", "format": "wav"}},
    "a picture": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": b"x"}},
}


@pytest.mark.parametrize("part", ODD_PARTS.values(), ids=ODD_PARTS)
def test_bytes_in_a_part_with_a_type_are_refused_where_they_are_added(part: Dict) -> None:
    """No API with typed parts takes bytes. They were sent to Chat, whose client cannot write them as JSON."""
    with pytest.raises(ConversationError, match="give their base64 as a text"):
        read_message({"role": "user", "content": [part]}, 0)


@pytest.mark.parametrize("api", ["bedrock", "gemini"])
def test_bytes_in_a_part_without_a_type_reach_its_api(api: str) -> None:
    given: dict[str, Dict] = {
        "bedrock": {"role": "user", "content": [{"text": "q"}, {"odd": {"bytes": b"x"}}]},
        "gemini": {"role": "user", "parts": [{"text": "q"}, {"odd": {"data": b"x"}}]},
    }
    assert "b'x'" in str(built(api, given[api]).request())


@pytest.mark.parametrize("mark", [[], {}, "", False])
def test_an_empty_cache_mark_is_left_out(mark: object) -> None:
    """Anthropic's API refuses one without a type. The same mark spelled null is sent as it came."""
    marked = {"cache_control": mark}
    history = [
        {"role": "system", "content": [{"type": "text", "text": "Be brief.", **marked}]},
        {"role": "user", "content": [{"type": "text", "text": "q", **marked}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "ask", "input": {}, **marked}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "r", **marked}]},
    ]
    tool = {"name": "ask", "description": "Asks.", "input_schema": TOOL["parameters"], **marked}
    context = Assembler(dialect="anthropic").add_capability([tool]).add_messages(history).build()
    assert "cache_control" not in str(context.request())
    assert_valid(context, "anthropic")


@pytest.mark.parametrize("summary", [{}, {"summary": None}])
def test_reasoning_without_a_summary_is_sent_with_an_empty_one(summary: Dict) -> None:
    """The API demands the list (openai 3.54.0, ResponseReasoningItemParam)."""
    thought = {"type": "reasoning", "id": "rs_1", "encrypted_content": "AAAA", **summary}
    block = {"type": "message", "role": "assistant", "id": "m_1", "status": "completed"}
    answer = {**block, "content": [{"type": "output_text", "text": "a", "annotations": []}]}
    context = built("openai_responses", thought, answer, ASKED)
    assert context.request()["input"][1]["summary"] == []
    assert_valid(context, "openai_responses")


@pytest.mark.parametrize("kind", ["function_call", "custom_tool_call"])
def test_an_output_of_null_is_sent_as_an_empty_text(kind: str) -> None:
    call = {"type": kind, "call_id": "a", "name": "ask", "arguments": "{}", "input": "{}"}
    del call["input" if kind == "function_call" else "arguments"]
    context = built("openai_responses", call, {"type": f"{kind}_output", "call_id": "a", "output": None}, ASKED)
    assert context.request()["input"][2] == {"type": f"{kind}_output", "call_id": "a", "output": ""}
    assert_valid(context, "openai_responses")
