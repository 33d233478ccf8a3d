"""Fields at any place of a message, whatever their names: what is sent and what is noted add up."""

from __future__ import annotations

import base64
import copy
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any, cast

import pytest

from assembler import Assembler, verify
from assembler.conversation.messages import Message
from assembler.dialects import Emission
from assembler.dialects.chat_template.dialect import chat_template
from assembler.dialects.openai_chat.dialect import OpenAIChat
from assembler.dialects.writing.notes import FIELDS, MARKS, REASONING
from assembler.regions.layout import Layout
from tests.assembler.apis import TAKE_PICTURES as APIS
from tests.assembler.dialects.test_chat_template import TOKENIZERS
from tests.assembler.test_lost_fields import ASKED, LOST, PNG, TOOL, Dict

_PLAIN_CALL: Dict = {"id": "c", "type": "function", "function": {"name": "ask", "arguments": "{}"}}
_ITEM: Dict = {"type": "function_call", "call_id": "c", "name": "ask", "arguments": "{}"}
_OUTPUT_OF_CHAT = {"role": "tool", "tool_call_id": "c", "content": "r"}
_DATA_URL = f"data:image/png;base64,{PNG}"
PLACES: dict[str, list[Dict]] = {
    "openai_chat": [
        {
            "role": "user",
            "content": [{"type": "text", "text": "q"}, {"type": "image_url", "image_url": {"url": _DATA_URL}}],
        },
        {"role": "assistant", "content": "a", "tool_calls": [_PLAIN_CALL]},
        {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "r"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "so"}]},
        ASKED,
    ],
    "anthropic": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "q"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
            ],
        },
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "a"}, {"type": "tool_use", "id": "c", "name": "ask", "input": {}}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "r"}]}],
        },
    ],
    "bedrock": [
        {
            "role": "user",
            "content": [{"text": "q"}, {"image": {"format": "png", "source": {"bytes": base64.b64decode(PNG)}}}],
        },
        {
            "role": "assistant",
            "content": [{"text": "a"}, {"toolUse": {"toolUseId": "c", "name": "ask", "input": {}}}],
        },
        {"role": "user", "content": [{"toolResult": {"toolUseId": "c", "content": [{"text": "r"}]}}]},
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": "q"}, {"inline_data": {"mime_type": "image/png", "data": PNG}}]},
        {"role": "model", "parts": [{"text": "a"}, {"function_call": {"id": "c", "name": "ask", "args": {}}}]},
        {
            "role": "user",
            "parts": [{"function_response": {"id": "c", "name": "ask", "response": {"output": "r"}}}],
        },
    ],
    "openai_responses": [
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "q"}, {"type": "input_image", "image_url": _DATA_URL}],
        },
        {
            "type": "message",
            "role": "assistant",
            "id": "m",
            "status": "completed",
            "content": [{"type": "output_text", "text": "a"}],
        },
        {"type": "function_call", "call_id": "c", "name": "ask", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "r"}]},
    ],
}
"""A text, a picture, a call and a result in each spelling, in plain dicts: each may have a further field."""
WHATEVER = [
    *("x_new", "title", "filename", "displayName", "phase", "namespace", "prefix", "logprobs", "context"),
    *("signature", "cache_control", "cachePoint", "citations"),
]


def _dicts(value: Any) -> Iterator[Dict]:
    """Yield every dict in a history but what a call asks and what a result answers."""
    if isinstance(value, dict):
        held = cast(Dict, value)
        yield held
        for key in held.keys() - {"input", "args", "response"}:
            yield from _dicts(held[key])
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from _dicts(item)


@pytest.mark.parametrize("key", WHATEVER)
@pytest.mark.parametrize("spelling", PLACES)
def test_a_field_at_any_place_and_of_any_name_is_sent_or_noted_once(spelling: str, key: str) -> None:
    for home, name in itertools.product({"mistral", spelling}, APIS):
        history = copy.deepcopy(PLACES[spelling])
        values = list[str]()
        for number, fields in enumerate(_dicts(history)):
            if key not in fields and fields is not history[-1]:  # a prefix of the last message is the caller's wish
                values.append(f"{LOST}{number:03}")
                fields[key] = values[-1]
        context = Assembler(dialect=home).add_capability([TOOL]).add_messages(history).build()
        sent = str(context.request(name))
        lost = [value for value in values if value not in sent]
        noted = [int(line.split()[0]) for line in context.notes(name) if re.search("field|mark|citation|signat", line)]
        assert sum(noted) == len(lost), (home, name, context.notes(name))


@pytest.mark.parametrize("name", APIS)
def test_the_detail_asked_of_a_picture_is_sent_or_noted(name: str) -> None:
    """Five APIs lost it without a note, because a table said that others have it too."""
    picture = {"type": "input_image", "image_url": _DATA_URL, "detail": "high"}
    context = Assembler(dialect=name).add_messages([{"role": "user", "content": [picture]}]).build()
    assert ("'high'" in str(context.request())) != (f"1 {FIELDS}" in context.notes())


@pytest.mark.parametrize("name", APIS)
def test_the_output_of_a_shell_is_sent_as_json_and_no_field_of_it_is_noted(name: str) -> None:
    """Three fields were noted as lost, and all of them were sent."""
    ran = {"stdout": LOST, "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
    history: list[Dict] = [
        {"role": "user", "content": "q"},
        {"type": "shell_call", "id": "s", "call_id": "c", "action": {"commands": ["ls"]}},
        {"type": "shell_call_output", "call_id": "c", "output": [ran]},
    ]
    context = Assembler(dialect=name).add_capability([TOOL]).add_messages(history).build()
    assert LOST in str(context.request())
    assert not [line for line in context.notes() if "field" in line]


@pytest.mark.parametrize("name", APIS)
@pytest.mark.parametrize("field", [{"annotations": LOST}, {"audio": {"transcript": LOST}}], ids=["text", "transcript"])
def test_a_field_of_answers_beside_a_tools_answer_is_a_lost_field_and_no_text(name: str, field: Dict) -> None:
    """Mistral raised `KeyError` for a message of the role `tool` that had a text without a call."""
    answer = {"role": "tool", "tool_call_id": "c", "content": "r", **field}
    history = [ASKED, {"role": "assistant", "content": None, "tool_calls": [_PLAIN_CALL]}, answer, ASKED]
    context = Assembler(dialect=name).add_capability([TOOL]).add_messages(history).build()
    assert (LOST in str(context.request())) == (name == "openai_chat")
    assert verify(context.request(), dialect=name) == []
    assert (f"1 {FIELDS}" in context.notes()) == (name != "openai_chat")


@pytest.mark.parametrize("name", APIS)
def test_reasoning_beside_an_item_of_a_step_is_sent_or_noted(name: str) -> None:
    """Chat and Mistral raised `TypeError`: the items of a step are one message, which has no such field."""
    answer = {"type": "message", "role": "assistant", "status": "completed", "id": "m", "content": "a"}
    history: list[Dict] = [
        ASKED,
        {**answer, "reasoning": LOST},
        _ITEM,
        {"type": "function_call_output", "call_id": "c", "output": "r"},
    ]
    context = Assembler(dialect=name).add_capability([TOOL]).add_messages(history).build()
    assert LOST in str(context.request()) or f"1 {REASONING}" in context.notes()


@pytest.mark.parametrize(
    "beside",
    [{"extra_content": {"google": {"thought_signature": LOST}}}, {"cachePoint": {"type": "default"}}],
    ids=["signature", "mark"],
)
def test_what_only_a_template_may_read_of_a_call_is_noted_as_given_to_it(beside: Dict) -> None:
    """It was noted as left out, and the template got it."""
    call = {**_PLAIN_CALL, **beside}
    history = [ASKED, {"role": "assistant", "content": None, "tool_calls": [call]}, _OUTPUT_OF_CHAT, ASKED]
    context = (
        Assembler(dialect=chat_template(TOKENIZERS["chatml"])).add_capability([TOOL]).add_messages(history).build()
    )
    assert context.notes() == ("1 field(s) that only the template may read given to it",)


@pytest.mark.parametrize("name", APIS)
def test_a_mark_on_a_blank_text_is_noted_where_the_text_is_left_out(name: str) -> None:
    """Anthropic's request lost it without a note."""
    blank = {"type": "text", "text": "", "cache_control": {"type": "ephemeral"}}
    history = [{"role": "user", "content": [{"type": "text", "text": "q"}, blank]}]
    context = Assembler(dialect=name).add_messages(history).build()
    assert ("ephemeral" in str(context.request())) != (f"1 {MARKS}" in context.notes())


class Terse(OpenAIChat):
    """A dialect of an API that takes a role and a text. It looks for no field and notes none."""

    def emit(self, layout: Layout) -> Emission:
        return Emission({"messages": [{"role": each.role, "content": each.text} for each in layout.messages]})

    def emit_after(self, before: Emission, added: Sequence[Message]) -> Emission:
        request = {"messages": [*before.request["messages"], *self.emit(Layout(messages=[*added])).request["messages"]]}
        return Emission(request)


def test_the_fields_that_any_dialect_leaves_out_are_noted_without_its_help() -> None:
    assembler = Assembler(dialect=Terse()).add_messages([ASKED])
    assert assembler.build().notes() == ()
    assembler.add_messages([ASKED, {"role": "assistant", "content": "a", "x_new": LOST}])
    assert assembler.build().notes() == (f"1 {FIELDS}",)
    assembler.add_message({**ASKED, "cache_control": {"type": "ephemeral"}})
    assert assembler.build().notes() == (f"1 {FIELDS}", f"1 {MARKS}")
    assembler.add_message({"role": "assistant", "content": "b"})
    assert assembler.build().notes() == (f"1 {FIELDS}", f"1 {MARKS}")


def test_the_notes_in_a_servers_list_of_tools_are_no_lost_fields_where_it_is_sent_whole() -> None:
    """The tools of an MCP server have `annotations`, which are no citations."""
    tool = {"name": "a", "description": "d", "input_schema": {"type": "object"}, "annotations": {"read_only": True}}
    listed = {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "s", "tools": [tool]}
    context = Assembler(dialect="openai_responses").add_messages([ASKED, listed, {**ASKED}]).build()
    assert listed in context.request()["input"]
    assert context.notes() == ()


_KEYS_OF_CHAT: list[Dict] = [
    {"tool_calls": None},
    {"function_call": None},
    {"refusal": None},
    {"audio": None},
    {"annotations": []},
    {"reasoning_content": ""},
    {"reasoning": "why"},
    {"prefix": True},
    {"name": "bob"},
]
_BESIDE_BLOCKS: dict[str, Dict] = {
    "anthropic": {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "t", "signature": "s"}, {"type": "text", "text": "a"}],
    },
    "bedrock": {"role": "assistant", "content": [{"text": "a"}, {"cachePoint": {"type": "default"}}]},
    "gemini": {"role": "model", "parts": [{"text": "a"}]},
}


@pytest.mark.parametrize("beside", _KEYS_OF_CHAT, ids=lambda beside: next(iter(beside)))
@pytest.mark.parametrize("name", _BESIDE_BLOCKS)
def test_a_key_of_chat_beside_the_blocks_of_another_api_is_not_sent(name: str, beside: Dict) -> None:
    """Frameworks write them into every answer, and these APIs refuse what they do not know."""
    message = _BESIDE_BLOCKS[name]
    request = Assembler(dialect=name).add_messages([ASKED, {**message, **beside}, ASKED]).build().request()
    bare = Assembler(dialect=name).add_messages([ASKED, message, ASKED]).build().request()
    assert request == bare
