"""A value of another type than an API's reference names is read whole, or refused where it is added."""

from __future__ import annotations

from typing import Any

import pytest

from assembler import Assembler, Context, ConversationError, count_request, verify
from assembler.dialects import DIALECTS
from tests.assembler.apis import TAKE_PICTURES as APIS

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
