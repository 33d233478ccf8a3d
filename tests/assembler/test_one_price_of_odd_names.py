"""A call with an odd name or id, and a message with our own mark, cost what they are sent as on every API.

The suite was blind to them: it drew legal names, ids of ASCII letters, and marks that are true.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from assembler import repair
from tests.assembler.one_price import APIS, GATEWAYS, Api, assembled, billed

History = list[dict[str, Any]]
ASKED = {"role": "user", "content": "q"}
NAMES = ["New York" * 8, "x" * 70, "é" * 10, "a.b:c"]
"""Models make up names, and other APIs allow more: Chat is sent legal ones of at most 64 characters."""
IDS = ["é", "two words"]

every_api = pytest.mark.parametrize("api", [*APIS, *GATEWAYS], ids=str)


def in_chat(name: str, call_id: str) -> History:
    function = {"name": name, "arguments": '{"q":"é"}'}
    call = {"id": call_id, "type": "function", "function": function}
    result = {"role": "tool", "tool_call_id": call_id, "content": "d"}
    return [ASKED, {"role": "assistant", "content": None, "tool_calls": [call]}, result]


def in_blocks(name: str, call_id: str) -> History:
    used = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
    result = {"type": "tool_result", "tool_use_id": call_id, "content": "d"}
    return [ASKED, {"role": "assistant", "content": [used]}, {"role": "user", "content": [result]}]


def in_items(name: str, call_id: str) -> History:
    call = {"type": "function_call", "call_id": call_id, "name": name, "arguments": "{}"}
    return [ASKED, call, {"type": "function_call_output", "call_id": call_id, "output": "d"}]


FORMS: Mapping[str, Callable[[str, str], History]] = {"chat": in_chat, "blocks": in_blocks, "items": in_items}


@every_api
@pytest.mark.parametrize("form", FORMS)
def test_calls_with_odd_names_and_ids_cost_what_they_are_sent_as(api: Api, form: str) -> None:
    odd = [*((name, "c1") for name in NAMES), *(("find", call_id) for call_id in IDS)]
    context = assembled(api, [message for pair in odd for message in FORMS[form](*pair)]).build()
    assert context.count == billed(context, api)


def test_thirty_renamed_calls_are_not_sent_to_a_window_that_is_too_small_for_them() -> None:
    """They were priced under the names that the model made up, and sent under longer ones."""
    api = Api("openai_chat", "gpt-oss-120b")
    context = assembled(api, in_chat("New York" * 8, "c1") * 30).build()
    assert (
        billed(context, api).upper
        == context.count.upper
        > assembled(api, in_chat("find", "c1") * 30).build().count.upper
    )


CALLED: Mapping[str, dict[str, Any]] = {
    "chat": {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"type": "function", "function": {"name": f"f{place}", "arguments": "{}"}} for place in range(6)
        ],
    },
    "gemini": {"role": "model", "parts": [{"function_call": {"name": f"f{place}", "args": {}}} for place in range(6)]},
}


@every_api
@pytest.mark.parametrize("form", CALLED)
def test_answers_by_name_cost_what_they_are_sent_as(api: Api, form: str) -> None:
    by_name: list[History] = [
        [{"role": role, "name": f"f{place}", "content": "é é"} for place in range(6)] for role in ("tool", "function")
    ]
    mended, _ = repair([ASKED, CALLED[form]])
    for history in (*([ASKED, CALLED[form], *answers] for answers in by_name), mended):
        context = assembled(api, history).build()
        assert context.count == billed(context, api)


PINNED: list[dict[str, Any]] = [
    {"role": "user", "content": "hi"},
    {"role": "user", "content": [{"type": "text", "text": "hi"}]},
    {"role": "user", "parts": [{"text": "hi"}]},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
]


@every_api
@pytest.mark.parametrize("message", PINNED, ids=str)
def test_a_mark_of_words_costs_nothing_since_it_is_not_sent(api: Api, message: dict[str, Any]) -> None:
    context = assembled(api, [{**message, "pinned": "keep this one please"}]).build()
    assert context.count == billed(context, api) == assembled(api, [message]).build().count


@every_api
@pytest.mark.parametrize("spoken", [[], [{"type": "text", "text": "more"}]], ids=["no words", "words"])
@pytest.mark.parametrize("name", ["ann", "two words é"])
def test_the_name_of_a_message_with_answers_costs_what_is_sent_of_it(
    api: Api, name: str, spoken: list[dict[str, Any]]
) -> None:
    """Chat is sent the answers without it, where it was priced once for each."""
    calls = [{"type": "tool_use", "id": f"toolu_{place}", "name": "f", "input": {}} for place in range(2)]
    answers = [{"type": "tool_result", "tool_use_id": call["id"], "content": "d"} for call in calls]
    asked = {"role": "user", "name": name, "content": [*answers, *spoken]}
    context = assembled(api, [ASKED, {"role": "assistant", "content": calls}, asked]).build()
    assert billed(context, api) == context.count
