"""A part of one API costs a build for another API what it costs in the request."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, ConversationError, count_request
from assembler.dialects import DIALECTS
from budgets import Budget
from tests.assembler.decorated import FORMS, Drawn, decorated
from tests.scaled import scaled

Dict = dict[str, Any]
SCHEMA: Dict = {"type": "object", "properties": {"answer": {"type": "string"}}}
ASKED: Dict = {"role": "user", "parts": [{"text": "q"}]}
IMAGE: Dict = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}
APIS = [
    ("openai_chat", "gpt-5.4"),
    ("openai_chat", "gpt-4o"),
    ("openai_chat", "nobody-knows-this-model"),
    ("openai_chat", "deepseek-chat"),
    ("openai_responses", "gpt-5.4"),
    ("openai_responses", "gpt-4o"),
    ("openai_responses", "nobody-knows-this-model"),
    ("mistral", "mistral-large-latest"),
]


def costs_what_it_is_sent_as(history: list[Any], api: str, model: str, *, schema: Dict | None = None) -> None:
    made = Assembler(Budget(1_000_000, model=model), dialect=DIALECTS[api]).add_messages(history)
    context = made.add_output_schema(schema, name="said").build()
    assert context.count == count_request(context.request(), dialect=DIALECTS[api], model=model)


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
@pytest.mark.parametrize(("api", "model"), APIS)
def test_a_part_that_is_sent_as_text_costs_what_an_answer_format_adds_to_a_text(
    folded: str, api: str, model: str
) -> None:
    """The models of OpenAI are shown more with each text of theirs if the request has an answer format."""
    costs_what_it_is_sent_as([ASKED, *FOLDED[folded], ASKED], api, model, schema=SCHEMA)


@pytest.mark.parametrize(("api", "model"), [api for api in APIS if api[1] != "deepseek-chat"])  # it sees no images
def test_an_image_after_an_answer_costs_the_message_that_it_is_sent_in(api: str, model: str) -> None:
    history = [ASKED, {"role": "model", "parts": called("f")}, {"role": "user", "parts": [*answered("f"), IMAGE]}]
    costs_what_it_is_sent_as(history, api, model)


@pytest.mark.parametrize(("api", "model"), APIS)
def test_an_empty_text_that_is_not_sent_makes_no_count_less_exact(api: str, model: str) -> None:
    costs_what_it_is_sent_as([{"role": "user", "parts": [{"text": "q"}, {"text": ""}]}], api, model)
    costs_what_it_is_sent_as([{"role": "user", "parts": [{"text": ""}, {"text": ""}]}], api, model)


@pytest.mark.parametrize(("api", "model"), APIS)
def test_a_thought_beside_an_answer_costs_no_message_of_its_own(api: str, model: str) -> None:
    thought = {"text": "hm", "thought": True}
    history = [
        ASKED,
        {"role": "model", "parts": called("f")},
        {"role": "user", "parts": [thought, *answered("f")]},
    ]
    costs_what_it_is_sent_as(history, api, model)


@scaled(2)
@given(
    drawn=st.sampled_from(FORMS).flatmap(decorated), api=st.sampled_from(APIS), schema=st.sampled_from([None, SCHEMA])
)
def test_a_history_with_everything_that_providers_add_costs_what_it_is_sent_as(
    drawn: Drawn, api: tuple[str, str], schema: Dict | None
) -> None:
    try:
        costs_what_it_is_sent_as(drawn.history, *api, schema=schema)
    except ConversationError:
        return  # this API refuses a part of it
