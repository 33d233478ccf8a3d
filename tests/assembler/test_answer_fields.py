"""An answer goes back without what only an answer has: what its SDK parsed, and what the server says about it."""

from __future__ import annotations

import contextlib
import copy
import json
import types
from typing import Any

import attrs
import pytest

from assembler import Assembler, ConversationError, count_request
from assembler.conversation.messages import read_message
from assembler.conversation.messages.read import unchanged

Dict = dict[str, Any]

ASKED: Dict = {"role": "user", "content": "Where is it?"}
TOOL: Dict = {"name": "find", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}
WORDS = "made of words that only the answer has"


@attrs.frozen
class Case:
    """An answer as it was dumped, what its API must be sent of it, and what follows it."""

    name: str
    dialect: str
    dumped: Dict
    kept: Dict
    after: tuple[Dict, ...] = ()


def _anthropic(**more: Any) -> Dict:
    content = [{"type": "text", "text": "In Oslo.", "citations": None}]
    about = {"id": "msg_1", "type": "message", "model": "claude", "stop_reason": "end_turn", "stop_sequence": None}
    return {**about, "role": "assistant", "content": content, "usage": {"input_tokens": 9}, **more}


SAID = {"role": "assistant", "content": [{"type": "text", "text": "In Oslo.", "citations": None}]}
FUNCTION = {"name": "find", "arguments": '{"at": "Oslo"}'}
CALLED: Dict = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function"}]}
TEXT: Dict = {"type": "output_text", "text": "In Oslo.", "annotations": []}
MESSAGE: Dict = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [TEXT]}
THOUGHT: Dict = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
CALL: Dict = {"type": "function_call", "id": "fc_1", "call_id": "c", "status": "completed", **FUNCTION}
RAN: Dict = {"type": "code_interpreter_call", "id": "ci_1", "status": "completed", "container_id": "k"}
SHELL: Dict = {
    "type": "shell_call",
    "id": "sh_1",
    "call_id": "c",
    "status": "completed",
    "action": {"commands": ["ls"]},
}
LISTED: Dict = {"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
SHOWN: Dict = {"type": "shell_call_output", "call_id": "c", "output": [LISTED]}
OUTPUT = {"type": "function_call_output", "call_id": "c", "output": "x"}
TOLD = {"role": "tool", "tool_call_id": "c", "content": "x"}


def _called(**more: Any) -> Dict:
    return {**CALLED, "tool_calls": [{**CALLED["tool_calls"][0], "function": {**FUNCTION, **more}}]}


CASES = [
    Case("a stream's null of a field that its SDK does not stream", "anthropic", _anthropic(stop_details=None), SAID),
    Case("a refusal's details", "anthropic", _anthropic(stop_details={"explanation": WORDS}), SAID),
    Case("a diagnosis", "anthropic", _anthropic(diagnostics={"cache_miss_reason": {"type": WORDS}}), SAID),
    Case("what was dropped of the input", "anthropic", _anthropic(input_transformations=[{"type": WORDS}]), SAID),
    Case("what nobody knows yet", "anthropic", _anthropic(dream={"of": WORDS}), SAID),
    Case(
        "a parsed text of Claude's",
        "anthropic",
        _anthropic(content=[{**SAID["content"][0], "parsed_output": {"at": WORDS}}]),
        SAID,
    ),
    Case(
        "a parsed answer of Chat's",
        "openai_chat",
        {"role": "assistant", "content": "In Oslo.", "parsed": {"at": WORDS}},
        {"role": "assistant", "content": "In Oslo."},
    ),
    Case(
        "what Groq's server ran",
        "openai_chat",
        {"role": "assistant", "content": "In Oslo.", "executed_tools": [{"type": "search", "output": WORDS}]},
        {"role": "assistant", "content": "In Oslo."},
    ),
    Case("parsed arguments of Chat's", "openai_chat", _called(parsed_arguments={"at": WORDS}), _called(), (TOLD,)),
    Case(
        "a parsed answer of Mistral's",
        "mistral",
        {"role": "assistant", "content": "In Oslo.", "parsed": {"at": WORDS}},
        {"role": "assistant", "content": "In Oslo."},
    ),
    Case(
        "a parsed answer of Responses",
        "openai_responses",
        {**MESSAGE, "content": [{**TEXT, "parsed": {"at": WORDS}}]},
        MESSAGE,
    ),
    Case(
        "parsed arguments of Responses",
        "openai_responses",
        {**CALL, "async_": None, "namespace": None, "parsed_arguments": {"at": WORDS}},
        CALL,
        (OUTPUT,),
    ),
    Case(
        "a call that is not waited for",
        "openai_responses",
        {**CALL, "async_": True},
        {**CALL, "async": True},
        (OUTPUT,),
    ),
    Case("reasoning with nulls", "openai_responses", {**THOUGHT, "content": None, "status": None}, THOUGHT, (MESSAGE,)),
    Case(
        "nulls that an API takes",
        "openai_responses",
        {**RAN, "code": None, "outputs": None, "status": None},
        {**{key: held for key, held in RAN.items() if key != "status"}, "code": None, "outputs": None},
        (MESSAGE,),
    ),
    Case("a call with its maker", "openai_responses", {**SHELL, "created_by": WORDS}, SHELL, (SHOWN,)),
    Case(
        "an output with its maker",
        "openai_responses",
        SHELL,
        SHELL,
        ({**SHOWN, "created_by": WORDS, "output": [{**LISTED, "created_by": WORDS}]},),
    ),
]
KEYS = {"openai_responses": "input"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_answer_goes_back_without_what_only_an_answer_has(case: Case) -> None:
    given = copy.deepcopy([case.dumped, *case.after])
    assembler = Assembler(dialect=case.dialect).add_capability([TOOL]).add_messages([ASKED, *given, ASKED])
    context = assembler.build()
    request = context.request()
    messages = request[KEYS.get(case.dialect, "messages")]
    assert messages[1] == case.kept
    assert WORDS not in json.dumps(request)
    assert given == [case.dumped, *case.after]
    assert context.messages[1] is given[0]
    bare = Assembler(dialect=case.dialect).add_capability([TOOL]).add_messages([ASKED, case.kept, *case.after, ASKED])
    assert context.count == count_request(request, dialect=case.dialect) == bare.build().count
    assert context.notes() == ()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_other_api_is_sent_it_and_its_loss_is_no_news(case: Case) -> None:
    with_fields, plain = (
        Assembler(dialect=case.dialect).add_capability([TOOL]).add_messages([ASKED, each, *case.after, ASKED]).build()
        for each in (case.dumped, case.kept)
    )
    for other in ("openai_chat", "openai_responses", "anthropic", "gemini", "bedrock", "mistral"):
        assert with_fields.notes(other) == plain.notes(other)
        assert with_fields.request(other) == plain.request(other)


@pytest.mark.parametrize(
    "listed", [[{"function": None, "parsed": 1}], [{"function": "x", "parsed": 1}], [None], ["x"]], ids=str
)
def test_calls_in_no_form_are_refused_as_before(listed: list[Any]) -> None:
    with pytest.raises(ConversationError):
        read_message({"role": "assistant", "content": None, "tool_calls": listed}, 0)


@pytest.mark.parametrize("output", [[1, {"created_by": WORDS, "type": "input_text", "text": "x"}], [None]], ids=str)
def test_an_output_in_no_form_raises_nothing_but_our_own_errors(output: list[Any]) -> None:
    history = [ASKED, CALL, {**OUTPUT, "output": output}]
    with contextlib.suppress(ConversationError):
        Assembler(dialect="openai_responses").add_capability([TOOL]).add_messages(history).build().request()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_answer_that_nobody_touched_is_not_taken_for_a_changed_one(case: Case) -> None:
    assert unchanged(read_message(case.dumped, 0))


def test_a_message_of_the_users_keeps_a_field_of_the_same_name() -> None:
    asked = {"role": "user", "content": "Where is it?", "parsed": "x"}
    assert Assembler(dialect="openai_chat").add_messages([asked]).build().request()["messages"] == [asked]


BESIDE: dict[str, Any] = {
    "provider_specific_fields": {"thought_signatures": ["c2ln"]},
    "reasoning_items": [{"type": "reasoning", "id": "rs_1", "summary": []}],
    "tool_plan": "I will look it up.",
    "citations": [{"start": 0, "end": 2, "text": "It", "sources": [{"type": "tool", "id": "a"}]}],
}
"""What LiteLLM's and Cohere's classes declare beside the fields of Chat, and read in the next request."""


@pytest.mark.parametrize("field", BESIDE)
def test_an_object_and_its_dump_send_the_same_fields_beside_the_content(field: str) -> None:
    dumped = {**_called(), field: BESIDE[field]}
    both = [
        Assembler(dialect="openai_chat").add_capability([TOOL]).add_messages([ASKED, answer, TOLD, ASKED]).build()
        for answer in (types.SimpleNamespace(**dumped), dumped)
    ]
    assert both[0].request()["messages"][1][field] == BESIDE[field]
    assert both[0].request() == both[1].request()
    assert both[0].count == both[1].count == count_request(both[0].request(), dialect="openai_chat")
