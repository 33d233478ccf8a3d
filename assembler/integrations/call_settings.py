"""Reads the settings of a framework's call that cost tokens: its tools, the tool choice, and calls one at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from assembler.dialects.api import Api
from assembler.text.fields import fields_in, fields_of

_WORDS = {"auto": "auto", "none": "none", "required": "required", "any": "required"}
"""The words of the frameworks and APIs for a choice, and ours."""

Options: TypeAlias = tuple[tuple[str, Any], ...]
"""The keys of a call that are options, with their values."""

ONE_AT_A_TIME = ("parallel_tool_calls", False)
"""The option of OpenAI's APIs for calls one at a time."""


def serial_calls(setting: object) -> Options:
    """Return what `Asked.options` says of a framework's setting for parallel calls; its default costs nothing."""
    return (ONE_AT_A_TIME,) if setting is False else ()


def in_form_of(api: Api, choice: str | None, options: Options) -> tuple[str | None, Options]:
    """Return a choice and options as an API gets them: Claude's takes calls one at a time as part of the choice."""
    left = tuple(option for option in options if option != ONE_AT_A_TIME)
    if api.serial_choice is None or left == options or choice == "none" or "tool_choice" in dict(left):
        return choice, options
    return None, (*left, ("tool_choice", api.serial_choice(choice)))


def tool_choice(given: object, tools: Sequence[object]) -> str | None:
    """Return a framework's tool choice as `Asked.choice` takes it.

    `given` is a word, the name of a tool, or a dict in the spelling of OpenAI, of Claude or of Agent Framework. True
    means that the model must call some tool. None for the default, and for a choice that names none of these `tools`.
    """
    if given is True:
        return "required"
    fields = fields_of(given)
    if fields is None:
        return _recognise_choice(given, tools)
    named = fields_in(fields, "function").get("name") or fields.get("name") or fields.get("required_function_name")
    return _recognise_choice(named or fields.get("mode") or fields.get("type"), tools)


def as_data(tool: Any) -> Any:
    """Return a tool of Google's types as plain data, and any other tool unchanged."""
    return tool.model_dump(exclude_none=True) if hasattr(tool, "model_dump") else tool


def _recognise_choice(name: object, tools: Sequence[object]) -> str | None:
    if not isinstance(name, str):
        return None
    if name in map(_name_of, tools):
        return name
    return _WORDS.get(name)


def _name_of(tool: object) -> object:
    return fields_in(tool, "function").get("name") or fields_in(tool).get("name")
