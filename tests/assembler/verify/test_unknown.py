"""A type that no API has is a note; one that another API has is a violation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assembler.cli import main
from assembler.testing import assert_valid
from assembler.verify import verify

Dict = dict[str, Any]


def asked(dialect: str, part: Dict) -> Dict:
    """A request whose only message holds this part beside a text."""
    match dialect:
        case "openai_responses":
            return {"input": [{"role": "user", "content": "q"}, part]}
        case "gemini":
            return {"contents": [{"role": "user", "parts": [{"text": "q"}, part]}]}
        case "bedrock":
            return {"messages": [{"role": "user", "content": [{"text": "q"}, part]}]}
        case _:
            return {"messages": [{"role": "user", "content": [{"type": "text", "text": "q"}, part]}]}


NEW: dict[str, Dict] = {
    "openai_chat": {"type": "hologram", "rays": 3},
    "openai_responses": {"type": "hologram_call", "rays": 3},
    "anthropic": {"type": "hologram", "rays": 3},
    "mistral": {"type": "hologram", "rays": 3},
    "gemini": {"hologram": {"rays": 3}},
    "bedrock": {"hologram": {"rays": 3}},
}
FOREIGN: dict[str, Dict] = {
    "openai_chat": {"type": "tool_use", "id": "t", "name": "look", "input": {}},
    "openai_responses": {"type": "tool_use", "id": "t", "name": "look", "input": {}},
    "anthropic": {"type": "input_image", "file_id": "f"},
    "mistral": {"type": "server_tool_use", "id": "t", "name": "web_search", "input": {}},
    "gemini": {"searchResult": {"source": "s"}},
    "bedrock": {"executable_code": {"code": "1"}},
}


@pytest.mark.parametrize("dialect", NEW)
def test_an_unknown_type_is_reported_as_a_note(dialect: str) -> None:
    body = asked(dialect, NEW[dialect])
    (note,) = verify(body, dialect=dialect)
    assert note.note
    assert note.rule == ("G2" if dialect == "gemini" else "S4")
    assert "unknown here" in str(note)
    assert_valid(body, dialect=dialect)


@pytest.mark.parametrize("dialect", FOREIGN)
def test_a_type_of_another_api_is_a_fault(dialect: str) -> None:
    (fault,) = verify(asked(dialect, FOREIGN[dialect]), dialect=dialect)
    assert not fault.note
    assert fault.rule == ("G2" if dialect == "gemini" else "S4")


@pytest.mark.parametrize("kind", ["web_search_20260318", "file_search"])
def test_a_tool_of_another_api_is_a_fault_in_chat(kind: str) -> None:
    body = {
        "messages": [{"role": "user", "content": "q"}],
        "tools": [{"type": kind, "name": "n"}, {"type": "telepathy"}],
    }
    assert [(found.where, found.note) for found in verify(body, dialect="openai_chat")] == [
        ("tools[0].type", False),
        ("tools[1].type", True),
    ]


def test_a_part_of_gemini_that_only_describes_data_is_a_fault() -> None:
    (fault,) = verify(asked("gemini", {"videoMetadata": {"fps": 1}}), dialect="gemini")
    assert (fault.rule, fault.note) == ("G2", False)


def test_a_body_with_notes_alone_passes_the_check_of_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "body.json"
    file.write_text(json.dumps(asked("anthropic", NEW["anthropic"])), encoding="utf-8")
    assert main(["check", str(file), "--dialect", "anthropic"]) == 0
    assert "no violations of the rules of anthropic, 1 note\n" in capsys.readouterr().out


def answered(name: str, role: str = "user", **more: Any) -> Dict:
    call = {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]}
    answer = {"role": role, "parts": [{"functionResponse": {"name": name, "response": {}}}]}
    return {"contents": [{"role": "user", "parts": [{"text": "q"}]}, call, answer], **more}


def with_long_id(model: str) -> Dict:
    name = "c" * 43
    call = {"id": name, "type": "function", "function": {"name": "look", "arguments": "{}"}}
    asked = [{"role": "user", "content": "q"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    return {"model": model, "messages": [*asked, {"role": "tool", "tool_call_id": name, "content": "a"}]}


def with_document(model: str) -> Dict:
    body = with_long_id(model)
    call, answer = body["messages"][1]["tool_calls"][0], body["messages"][2]
    call["id"] = answer["tool_call_id"] = "c"
    answer["content"] = [{"type": "document", "document": {"data": "a"}}]
    return body


FUNCTIONS = {"functionDeclarations": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
ACCEPTED: dict[str, tuple[str, Dict]] = {
    "an answer under the id of its call": ("gemini", answered("9987098e-ab3e-4e49-b8ee-5216f4ebd1b4")),
    "an answer under another name": ("gemini", answered("other")),
    "an answer in the role of a function": ("gemini", answered("look", "function")),
    "tools that are no list": ("gemini", answered("look", tools=FUNCTIONS)),
    "parts that are no list": ("gemini", {"contents": [{"role": "user", "parts": {"text": "q"}}]}),
    "a document in a result for Cohere": ("openai_chat", with_document("command-a-03-2025")),
    "a long id for DeepSeek": ("openai_chat", with_long_id("deepseek-chat")),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_what_an_api_accepts_against_its_documentation_is_a_note(case: str) -> None:
    dialect, body = ACCEPTED[case]
    found = verify(body, dialect=dialect, model=body.get("model"))
    assert found
    assert all(one.note and "accepted all the same" in one.problem for one in found)
    assert_valid(body, dialect=dialect)


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        ("gemini", answered("look", tools="look")),
        ("gemini", {"contents": [{"role": "user", "parts": {"text": ""}}]}),
        ("gemini", answered("look", tools={"functionDeclarations": {"parameters": {}}})),
        ("gemini", answered("look", "assistant")),
        ("openai_chat", with_long_id("gpt-4o")),
        ("openai_chat", with_document("gpt-4o")),
    ],
)
def test_what_no_recording_shows_stays_a_fault(dialect: str, body: Dict) -> None:
    assert not all(found.note for found in verify(body, dialect=dialect, model=body.get("model")))
