"""Gemini generateContent: both spellings are read, signatures stay, responses stand alone, prices match bills."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from hypothesis import given

from assembler import Assembler, count_request, repair
from assembler.conversation.messages import read_message
from assembler.dialects import DIALECTS
from assembler.drawn.conversations import Conversation
from assembler.errors import ConversationError, ToolError, UnsupportedContentError
from assembler.verify import verify
from budgets import Budget, Count
from tests.assembler.dialects.spoken import TOOLS, Dict, sent_again
from tests.assembler.test_work import calls_of
from tests.assembler.verify.conversations import SPELLINGS, conversations
from tests.scaled import scaled

gemini = DIALECTS["gemini"]
QUESTION = {"role": "user", "parts": [{"text": "q"}]}
LAST = {"role": "user", "parts": [{"text": "more"}]}
again = partial(sent_again, gemini)


@scaled(0.5)
@given(conversation=conversations())
def test_a_valid_request_of_the_wire_is_sent_part_for_part(conversation: Conversation) -> None:
    request = SPELLINGS["gemini"](conversation)
    sent = again(request)
    assert json.dumps(_parts(sent["contents"])) == json.dumps(_parts(request["contents"]))
    config = sent.get("config", {})
    assert config.get("system_instruction") == request.get("systemInstruction")
    assert config.get("tools") == request.get("tools")
    assert verify(sent, dialect="gemini", model="gemini-3-pro") == []


def _parts(contents: list[Dict]) -> list[Any]:
    return [(content["role"], part) for content in contents for part in content["parts"]]


def test_fields_that_only_gemini_has_are_sent_unchanged() -> None:
    request = {
        "contents": [
            {"parts": [{"text": "q", "video_metadata": {"fps": 1}}]},
            {
                "role": "model",
                "parts": [
                    {"text": "thinking", "thought": True, "thought_signature": "YQ=="},
                    {"text": "", "thoughtSignature": "Yg=="},
                    {"executable_code": {"code": "1", "language": "PYTHON"}},
                    {"functionCall": {"name": "search", "args": {"b": 1, "a": 2}}, "thoughtSignature": "Yw=="},
                    {"function_call": {"name": "search", "args": {}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "search", "response": {"x": [1]}}},
                    {"function_response": {"name": "search", "response": {}, "will_continue": False}},
                ],
            },
            {"role": "user", "parts": [{"file_data": {"file_uri": "gs://b/k", "mime_type": "image/png"}}], "future": 1},
        ],
        "config": {
            "system_instruction": {"role": "user", "parts": [{"text": "Rules."}, {"text": "More."}]},
            "tools": [{"function_declarations": [{"name": "search"}, {"name": "other", "behavior": "BLOCKING"}]}],
        },
    }
    assert json.dumps(again(request)) == json.dumps(request)


@pytest.mark.parametrize(
    "contents",
    ["q", ["q"], [{"text": "q"}], QUESTION, [QUESTION], {"text": "q"}, ({"parts": [{"text": "q"}], "role": "user"},)],
)
def test_every_form_of_contents_in_the_sdk_is_read(contents: Any) -> None:
    (content,) = again({"contents": contents})["contents"]
    assert content["role"] == "user"
    assert content["parts"] == [{"text": "q"}]


@pytest.mark.parametrize(
    "given", ["Rules.", {"parts": [{"text": "Rules."}]}, ["Rules."], [{"text": "Rules."}], {"text": "Rules."}]
)
@pytest.mark.parametrize("where", ["system_instruction", "systemInstruction", "config"])
def test_every_form_of_the_system_instruction_is_read(given: Any, where: str) -> None:
    placed = {"config": {"system_instruction": given}} if where == "config" else {where: given}
    sent = again({"contents": [QUESTION], **placed})["config"]["system_instruction"]
    assert sent in ("Rules.", {"parts": [{"text": "Rules."}]})
    bare = count_request({"contents": [QUESTION]}, dialect=gemini)
    assert count_request({"contents": [QUESTION], **placed}, dialect=gemini).tokens > bare.tokens


def test_responses_have_a_turn_of_their_own_and_a_text_after_them_is_in_the_next() -> None:
    history = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "search", "input": {}}]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c", "content": "r"}, {"type": "text", "text": "and?"}],
        },
    ]
    context = Assembler(dialect=gemini).add_capability(TOOLS).add_messages(history).build()
    contents = context.request()["contents"]
    assert [[*part] for content in contents[2:] for part in content["parts"]] == [["function_response"], ["text"]]
    assert len(contents) == 4
    assert count_request(context.request(), dialect=gemini).upper <= context.count.upper


def test_calls_without_ids_are_answered_by_name_and_order() -> None:
    call = {"functionCall": {"name": "search", "args": {}}, "thoughtSignature": "YQ=="}
    answer = {"functionResponse": {"name": "search", "response": {"n": 1}}}
    other = {"functionResponse": {"name": "search", "response": {"n": 2}}}
    contents = [QUESTION, {"role": "model", "parts": [call, call]}, {"role": "user", "parts": [answer, other]}]
    assert again({"contents": contents})["contents"] == contents
    there = DIALECTS["anthropic"]
    tools = [{"functionDeclarations": [{"name": "search"}]}]
    request = there.emit(gemini.parse({"contents": contents, "tools": tools})).request
    assert verify(request, dialect="anthropic") == []
    asked = [block["id"] for block in request["messages"][1]["content"]]
    assert [block["tool_use_id"] for block in request["messages"][2]["content"]] == asked
    assert len({*asked}) == 2


@pytest.mark.parametrize("asked", [1, 2])
def test_answers_under_names_that_no_call_has_go_to_the_calls_in_order(asked: int) -> None:
    """Some clients write an id of their own in place of the function's name; Google takes it (recorded 2026-08)."""
    calls = [{"functionCall": {"name": "search", "args": {"q": str(n)}}} for n in range(asked)]
    results = [{"functionResponse": {"name": f"9987098e-{n}", "response": {"roll": n}}} for n in range(asked)]
    history = [QUESTION, {"role": "model", "parts": calls}, {"role": "user", "parts": results}]
    assert repair(history) == (history, [])
    assembler = Assembler(dialect=gemini).set_tools(TOOLS).add_messages(history)
    sent = assembler.build().request()["contents"][-1]["parts"]
    assert [part["functionResponse"] for part in sent] == [
        {"name": "search", "response": {"roll": n}} for n in range(asked)
    ]
    chat = Assembler(dialect="openai_chat").set_tools(TOOLS).add_messages(history).build().request()["messages"]
    assert [call["id"] for call in chat[1]["tool_calls"]] == [result["tool_call_id"] for result in chat[2:]]
    assert [json.loads(result["content"]) for result in chat[2:]] == [{"roll": n} for n in range(asked)]


def test_ids_made_for_calls_without_one_stay_when_older_turns_are_cut() -> None:
    def turn(question: str) -> list[Dict]:
        call = {"function_call": {"name": "search", "args": {}}}
        answer = {"function_response": {"name": "search", "response": {"n": 1}}}
        return [
            {"role": "user", "parts": [{"text": question}]},
            {"role": "model", "parts": [call]},
            {"role": "user", "parts": [answer]},
            {"role": "model", "parts": [{"text": "a"}]},
        ]

    tools = [{"function_declarations": [{"name": "search"}]}]
    there = DIALECTS["anthropic"]
    whole = there.emit(gemini.parse({"contents": [*turn("one"), *turn("two"), LAST], "tools": tools})).request[
        "messages"
    ]
    cut = there.emit(gemini.parse({"contents": [*turn("two"), LAST], "tools": tools})).request["messages"]
    assert whole[4:] == cut


def test_a_call_of_another_provider_carries_the_placeholder_for_a_signature() -> None:
    history = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "search", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "r", "is_error": True}]},
    ]
    request = Assembler(dialect=gemini).add_capability(TOOLS).add_messages(history).build().request()
    assert verify(request, dialect="gemini", model="gemini-3-pro-preview") == []
    assert request["contents"][2]["parts"][0]["function_response"]["response"] == {"error": "r"}


def test_a_name_that_gemini_does_not_take_is_a_tool_error() -> None:
    layout = Assembler(dialect=gemini).add_capability([{"name": "1st"}]).add_message(("user", "q"))
    with pytest.raises(ToolError, match="digit"):
        layout.build()


def test_tools_of_every_kind_are_sent_together() -> None:
    declared = {"function_declarations": [{"name": "one"}, {"name": "two", "parameters": {"type": "OBJECT"}}]}
    capability = [declared, {"name": "three", "input_schema": {"properties": {}}}, {"name": "four", "description": "d"}]
    request = Assembler(dialect=gemini).add_capability(capability).add_message(("user", "q")).build().request()
    assert request["config"]["tools"] == [
        declared,
        {
            "function_declarations": [
                {"name": "three", "parameters_json_schema": {"type": "object", "properties": {}}},
                {"name": "four", "description": "d"},
            ]
        },
    ]


def test_a_picture_by_url_in_an_answer_is_sent_behind_it() -> None:
    picture = {"type": "image", "source": {"type": "url", "url": "https://x.example/y.png"}, "width": 9, "height": 9}
    history = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "search", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": [picture]}]},
    ]
    context = Assembler(dialect=gemini).add_capability(TOOLS).add_messages(history).build()
    shown = {"file_data": {"file_uri": "https://x.example/y.png", "mime_type": "image/png"}}
    assert shown in context.request()["contents"][-1]["parts"]


@pytest.mark.parametrize(
    ("kind", "url", "mime"),
    [
        ("image", "gs://b/k.png", None),
        ("image", "https://x.example/y.JPG?signed=1", "image/jpeg"),
        ("document", "https://x.example/y", "application/pdf"),
    ],
)
def test_a_file_at_an_address_is_sent_as_a_file_of_its_type(kind: str, url: str, mime: str | None) -> None:
    part = {"type": kind, "source": {"type": "url", "url": url}, "width": 9, "height": 9}
    context = Assembler(dialect=gemini).add_messages([{"role": "user", "content": [part]}]).build()
    typed = {} if mime is None else {"mime_type": mime}
    assert context.request()["contents"][0]["parts"] == [{"file_data": {"file_uri": url, **typed}}]
    if kind == "document":
        assert count_request(context.request(), dialect=gemini) == context.count


@pytest.mark.parametrize(
    ("level", "image", "page"),
    [
        (None, 1_120, 560),
        ("MEDIA_RESOLUTION_LOW", 280, 280),
        ("media_resolution_ultra_high", 2_240, 1_120),
        (7, 1_120, 560),
    ],
)
def test_gemini_3_bills_a_part_by_the_resolution_that_it_asks_for(level: object, image: int, page: int) -> None:
    """A part at the highest resolution was bounded by half of its published price."""
    asked = {} if level is None else {"media_resolution": {"level": level}}
    for mime, tokens in (("image/png", image), ("application/pdf", 2 * page)):
        part = {"file_data": {"file_uri": "https://x.example/y", "mime_type": mime}, "pages": 2, **asked}
        request = {"contents": [{"role": "user", "parts": [part]}]}
        count = count_request(request, dialect=gemini, model="gemini-3-pro-preview")
        assert (count.tokens, count.upper) == (tokens + 1, tokens + 2)  # and what is around a content


RESOLUTIONS = [
    ("gemini-3-pro-preview", "MEDIA_RESOLUTION_LOW", (280, 280), (280, 280)),
    ("gemini-3-pro-preview", "MEDIA_RESOLUTION_HIGH", (1_120, 1_120), (1_120, 1_120)),
    ("gemini-3-pro-preview", "MEDIA_RESOLUTION_UNSPECIFIED", (1_120, 1_120), (560, 560)),
    ("gemini-2.5-pro", "MEDIA_RESOLUTION_LOW", (64, 25 * 258), (64, 258)),
    ("gemini-2.5-pro", "MEDIA_RESOLUTION_MEDIUM", (258, 25 * 258), (258, 258)),
    ("gemini-2.5-pro", "MEDIA_RESOLUTION_HIGH", (4 * 258, 25 * 258), (258, 258)),
]
"""A model, a level, and what an image of unknown size and a page cost, expected and at most (Google, "Media
resolution", read 2026-11). The bounds of 2.5 stay those of the default, since no bill of one is recorded."""


@pytest.mark.parametrize(("model", "level", "image", "page"), RESOLUTIONS)
def test_the_resolution_of_a_whole_request_is_billed(model: str, level: str, image: Any, page: Any) -> None:
    for mime, (tokens, most) in (("image/png", image), ("application/pdf", page)):
        part = {"file_data": {"file_uri": "https://x.example/y", "mime_type": mime}, "pages": 1}
        contents = [{"role": "user", "parts": [part]}]
        without = count_request({"contents": [{"role": "user", "parts": [{"text": "a"}]}]}, dialect=gemini, model=model)
        for asked in ({"config": {"media_resolution": level}}, {"generationConfig": {"mediaResolution": level}}):
            count = count_request({"contents": contents, **asked}, dialect=gemini, model=model)
            assert (count.tokens, count.upper) == (tokens + without.tokens - 1, most + without.upper - 1)


def test_a_parts_own_resolution_goes_before_that_of_the_request() -> None:
    part = {"file_data": {"file_uri": "https://x.example/y", "mime_type": "image/png"}}
    own = {**part, "media_resolution": {"level": "MEDIA_RESOLUTION_LOW"}}
    request = {"contents": [{"role": "user", "parts": [own, part]}]}
    high = {**request, "config": {"media_resolution": "MEDIA_RESOLUTION_MEDIUM"}}
    with_own, with_both = (
        count_request(body, dialect=gemini, model="gemini-3-pro-preview").tokens for body in (request, high)
    )
    assert with_own - with_both == 1_120 - 560


@pytest.mark.parametrize("name", DIALECTS)
def test_the_name_of_a_content_or_of_a_system_message_is_noted_where_it_is_left_out(name: str) -> None:
    """A name in a content of Gemini's, or in a system message at the head, was left out without a word."""
    content = {"role": "user", "name": "bob", "parts": [{"text": "Hi."}]}
    messages = [{"role": "system", "name": "bob", "content": "Be brief."}, ("user", "Hi.")]
    for history in ([content], messages):
        context = Assembler(dialect=name).add_messages(history).build()
        sent = "bob" in str(context.request())
        assert sent == (context.report.notes == ())


@pytest.mark.parametrize("url", ["https://x.example/y", "http://x.example/y.tiff"])
def test_a_picture_at_an_address_that_does_not_say_its_type_is_refused(url: str) -> None:
    picture = {"type": "image", "source": {"type": "url", "url": url}}
    with pytest.raises(UnsupportedContentError, match="gemini"):
        Assembler(dialect=gemini).add_messages([{"role": "user", "content": [picture]}]).build()


# Public test recordings of crmne/ruby_llm and pydantic/pydantic-ai (MIT), read 2026-11: model, text, billed tokens.
BILLED = [
    ("gemini-2.5-flash", "What is the capital of France?", 8),
    ("gemini-2.0-flash", "What is the largest city in Mexico?", 8),
    ("gemini-3-pro-preview", "Hi", 2),
]


@pytest.mark.parametrize(("model", "text", "billed"), BILLED)
def test_a_recorded_request_costs_what_was_billed(model: str, text: str, billed: int) -> None:
    request = {"contents": [{"role": "user", "parts": [{"text": text}]}], "generationConfig": {"temperature": 0}}
    count = count_request(request, dialect=gemini, model=model)
    assert count.tokens == billed
    assert count.upper >= billed


def test_a_request_without_contents_is_an_error() -> None:
    with pytest.raises(ConversationError, match="contents"):
        gemini.parse({"messages": []})


def test_a_text_document_is_sent_and_priced_as_its_text() -> None:
    part = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a b c d"}}
    history = [{"role": "user", "content": [part]}]
    price = gemini.pricer(None, lambda text: len(text.split())).message(read_message(history[0], 0))
    assert price.tokens == 1 + 1 + 4  # the content, the line that says what it is, and its words
    request = Assembler(dialect=gemini).add_messages(history).build().request()
    assert request["contents"] == [{"role": "user", "parts": [{"text": "[document]\na b c d"}]}]


def test_a_response_without_an_answer_gets_an_empty_one() -> None:
    call = {"functionCall": {"name": "search", "args": {}}}
    contents = [
        QUESTION,
        {"role": "model", "parts": [call]},
        {"role": "user", "parts": [{"functionResponse": {"name": "search"}}]},
    ]
    assert verify(again({"contents": contents}), dialect="gemini") == []


@pytest.mark.parametrize(
    ("wire", "sdk"),
    [("codeExecution", "code_execution"), ("googleSearch", "google_search"), ("urlContext", "url_context")],
)
def test_a_tool_of_googles_costs_the_same_in_every_spelling(wire: str, sdk: str) -> None:
    on_the_wire, in_the_sdk = (
        count_request({"contents": [QUESTION], "tools": [{key: {}}]}, dialect="gemini", model="gemini-2.5-flash")
        for key in (wire, sdk)
    )
    assert abs(on_the_wire.tokens - in_the_sdk.tokens) <= 1
    assert abs(on_the_wire.upper - in_the_sdk.upper) <= 1


def test_an_empty_thought_without_a_signature_is_not_sent() -> None:
    thoughts = [{"text": "", "thought": True}, {"text": "", "thought": True, "thought_signature": "c2ln"}]
    answer = {"role": "model", "parts": [*thoughts, {"text": "Snow."}]}
    asked = [{"role": "user", "parts": [{"text": "Why?"}]}]
    context = Assembler(dialect="gemini").add_messages([*asked, answer, *asked]).build()
    assert context.request()["contents"][1]["parts"] == [thoughts[1], {"text": "Snow."}]
    assert count_request(context.request(), dialect="gemini") == context.count
    assert not verify(context.request(), dialect="gemini")


@pytest.mark.parametrize("model", ["gemini-2.0-flash", "gemini-3-pro-preview"])
def test_twice_the_declarations_in_one_tool_take_about_twice_the_calls(model: str) -> None:
    """For each declaration the whole tool was copied, and with Gemini 2.0 searched for its schema."""

    def work(functions: int) -> int:
        given = [{"name": f"f{n}", "description": "d", "parameters": {"type": "OBJECT"}} for n in range(functions)]
        made = Assembler(Budget(1_000_000, model=model)).add_message(("user", "q"))
        return calls_of(made.add_capability([{"function_declarations": given}]).build)

    work(3)
    assert work(256) <= 2.2 * work(128)


@pytest.mark.parametrize("many", [1, 3])
def test_a_declaration_bills_googles_own_schema_and_not_a_json_schema(many: int) -> None:
    def cost(key: str) -> int:
        schema = {"type": "object", "properties": {"where": {"type": "string", "description": "a place " * 9}}}
        given = [{"name": f"f{n}", "description": "d", key: schema} for n in range(many)]
        return count_request(
            {"contents": [QUESTION], "tools": [{"function_declarations": given}]},
            dialect="gemini",
            model="gemini-2.0-flash",
        ).tokens

    assert cost("parameters") > cost("parameters_json_schema") + 10 * many


@pytest.mark.parametrize(
    ("model", "more", "most"),
    [
        ("gemini-2.5-flash", 2, 4),
        ("gemini-2.0-flash", 0, 0),
        ("google-vertex/gemini-2.5-flash", 0, 0),
        ("gemini-3-pro", 0, 0),
    ],
)
def test_line_breaks_in_a_description_cost_gemini_2_5_half_a_token(model: str, more: int, most: int) -> None:
    def priced(description: str) -> Count:
        declaration = {"name": "f", "description": description, "response": {"type": "object"}}
        body = {
            "contents": [{"role": "user", "parts": [{"text": "q"}]}],
            "tools": [{"functionDeclarations": [declaration]}],
        }
        return count_request(body, dialect="gemini", model=model, counter=lambda text: len(text.split()))

    flat, broken = priced("a b c d e"), priced("a\nb\nc\nd\ne")
    assert (broken.tokens - flat.tokens, broken.upper - flat.upper) == (more, most)


@pytest.mark.parametrize("blank", [{"text": None, "inline_data": None}, {"thought": True, "text": None}, {}])
def test_a_part_of_which_every_field_is_none_is_neither_sent_nor_priced(blank: Dict) -> None:
    """An empty part of the SDK's, as `model_dump()` writes it. It was sent, and the API refuses it."""
    answer = {"role": "model", "parts": [{"text": "Yes."}, blank]}
    budget = Budget(10_000, model="gemini-2.5-pro")
    context, bare = (
        Assembler(budget, dialect=gemini).set_messages([QUESTION, {**answer, "parts": parts}, LAST]).build()
        for parts in (answer["parts"], [{"text": "Yes."}])
    )
    assert context.request() == bare.request()
    assert context.count == bare.count == count_request(bare.request(), dialect=gemini, model="gemini-2.5-pro")
