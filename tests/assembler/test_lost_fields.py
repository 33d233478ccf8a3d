"""Fields beside words, calls and files are sent to their own API alone, and every other request notes their loss."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assembler import Assembler, count_request, verify
from assembler.dialects import DIALECTS
from assembler.dialects.chat_template.dialect import chat_template
from budgets import Budget, Count
from tests.assembler.apis import TAKE_PICTURES as APIS
from tests.assembler.dialects.test_chat_template import TOKENIZERS

Dict = dict[str, Any]

TOOL: Dict = {"name": "ask", "description": "Asks.", "parameters": {"type": "object", "properties": {}}}
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="  # one pixel
LOST = "l0st"
MARK = {"type": "ephemeral", "ttl": LOST}
SIGNED = {"google": {"thought_signature": LOST}}
CITED = {"type": "char_location", "cited_text": LOST}
ASKED: Dict = {"role": "user", "content": "q"}

FIELDS, MARKS = "field(s) of another API left out", "cache mark(s) of another API left out"
CITATIONS, SIGNATURES = "citation(s) or annotation(s) of a text left out", "signature(s) of another API left out"


def _chat() -> list[Dict]:
    call = {"id": "c", "type": "function", "function": {"name": "ask", "arguments": "{}"}, "extra_content": SIGNED}
    return [
        ASKED,
        {"role": "assistant", "content": None, "x_new": LOST, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "r", "x_new": LOST},
    ]


def _anthropic() -> list[Dict]:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    use = {"type": "tool_use", "id": "c", "name": "ask", "input": {}, "caller": {"type": LOST}, "cache_control": MARK}
    inner = {"type": "text", "text": "r", "cache_control": MARK}
    return [
        {"role": "user", "content": [{**picture, "cache_control": MARK}], "x_new": LOST},
        {"role": "assistant", "content": [{"type": "text", "text": "a", "citations": [CITED, CITED]}, use]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c", "content": [inner], "cache_control": MARK}],
        },
    ]


def _gemini() -> list[Dict]:
    response = {"id": "c", "name": "ask", "response": {"output": "r"}, "scheduling": LOST}
    return [
        {"role": "user", "parts": [{"text": "q", "partMetadata": {"x": LOST}}]},
        {
            "role": "model",
            "parts": [
                {"text": "a", "thoughtSignature": LOST},
                {"functionCall": {"id": "c", "name": "ask", "args": {}}, "thoughtSignature": LOST},
            ],
        },
        {"role": "user", "parts": [{"functionResponse": response}]},
    ]


def _responses() -> list[Dict]:
    block = {"type": "output_text", "text": "a", "annotations": [{"type": "url_citation", "title": LOST}]}
    return [
        ASKED,
        {"type": "message", "role": "assistant", "id": "m", "status": "completed", "content": [block]},
        {"type": "function_call", "id": "f", "call_id": "c", "name": "ask", "arguments": "{}", "namespace": LOST},
        {"type": "function_call_output", "call_id": "c", "output": "r", "caller": {"type": LOST}},
    ]


def _bedrock() -> list[Dict]:
    use: Dict = {"toolUseId": "c", "name": "ask", "input": {}, "x_new": LOST}
    return [
        {"role": "user", "content": [{"text": "q"}, {"cachePoint": {"type": "default", "ttl": LOST}}]},
        {"role": "assistant", "content": [{"text": "a"}, {"toolUse": use}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "c", "content": [{"text": "r"}], "x_new": LOST}}]},
    ]


HELD: dict[str, tuple[list[Dict], set[str]]] = {
    "openai_chat": (_chat(), {f"2 {FIELDS}", f"1 {SIGNATURES}"}),
    "anthropic": (_anthropic(), {f"2 {FIELDS}", f"4 {MARKS}", f"2 {CITATIONS}"}),
    "gemini": (_gemini(), {f"2 {FIELDS}", f"2 {SIGNATURES}"}),
    "openai_responses": (_responses(), {f"2 {FIELDS}", f"1 {CITATIONS}"}),
    "bedrock": (_bedrock(), {f"2 {FIELDS}", f"1 {MARKS}"}),
}


@pytest.mark.parametrize("name", APIS)
@pytest.mark.parametrize("home", APIS)
@pytest.mark.parametrize("spelling", HELD)
def test_fields_that_one_api_keeps_beside_its_parts_are_sent_to_no_other_and_each_is_noted(
    spelling: str, home: str, name: str
) -> None:
    history, lines = HELD[spelling]
    context = Assembler(dialect=home).add_capability([TOOL]).add_messages(history).build()
    request = context.request(name)
    if name == spelling:
        assert json.dumps(request, default=str).count(LOST) == json.dumps(history).count(LOST)
        assert context.notes(name) == ()
        return
    assert LOST not in str(request)
    assert set(context.notes(name)) >= lines
    assert not [line for line in context.notes(name) if line not in lines and "left out" in line]
    assert verify(request, dialect=name) == []
    if name == home:
        assert context.notes() == context.notes(name)
        assert set(context.report.notes) >= lines
        assert context.count == count_request(request, dialect=name)


@pytest.mark.parametrize("spelling", HELD)
def test_a_conversation_that_grows_keeps_its_notes(spelling: str) -> None:
    history, _ = HELD[spelling]
    asked = [
        {"role": "user", "content": "on"},
        {"role": "assistant", "content": "yes"},
        {"role": "user", "content": "?"},
    ]
    for name in APIS:
        growing = Assembler(dialect=name).add_capability([TOOL])
        for message in [*asked, *history, {"role": "assistant", "content": "so"}, *asked]:
            growing.add_message(message)
            if message["role"] == "user" if "role" in message else False:
                growing.build()
        whole = Assembler(dialect=name).add_capability([TOOL]).add_messages(growing.build().messages)
        assert growing.build().notes() == whole.build().notes()


SHARED: list[list[Dict]] = [
    [{"role": "user", "content": "q", "x_new": LOST}],
    [{"role": "system", "content": "s", "x_new": LOST}, {"role": "user", "content": "q"}],
    [{"role": "user", "content": [{"type": "text", "text": "q", "x_new": LOST}]}],
]


@pytest.mark.parametrize("home", APIS)
@pytest.mark.parametrize("name", APIS)
@pytest.mark.parametrize("history", SHARED)
def test_an_unknown_field_is_sent_only_to_the_api_of_its_assembler(history: list[Dict], name: str, home: str) -> None:
    context = Assembler(dialect=home).add_messages([*history, {"role": "assistant", "content": "a"}, ASKED]).build()
    went = LOST in str(context.request(name))
    assert not went or name == home
    assert went or f"1 {FIELDS}" in context.notes(name)
    if name == home == "openai_chat":
        assert context.request() == {"messages": context.messages}


def test_a_call_in_its_own_apis_form_is_sent_whole_in_a_neutral_message_and_not_noted() -> None:
    use = {"type": "tool_use", "id": "c", "name": "ask", "input": {}, "caller": {"type": LOST}}
    answer = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "r"}]}
    assembler = Assembler(dialect="anthropic").add_capability([TOOL])
    context = assembler.add_messages([ASKED, {"role": "ai", "content": [use]}, answer]).build()
    assert context.request()["messages"][1]["content"] == [use]
    assert context.notes() == ()
    assert context.notes("bedrock") == (f"1 {FIELDS}",)


def test_a_cache_mark_on_a_picture_is_sent_to_chat_no_more_than_one_on_its_text() -> None:
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}, "cache_control": MARK}
    words = {"type": "text", "text": "q", "cache_control": MARK}
    context = Assembler(dialect="openai_chat").add_messages([{"role": "user", "content": [words, picture]}]).build()
    assert LOST not in str(context.request())
    assert context.notes() == (f"2 {MARKS}",)


@pytest.mark.parametrize("home", APIS)
def test_chats_own_field_is_sent_back_to_chat_from_any_assembler(home: str) -> None:
    answer = {"role": "assistant", "content": "a", "annotations": [{"type": "url_citation", "title": LOST}]}
    request = Assembler(dialect=home).add_messages([ASKED, answer, ASKED]).build().request("openai_chat")
    assert request["messages"] == [ASKED, answer, ASKED]


@pytest.mark.parametrize("name", APIS)
def test_a_cache_mark_on_a_tool_is_noted_if_it_is_left_out(name: str) -> None:
    marked = {"name": "ask", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral"}}
    context = Assembler(dialect=name).add_capability([marked]).add_messages([ASKED]).build()
    kept = "ephemeral" in str(context.request())
    assert kept == (name == "anthropic")
    assert kept or context.notes() == ("1 cache mark(s) of another API on tools left out",)
    nested: Dict = {"type": "function", "function": {"name": "ask"}, "cache_control": {"type": "ephemeral"}}
    context = Assembler(dialect=name).add_capability([nested]).add_messages([ASKED]).build()
    assert ("ephemeral" in str(context.request())) == (context.notes() == ())


def test_a_template_gets_the_fields_that_it_may_read_and_no_mark() -> None:
    dialect = chat_template(TOKENIZERS["chatml"])
    context = Assembler(dialect=dialect).add_messages([ASKED, *SHARED[0]]).build()
    assert context.notes() == ("1 field(s) that only the template may read given to it",)


def test_a_mark_inside_a_result_does_not_hide_its_words_from_a_template() -> None:
    """A template and Gemini refused such a result, as if it held a part that is no text."""
    dialect = chat_template(TOKENIZERS["chatml"])
    context = Assembler(dialect=dialect).add_capability([TOOL]).add_messages(_BY_KEY["a result of Bedrock's"]).build()
    assert context.notes() == (f"9 {MARKS}",)


@pytest.mark.parametrize("name", DIALECTS)
def test_words_alone_leave_nothing_to_note(name: str) -> None:
    history = [ASKED, {"role": "assistant", "content": "a"}, ASKED]
    for home in APIS:
        assert Assembler(dialect=home).add_messages(history).build().notes(name) == ()


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-5", "gpt-4o-2024-05-13"])
def test_calls_beside_a_null_for_the_old_function_call_are_priced_as_without_it(model: str) -> None:
    function = {"name": "ask", "arguments": '{"text": "walruses eat clams"}'}
    calls = [{"id": f"c{number}", "type": "function", "function": dict(function)} for number in range(3)]
    answer: Dict = {"role": "assistant", "content": None, "tool_calls": calls}
    answers = [{"role": "tool", "tool_call_id": call["id"], "content": "r"} for call in calls]

    def count(**nulls: None) -> Count:
        assembler = Assembler(Budget(10_000, model=model)).add_capability([TOOL])
        context = assembler.add_messages([ASKED, {**answer, **nulls}, *answers]).build()
        assert context.count == count_request(context.request(), dialect="openai_chat", model=model)
        return context.count

    assert count(function_call=None, refusal=None) == count()


SAID_WITH_SOURCES: dict[str, Dict] = {
    "anthropic": {"role": "assistant", "content": [{"type": "text", "text": "a", "citations": [CITED]}]},
    "openai_chat": {"role": "assistant", "content": "a", "annotations": [{"type": "url_citation", "title": LOST}]},
    "openai_responses": _responses()[1],
    "bedrock": {
        "role": "assistant",
        "content": [{"citationsContent": {"content": [{"text": "a"}], "citations": [{"title": LOST}]}}],
    },
}
WITHIN: dict[str, Dict] = {
    "anthropic": {
        "type": "mcp_tool_result",
        "tool_use_id": "m",
        "content": [{"type": "text", "text": "found", "citations": [CITED]}],
    },
    "bedrock": {"hologram": {"text": "found", "citations": [{"title": LOST}]}},
}
"""Parts that are not read: citations in them are lost with their fields."""


@pytest.mark.parametrize("name", APIS)
@pytest.mark.parametrize("spelling", SAID_WITH_SOURCES)
def test_a_message_that_loses_its_citations_is_reported_as_shortened(spelling: str, name: str) -> None:
    history = [ASKED, SAID_WITH_SOURCES[spelling], ASKED]
    context = Assembler(dialect=name).add_messages(history).build()
    found = [(each.index, each.outcome, each.message) for each in context.dropped]
    assert found == ([] if name == spelling else [(1, "shortened", history[1])])


@pytest.mark.parametrize("name", APIS)
@pytest.mark.parametrize("spelling", WITHIN)
def test_a_lost_citation_inside_an_opaque_part_is_noted_like_one_of_a_text(spelling: str, name: str) -> None:
    answer: Dict = {"role": "assistant", "content": [WITHIN[spelling]]}
    asked = [ASKED] if spelling == "anthropic" else [{"role": "user", "content": [{"text": "q"}]}]
    context = Assembler(dialect=name).add_messages([*asked, answer, *asked]).build()
    sent = str(context.request())
    assert (LOST in sent) == (name == spelling)
    assert "found" in sent
    assert (f"1 {CITATIONS}" in context.notes()) == (name != spelling)
    assert [each.index for each in context.dropped] == ([] if name == spelling else [1])


@pytest.mark.parametrize("name", APIS)
@pytest.mark.parametrize("kind", ["citationsContent", "guardContent"])
def test_a_text_of_bedrocks_own_kind_is_plain_text_for_another_api(kind: str, name: str) -> None:
    """Other APIs got the text under the heading `[citationsContent]`."""
    role, held = ("assistant", {"content": [{"text": "walrus"}]})
    if kind == "guardContent":
        role, held = ("user", {"text": {"text": "walrus", "qualifiers": ["query"]}})
    message: Dict = {"role": role, "content": [{kind: held}]}
    context = Assembler(dialect=name).add_messages([ASKED, message, ASKED]).build()
    assert "walrus" in str(context.request())
    assert name == "bedrock" or kind not in str(context.request())
    assert context.count == count_request(context.request(), dialect=name)


@pytest.mark.parametrize("name", APIS)
def test_a_document_that_may_be_cited_loses_no_citation(name: str) -> None:
    source = {"type": "text", "media_type": "text/plain", "data": "d"}
    document: Dict = {"type": "document", "source": source, "citations": {"enabled": True}}
    context = Assembler(dialect=name).add_messages([{"role": "user", "content": [document]}]).build()
    assert list(context.dropped) == []
    assert (f"1 {FIELDS}" in context.notes()) == (name != "anthropic")
    assert not [line for line in context.notes() if CITATIONS in line]


SCHEMA: Dict = {"type": "object", "properties": {}}
OF_TOOLS: dict[str, Dict] = {
    "anthropic": {"name": "ask", "description": "d", "input_schema": SCHEMA, "input_examples": [{"q": LOST}]},
    "openai_chat": {"type": "function", "function": {"name": "ask", "parameters": SCHEMA, "x_new": LOST}},
    "openai_responses": {"type": "function", "name": "ask", "parameters": SCHEMA, "x_new": LOST},
    "bedrock": {"toolSpec": {"name": "ask", "inputSchema": {"json": SCHEMA}, "x_new": LOST}},
    "gemini": {"function_declarations": [{"name": "ask", "behavior": LOST}]},
}
OF_A_TOOL = "1 field(s) of another API on tools left out"


@pytest.mark.parametrize("name", APIS)
@pytest.mark.parametrize("spelling", OF_TOOLS)
def test_a_field_of_a_tool_that_an_api_is_not_sent_is_noted(spelling: str, name: str) -> None:
    context = Assembler(dialect=name).add_capability([OF_TOOLS[spelling]]).add_messages([ASKED]).build()
    goes = name == spelling or (name, spelling) == ("mistral", "openai_chat")
    assert (LOST in str(context.request())) == goes
    assert (OF_A_TOOL in context.notes()) != goes
    assert context.count == count_request(context.request(), dialect=name)


@pytest.mark.parametrize("name", APIS)
def test_strict_and_hints_of_mcp_are_noted_if_an_api_has_no_field_for_them(name: str) -> None:
    strict: Dict = {"type": "function", "function": {"name": "ask", "parameters": SCHEMA, "strict": True}}
    hinted: Dict = {"name": "ask", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}}
    context = Assembler(dialect=name).add_capability([strict]).add_messages([ASKED]).build()
    assert (OF_A_TOOL in context.notes()) == ("strict" not in str(context.request()))
    assert Assembler(dialect=name).add_capability([hinted]).add_messages([ASKED]).build().notes() == ()


_POINT: Dict = {"cachePoint": {"type": "default"}}
_BOTH: Dict = {
    "cache_control": {"type": "ephemeral"},
    **_POINT,
    "cacheControl": "ephemeral",
    "cache_point": {"ttl": ""},
}
_CALL: Dict = {"id": "call_1", "type": "function", "function": {"name": "ask", "arguments": "{}"}}
_OUTPUT: Dict = {"type": "function_call_output", "call_id": "call_1", "output": "r"}
_SAID: Dict = {"type": "text", "text": "r"}
_PICTURE: Dict = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
_BY_KEY: dict[str, list[Dict]] = {
    "a message": [{**ASKED, **_BOTH}],
    "a system message": [{"role": "system", "content": "s", **_BOTH}, ASKED],
    "a part": [{"role": "user", "content": [{"type": "text", "text": "q", **_POINT}]}],
    "an untyped part": [{"role": "user", "content": [{"text": "q", **_BOTH}]}],
    "a call and its result": [
        ASKED,
        {"role": "assistant", "content": None, "tool_calls": [{**_CALL, **_POINT}]},
        {"role": "tool", "tool_call_id": "call_1", "content": "r", **_BOTH},
    ],
    "an item": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "q", **_BOTH}], **_BOTH},
        {"type": "function_call", "call_id": "call_1", "name": "ask", "arguments": "{}", **_BOTH},
        {**_OUTPUT, **_BOTH},
    ],
    "a block of Anthropic's": [
        ASKED,
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "ask", "input": {}, **_POINT}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "r", **_POINT}], **_BOTH},
    ],
    "a picture in a result of Anthropic's": [
        ASKED,
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "ask", "input": {}}]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c", "content": [_PICTURE | _POINT, _SAID | _POINT]}],
        },
    ],
    "a part of Gemini's": [{"role": "user", "parts": [{"text": "q", **_BOTH}], **_BOTH}],
    "an answer of Gemini's": [
        {"role": "user", "parts": [{"text": "q"}]},
        {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "ask", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "c", "name": "ask", "response": {}, **_BOTH}}]},
    ],
    "a result of Bedrock's": [
        {"role": "user", "content": [{"text": "q"}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "ask", "input": {}}}]},
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "c", "content": [{"text": "r", **_BOTH}, _POINT], **_BOTH}}],
        },
    ],
    "a text of a result": [
        ASKED,
        {"role": "assistant", "content": None, "tool_calls": [_CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "r", **_BOTH}]},
    ],
    "a result of texts alone": [
        ASKED,
        {"role": "assistant", "content": None, "tool_calls": [_CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "r", "cachePoint": "default"},
    ],
}
_OF_NOBODY = ("cachePoint", "cacheControl", "cache_point")
"""Bedrock's mark as a key, and how libraries spell others' marks: no API has such a key."""


HAVE_CONTROLS = ("openai_chat", "anthropic")
"""Gateways with Chat Completions take Anthropic's mark too."""


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("place", _BY_KEY)
def test_a_cache_mark_as_a_key_is_sent_only_to_apis_that_have_it_and_otherwise_noted(place: str, api: str) -> None:
    context = Assembler(dialect=DIALECTS[api]).add_capability([TOOL]).add_messages(_BY_KEY[place]).build()
    request = context.request()
    assert not verify(request, dialect=DIALECTS[api])
    sent = json.dumps(request, default=repr)
    assert not [key for key in _OF_NOBODY if f'"{key}"' in sent]
    assert "cache_control" not in sent or api in HAVE_CONTROLS
    assert "q" in sent
    assert any(MARKS in note for note in context.report.notes)


@pytest.mark.parametrize("api", APIS)
def test_a_cache_mark_as_a_key_is_left_out_when_a_built_conversation_grows(api: str) -> None:
    session = Assembler(dialect=DIALECTS[api]).add_messages([ASKED, {"role": "assistant", "content": "a"}, ASKED])
    session.build()
    added: list[Dict] = [{"role": "assistant", "content": "b", **_POINT}, {"role": "user", "content": "c"}]
    for message in added:
        session.add_message(message)
    context = session.build()
    assert "cachePoint" not in json.dumps(context.request())
    assert any(MARKS in note for note in context.report.notes)
    assert context.count == count_request(context.request(), dialect=DIALECTS[api], model=None)


_BREAK: Dict = {"prompt_cache_breakpoint": {"mode": "explicit"}}
_OPENAIS: dict[str, tuple[str, list[Dict]]] = {
    "Chat": ("openai_chat", [{"role": "user", "content": [{"type": "text", "text": "q", **_BREAK}]}]),
    "Responses": ("openai_responses", [{"role": "user", "content": [{"type": "input_text", "text": "q", **_BREAK}]}]),
}


@pytest.mark.parametrize("name", APIS)
@pytest.mark.parametrize("spelling", _OPENAIS)
def test_a_breakpoint_of_openai_is_sent_only_to_the_api_it_is_written_for(spelling: str, name: str) -> None:
    home, history = _OPENAIS[spelling]
    context = Assembler(dialect=home).add_messages(history).build()
    request = context.request(name)
    if name == home:
        assert [*request.values()] == [history]
        assert context.notes(name) == ()
        assert verify(request, dialect=name) == []
        return
    assert "breakpoint" not in str(request)
    assert context.notes(name) == (f"1 {MARKS}",)


@pytest.mark.parametrize("name", APIS)
def test_a_breakpoint_of_openai_beside_the_content_is_sent_to_no_api(name: str) -> None:
    context = Assembler(dialect=name).add_messages([ASKED | _BREAK]).build()
    assert "breakpoint" not in str(context.request())
    assert context.notes() == (f"1 {MARKS}",)


@pytest.mark.parametrize("kind", ["input_text", "text"])
def test_a_mark_of_anthropic_on_its_own_text_is_sent_to_it_and_otherwise_noted(kind: str) -> None:
    block: Dict = {"type": kind, "text": "q", "cache_control": {"type": "ephemeral"}}
    context = Assembler(dialect="anthropic").add_messages([{"role": "user", "content": [block]}]).build()
    kept = "ephemeral" in str(context.request())
    assert kept == (kind == "text")
    assert context.notes() == (() if kept else (f"1 {MARKS}",))


@pytest.mark.parametrize("name", APIS)
@pytest.mark.parametrize("spelling", OF_TOOLS)
def test_a_cache_mark_in_a_definition_is_sent_only_to_apis_that_have_it_there(spelling: str, name: str) -> None:
    tool = json.loads(json.dumps(OF_TOOLS[spelling]))
    inner = tool["function_declarations"][0] if spelling == "gemini" else tool
    inner |= {"cache_control": {"type": "ephemeral"}, "cacheControl": {}, **_BREAK}
    context = Assembler(dialect=name).add_capability([tool]).add_messages([ASKED]).build()
    sent = json.dumps(context.request())
    assert "cacheControl" not in sent
    assert "breakpoint" not in sent
    kept = "ephemeral" in sent
    assert not kept or (name, spelling) == ("openai_chat", "openai_chat") or name == "anthropic"
    assert f"{2 if kept else 3} cache mark(s) of another API on tools left out" in context.notes()
    assert context.count == count_request(context.request(), dialect=name)


@pytest.mark.parametrize("name", APIS)
def test_an_extra_field_of_a_bedrock_result_is_noted_whatever_its_type(name: str) -> None:
    """With a `type` inside `toolResult` the other fields were not noted."""
    use: Dict = {"toolUseId": "c", "name": "ask", "input": {}}
    answer: Dict = {"toolUseId": "c", "content": [{"text": "r"}], "type": "novel", "x_new": LOST}
    history: list[Dict] = [
        {"role": "user", "content": [{"text": "q"}]},
        {"role": "assistant", "content": [{"toolUse": use}]},
        {"role": "user", "content": [{"toolResult": answer}]},
    ]
    context = Assembler(dialect=name).add_capability([TOOL]).add_messages(history).build()
    assert context.notes() == (() if name == "bedrock" else (f"2 {FIELDS}",))
    assert (LOST in str(context.request())) == (name == "bedrock")


HAVE_A_MARK = ("anthropic", "bedrock", "gemini")
"""The APIs that can say that a call failed. Plain sends what came."""


@pytest.mark.parametrize("name", [*APIS, "chat_template"])
def test_that_a_call_failed_is_sent_or_noted(name: str) -> None:
    dialect = chat_template(TOKENIZERS["chatml"]) if name == "chat_template" else DIALECTS[name]
    history: list[Dict] = [
        ASKED,
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "ask", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "r", "is_error": True}]},
    ]
    context = Assembler(dialect=dialect).add_capability([TOOL]).add_messages(history).build()
    noted = [note for note in context.notes() if "failed" in note]
    assert noted == ([] if name in HAVE_A_MARK else ["1 mark(s) of a failed call left out"])


def test_plain_notes_that_it_sends_no_tool_choice_also_when_messages_are_added() -> None:
    assembler = Assembler(dialect="plain").add_capability([TOOL], choice="ask").add_message(ASKED)
    for _ in range(2):
        assert assembler.build().notes() == ("1 tool choice left out",)
        assembler.add_message({"role": "assistant", "content": "a"}).add_message(ASKED)


_OF_ANTHROPIC: Dict = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
_OF_BEDROCK: Dict = {"text": "hm", "signature": "c2ln"}
THOUGHTS: dict[str, tuple[Dict, str]] = {
    "beside the thought": ({**_OF_ANTHROPIC, "x_new": LOST}, "bedrock"),
    "a list beside the thought": ({**_OF_ANTHROPIC, "summary": [{"text": LOST}]}, "bedrock"),
    "a text beside the thought": ({**_OF_ANTHROPIC, "text": LOST}, "bedrock"),
    "beside the text": ({"reasoningContent": {"reasoningText": {**_OF_BEDROCK, "x_new": LOST}}}, "anthropic"),
    "beside the holder": ({"reasoningContent": {"reasoningText": _OF_BEDROCK, "x_new": LOST}}, "anthropic"),
    "beside the whole": ({"reasoningContent": {"reasoningText": _OF_BEDROCK}, "x_new": LOST}, "anthropic"),
    "beside a hidden one": (
        {"reasoningContent": {"reasoningText": _OF_BEDROCK, "redactedContent": LOST}},
        "anthropic",
    ),
}


@pytest.mark.parametrize("case", THOUGHTS)
def test_a_field_of_a_signed_thought_is_noted_by_the_api_that_gets_the_thought_without_it(case: str) -> None:
    thought, name = THOUGHTS[case]
    history = [ASKED, {"role": "assistant", "content": [thought, {"text": "a"}]}, ASKED]
    context = Assembler(dialect=DIALECTS[name]).add_messages(history).build()
    sent = json.dumps(context.request())
    assert "hm" in sent
    assert LOST not in sent
    assert f"1 {FIELDS}" in context.notes()
    home = "anthropic" if name == "bedrock" else "bedrock"
    kept = Assembler(dialect=DIALECTS[home]).add_messages(history).build()
    assert LOST in json.dumps(kept.request())
    assert not kept.notes()


@pytest.mark.parametrize("name", ["openai_chat", "openai_responses", "gemini", "mistral"])
def test_a_thought_that_is_left_out_is_noted_once_with_all_that_came_with_it(name: str) -> None:
    thought = {**_OF_ANTHROPIC, "x_new": LOST}
    history = [ASKED, {"role": "assistant", "content": [thought, {"type": "text", "text": "a"}]}, ASKED]
    context = Assembler(dialect=DIALECTS[name]).add_messages(history).build()
    assert context.notes() == ("1 reasoning part(s) of another model left out",)


@pytest.mark.parametrize("name", ["anthropic", "bedrock"])
def test_a_thought_of_mistrals_is_no_thought_of_claudes_though_it_is_signed(name: str) -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}], "signature": "c2ln"}
    history = [ASKED, {"role": "assistant", "content": [thought, {"type": "text", "text": "a"}]}, ASKED]
    context = Assembler(dialect=DIALECTS[name]).add_messages(history).build()
    assert "hm" not in json.dumps(context.request())
    assert [(left.index, left.outcome) for left in context.dropped] == [(1, "shortened")]
    assert context.notes() == ("1 reasoning part(s) of another model left out",)
