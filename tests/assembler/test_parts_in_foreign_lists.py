"""A part of one API in a list of another API's form is sent to no other API unchanged."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from assembler import Assembler, ClearToolResults, ConversationError, UnsupportedContentError, count_request, verify
from assembler.dialects import DIALECTS
from budgets import Budget
from tests.assembler.decorated import PNG

Part = dict[str, Any]
APIS = {
    "openai_chat": "gpt-4o",
    "openai_responses": "gpt-4o",
    "anthropic": "claude-sonnet-4-5",
    "bedrock": "anthropic.claude-sonnet-4-5",
    "gemini": "gemini-2.5-pro",
    "mistral": "mistral-large-latest",
}
TOOL: Part = {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}
OF_GEMINI: list[Part] = [
    {"inlineData": {"mimeType": "image/png", "data": PNG}},
    {"inline_data": {"mime_type": "image/png", "data": PNG}},
    {"executableCode": {"code": "print('walrus')"}},
    {"executable_code": {"code": "print('walrus')"}},
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "walrus"}},
    {"toolCall": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB"}},
    {"toolResponse": {"id": "t1", "response": {"output": "walrus"}}},
]
OF_RESPONSES: list[Part] = [
    {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c", "output": "walrus"},
    {"type": "code_interpreter_call", "id": "ci_1", "container_id": "c", "code": "print('walrus')"},
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "walrus"}},
    {"type": "mcp_call", "id": "m", "name": "look", "arguments": "{}", "output": "walrus", "server_label": "s"},
    {"type": "item_reference", "id": "msg_1"},
]
LISTS: dict[str, Part] = {
    "Chat or Anthropic": {"type": "text", "text": "hi"},
    "Anthropic": {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}},
    "Bedrock": {"text": "hi"},
}


def sent(history: list[Part], api: str) -> dict[str, Any]:
    made = Assembler(Budget(100_000, model=APIS[api]), dialect=DIALECTS[api]).add_capability([TOOL])
    return made.add_messages(history).build().request()


def dicts_in(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [found for item in cast("list[Any]", value) for found in dicts_in(item)]
    if isinstance(value, dict):
        return [value, *(found for item in cast(Part, value).values() for found in dicts_in(item))]
    return []


@pytest.mark.parametrize("neighbour", LISTS)
@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize("part", [*OF_GEMINI, *OF_RESPONSES], ids=lambda part: part.get("type", next(iter(part))))
def test_a_part_in_a_list_of_another_form_is_not_sent_unchanged(part: Part, role: str, neighbour: str) -> None:
    own = "openai_responses" if part in OF_RESPONSES else "gemini"
    asked: Part = {"role": "user", "content": "q"}
    owes = role == "assistant" and part.get("type") == "function_call"
    answers: list[Part] = [{"role": "tool", "tool_call_id": part["call_id"], "content": "r"}] if owes else []
    for api in APIS.keys() - {own}:
        request = sent([asked, {"role": role, "content": [LISTS[neighbour], part]}, *answers, asked], api)
        assert part not in dicts_in(request)
        assert not any(part.keys() <= found.keys() and "type" not in part for found in dicts_in(request))


@pytest.mark.parametrize("neighbour", LISTS)
@pytest.mark.parametrize("api", APIS)
def test_calls_and_answers_of_gemini_in_a_list_of_another_form_are_read_as_such(api: str, neighbour: str) -> None:
    call: Part = {"functionCall": {"name": "look", "args": {"at": "walrus"}}}
    answer: Part = {"functionResponse": {"name": "look", "response": {"output": "seal"}}}
    asked: Part = {"role": "user", "content": "q"}
    in_lists: list[Part] = [
        asked,
        {"role": "assistant", "content": [LISTS[neighbour], call]},
        {"role": "user", "content": [answer]},
    ]
    in_contents: list[Part] = [
        asked,
        {"role": "model", "parts": [{"text": "hi"}, call]},
        {"role": "user", "parts": [answer]},
    ]
    in_lists[1]["content"][0] = {key: held for key, held in LISTS[neighbour].items() if key != "cache_control"}
    assert sent(in_lists, api) == sent(in_contents, api)


def test_a_call_of_gemini_in_a_list_of_another_form_must_be_answered() -> None:
    call: Part = {"functionCall": {"name": "look", "args": {}}}
    with pytest.raises(ConversationError, match="has no result"):
        sent([{"role": "assistant", "content": [{"text": "hi"}, call]}, {"role": "user", "content": "q"}], "bedrock")


OF_LANG_CHAIN: list[Part] = [
    {"type": "server_tool_call", "id": "s1", "name": "web_search", "args": {"query": "sea"}},
    {"type": "server_tool_result", "tool_call_id": "s1", "status": "success", "output": "walrus"},
    {"type": "invalid_tool_call", "id": "i1", "name": "look", "args": "{", "error": "not JSON"},
    {"type": "non_standard", "value": {"of": "another"}},
    {"type": "text-plain", "text": "walrus", "mime_type": "text/plain"},
    {"type": "executable_code", "executable_code": "print('walrus')", "language": 1},
    {"type": "code_execution_result", "code_execution_result": "walrus", "outcome": 1},
]
LOOKED: Part = {"type": "tool_call", "id": "c1", "name": "look", "args": {"at": "the sea"}}


@pytest.mark.parametrize("beside", [[], [LOOKED]], ids=["in the content alone", "also in tool_calls"])
@pytest.mark.parametrize("name", APIS)
def test_an_answer_in_langchains_own_content_is_sent_as_the_api_writes_it(name: str, beside: list[Part]) -> None:
    """With `output_version="v1"` an `AIMessage` holds its calls in the content. They were sent as they came, twice."""
    answer = SimpleNamespace(type="ai", content=[*OF_LANG_CHAIN, LOOKED], tool_calls=beside)
    result = SimpleNamespace(type="tool", content="waves", tool_call_id="c1")
    history = [{"role": "user", "content": "Look."}, answer, result, {"role": "user", "content": "And?"}]
    budget = Budget(10_000, model=APIS[name])
    context = Assembler(budget, dialect=name).set_tools([TOOL]).set_messages(history).build()
    request = context.request()
    assert verify(request, dialect=name) == []
    assert count_request(request, dialect=name, model=APIS[name]) == context.count
    written = json.dumps(request)
    assert (written.count("walrus"), written.count("the sea"), written.count("waves")) == (4, 1, 1)
    small = Budget(context.count.upper - 1, model=APIS[name])
    cut = Assembler(small, dialect=name, on_overflow=ClearToolResults(keep=0)).set_tools([TOOL]).set_messages(history)
    assert "the sea" not in json.dumps(cut.build().request())
    assert answer.content[-1] == LOOKED


OF_MESSAGES_ALONE: dict[str, list[Part]] = {
    "anthropic": [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "sea"}},
        {"type": "compaction", "content": "walrus"},
        {"type": "container_upload", "file_id": "f1"},
    ],
    "bedrock": [
        {"guardContent": {"text": {"text": "walrus"}}},
        {"citationsContent": {"content": [{"text": "walrus"}], "citations": []}},
    ],
    "gemini": [{"executableCode": {"code": "walrus"}}, {"codeExecutionResult": {"output": "walrus"}}],
    "mistral": [{"type": "reference", "reference_ids": [1]}, {"type": "resource_link", "uri": "walrus"}],
}
OF_NO_SYSTEM: dict[str, list[Part]] = {
    **OF_MESSAGES_ALONE,
    "anthropic": [*OF_MESSAGES_ALONE["anthropic"], {"type": "search_result", "source": "s", "title": "walrus"}],
    "bedrock": [OF_MESSAGES_ALONE["bedrock"][1], {"searchResult": {"source": "s", "title": "walrus"}}],
}


@pytest.mark.parametrize("name", OF_NO_SYSTEM)
def test_a_part_of_the_apis_own_that_its_system_text_may_not_hold_is_a_text_there(name: str) -> None:
    """Claude and Bedrock were sent it at no price; for Gemini it was a KeyError."""
    for part in OF_NO_SYSTEM[name]:
        for beside in ([], [{"type": "text", "text": "Be brief."}]):
            history = [{"role": "system", "content": [*beside, part]}, {"role": "user", "content": "Look."}]
            context = Assembler(Budget(10_000, model=APIS[name]), dialect=name).set_messages(history).build()
            request = context.request()
            assert verify(request, dialect=name) == []
            assert count_request(request, dialect=name, model=APIS[name]) == context.count
            assert json.dumps(request).count("walrus") == str(part).count("walrus")


@pytest.mark.parametrize("name", ["anthropic", "bedrock"])
def test_a_part_of_the_apis_own_that_a_result_may_not_hold_is_a_text_there(name: str) -> None:
    for part in OF_MESSAGES_ALONE[name]:
        call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        history = [
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "waves"}, part]},
        ]
        budget = Budget(10_000, model=APIS[name])
        context = Assembler(budget, dialect=name).set_tools([TOOL]).set_messages(history).build()
        request = context.request()
        assert verify(request, dialect=name) == []
        assert count_request(request, dialect=name, model=APIS[name]) == context.count
        assert json.dumps(request).count("walrus") == str(part).count("walrus")


WORDS: list[Any] = [
    "walrus",
    {"text": "walrus"},
    {"type": "text", "text": "walrus"},
    {"type": "input_text", "text": "walrus"},
    {"type": "output_text", "text": "walrus", "annotations": []},
    {"type": "refusal", "refusal": "walrus"},
    {"type": "resource", "resource": {"uri": "file:///a", "text": "walrus"}},
]


@pytest.mark.parametrize("name", APIS)
def test_the_words_of_an_answer_are_sent_as_the_api_writes_them_in_whatever_parts_they_came(name: str) -> None:
    """MCP's blocks as the output of an item, for one, were sent to Responses as they came, which refuses them."""
    function = {"type": "function", "id": "c1", "function": {"name": "look", "arguments": "{}"}}
    for words in WORDS:
        for asked, answer in (
            (
                {"role": "assistant", "content": None, "tool_calls": [function]},
                {"role": "tool", "tool_call_id": "c1", "content": [words]},
            ),
            (
                {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c1", "output": [words]},
            ),
        ):
            history = [{"role": "user", "content": "Look."}, asked, answer]
            budget = Budget(10_000, model=APIS[name])
            context = Assembler(budget, dialect=name).set_tools([TOOL]).set_messages(history).build()
            request = context.request()
            assert verify(request, dialect=name) == []
            assert count_request(request, dialect=name, model=APIS[name]) == context.count
            assert json.dumps(request).count("walrus") == 1


OF_OTHERS_IN_GEMINI: list[Part] = [
    {"type": "thinking", "thinking": "walrus", "signature": "c2ln"},
    {"type": "reasoning", "reasoning": "walrus"},
    {"reasoningContent": {"reasoningText": {"text": "walrus"}}},
    {"type": "search_result", "source": "s", "title": "walrus", "content": []},
    {"searchResult": {"source": "s", "title": "walrus", "content": []}},
    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "walrus"}},
    {"cachePoint": {"type": "default"}},
]


@pytest.mark.parametrize("part", OF_OTHERS_IN_GEMINI, ids=lambda part: str(part.get("type", next(iter(part)))))
@pytest.mark.parametrize("name", APIS)
def test_a_part_of_another_api_in_a_gemini_content_is_sent_to_no_api_as_it_came(name: str, part: Part) -> None:
    for role in ("user", "model"):
        history: list[Any] = [
            {"role": "user", "parts": [{"text": "Look."}]},
            {"role": role, "parts": [{"text": "So."}, part]},
            {"role": "user", "parts": [{"text": "And?"}]},
        ]
        budget = Budget(10_000, model=APIS[name])
        context = Assembler(budget, dialect=name).set_messages(history).build()
        request = context.request()
        assert verify(request, dialect=name) == []
        assert count_request(request, dialect=name, model=APIS[name]) == context.count
        assert "walrus" not in str(part) or "walrus" in str(request) or "left out" in str(context.report)


def test_a_call_of_another_api_in_a_gemini_content_is_refused_with_advice() -> None:
    call = {"type": "tool_use", "id": "c1", "name": "look", "input": {}}
    with pytest.raises(ConversationError, match="part of another API; put it under 'content'"):
        Assembler(dialect="gemini").add_message({"role": "model", "parts": [call]}).build()


@pytest.mark.parametrize("name", APIS)
def test_a_part_with_a_type_in_a_gemini_content_is_none_of_geminis(name: str) -> None:
    """The AI SDK's messages have such parts. Gemini refuses the key, and reasoning was read as what was said."""
    blocks: list[Part] = [
        {"type": "reasoning", "text": "walrus"},
        {"type": "text", "text": "Here."},
        {"type": "tool-look", "toolCallId": "c1", "state": "output-available", "input": {}, "output": "waves"},
    ]
    history: list[Any] = [
        {"role": "user", "parts": [{"type": "text", "text": "Look."}, {"kind": "text", "text": "There."}]},
        {"role": "assistant", "parts": blocks},
        {"role": "user", "parts": [{"text": "And?"}]},
    ]
    context = Assembler(Budget(10_000, model=APIS[name]), dialect=name).set_messages(history).build()
    request = context.request()
    assert verify(request, dialect=name) == []
    assert count_request(request, dialect=name, model=APIS[name]) == context.count
    sent = json.dumps(request)
    assert [sent.count(word) for word in ("Look.", "There.", "Here.", "And?", "walrus")] == [1, 1, 1, 1, 0]
    assert "toolCallId" not in sent
    assert "left out" in str(context.report)


SERIALISED: list[tuple[Part, str]] = [
    (
        {"lc": 1, "type": "constructor", "id": ["HumanMessage"], "kwargs": {"content": "walrus"}},
        r"langchain_core\.load",
    ),
    ({"type": "human", "data": {"content": "walrus"}}, "messages_from_dict"),
    ({"kind": "response", "parts": [{"part_kind": "text", "content": "walrus"}]}, "Pydantic AI"),
]


@pytest.mark.parametrize(("message", "advice"), SERIALISED, ids=["dumped", "as a dict", "of Pydantic AI"])
@pytest.mark.parametrize("name", APIS)
def test_a_message_in_a_frameworks_serialised_form_is_refused_with_advice(
    name: str, message: Part, advice: str
) -> None:
    """One was taken for an unknown item of a server's and left out, one for words of the user's."""
    with pytest.raises(ConversationError, match=advice):
        Assembler(dialect=name).set_messages(
            [{"role": "user", "content": "q"}, message, {"role": "user", "content": "q"}]
        )


@pytest.mark.parametrize("url", [{"url": f"data:image/png;base64,{PNG}"}, f"data:image/png;base64,{PNG}"])
@pytest.mark.parametrize("name", APIS)
def test_a_picture_in_a_system_message_is_refused_by_every_api(name: str, url: object) -> None:
    """Chat and Mistral were sent one in their own form, and refuse it."""
    for role in ("system", "developer"):
        for place in (0, 2):
            history: list[Any] = [{"role": "user", "content": "Look."}, {"role": "assistant", "content": "Yes."}]
            history.insert(place, {"role": role, "content": [{"type": "image_url", "image_url": url}]})
            assembler = Assembler(Budget(10_000, model=APIS[name]), dialect=name)
            try:
                request = assembler.set_messages([*history, {"role": "user", "content": "And?"}]).build().request()
            except UnsupportedContentError as error:
                assert error.kind == "image"
            else:
                assert verify(request, dialect=name) == []
