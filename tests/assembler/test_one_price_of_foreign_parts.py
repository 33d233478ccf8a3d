"""A part of one API costs a build for another API what it costs in the request."""

from __future__ import annotations

from typing import Any

import pytest

from tests.assembler import one_price
from tests.assembler.one_price import Api, assembled, costs_its_request

Dict = dict[str, Any]
SCHEMA: Dict = {"type": "object", "properties": {"answer": {"type": "string"}}}
ASKED: Dict = {"role": "user", "parts": [{"text": "q"}]}
IMAGE: Dict = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}
BLIND = ("deepseek-chat", "gpt-3.5-turbo", "llama-3.3-70b-versatile", "grok-4.3")
"""Models that see no images, or for which no image was recorded."""
APIS = [api for api in one_price.APIS if api.dialect in ("openai_chat", "openai_responses", "mistral")]


def costs_what_it_is_sent_as(history: list[Any], api: Api, schema: Dict | None = None) -> None:
    costs_its_request(assembled(api, history, schema=schema).build(), api)


def called(*names: str) -> list[Dict]:
    return [{"functionCall": {"name": name, "args": {}}} for name in names]


def answered(*names: str) -> list[Dict]:
    return [{"functionResponse": {"name": name, "response": {"a": 1}}} for name in names]


FOLDED: dict[str, list[Dict]] = {
    "code of Gemini's": [{"role": "model", "parts": [{"executable_code": {"code": "print(1)"}}]}],
    "code of Gemini's beside calls": [
        {"role": "model", "parts": [{"executable_code": {"code": "print(1)"}}, *called("f", "g")]},
        {"role": "user", "parts": answered("f", "g")},
    ],
    "citations of Bedrock's": [
        {"role": "assistant", "content": [{"citationsContent": {"content": [{"text": "walrus"}]}}]}
    ],
    "a search of Anthropic's": [
        {
            "role": "assistant",
            "content": [
                {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "srvtoolu_1",
                    "content": [{"type": "web_search_result", "title": "walrus", "url": "https://a.example"}],
                },
            ],
        }
    ],
    "a program's output of Responses": [
        {"type": "code_interpreter_call", "id": "ci_1", "container_id": "c", "code": "print(1)", "status": "completed"}
    ],
}


@pytest.mark.parametrize("folded", FOLDED)
@pytest.mark.parametrize("api", APIS, ids=str)
def test_a_part_that_is_sent_as_text_costs_what_an_answer_format_adds_to_a_text(folded: str, api: Api) -> None:
    """With an answer format, OpenAI bills more for each text of the model."""
    costs_what_it_is_sent_as([ASKED, *FOLDED[folded], ASKED], api, SCHEMA)


@pytest.mark.parametrize("api", [api for api in APIS if api.model not in BLIND], ids=str)
def test_an_image_after_an_answer_costs_the_message_that_it_is_sent_in(api: Api) -> None:
    history = [ASKED, {"role": "model", "parts": called("f")}, {"role": "user", "parts": [*answered("f"), IMAGE]}]
    costs_what_it_is_sent_as(history, api)


@pytest.mark.parametrize("api", APIS, ids=str)
def test_an_empty_text_that_is_not_sent_makes_no_count_less_exact(api: Api) -> None:
    costs_what_it_is_sent_as([{"role": "user", "parts": [{"text": "q"}, {"text": ""}]}], api)
    costs_what_it_is_sent_as([{"role": "user", "parts": [{"text": ""}, {"text": ""}]}], api)


@pytest.mark.parametrize("api", APIS, ids=str)
def test_a_thought_beside_an_answer_costs_no_message_of_its_own(api: Api) -> None:
    thought = {"text": "hm", "thought": True}
    history = [
        ASKED,
        {"role": "model", "parts": called("f")},
        {"role": "user", "parts": [thought, *answered("f")]},
    ]
    costs_what_it_is_sent_as(history, api)


IN_A_SYSTEM_MESSAGE: dict[str, list[Dict]] = {
    "a part that becomes a text": [{"type": "document", "source": {"type": "text", "data": "walrus"}}],
    "a part that is left out": [{"type": "thinking", "thinking": "hm", "signature": "c2ln"}],
    "one of each": [
        {"type": "redacted_thinking", "data": "AAAA"},
        {"type": "search_result", "title": "walrus", "source": "s", "content": []},
    ],
    "a cache mark": [{"cachePoint": {"type": "default"}}],
}


@pytest.mark.parametrize("parts", IN_A_SYSTEM_MESSAGE)
@pytest.mark.parametrize("api", APIS, ids=str)
def test_tools_cost_what_they_cost_beside_the_system_messages_that_are_sent(parts: str, api: Api) -> None:
    """They cost less beside a system text. A message was taken for one before its parts were left out or made texts."""
    given = {"role": "system", "content": IN_A_SYSTEM_MESSAGE[parts]}
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}]
    for history in ([given, ASKED], [given, {"role": "system", "content": "Be brief."}, ASKED]):
        for schema in (None, SCHEMA):
            made = assembled(api, history, schema=schema).add_capability(tools)
            costs_its_request(made.build(), api)


@pytest.mark.parametrize("api", APIS, ids=str)
def test_an_answer_of_cache_marks_alone_costs_nothing(api: Api) -> None:
    marks = {"role": "assistant", "content": [{"cachePoint": {"type": "default"}}]}
    costs_what_it_is_sent_as([ASKED, marks, ASKED], api)


@pytest.mark.parametrize("api", [*APIS, Api("openai_chat", "grok-4.3")], ids=str)
def test_a_thought_that_is_not_sent_brings_no_hidden_reasoning_back(api: Api) -> None:
    """Grok bills hidden reasoning behind the reasoning that a request shows. Chat shows none of another API's."""
    thought = {"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": "so"}]}
    costs_what_it_is_sent_as([ASKED, thought, ASKED], api)
