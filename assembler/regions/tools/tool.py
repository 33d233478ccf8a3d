"""One tool, as every dialect reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

import attrs

from assembler.conversation.messages.dicts import private_copy
from assembler.conversation.messages.parts import FOREIGN
from assembler.text.fields import fields_in, fields_of
from budgets.value import Value


class Sent:
    """The Chat Completions spelling of one frozen value, once it is known. Threads that look at once find the same."""

    __slots__ = ("found",)

    def __init__(self) -> None:
        self.found: Mapping[str, Any] | None = None


@attrs.frozen(eq=False, repr=False)
class Tool(Value):
    """A function that the model may call: a name, a description, and the JSON schema of its arguments.

    `parameters` is plain JSON data (dict, list, str, int, float, bool, None), a private copy; `{}` means no arguments.
    `extra` holds what a provider's definition said beyond these three (`strict`, `cache_control`, …), keyed as it came.
    `raw` is the very object that the caller gave.
    """

    name: str
    description: str = attrs.field(repr=False)
    parameters: Mapping[str, Any] = attrs.field(repr=False)
    raw: object = attrs.field(repr=False, eq=False)
    extra: Mapping[str, Any] = attrs.field(factory=dict[str, Any], repr=False)
    seen: object = attrs.field(default=None, repr=False, eq=False, kw_only=True)
    """A private copy of the definition that came in, where it came as a dict: what a dialect that speaks it emits."""
    api: str | None = attrs.field(default=None, kw_only=True)
    """The shape of the one API that has this tool, where a provider defines it; None for a function, which all have."""
    sent: Sent = attrs.field(factory=Sent, init=False, repr=False, eq=False)
    """The Chat Completions definition."""

    @property
    def kind(self) -> str:
        """What a provider's own tool is called by its API: its type, or its key. "function" for any other."""
        fields = fields_of(self.seen)
        if self.api is None or fields is None:
            return "function"
        kind: object = fields.get("type")
        return kind if isinstance(kind, str) else next(iter(fields), "tool")

    def goes_to(self, shape: str | None) -> bool:
        """Whether the API of this shape takes the tool; None is the API that it was read from, "plain" no API."""
        if self.api is None or shape in (None, "plain", self.api):
            return True
        shared = self.api == "responses" and shape == "mistral" and self.kind in _OF_MISTRAL_TOO
        return shared or shape in _MAY_BE_OF.get(self.api, ())

    def claimed(self, shape: str) -> Tool:
        """The tool as one of the API of this shape, where nobody knows whose it is; as nobody's where it cannot be."""
        if self.api is None or self.api not in _MAY_BE_OF:
            return self
        return attrs.evolve(self, api=shape if shape in _MAY_BE_OF[self.api] else FOREIGN)


def own_definition(tool: Tool) -> dict[str, Any]:
    """A provider's own tool as it came, in a dict of the caller's own."""
    return cast("dict[str, Any]", private_copy(tool.seen))


_OF_MISTRAL_TOO = ("image_generation",)
"""Types of OpenAI's that Mistral's chat API has too. Its web search and its code interpreter are tools of its
conversations API alone (mistralai 3.7.0, models ChatCompletionRequest and ConversationRequest; read 2026-11)."""

KEYED = "keyed"
"""Whose a tool is that nobody knows yet and that says what it is by its key."""

_MAY_BE_OF: Mapping[str, tuple[str, ...]] = {
    "neutral": ("anthropic", "mistral", "openai", "responses"),
    KEYED: ("bedrock", "gemini"),
}
"""The APIs whose tools say their type, and those whose tools say their key: what nobody knows may be any of theirs."""


def tools_sent(tools: Iterable[Tool], shape: str) -> list[Tool]:
    """The tools that an API of this shape takes, each as that API is sent it."""
    return [tool for tool in (as_told(tool, shape) for tool in tools) if tool.goes_to(shape)]


def as_told(tool: Tool, shape: str) -> Tool:
    """The tool as an API of this shape is told it: by every API but `plain`, that its arguments are an object."""
    tool, schema = as_function(tool, shape), tool.parameters
    if tool.api is not None or not schema or "type" in schema or shape == "plain":
        return tool
    return attrs.evolve(tool, parameters={"type": "object", **schema})


_ONE_TEXT: Mapping[str, Any] = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
}


def as_function(tool: Tool, shape: str) -> Tool:
    """The tool as an API of this shape can be told it: a custom tool of another as a function with the text `input`."""
    if tool.kind != "custom" or tool.goes_to(shape):
        return tool
    fields = fields_in(tool.seen, "custom") or fields_in(tool.seen)
    form = fields_in(fields, "format")
    grammar = (fields_in(form, "grammar") or form).get("definition")
    about = str(fields.get("description") or "")
    about += f"\nThe input follows this grammar:\n{grammar}" if grammar else ""
    return Tool(tool.name, about, private_copy(dict(_ONE_TEXT)), tool.raw)
