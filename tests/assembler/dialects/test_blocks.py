"""Rules that Anthropic, Bedrock and Gemini share: requests are valid, nothing is lost, nothing is underpriced."""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Callable
from typing import Any

import attrs
import pytest
from hypothesis import given

from assembler import Assembler, TrimOldest, count_request
from assembler.dialects import DIALECTS, Dialect
from assembler.drawn.spelling import SPELLINGS
from assembler.errors import ConversationError, UnsupportedContentError
from assembler.verify import verify
from budgets import Budget, Count
from tests.assembler.dialects.spoken import (
    NO_ERROR_TEXT,
    TOOLS,
    Conversation,
    Dict,
    Turn,
    Utterance,
    anthropic_turns,
    bedrock_turns,
    conversations,
    expected,
    gemini_turns,
    sent_again,
    spelled,
)
from tests.assembler.verify import conversations as valid
from tests.scaled import scaled


@attrs.frozen
class Api:
    name: str
    turns: Callable[[Dict], list[Turn]]
    blank: Callable[[str], bool]
    no_error_text: str
    spoken: str

    @property
    def dialect(self) -> Dialect:
        return DIALECTS[self.name]

    def expected(self, conversation: Conversation) -> list[Turn]:
        return expected(conversation, self.blank, self.no_error_text)


APIS = (
    Api("anthropic", anthropic_turns, lambda text: not text.strip(), NO_ERROR_TEXT, "claude-sonnet-4-5"),
    Api("bedrock", bedrock_turns, lambda text: not text.strip(), NO_ERROR_TEXT, "us.anthropic.claude-sonnet-4-5-v1:0"),
    Api("gemini", gemini_turns, lambda text: not text, "", "gemini-2.5-pro"),
)
every_api = pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)


def built(api: Api, messages: list[Any], **regions: Any) -> Any:
    assembler = Assembler(
        regions.get("budget"), dialect=api.dialect, on_overflow=regions.get("on_overflow", ()) or TrimOldest()
    )
    return assembler.add_instruction("Be brief.").add_capability(TOOLS).add_messages(messages).build()


def request_of(api: Api, messages: list[Any]) -> Dict:
    request: Dict = built(api, messages).request()
    return request


@every_api
@scaled(0.5)
@given(conversation=valid.conversations())
def test_a_valid_request_is_emitted_byte_for_byte(api: Api, conversation: valid.Conversation) -> None:
    request = SPELLINGS[api.name].request(conversation)
    assert json.dumps(sent_again(api.dialect, request)) == json.dumps(request)


def of_each_api(holds: Callable[[Api, Conversation], None]) -> Callable[..., None]:
    """A property of each API and of any conversation that waits for the model."""

    def drawn(api: Api, conversation: Conversation) -> None:
        wanted = api.expected(conversation)
        if wanted and wanted[-1][0] != "assistant":
            holds(api, conversation)

    drawn.__name__ = drawn.__qualname__ = holds.__name__
    return every_api(scaled(0.3)(given(conversation=conversations())(drawn)))


@of_each_api
def test_emitted_requests_are_valid_say_what_came_in_and_survive_a_round_trip(
    api: Api, conversation: Conversation
) -> None:
    request = request_of(api, spelled(conversation))
    assert verify(request, dialect=api.name, model=api.spoken) == []
    assert api.turns(request) == api.expected(conversation)
    layout = api.dialect.parse(request)
    assert json.dumps(api.dialect.emit(layout).request) == json.dumps(request)
    assert [tool.name for tool in layout.tools] == [tool["function"]["name"] for tool in TOOLS]


@of_each_api
def test_a_conversation_survives_conversion_from_any_other_api(api: Api, conversation: Conversation) -> None:
    for other in APIS:
        if other is api or api.name == "gemini" or other.name == "gemini":  # Gemini keeps blanks, and wraps answers
            continue
        there = request_of(other, spelled(conversation))
        back = api.dialect.emit(other.dialect.parse(there)).request
        assert api.turns(back) == api.expected(conversation)


@of_each_api
def test_the_price_is_never_below_that_of_the_emitted_request(api: Api, conversation: Conversation) -> None:
    context = built(api, spelled(conversation))
    counted: Count = count_request(context.request(), dialect=api.dialect)
    rounding = 1 + len(conversation.utterances)
    assert counted.tokens <= context.count.tokens + rounding
    assert counted.upper <= context.count.upper + rounding


@of_each_api
def test_the_callers_messages_are_left_as_they_were_and_share_nothing(api: Api, conversation: Conversation) -> None:
    messages = spelled(conversation)
    before = copy.deepcopy(messages)
    context = built(api, messages)
    first = context.request()
    _spoil(first)
    assert messages == before
    assert json.dumps(context.request()) == json.dumps(request_of(api, messages))


def _spoil(value: Any) -> None:
    if isinstance(value, dict):
        for inner in value.values():
            _spoil(inner)
        value.clear()
    elif isinstance(value, list):
        for inner in value:
            _spoil(inner)
        value.clear()


@every_api
@scaled(0.3)
@given(conversation=conversations(), more=conversations())
def test_a_grown_history_begins_as_it_did(api: Api, conversation: Conversation, more: Conversation) -> None:
    wanted = api.expected(conversation)
    if not wanted or wanted[-1][0] == "assistant":
        return
    key = "contents" if api.name == "gemini" else "messages"
    now = request_of(api, spelled(conversation))[key]
    grown = Conversation(
        (*conversation.utterances, Utterance("assistant", ("so",)), *more.utterances, Utterance("user", ("go on",)))
    )
    attrs_apart = Conversation(grown.utterances, conversation.parallel_results_apart)
    later = request_of(api, spelled(attrs_apart))[key]
    assert json.dumps(later[: len(now)]) == json.dumps(now)


@every_api
def test_ids_stay_the_same_when_older_turns_are_cut(api: Api) -> None:
    bad = "an id that no API takes " * 9
    older = [{"role": "user", "content": "old " * 3_000}, {"role": "assistant", "content": "done"}]
    newer = _step(bad, "search")
    whole = request_of(api, [*older, *newer])
    tight = Budget(context_window=2_000, counter=lambda text: len(text.split()))
    cut = built(api, [*older, *newer], budget=tight).request()
    key = "contents" if api.name == "gemini" else "messages"
    assert len(cut[key]) == len(whole[key]) - 2
    assert cut[key] == whole[key][2:]


def _step(call_id: str, name: str, result: Any = "r", arguments: str = "{}") -> list[Dict]:
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": result},
    ]


@every_api
def test_an_id_that_is_used_in_every_turn_becomes_unique(api: Api) -> None:
    request = request_of(
        api, [*_step("call_1", "search"), {"role": "assistant", "content": "a"}, *_step("call_1", "search")]
    )
    assert verify(request, dialect=api.name) == []
    assert json.dumps(request).count('"call_1"') == 2  # the first call and its answer keep it


@every_api
@pytest.mark.parametrize(
    "arguments", ["", "  ", "null", "[1]", "{oops", '{"a": NaN}', '"\\ud800"', "1e999", "[" * 3000]
)
def test_arguments_that_are_not_an_object_are_still_sent(api: Api, arguments: str) -> None:
    request = request_of(api, _step("c", "search", arguments=arguments))
    assert verify(request, dialect=api.name) == []
    turns = api.turns(request)
    sent = json.loads(turns[1][1][0][2])
    assert sent == ({} if arguments.strip() in ("", "null") else {"arguments": arguments})


@every_api
@pytest.mark.parametrize("name", ["functions.search", "1st", "-x", "naïve tool", "n" * 200, "мой"])
def test_a_made_up_tool_name_in_the_history_is_made_legal(api: Api, name: str) -> None:
    context = built(api, _step("c", name))
    assert verify(context.request(), dialect=api.name) == []


@every_api
def test_a_history_that_ends_with_the_assistant_is_refused(api: Api) -> None:
    with pytest.raises(ConversationError, match="ends with"):
        built(api, [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}])


@every_api
def test_a_blank_last_question_is_refused_and_not_left_out(api: Api) -> None:
    history = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}, {"role": "user", "content": ""}]
    with pytest.raises(ConversationError, match="ends with"):
        built(api, history)


@every_api
def test_an_empty_conversation_is_an_error_only_when_it_is_sent(api: Api) -> None:
    context = Assembler(dialect=api.dialect).build()
    assert context.messages == []
    with pytest.raises(ConversationError, match="needs a user message"):
        context.request()


@every_api
def test_a_greeting_from_another_dialects_context_is_left_out(api: Api) -> None:
    history = [{"role": "assistant", "content": "hello"}, {"role": "user", "content": "q"}]
    context = Assembler(dialect=DIALECTS["openai_chat"]).add_messages(history).build()
    assert api.turns(context.request(api.dialect)) == [("user", [("text", "q")])]


@every_api
@pytest.mark.parametrize(
    "history",
    [
        [{"role": "user", "content": "q"}, {"role": "tool", "tool_call_id": "c", "content": "r"}],
        _step("c", "search")[:2],
        [*_step("c", "search")[:2], {"role": "user", "content": "no answer"}, _step("c", "search")[2]],
    ],
)
def test_an_unpaired_call_or_result_is_never_emitted(api: Api, history: list[Dict]) -> None:
    layout = attrs.evolve(DIALECTS["plain"].parse({"messages": history, "tools": TOOLS}))
    with pytest.raises(ConversationError):
        api.dialect.emit(layout)


@every_api
def test_every_part_that_is_folded_or_left_out_is_noted(api: Api) -> None:
    history = [
        {"role": "user", "content": "q", "name": "ann"},
        {"role": "system", "content": "rule"},
        {"role": "assistant", "content": ""},
        {"role": "user", "content": "again"},
    ]
    context = built(api, history)
    notes = " ".join(str(context.report).split())
    assert "name(s) of a speaker" in notes
    assert "system message(s) inside the conversation" in notes
    assert "empty message(s) left out" in notes


@every_api
def test_a_medium_that_cannot_be_moved_raises_when_it_is_built(api: Api) -> None:
    file = {"type": "file", "file": {"file_id": "f"}}
    with pytest.raises(UnsupportedContentError, match="document"):
        built(api, [{"role": "user", "content": [PICTURES["openai"], file]}])


@every_api
def test_an_unknown_part_of_another_api_is_left_out_and_noted(api: Api) -> None:
    context = built(api, [{"role": "user", "content": [PICTURES["openai"], {"type": "custom_widget", "x": 1}]}])
    assert "custom_widget" not in str(context.request())
    assert "1 part(s) of another API without content here left out" in " ".join(str(context.report).split())


PNG = "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC"
PICTURES = {
    "openai": {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
    "responses": {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"},
    "anthropic": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
    "gemini": {"inline_data": {"mime_type": "image/png", "data": PNG}},
    "mcp": {"type": "image", "data": PNG, "mimeType": "image/png"},
}


@every_api
@pytest.mark.parametrize("shape", PICTURES)
def test_a_picture_is_converted_between_providers(api: Api, shape: str) -> None:
    key = "parts" if shape == "gemini" else "content"
    context = built(api, [{"role": "user", key: [PICTURES[shape]]}])
    request = context.request()
    assert verify(request, dialect=api.name) == []
    (sent,) = _first_parts(request)
    match api.name:
        case "anthropic":
            assert sent == PICTURES["anthropic"]
        case "gemini":
            assert sent == PICTURES["gemini"]
        case _:
            assert sent["image"]["format"] == "png"
            assert sent["image"]["source"]["bytes"][:4] == b"\x89PNG"
    assert context.count.tokens < 2_500


def _first_parts(request: Dict) -> list[Dict]:
    first = request["contents"][0] if "contents" in request else request["messages"][0]
    parts: list[Dict] = first["parts"] if "parts" in first else first["content"]
    return parts


PDF = "JVBERi0xLjEKMSAwIG9iajw8L1R5cGUvUGFnZXMvQ291bnQgMT4+ZW5kb2JqIDIgMCBvYmo8PC9UeXBlL1BhZ2U+PmVuZG9iagolJUVPRgo="
DOCUMENTS = {
    "openai": {"type": "file", "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PDF}"}},
    "anthropic": {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}},
    "gemini": {"inline_data": {"mime_type": "application/pdf", "data": PDF}},
    "bedrock": {"document": {"format": "pdf", "name": "n", "source": {"bytes": base64.b64decode(PDF)}}},
}


@every_api
@pytest.mark.parametrize("shape", DOCUMENTS)
def test_a_pdf_is_converted_between_providers(api: Api, shape: str) -> None:
    key = "parts" if shape == "gemini" else "content"
    request = built(api, [{"role": "user", key: [{**DOCUMENTS[shape], "pages": 1}]}]).request()
    assert verify(request, dialect=api.name) == []
    (sent,) = _first_parts(request)
    if shape == "bedrock" or api.name != "bedrock":
        assert sent == DOCUMENTS[api.name]
    else:
        assert sent["document"]["source"] == DOCUMENTS["bedrock"]["document"]["source"]


@every_api
def test_a_cache_mark_of_another_api_is_noted_when_it_is_left_out(api: Api) -> None:
    marked = {"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}
    pointed = [{"text": "p"}, {"cachePoint": {"type": "default"}}]
    history = [
        {"role": "system", "content": [marked]},
        {"role": "system", "content": pointed},
        {"role": "user", "content": [marked]},
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": pointed},
    ]
    context = built(api, history)
    assert verify(context.request(), dialect=api.name) == []
    left_out = {"anthropic": 2, "bedrock": 2, "gemini": 4}[api.name]
    assert f"{left_out} cache mark(s) of another API left out" in " ".join(str(context.report).split())


@every_api
@pytest.mark.parametrize("part", [{"type": "image_url", "image_url": {"url": "https://x.example/y"}}, {"type": "file"}])
def test_a_system_message_holds_text_only(api: Api, part: Dict) -> None:
    with pytest.raises(UnsupportedContentError, match="system message"):
        built(api, [{"role": "system", "content": [part]}, {"role": "user", "content": "q"}])


@every_api
def test_texts_and_json_of_a_result_keep_their_order(api: Api) -> None:
    inner = [{"text": "one"}, {"json": {"zeta": 1}}, {"text": " "}, {"text": "two"}]
    history = [
        {"role": "user", "content": [{"text": "q"}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "search", "input": {}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "c", "content": inner}}]},
    ]
    text = json.dumps(built(api, history).request())
    places = [text.index(word) for word in ("one", "zeta", "two")]
    assert places == sorted(places)


@pytest.mark.parametrize("model", [None, "amazon.nova-pro-v1:0"])
def test_the_text_that_is_sent_for_an_empty_failure_is_priced(model: str | None) -> None:
    def price(text: str) -> int:
        answer = {"toolUseId": "c", "content": [{"text": text}], "status": "error"}
        request = {"messages": [{"role": "user", "content": [{"toolResult": answer}]}]}
        return count_request(request, dialect=DIALECTS["bedrock"], model=model).tokens

    assert price(" ") == price(NO_ERROR_TEXT)


@every_api
@pytest.mark.parametrize("blank", ["", " \n"])
def test_a_blank_question_keeps_its_turn_and_its_placeholder_is_noted(api: Api, blank: str) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    history = [
        {"role": "user", "content": blank},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "found"},
        {"role": "assistant", "content": "there"},
        {"role": "user", "content": "and now?"},
    ]
    context = built(api, history)
    turns = api.turns(context.request())
    assert [side for side, _ in turns] == ["user", "assistant", "user", "assistant", "user"]
    stood_in = api.blank(blank)
    assert turns[0][1] == [("text", "(no text)" if stood_in else blank)]
    assert ("blank message(s) of the user's sent as '(no text)'" in str(context.report)) == stood_in
    assert verify(context.request(), dialect=api.name, model=api.spoken) == []
    if stood_in:
        assert context.count == built(api, [{"role": "user", "content": "(no text)"}, *history[1:]]).count


@every_api
@pytest.mark.parametrize(
    "silent", [{"role": "model"}, {"role": "model", "parts": []}, {"role": "model", "parts": None}]
)
def test_a_gemini_answer_without_parts_is_left_out_like_an_empty_one_of_others(api: Api, silent: Dict) -> None:
    history = [{"role": "user", "parts": [{"text": "q"}]}, silent, {"role": "user", "parts": [{"text": "go on"}]}]
    context = built(api, history)
    assert context.messages == history
    assert "1 empty message(s) left out" in str(context.report)
    assert [side for side, _ in api.turns(context.request())] == ["user"]
