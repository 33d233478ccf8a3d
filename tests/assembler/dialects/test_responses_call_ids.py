"""Every output in `input` names its own call, in whatever form the items name their calls."""

from __future__ import annotations

from typing import Any

import pytest

from assembler import Assembler, verify
from assembler.dialects import openai_responses

Dict = dict[str, Any]

ASKED: Dict = {"role": "user", "content": "q"}
_ACTION: Dict = {"type": "exec", "command": ["ls"], "env": {}}
_CALLS: dict[str, Dict] = {
    "function_call": {"name": "ask", "arguments": "{}"},
    "custom_tool_call": {"name": "write", "input": "x"},
    "shell_call": {"action": {"commands": ["ls"]}},
    "apply_patch_call": {"operation": {"type": "delete_file", "path": "a"}, "status": "completed"},
    "computer_call": {"action": {"type": "wait"}, "pending_safety_checks": [], "status": "completed"},
}


def _items(history: list[Dict]) -> list[Dict]:
    context = Assembler(dialect=openai_responses).add_messages([ASKED, *history, ASKED]).build()
    assert not verify(context.request(), dialect=openai_responses)
    items: list[Dict] = context.request()["input"]
    return items[1:-1]


def test_calls_that_reuse_the_id_of_an_answered_local_shell_call_get_their_own_outputs() -> None:
    shell = {"type": "local_shell_call", "id": "ls_1", "call_id": "c", "status": "completed", "action": _ACTION}
    history: list[Dict] = [
        shell,
        {"type": "local_shell_call_output", "id": "c", "output": "a"},
        {"type": "function_call", "call_id": "c", "name": "ask", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "b"},
        {"type": "custom_tool_call", "call_id": "c", "name": "write", "input": "x"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "d"},
    ]
    sent = _items(history)
    assert sent[:2] == history[:2]
    assert len({item["call_id"] for item in sent[2:]}) == 2
    assert sent[2]["call_id"] == sent[3]["call_id"]
    assert sent[4]["call_id"] == sent[5]["call_id"]


def test_the_output_of_a_renamed_local_shell_call_is_renamed_with_it() -> None:
    history: list[Dict] = [
        {"type": "function_call", "call_id": "c", "name": "ask", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "b"},
        {"type": "local_shell_call", "id": "ls_1", "call_id": "c", "status": "completed", "action": _ACTION},
        {"type": "local_shell_call_output", "id": "c", "output": "a"},
    ]
    sent = _items(history)
    assert sent[:2] == history[:2]
    assert sent[2]["call_id"] == sent[3]["id"] != "c"


@pytest.mark.parametrize("kind", _CALLS)
def test_a_call_that_has_only_an_id_is_sent_with_the_call_id_that_its_output_names(kind: str) -> None:
    output: Any = {"type": "computer_screenshot", "image_url": "https://a.b/c.png"} if kind == "computer_call" else "r"
    sent = _items(
        [
            {"type": kind, "id": "c", **_CALLS[kind]},
            {"type": f"{kind}_output", "call_id": "c", "output": output},
        ]
    )
    assert [item["call_id"] for item in sent] == ["c", "c"]
