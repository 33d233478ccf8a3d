"""The smallest history of each kind that repair once got wrong, with the correct result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Dict = dict[str, Any]


@dataclass(frozen=True)
class Case:
    name: str
    history: list[Any]
    mended: list[Any]
    changes: list[tuple[int, str]]


def _item(name: str) -> Dict:
    return {"type": "function_call", "call_id": name, "name": "f", "arguments": "{}"}


def _output(name: str) -> Dict:
    return {"type": "function_call_output", "call_id": name, "output": f"answer {name}"}


def _call(name: str) -> Dict:
    function = {"name": "f", "arguments": "{}"}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": name, "type": "function", "function": function}],
    }


def _answer(name: str) -> Dict:
    return {"role": "tool", "tool_call_id": name, "content": f"answer {name}"}


ASK: Dict = {"role": "user", "content": "q"}
_COMPUTER: list[Dict] = [
    {"type": "computer_call", "id": "x", "call_id": "c", "action": {"type": "wait"}, "pending_safety_checks": []},
    {"type": "computer_call_output", "call_id": "c", "output": {"type": "computer_screenshot", "file_id": "f"}},
]
_USE: Dict = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]}
_WRONG: Dict = {"type": "tool_result", "tool_use_id": "WRONG", "content": "?"}
_RIGHT: Dict = {"type": "tool_result", "tool_use_id": "a", "content": "1"}
_TEXT: Dict = {"type": "text", "text": "and now?"}
_INVENTED: Dict = {"type": "tool_result", "tool_use_id": "a", "content": "no result was recorded", "is_error": True}

_BOTH: Dict = {
    "role": "model",
    "parts": [{"function_call": {"id": name, "name": "f", "args": {}}} for name in ("a", "b")],
}


_NAMELESS: Dict = {"role": "model", "parts": [{"function_call": {"name": "f", "args": {}}}]}
_OTHER: Dict = {"role": "model", "parts": [{"function_call": {"name": "f", "args": {"number": 2}}}]}
_BY_NAME: Dict = {"role": "tool", "name": "f", "content": "1"}
_NOTHING: Dict = {"function_response": {"name": "f", "response": {"error": "no result was recorded"}}}


def _response(role: str, name: str) -> Dict:
    response = {"id": name, "name": "f", "response": {"output": name}}
    return {"role": role, "parts": [{"function_response": response}]}


_SAID: Dict = {"role": "user", "parts": [{"text": "q"}]}

CASES = (
    Case(
        "an answer by name to a call with an id",
        [ASK, _call("a"), ASK, _BY_NAME],
        [ASK, _call("a"), {**_BY_NAME, "tool_call_id": "a"}, ASK],
        [(3, "edited")],
    ),
    Case(
        "answers by name to some of the calls that have ids",
        [
            ASK,
            {**_call("a"), "tool_calls": [*_call("a")["tool_calls"], *_call("b")["tool_calls"]]},
            _BY_NAME,
            _answer("a"),
        ],
        [
            ASK,
            {**_call("a"), "tool_calls": [*_call("a")["tool_calls"], *_call("b")["tool_calls"]]},
            _answer("a"),
            {**_BY_NAME, "tool_call_id": "b"},
        ],
        [(2, "edited")],
    ),
    Case(
        "an answer by an id to a call without one",
        [ASK, _NAMELESS, {"role": "tool", "tool_call_id": "made up", "content": "1"}],
        [ASK, _NAMELESS, {"role": "tool", "content": "1", "name": "f"}],
        [(2, "edited")],
    ),
    Case(
        "two calls without ids, cut into two messages by a stream, and both answers after them",
        [ASK, _NAMELESS, _OTHER, _BY_NAME, {**_BY_NAME, "content": "2"}],
        [ASK, _NAMELESS, _BY_NAME, _OTHER, {**_BY_NAME, "content": "2"}],
        [(3, "moved")],
    ),
    Case(
        "two calls without ids, of which only the second was answered",
        [ASK, _NAMELESS, _OTHER, _BY_NAME],
        [ASK, _NAMELESS, {"role": "user", "parts": [_NOTHING]}, _OTHER, _BY_NAME],
        [(2, "added")],
    ),
    Case(
        "an answer by the name of another tool",
        [ASK, _call("a"), {**_BY_NAME, "name": "g"}],
        [ASK, _call("a"), {"role": "tool", "tool_call_id": "a", "content": "no result was recorded"}],
        [(2, "dropped"), (3, "added")],
    ),
    Case(
        "a result in a message of the model's",
        [ASK, _USE, {"role": "assistant", "content": [_RIGHT]}],
        [ASK, _USE, {"role": "user", "content": [_RIGHT]}],
        [(2, "moved")],
    ),
    Case(
        "a result beside what the model says",
        [ASK, _USE, {"role": "assistant", "content": [_RIGHT, _TEXT]}],
        [ASK, _USE, {"role": "user", "content": [_RIGHT]}, {"role": "assistant", "content": [_TEXT]}],
        [(2, "moved"), (2, "edited")],
    ),
    Case(
        "a result of the model's before the user's",
        [_SAID, _BOTH, _response("model", "a"), _response("user", "b")],
        [_SAID, _BOTH, _response("user", "b"), _response("user", "a")],
        [(2, "moved")],
    ),
    Case(
        "blocks in a message of a tool's",
        tooled := [ASK, _USE, {"role": "tool", "content": [_RIGHT, _TEXT]}, ASK],
        tooled,
        [],
    ),
    Case(
        "parallel items of Responses",
        parallel := [ASK, _item("a"), _item("b"), _output("a"), _output("b")],
        parallel,
        [],
    ),
    Case("an item of the server's between", served := [ASK, _item("a"), *_COMPUTER, _output("a")], served, []),
    Case(
        "a wrong result beside a text",
        [ASK, _USE, {"role": "user", "content": [_WRONG, _TEXT]}],
        [ASK, _USE, {"role": "user", "content": [_INVENTED]}, {"role": "user", "content": [_TEXT]}],
        [(2, "added"), (2, "edited")],
    ),
    Case(
        "a result behind a text that came between",
        [ASK, _USE, {"role": "user", "content": "wait"}, {"role": "user", "content": [_RIGHT, _TEXT]}],
        [
            ASK,
            _USE,
            {"role": "user", "content": [_RIGHT]},
            {"role": "user", "content": "wait"},
            {"role": "user", "content": [_TEXT]},
        ],
        [(3, "moved"), (3, "edited")],
    ),
    Case(
        "two calls before two answers",
        [ASK, _call("a"), _call("b"), _answer("a"), _answer("b")],
        [ASK, _call("a"), _answer("a"), _call("b"), _answer("b")],
        [(3, "moved")],
    ),
    Case("an answer before its call", [ASK, _answer("a"), _call("a")], [ASK, _call("a"), _answer("a")], [(1, "moved")]),
    Case(
        "an item of Responses without output",
        [ASK, _item("a"), ASK],
        [ASK, _item("a"), _output("a") | {"output": "no result was recorded"}, ASK],
        [(2, "added")],
    ),
)
