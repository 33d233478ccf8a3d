"""A part that an API takes elsewhere only is written in its form, sent as a text, or left out and reported."""

from __future__ import annotations

from typing import Any

import pytest

from assembler import Assembler, Context, UnsupportedContentError, count_request, verify

Dict = dict[str, Any]
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PICTURE = f"data:image/png;base64,{PNG}"
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
USER: Dict = {"role": "user", "content": "q"}
TOOL: Dict = {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}
OF_THE_MODEL: dict[str, Dict] = {
    "a picture": {"type": "image_url", "image_url": {"url": PICTURE}},
    "a picture as Mistral spells it": {"type": "image_url", "image_url": PICTURE},
    "a sound": {"type": "input_audio", "input_audio": {"data": WAV, "format": "wav"}},
    "a file": {"type": "file", "file": {"file_id": "file-1"}},
    "a document": {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}},
}


def built(home: str, *messages: Dict) -> Context[None]:
    context = Assembler(dialect=home).add_capability([TOOL]).add_messages(messages).build()
    assert [broken for broken in verify(context.request(), dialect=home) if not broken.note] == []
    assert context.count == count_request(context.request(), dialect=home)
    return context


@pytest.mark.parametrize("name", OF_THE_MODEL)
def test_what_a_model_has_shown_is_left_out_and_reported_where_only_users_may_show(name: str) -> None:
    """Chat got it back as it came, and refuses it."""
    shown = {"role": "assistant", "content": [{"type": "text", "text": "Here."}, OF_THE_MODEL[name]]}
    context = built("openai_chat", USER, shown, USER)
    assert PNG not in str(context.request())
    assert WAV not in str(context.request())
    assert "Here." in str(context.request())
    assert [left.index for left in context.dropped] == [1]
    assert any("left out" in note for note in context.report.notes)


@pytest.mark.parametrize("name", ["a picture", "a picture as Mistral spells it"])
def test_a_picture_of_mistrals_own_answer_goes_back_to_it(name: str) -> None:
    """Its SDK types an answer as a list of any chunks (mistralai 3.7.0, AssistantMessage, read 2026-11)."""
    shown = {"role": "assistant", "content": [{"type": "text", "text": "Here."}, OF_THE_MODEL[name]]}
    assert built("mistral", USER, shown, USER).request()["messages"][1] == shown


@pytest.mark.parametrize("name", OF_THE_MODEL)
def test_an_answer_of_files_alone_is_left_out_whole(name: str) -> None:
    context = built("openai_chat", USER, {"role": "assistant", "content": [OF_THE_MODEL[name]]}, USER)
    assert context.request()["messages"] == [USER, USER]
    assert [left.index for left in context.dropped] == [1]


MISTRALS: dict[str, tuple[Dict, Dict]] = {
    "a picture": (
        {"type": "image_url", "image_url": PICTURE},
        {"type": "image_url", "image_url": {"url": PICTURE}},
    ),
    "a sound": (
        {"type": "input_audio", "input_audio": WAV},
        {"type": "input_audio", "input_audio": {"data": WAV, "format": "wav"}},
    ),
}


@pytest.mark.parametrize("name", MISTRALS)
def test_a_part_of_mistrals_is_sent_to_chat_in_chats_form_and_to_mistral_as_it_came(name: str) -> None:
    mistrals, chats = MISTRALS[name]
    asked = {"role": "user", "content": [{"type": "text", "text": "What is it?"}, mistrals]}
    assert built("openai_chat", asked).request()["messages"][0]["content"][1] == chats
    assert built("mistral", asked).request()["messages"][0]["content"][1] == mistrals


def test_a_file_in_mistrals_store_is_not_sent_to_chat() -> None:
    asked = {"role": "user", "content": [{"type": "file", "file_id": "f"}]}
    assert built("mistral", asked).request()["messages"] == [asked]
    with pytest.raises(UnsupportedContentError):
        built("openai_chat", asked)


@pytest.mark.parametrize("home", ["anthropic", "gemini", "bedrock"])
def test_a_thought_in_a_system_message_is_left_out_at_no_price(home: str) -> None:
    """It was refused, also after `repair`."""
    message = {"role": "system", "parts": [{"text": "a long thought " * 20, "thought": True}, {"text": "Be brief."}]}
    asked = {"role": "user", "parts": [{"text": "q"}]}
    context = Assembler(dialect=home).add_messages([message, asked]).build()
    assert context.notes() == ("1 reasoning part(s) of another model left out",)
    assert "thought" not in str(context.request())
    assert context.count == count_request(context.request(), dialect=home)


@pytest.mark.parametrize("role", ["user", "system"])
def test_a_refusal_that_is_not_the_models_is_sent_as_a_text(role: str) -> None:
    message = {
        "role": role,
        "content": [{"type": "text", "text": "It said:"}, {"type": "refusal", "refusal": "I cannot."}],
    }
    sent = built("openai_chat", message, USER).request()["messages"][0]
    assert sent["content"] == [{"type": "text", "text": "It said:"}, {"type": "text", "text": "I cannot."}]


@pytest.mark.parametrize("home", ["openai_chat", "mistral"])
def test_a_sound_in_a_system_message_is_refused_like_a_picture(home: str) -> None:
    message = {"role": "system", "content": [{"type": "text", "text": "Be brief."}, OF_THE_MODEL["a sound"]]}
    with pytest.raises(UnsupportedContentError):
        built(home, message, USER)


# A block, its API, whether a user's message or a tool's result may hold it, and the text that is sent in its place.
BLOCKS: dict[str, tuple[Dict, str, bool, str | None]] = {
    "a reference to a tool": ({"type": "tool_reference", "tool_name": "look"}, "anthropic", True, None),
    "the state of a browser": ({"type": "browser_state", "url": "https://a.example"}, "anthropic", True, None),
    "JSON": ({"json": {"walrus": 1}}, "bedrock", True, '[json]\n{"walrus":1}'),
    "a sound": ({"audio": {"format": "mp3", "source": {"bytes": b"ID3"}}}, "bedrock", False, None),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_that_its_api_takes_elsewhere_becomes_a_text_or_is_reported(name: str) -> None:
    block, home, in_a_result, text = BLOCKS[name]
    words: Dict = {"text": "w"} if home == "bedrock" else {"type": "text", "text": "w"}
    if home == "bedrock":
        call: Dict = {"toolUse": {"toolUseId": "c", "name": "look", "input": {}}}
        result: Dict = {"toolResult": {"toolUseId": "c", "content": [words, block]}}
    else:
        call = {"type": "tool_use", "id": "c", "name": "look", "input": {}}
        result = {"type": "tool_result", "tool_use_id": "c", "content": [words, block]}
    step = [{"role": "user", "content": [words]}, {"role": "assistant", "content": [call]}]
    answered = built(home, *step, {"role": "user", "content": [result]})
    context = built(home, {"role": "user", "content": [words, block]})
    taken, other = (answered, context) if in_a_result else (context, answered)
    assert str(block) in str(taken.request())
    assert str(block) not in str(other.request())
    if text is None:
        assert [left.index for left in other.dropped] == [2 if other is answered else 0]
    else:
        assert {"text": text} in other.request()["messages"][0]["content"]


@pytest.mark.parametrize("kind", ["tool_addition", "tool_removal"])
def test_a_block_that_changes_the_tools_has_no_place_in_the_system_field(kind: str) -> None:
    """It was sent there at no price. Claude takes it in a system message among the others."""
    change = {"type": kind, "tool": {"type": "tool_reference", "name": "look"}}
    message = {"role": "system", "content": [{"type": "text", "text": "Be brief."}, change]}
    with pytest.raises(UnsupportedContentError):
        built("anthropic", message, USER)
