"""The folder of a dialect may hold the readers of its API's own tools and messages, which need no further line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import assembler.dialects
from assembler import Assembler, ConversationError, Truncate
from assembler.conversation.messages import read_message, shapes, spelling
from assembler.conversation.messages.foreign_parts import adapt_message
from assembler.errors import ToolError
from assembler.regions.tools import definitions, read_tool
from budgets import Budget
from tests.assembler.own_spelling import own_spelling

TOOLS = """
from assembler.regions.tools.reading import Reading

def read_tool(definition):
    if "fn" not in definition:
        return None
    properties = {name: {"type": "string"} for name in definition["takes"]}
    return (Reading(definition["fn"], definition["does"], {"type": "object", "properties": properties}),)
"""
SHAPE = """
from assembler.conversation.messages.shapes import Shape, declare_shape

SHAPE = declare_shape(Shape(name="of_a_test", named_by="type", accepts=("openai",), system_parts=()))
"""
LOOK = {"fn": "look", "does": "Looks around.", "takes": ["where"]}


@pytest.fixture
def folder_of_a_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder of a dialect `of_a_test` with the three files."""
    folder = tmp_path / "of_a_test"
    folder.mkdir()
    for name, text in (("__init__", ""), ("tools", TOOLS), ("messages", own_spelling("SPELLING")), ("shape", SHAPE)):
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    for found in (definitions._OF_DIALECTS, spelling._OF_DIALECTS, shapes._OF_DIALECTS):
        monkeypatch.setattr(found, "_listed", None)
    assembler.dialects.__path__.append(str(tmp_path))
    yield
    assembler.dialects.__path__.remove(str(tmp_path))
    for shape in ("of_a_test", "of_nobody"):
        vars(shapes)["SHAPES"].pop(shape, None)
    for name in [name for name in sys.modules if name.startswith("assembler.dialects.of_a_test")]:
        del sys.modules[name]


@pytest.mark.usefixtures("folder_of_a_test")
def test_a_tool_in_the_form_of_a_dialect_s_own_api_is_read_by_the_reader_in_its_folder() -> None:
    tool = read_tool(LOOK)
    assert (tool.name, tool.description, [*tool.parameters["properties"]]) == ("look", "Looks around.", ["where"])
    usual = {"name": "look", "description": "", "parameters": {"type": "object", "properties": {}}, "fn": "other"}
    assert read_tool(usual).name == "look"


@pytest.mark.usefixtures("folder_of_a_test")
def test_a_message_in_the_form_of_a_dialect_s_own_api_is_read_and_shortened_by_the_spelling_in_its_folder() -> None:
    history = [{"says": "one " * 99}, {"role": "assistant", "content": "two"}, {"role": "user", "content": "three"}]
    chat = Assembler(Budget(99, counter=len), dialect="openai_chat", on_overflow=Truncate(40))
    short = chat.add_messages(history).build().messages[0]
    assert short.keys() == {"says"}
    assert len(short["says"]) <= 40


@pytest.mark.usefixtures("folder_of_a_test")
def test_the_shape_in_its_folder_says_which_unknown_parts_and_tools_an_api_is_sent() -> None:
    """A part of an unknown type goes to the API in a user's message, and not in its system text."""
    odd = {"type": "odd", "of": "one"}
    user, system = (read_message({"role": role, "content": [odd]}, 0) for role in ("user", "system"))
    tool = read_tool({"type": "odd_tool"})
    assert adapt_message(user, "of_a_test") is user
    assert adapt_message(system, "of_a_test").parts == ()
    assert adapt_message(user, "of_nobody").parts == ()
    assert [tool.goes_to(shape) for shape in ("of_a_test", "of_nobody")] == [True, False]


def test_without_such_a_folder_both_are_refused() -> None:
    with pytest.raises(ToolError, match="without a name"):
        read_tool(LOOK)
    with pytest.raises(ConversationError, match="without a role"):
        Assembler().add_message({"says": "one"}).build()
