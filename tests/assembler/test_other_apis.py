"""A conversation of one API in another: words are sent as words, and everything else is left out and noted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assembler import Assembler, ConversationError, UnsupportedContentError, count_request, verify
from assembler.dialects import DIALECTS
from assembler.policies import ClearToolResults, Truncate
from budgets import Budget
from tests.assembler.apis import TAKE_PICTURES as APIS
from tests.assembler.apis import TYPED

Dict = dict[str, Any]

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="  # one pixel
WORDS = "A walrus eats clams"
TOOL: Dict = {"name": "ask", "description": "Asks.", "parameters": {"type": "object", "properties": {}}}
CLAUDE = "claude-sonnet-4-5"
OTHERS = [name for name in APIS if name != "anthropic"]


def asked(*blocks: Dict) -> list[Dict]:
    return [{"role": "user", "content": [*blocks, {"type": "text", "text": "q"}]}]


def answered(*content: Dict) -> list[Dict]:
    use: Dict = {"type": "tool_use", "id": "t", "name": "ask", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": list(content)}
    return [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result]},
    ]


SOURCES: list[Dict] = [
    {"type": "text", "media_type": "text/plain", "data": WORDS},
    {"type": "content", "content": WORDS},
    {"type": "content", "content": [{"type": "text", "text": WORDS}]},
]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", APIS)
def test_a_text_document_is_sent_to_every_api(source: Dict, name: str) -> None:
    dialect = DIALECTS[name]
    document = {"type": "document", "source": source, "title": "Walruses"}
    for history in (asked(document), answered(document)):
        context = Assembler(dialect=dialect).add_capability([TOOL]).add_messages(history).build()
        request = context.request()
        assert WORDS in json.dumps(request)
        assert verify(request, dialect=dialect) == []
        counted = count_request(request, dialect=dialect)
        assert (context.count.tokens, context.count.upper) == (counted.tokens, counted.upper)
        assert ("'document'" in str(request)) == (name == "anthropic")


@pytest.mark.parametrize("name", APIS)
def test_a_text_document_of_bedrock_is_sent_to_every_api(name: str) -> None:
    for source in ({"text": WORDS}, {"content": [{"text": WORDS}]}):
        document = {"document": {"format": "txt", "name": "d", "source": source}}
        history = [{"role": "user", "content": [document, {"text": "q"}]}]
        request = Assembler(dialect=DIALECTS[name]).add_messages(history).build().request()
        assert WORDS in json.dumps(request)
        assert ("'source'" in str(request)) == (name == "bedrock")


@pytest.mark.parametrize("key", ["title", "context"])
@pytest.mark.parametrize("source", SOURCES)
def test_the_title_and_context_of_a_document_are_priced(source: Dict, key: str) -> None:
    def count(**declared: str) -> int:
        history = asked({"type": "document", "source": source, **declared})
        return count_request({"messages": history}, dialect="anthropic", model=CLAUDE).tokens

    assert count(**{key: "word " * 500}) >= count() + 500


@pytest.mark.parametrize("name", ["anthropic", "openai_chat", "openai_responses", "bedrock", "mistral"])
def test_a_picture_that_a_model_drew_is_left_out_for_other_apis(name: str) -> None:
    drawn = {"inline_data": {"mime_type": "image/png", "data": PNG}}
    history: list[Dict] = [
        {"role": "user", "parts": [{"text": "draw"}]},
        {"role": "model", "parts": [drawn, {"text": WORDS}]},
        {"role": "user", "parts": [{"text": "again"}]},
    ]
    dialect = DIALECTS[name]
    context = Assembler(dialect=dialect).add_messages(history).build()
    assert PNG not in str(context.request())
    assert verify(context.request(), dialect=dialect) == []
    assert "1 part(s) of another API without content here left out" in " ".join(str(context.report).split())
    counted = count_request(context.request(), dialect=dialect)
    assert (context.count.tokens, context.count.upper) == (counted.tokens, counted.upper)
    assert Assembler(dialect="gemini").add_messages(history).build().request()["contents"] == history


@pytest.mark.parametrize("name", ["openai_chat", "mistral"])
def test_a_picture_in_a_system_message_of_responses_is_refused_if_none_is_allowed(name: str) -> None:
    shown = {"type": "input_image", "detail": "low", "image_url": f"data:image/png;base64,{PNG}"}
    history = [
        {"role": "user", "content": "q"},
        {"role": "system", "content": [shown]},
        {"role": "user", "content": "on"},
    ]
    with pytest.raises(UnsupportedContentError, match="image"):
        Assembler(dialect=name).add_messages(history).build().request()


@pytest.mark.parametrize("name", ["openai_chat", "openai_responses"])
@pytest.mark.parametrize("detail", ["low", "high", "auto"])
def test_a_picture_of_responses_is_sent_and_billed_by_the_detail_that_it_asks_for(detail: str, name: str) -> None:
    shown = {"type": "input_image", "detail": detail, "image_url": f"data:image/png;base64,{PNG}"}
    words = {"type": "input_text", "text": "q"}
    assembler = Assembler(Budget(9_999, model="gpt-4o"), dialect=name)
    context = assembler.add_messages([{"role": "user", "content": [words, shown]}]).build()
    assert f'"detail": "{detail}"' in json.dumps(context.request())
    assert count_request(context.request(), dialect=name, model="gpt-4o") == context.count


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("kind", ["tool_reference", "browser_state"])
def test_a_part_of_a_result_that_another_api_cannot_show_is_noted_as_left_out(name: str, kind: str) -> None:
    history = answered({"type": kind, "tool_name": "ask", "state": "x"})
    context = Assembler(dialect=DIALECTS[name]).add_capability([TOOL]).add_messages(history).build()
    report = " ".join(str(context.report).split())
    assert "1 part(s) of another API without content here left out" in report
    assert "sent as text" not in report


def test_an_encrypted_thought_of_mistrals_is_not_claudes() -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}], "signature": "s"}
    history = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [thought, {"type": "text", "text": "so"}]},
        {"role": "user", "content": "on"},
    ]
    request = Assembler(dialect="anthropic").add_messages(history).build().request()
    assert verify(request, dialect="anthropic") == []
    assert "hm" not in str(request)


def test_an_unknown_kind_of_call_is_sent_back_to_chat_unchanged() -> None:
    call = {"id": "c", "type": "dream", "dream": {"name": "ask", "said": WORDS}}
    history: list[Dict] = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "x"},
    ]
    assembler = Assembler(dialect="openai_chat").add_capability([TOOL]).add_messages(history)
    assert assembler.build().request()["messages"] == history
    elsewhere = assembler.build().request("anthropic")["messages"][1]["content"][0]
    assert (elsewhere["name"], elsewhere["input"]) == ("ask", {"name": "ask", "said": WORDS})


NEW: Dict = {"type": "dream", "said": "d1d"}


ANSWERED = [*asked(), {"role": "assistant", "content": [NEW, {"type": "text", "text": "so"}]}, *asked()]


@pytest.mark.parametrize(
    ("home", "history"),
    [*((home, history) for home in TYPED for history in (asked(NEW), ANSWERED)), ("anthropic", answered(NEW))],
)
def test_an_unknown_part_is_sent_only_to_the_api_of_its_assembler(home: str, history: list[Dict]) -> None:
    context = Assembler(dialect=home).add_capability([TOOL]).add_messages(history).build()
    assert "d1d" in str(context.request())
    assert context.request(home) == context.request()
    for name in APIS:
        assert name == home or "d1d" not in str(context.request(name))


@pytest.mark.parametrize("home", TYPED)
def test_an_unknown_tool_is_sent_only_to_the_api_of_its_assembler(home: str) -> None:
    context = Assembler(dialect=home).add_capability([TOOL, NEW]).add_messages(asked()).build()
    assert NEW in context.request()["tools"]
    for name in APIS:
        assert name == home or "d1d" not in str(context.request(name))


@pytest.mark.parametrize("name", [name for name in APIS if name != "mistral"])
def test_another_api_gets_a_documents_url_and_a_resources_text_but_no_file_in_a_data_url(
    name: str,
) -> None:
    linked = {"type": "document_url", "document_url": "https://a.example/d1d", "document_name": "d2d"}
    held = {"type": "resource", "resource": {"uri": "data:application/pdf;base64,b4b4", "text": "d3d"}}
    inline = {"type": "document_url", "document_url": "data:application/pdf;base64,b4b4"}
    context = Assembler(dialect=name).add_messages(asked(linked, held, inline)).build()
    request = context.request()
    assert [mark for mark in ("d1d", "d2d", "d3d", "b4b4") if mark in str(request)] == ["d1d", "d2d", "d3d"]
    assert verify(request, dialect=name) == []
    assert context.count == count_request(request, dialect=name)
    report = " ".join(str(context.report).split())
    assert "2 part(s) of another API sent as text" in report
    assert "1 part(s) of another API without content here left out" in report


class Model:
    """An object of an SDK's: its fields are attributes, those that its class does not know are in `model_extra`."""

    def __init__(self, fields: Dict, **unknown: Any) -> None:
        self.__dict__.update(fields)
        self.model_extra = unknown

    def model_dump(self, **_: object) -> Dict:
        known = {key: held for key, held in vars(self).items() if key != "model_extra"}
        return {**known, **self.model_extra}


class NotYetKnown(Model):
    """What OpenAI's SDK makes of an item of a type that it does not know: its first class, without most fields."""

    content = role = None


def test_unknown_fields_of_anthropics_answer_object_are_kept_from_other_apis() -> None:
    answer = Model(
        {"type": "message", "role": "assistant", "content": [Model(NEW), Model({"type": "text", "text": "so"})]}
    )
    history = [*asked(), answer, *asked()]
    own = Assembler(dialect="anthropic").add_messages(history).build().request()
    assert own["messages"][1]["content"] == [NEW, {"type": "text", "text": "so"}]
    for name in OTHERS:
        context = Assembler(dialect=name).add_messages(history).build()
        assert "d1d" not in str(context.request())
        assert "1 part(s) of another API without content here left out" in " ".join(str(context.report).split())


def test_an_unknown_field_of_an_object_is_sent_back_to_chat_and_noted_for_other_apis() -> None:
    history = [*asked(), Model({"role": "assistant", "content": "so"}, dream={"said": "d1d"}), *asked()]
    own = Assembler(dialect="openai_chat").add_messages(history).build()
    assert own.request()["messages"][1] == {"role": "assistant", "content": "so", "dream": {"said": "d1d"}}
    assert own.count == count_request(own.request(), dialect="openai_chat")
    for name in set(APIS) - {"openai_chat"}:
        context = Assembler(dialect=name).add_messages(history).build()
        assert "d1d" not in str(context.request())
        assert "1 field(s) of another API left out" in " ".join(str(context.report).split())


def test_an_unknown_item_read_by_an_sdk_as_a_message_without_role_is_sent_back_unchanged() -> None:
    item = {"type": "dream_call", "id": "d_1", "said": "d1d"}
    history = [{"role": "user", "content": "q"}, NotYetKnown(item), {"role": "user", "content": "on"}]
    context = Assembler(dialect="openai_responses").add_messages(history).build()
    assert context.request()["input"][1] == item
    assert "d1d" not in str(context.request("openai_chat"))


def test_parts_of_geminis_sdk_may_be_in_a_dict() -> None:
    history = [{"role": "user", "parts": [Model({"text": "q"}), {"text": "on"}]}]
    request = Assembler(dialect="gemini").add_messages(history).build().request()
    assert request["contents"] == [{"role": "user", "parts": [{"text": "q"}, {"text": "on"}]}]


def answered_by_gemini(*parts: Dict) -> list[Dict]:
    """A call of Gemini's, and an answer that shows something beside its object."""
    response = {"id": "f", "name": "ask", "response": {"output": "m1m"}, **({"parts": [*parts]} if parts else {})}
    return [
        {"role": "user", "parts": [{"text": "q"}]},
        {
            "role": "model",
            "parts": [{"functionCall": {"id": "f", "name": "ask", "args": {}}, "thoughtSignature": "c2ln"}],
        },
        {"role": "user", "parts": [{"functionResponse": response}]},
    ]


def test_the_visible_content_of_a_gemini_answer_is_priced_and_sent_to_apis_that_take_it() -> None:
    model = "gemini-3-pro-preview"
    picture = {"inlineData": {"mimeType": "image/png", "data": PNG}}
    filed = {"fileData": {"mimeType": "application/pdf", "fileUri": "gs://f"}}

    def priced(*parts: Dict) -> int:
        return count_request({"contents": answered_by_gemini(*parts)}, dialect="gemini", model=model).tokens

    assert priced(picture) - priced() >= 1_000  # a picture of Gemini 3's is 1,120 tokens, however small
    assert priced({"dream": {"text": "word " * 200}}) - priced() >= 200
    assert priced({**filed, "pages": 9}) > priced({**filed, "pages": 2})
    history = answered_by_gemini(picture, {**filed, "pages": 2}, {"dream": {"said": "d1d"}})
    context = Assembler(dialect="gemini").add_capability([TOOL]).add_messages(history).build()
    sent = context.request()["contents"][2]["parts"][0]["functionResponse"]["parts"]
    assert sent == [picture, filed, {"dream": {"said": "d1d"}}]
    shown = answered_by_gemini(picture, {"dream": {"said": "d1d"}})
    for name in ("anthropic", "openai_responses", "openai_chat", "mistral"):
        context = Assembler(dialect=name).add_capability([TOOL]).add_messages(shown).build()
        assert PNG in str(context.request())
        assert "d1d" not in str(context.request())
        assert verify(context.request(), dialect=name) == []
        assert "1 part(s) of another API without content here left out" in " ".join(str(context.report).split())


def test_a_picture_in_a_cleared_answer_of_gemini_is_dropped_with_it() -> None:
    history = [
        *answered_by_gemini({"inlineData": {"mimeType": "image/png", "data": PNG}}),
        {"role": "model", "parts": [{"text": "so"}]},
    ]
    history.append({"role": "user", "parts": [{"text": "on"}]})
    budget = Budget(200, max_output_tokens=10, model="gemini-3-pro-preview")
    context = (
        Assembler(budget, on_overflow=ClearToolResults(keep=0)).add_capability([TOOL]).add_messages(history).build()
    )
    assert PNG not in str(context.request())
    assert len(context.request()["contents"]) == 5


THOUGHTS: list[Dict] = [
    {"type": "thinking", "thinking": WORDS, "signature": "c2ln"},
    {"type": "redacted_thinking", "data": WORDS},
    {"type": "thinking", "thinking": [{"type": "text", "text": WORDS}]},
    {"type": "reasoning", "reasoning": WORDS},
    {"reasoningContent": {"reasoningText": {"text": WORDS, "signature": "c2ln"}}},
]


@pytest.mark.parametrize("thought", THOUGHTS)
@pytest.mark.parametrize("name", APIS)
def test_reasoning_outside_of_a_models_message_is_left_out_and_noted(name: str, thought: Dict) -> None:
    text = {"text": "q"} if "reasoningContent" in thought else {"type": "text", "text": "q"}
    alone: list[Dict] = [{"role": "user", "content": [thought]}, {"role": "assistant", "content": "a"}]
    for role in ("user", "system"):
        history = [*asked(), {"role": "assistant", "content": "a"}, {"role": role, "content": [thought, text]}]
        context = Assembler(dialect=name).add_messages([*history, *alone, *asked()]).build()
        request = context.request()
        assert WORDS not in str(request)
        assert verify(request, dialect=name) == []
        assert context.count == count_request(request, dialect=name)
        assert [(left_out.index, left_out.outcome) for left_out in context.dropped] == [
            (2, "shortened"),
            (3, "dropped"),
        ]
        assert "left out" in str(context.report)


SAYS_HELLO: Dict = {"type": "text", "text": "hello"}
THOUGHT_BY: dict[str, list[Dict]] = {
    "a field": [{"role": "assistant", "content": "hello", "reasoning_content": WORDS}],
    "anthropic": [{"role": "assistant", "content": [THOUGHTS[0], SAYS_HELLO]}],
    "anthropic, unsigned": [{"role": "assistant", "content": [{"type": "thinking", "thinking": WORDS}, SAYS_HELLO]}],
    "mistral": [{"role": "assistant", "content": [THOUGHTS[2], SAYS_HELLO]}],
    "bedrock": [{"role": "assistant", "content": [THOUGHTS[4], {"text": "hello"}]}],
    "gemini": [{"role": "model", "parts": [{"text": WORDS, "thought": True}, {"text": "hello"}]}],
    "openai_responses": [
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": WORDS}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hello"}]},
    ],
}
AT_HOME = {("a field", "openai_chat"), ("anthropic", "bedrock"), ("bedrock", "anthropic")}
"""Where reasoning goes beside the API that it is of: Claude's signatures hold on both platforms."""


@pytest.mark.parametrize("thinker", THOUGHT_BY)
@pytest.mark.parametrize("name", APIS)
def test_only_reasoning_that_an_api_is_not_sent_is_dropped_and_noted(name: str, thinker: str) -> None:
    history: list[Dict] = [*asked(), *THOUGHT_BY[thinker], {"role": "user", "content": "on"}]
    context = Assembler(dialect=name).add_messages(history).build()
    is_sent = thinker == name or (thinker, name) in AT_HOME
    assert (WORDS in str(context.request())) is is_sent
    assert ("reasoning part(s) of another model left out" in str(context.report)) is not is_sent
    outcome = "dropped" if thinker == "openai_responses" else "shortened"
    assert [(gone.index, gone.outcome) for gone in context.dropped] == ([] if is_sent else [(1, outcome)])


def test_an_unknown_tool_under_its_key_is_sent_to_gemini_only() -> None:
    new = {"dream": {"said": "d1d"}}
    for tools in ([TOOL, new], [{"functionDeclarations": [TOOL], **new}]):
        context = Assembler(dialect="gemini").add_capability(tools).add_messages(asked()).build()
        assert new["dream"] in [tool.get("dream") for tool in context.request()["config"]["tools"]]
        assert context.count == count_request(context.request(), dialect="gemini")
        assert "ask" in str(context.request("bedrock"))
        for name in APIS:
            assert name == "gemini" or "d1d" not in str(context.request(name))


@pytest.mark.parametrize("name", ["anthropic", "bedrock"])
def test_calls_of_another_apis_own_tool_are_sent_beside_a_function_as_the_error_advises(name: str) -> None:
    call = {"type": "shell_call", "call_id": "c", "action": {"commands": ["ls"]}}
    history = [*asked(), call, {"type": "shell_call_output", "call_id": "c", "output": WORDS}]
    assembler = Assembler(dialect="openai_responses").add_capability([{"type": "shell"}]).add_messages(history)
    with pytest.raises(ConversationError, match=r"pass functions.* to set_tools"):
        assembler.build().request(name)
    request = assembler.add_capability([{"type": "shell"}, TOOL]).build().request(name)
    assert verify(request, dialect=name) == []
    assert WORDS in str(request)


def test_an_unknown_kind_of_call_stays_when_its_answer_is_cleared_and_the_request_is_valid() -> None:
    call = {"id": "c", "type": "dream", "dream": {"name": "ask", "said": WORDS}}
    asking = {"role": "assistant", "content": "so", "tool_calls": [call]}
    history: list[Dict] = [*asked(), asking, {"role": "tool", "tool_call_id": "c", "content": "x " * 90}, *asked()]
    for policy in (ClearToolResults(keep=0), Truncate(max_tokens=10)):
        budget = Budget(150, max_output_tokens=10, model="gpt-4o")
        context = Assembler(budget, on_overflow=policy).add_capability([TOOL]).add_messages(history).build()
        request = context.request()
        assert request["messages"][1]["tool_calls"] == [call]
        assert [finding.rule for finding in verify(request, dialect="openai_chat") if not finding.note] == []
        assert context.count == count_request(request, dialect="openai_chat", model="gpt-4o")


def test_an_unknown_kind_of_call_is_a_function_call_for_mistral() -> None:
    call = {"id": "c", "type": "dream", "dream": {"name": "ask", "said": WORDS}}
    asking = {"role": "assistant", "content": None, "tool_calls": [call]}
    history = [*asked(), asking, {"role": "tool", "tool_call_id": "c", "content": "x"}]
    context = Assembler(dialect="mistral").add_capability([TOOL]).add_messages(history).build()
    asked_for = context.request()["messages"][1]["tool_calls"][0]["function"]
    assert asked_for["name"] == "ask"
    assert json.loads(asked_for["arguments"]) == call["dream"]
    assert verify(context.request(), dialect="mistral") == []
    assert context.count == count_request(context.request(), dialect="mistral")


def test_an_unknown_part_in_an_answer_of_chat_is_not_sent_to_mistral() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "ask", "arguments": "{}"}}
    answer = {"role": "tool", "tool_call_id": "c", "content": [NEW, {"type": "text", "text": "so"}]}
    history = [*asked(), {"role": "assistant", "content": None, "tool_calls": [call]}, answer]
    context = Assembler(dialect="openai_chat").add_capability([TOOL]).add_messages(history).build()
    assert context.request()["messages"][2] == answer
    assert "d1d" not in str(context.request("mistral"))


@pytest.mark.parametrize("name", TYPED)
def test_the_keys_of_a_message_keep_their_order(name: str) -> None:
    history = [{"content": "q", "role": "user"}]
    request = Assembler(dialect=name).add_messages(history).build().request()
    sent = request["input" if name == "openai_responses" else "messages"]
    assert json.dumps(sent) == json.dumps(history)


@pytest.mark.parametrize("kind", ["fallback", "mcp_tool_listing", "tool_addition", "tool_removal"])
def test_anthropics_own_answer_passes_the_rules(kind: str) -> None:
    blocks: list[Dict] = [{"type": kind, "tools": []}, {"type": "text", "text": "so"}]
    history: list[Dict] = [*asked(), {"role": "assistant", "content": blocks}, *asked()]
    assert verify({"messages": history}, dialect="anthropic") == []


def test_a_transcription_of_gemini_s_and_a_resource_of_mistral_s_pass_the_rules() -> None:
    heard = {"contents": [{"role": "user", "parts": [{"audioTranscription": {"text": WORDS}}]}]}
    assert verify(heard, dialect="gemini") == []
    linked = {"type": "resource_link", "uri": "https://a.example"}
    assert verify({"messages": [{"role": "user", "content": [linked]}]}, dialect="mistral") == []


PAIR: list[Dict] = [
    {"type": "dream_call", "id": "d_1", "call_id": "c", "input": {"a": 1}},
    {"type": "dream_call_output", "call_id": "c", "output": WORDS},
]


@pytest.mark.parametrize("name", [name for name in APIS if name != "openai_responses"])
@pytest.mark.parametrize("tail", [[], asked()], ids=["at the end", "before a question"])
def test_the_output_of_an_unknown_call_is_sent_to_other_apis_as_the_users_text(name: str, tail: list[Dict]) -> None:
    history: list[Dict] = [*asked(), *PAIR, *tail]
    context = Assembler(dialect=name).add_messages(history).build()
    request = context.request()
    assert WORDS in str(request)
    assert "assistant" not in str(request)
    assert "model" not in str(request)
    assert verify(request, dialect=name) == []
    assert context.count == count_request(request, dialect=name)
    report = " ".join(str(context.report).split())
    assert "1 part(s) of another API without content here left out" in report
    assert "1 part(s) of another API sent as text" in report
    own = Assembler(dialect="openai_responses").add_messages(history).build()
    assert own.request()["input"][1:3] == PAIR
    assert own.request(name) == request


@pytest.mark.parametrize("words", [{"text": WORDS}, {"content": [{"type": "text", "text": WORDS}]}, {"result": WORDS}])
@pytest.mark.parametrize("name", OTHERS)
def test_the_words_of_an_unknown_part_are_sent_to_other_apis(name: str, words: Dict) -> None:
    blob = {"type": "dream", "result": "iVBORw0KGgo" + "A" * 300}
    history = asked({"type": "dream", **words}, blob)
    own = Assembler(dialect="anthropic").add_messages(history).build()
    assert own.request()["messages"] == history
    request = own.request(name)
    assert str(request).count(f"[dream]\\n{WORDS}") == 1
    assert "iVBOR" not in str(request)
    assert verify(request, dialect=name) == []


SHARED = [asked(NEW), ANSWERED]
OF_CHAT: list[Dict] = [
    *asked(),
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "ask", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c", "content": [NEW, {"type": "text", "text": "so"}]},
]


@pytest.mark.parametrize("home", APIS)
@pytest.mark.parametrize("name", APIS)
def test_an_unknown_part_is_sent_to_no_api_but_its_own_whatever_the_assemblers_is(home: str, name: str) -> None:
    keyed = {"drum": {"said": "k1k"}}
    for history in SHARED:
        context = Assembler(dialect=home).add_capability([TOOL, NEW, keyed]).add_messages(history).build()
        went = str(context.request(name))
        assert ("d1d" in went) == (home == name and home in TYPED)
        assert ("k1k" in went) == (home == name and home not in TYPED)
    context = Assembler(dialect=home).add_capability([TOOL]).add_messages(OF_CHAT).build()
    owner = "mistral" if home == "mistral" else "openai_chat"
    assert ("d1d" in str(context.request(name))) == (name == owner)


SPOKEN: Dict = {"role": "assistant", "content": None, "audio": {"id": "a", "transcript": WORDS}}
CALLED = [{"id": "c", "type": "function", "function": {"name": "ask", "arguments": "{}"}}]
IN_FIELDS: dict[str, list[Dict]] = {
    "a transcript": [SPOKEN],
    "a transcript before a call": [
        {**SPOKEN, "tool_calls": CALLED},
        {"role": "tool", "tool_call_id": "c", "content": "r"},
    ],
    "a refusal": [{"role": "assistant", "content": None, "refusal": WORDS}],
    "a refusal behind a text": [{"role": "assistant", "content": "so", "refusal": WORDS}],
    "a refusal behind parts": [{"role": "assistant", "content": [{"type": "text", "text": "so"}], "refusal": WORDS}],
}


@pytest.mark.parametrize("name", APIS)
@pytest.mark.parametrize("field", IN_FIELDS)
def test_text_in_an_answers_own_field_of_chat_is_sent_once_to_every_api(field: str, name: str) -> None:
    history = [*asked(), *IN_FIELDS[field], *asked()]
    context = Assembler(dialect=name).add_capability([TOOL]).add_messages(history).build()
    request = context.request()
    assert json.dumps(request).count(WORDS) == 1
    assert list(context.dropped) == []
    assert "left out" not in " ".join(context.notes())
    assert verify(request, dialect=name) == []
    assert context.count == count_request(request, dialect=name)
    growing = Assembler(dialect=name).add_capability([TOOL]).add_messages(history[:1])
    growing.build()
    for message in history[1:]:
        growing.add_message(message)
    grown = growing.build()
    assert (grown.request(), grown.count) == (request, context.count)


@pytest.mark.parametrize("name", APIS)
def test_a_spoken_answer_without_a_transcript_is_dropped_and_noted(name: str) -> None:
    spoken: Dict = {"role": "assistant", "content": None, "audio": {"id": "a"}}
    context = Assembler(dialect=name).add_messages([*asked(), spoken, *asked()]).build()
    kept = name == "openai_chat"
    assert [(each.index, each.outcome) for each in context.dropped] == ([] if kept else [(1, "dropped")])
    assert ("1 field(s) of another API left out" in context.notes()) != kept


@pytest.mark.parametrize("name", [name for name in APIS if name != "bedrock"])
def test_bytes_beside_the_words_of_an_unknown_block_do_not_stop_another_api_from_getting_the_words(name: str) -> None:
    """The block was written as JSON, which has no bytes: a bare `TypeError`."""
    dream = {"dream": {"json": {"text": WORDS, "data": b"\x89PNG"}}}
    history: list[Dict] = [{"role": "user", "content": [{"text": "q"}, dream]}]
    own = Assembler(dialect="bedrock").add_messages(history).build()
    assert own.request()["messages"] == history
    request = own.request(name)
    assert WORDS in str(request)
    assert "PNG" not in str(request)
    assert verify(request, dialect=name) == []
