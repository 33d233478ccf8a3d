"""The real clients post what is emitted, nothing is dropped on the way, and a provider that checks takes it."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given

from assembler import Assembler

from .clients import ADDED, CLIENTS, WIRES
from .emitted import FEW, MODELS, TOOLS, Request, dialect_named, every
from .stub import Stub, listening


def sent(stub: Stub) -> dict[str, Any]:
    return {key: value for key, value in stub.received().items() if key not in ADDED}


def spelled(name: str, request: Request) -> Request:
    return WIRES.get(name, dict)(request)


@pytest.mark.parametrize("name", MODELS)
def test_the_client_posts_exactly_what_was_emitted_and_the_provider_takes_it(name: str) -> None:
    dialect_named(name)
    with listening(name) as stub:
        post = CLIENTS[name](stub.url)

        @FEW
        @given(every(name))
        def holds(request: Request) -> None:
            given = copy.deepcopy(request)
            post(request)
            assert spelled(name, sent(stub)) == spelled(name, given)

        holds()


HISTORY = [
    {"role": "user", "content": "q"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "a12345678", "type": "function", "function": {"name": "search", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "a12345678", "content": "found"},
]
SCHEMA = {
    "type": "object",
    "properties": {"found": {"type": "boolean"}},
    "required": ["found"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("name", MODELS)
def test_the_client_posts_the_output_schema_and_the_chosen_tool(name: str) -> None:
    assembler = Assembler(dialect=dialect_named(name)).add_capability(TOOLS, choice="search")
    request = assembler.add_output_schema(SCHEMA, name="found").add_messages(HISTORY).build().request()
    with listening(name) as stub:
        CLIENTS[name](stub.url)(request)
        text = json.dumps(stub.received()).replace("\\", "")
    assert '"found": {"type": "boolean"}' in text
    assert text.count("search") > 2  # called, defined and chosen


TURNS = {"openai_responses": "input", "gemini": "contents"}


@pytest.mark.parametrize("name", MODELS)
def test_the_provider_refuses_a_request_that_lost_its_result(name: str) -> None:
    dialect = dialect_named(name)
    request = Assembler(dialect=dialect).add_capability(TOOLS).add_messages(HISTORY).build().request()
    with listening(name) as stub:
        post = CLIENTS[name](stub.url)
        post(request)
        request[TURNS.get(name, "messages")].pop()
        with pytest.raises(Exception, match=r"400|ValidationException") as refused:
            post(request)
    assert type(refused.value).__module__.split(".")[0] in ("openai", "anthropic", "google", "botocore", "mistralai")
