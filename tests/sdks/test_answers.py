"""A model's answer is sent back to its API as the API's own SDK would send it, as an object and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from assembler import Assembler

from .answers import Answer, answers, sent
from .census import members
from .clients import CLIENTS, Post
from .stub import Stub, listening

TOOL: dict[str, Any] = {"name": "ask", "parameters": {"type": "object", "properties": {}}}
KEYS = {"openai_responses": "input", "gemini": "contents"}


@pytest.fixture(scope="module")
def clients() -> Iterator[dict[str, tuple[Stub, Post]]]:
    opened = {name: listening(name) for name in CLIENTS if name != "bedrock"}  # botocore has no objects of its own
    try:
        stubs = {name: stub.__enter__() for name, stub in opened.items()}
        yield {name: (stub, CLIENTS[name](stub.url)) for name, stub in stubs.items()}
    finally:
        for stub in opened.values():
            stub.__exit__(None, None, None)


@pytest.mark.parametrize("answer", answers(), ids=lambda answer: f"{answer.dialect} {answer.kind}")
def test_an_answer_goes_back_as_its_sdk_would_send_it(answer: Answer, clients: dict[str, tuple[Stub, Post]]) -> None:
    stub, post = clients[answer.dialect]
    key = KEYS.get(answer.dialect, "messages")
    asked: Any = {"role": "user", "parts": [{"text": "q"}]} if key == "contents" else {"role": "user", "content": "q"}
    summed_up = answer.dialect == "anthropic" and answer.kind.startswith("compaction")
    before = [] if summed_up else [asked]  # nothing before a summary of the server's is sent
    own = [answer.spoken.content] if answer.kind.endswith("in a message") else []
    held = [{"role": "assistant", "content": own[0]}] if own else [answer.spoken]
    wanted = _named(sent(post, {key: [*before, *held, *answer.after, asked]}, stub.bodies)[len(before)])
    for message in (answer.spoken, answer.sent):
        assembler = Assembler(dialect=answer.dialect).add_capability([TOOL])
        request = assembler.add_messages([asked, message, *answer.after, asked]).build().request()
        assert sent(post, {key: request[key]}, stub.bodies)[len(before)] == wanted


def test_no_item_of_an_input_has_the_field_that_an_answer_goes_back_without() -> None:
    from openai.types.responses import response_function_shell_call_output_content_param as shown
    from openai.types.responses.response_input_item_param import ResponseInputItemParam

    outputs = shown.ResponseFunctionShellCallOutputContentParam
    for kind in (*members(ResponseInputItemParam), outputs):
        assert OUTPUT_ONLY not in kind.__annotations__


OUTPUT_ONLY = "created_by"
"""OpenAI's SDK sends it with its own objects, though its types of an input do not have it."""


def _named(value: Any) -> Any:
    """The value with the API's own names, `async` in place of `async_`, and without what no input has."""
    from openai.types.chat.chat_completion_assistant_message_param import Audio

    if isinstance(value, dict):
        if isinstance(sound := value.get("audio"), dict):  # a message's: that of an answer has more fields
            value = {**value, "audio": {key: sound[key] for key in Audio.__annotations__}}
        return {key.removesuffix("_"): _named(held) for key, held in value.items() if key != OUTPUT_ONLY}
    return [_named(held) for held in value] if isinstance(value, list) else value
