"""One tool, in the form that every dialect reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

import attrs

from assembler.conversation.messages.dicts import private_copy
from assembler.conversation.messages.parts import FOREIGN, NEUTRAL
from assembler.conversation.messages.shapes import SHAPES, Shape, all_shapes
from assembler.text.fields import fields_in, fields_of
from budgets.value import Value


class Sent:
    """A cache for the Chat Completions definition of a frozen tool. All threads compute the same."""

    __slots__ = ("found",)

    def __init__(self) -> None:
        self.found: Mapping[str, Any] | None = None


@attrs.frozen(eq=False, repr=False)
class Tool(Value):
    """A function that the model may call: a name, a description, and the JSON schema of its arguments.

    `parameters` is a private copy in plain JSON types (dict, list, str, int, float, bool, None); `{}` means no
    arguments. `extra` holds the other keys of a provider's definition (`strict`, `cache_control`, …). `raw` is the
    caller's own object.
    """

    name: str
    description: str = attrs.field(repr=False)
    parameters: Mapping[str, Any] = attrs.field(repr=False)
    raw: object = attrs.field(repr=False, eq=False)
    extra: Mapping[str, Any] = attrs.field(factory=dict[str, Any], repr=False)
    seen: object = attrs.field(default=None, repr=False, eq=False, kw_only=True)
    """A private copy of the caller's definition if it was a dict. A dialect with the same spelling emits it."""
    api: str | None = attrs.field(default=None, kw_only=True)
    """The shape of the API whose own tool this is; None for a function, which every API accepts."""
    sent: Sent = attrs.field(factory=Sent, init=False, repr=False, eq=False)
    """The Chat Completions definition."""

    @property
    def kind(self) -> str:
        """The type, or the key, of a provider's own tool; "function" for any other."""
        fields = fields_of(self.seen)
        if self.api is None or fields is None:
            return "function"
        kind: object = fields.get("type")
        return kind if isinstance(kind, str) else next(iter(fields), "tool")

    def form(self, shape: str | None = None) -> Shape | None:
        """The shape in whose form the definition is, of those that the API of `shape` is sent with all fields.

        `shape` is None for any API. None is returned for other forms, such as MCP's, and for no dict.
        """
        forms = all_shapes() if shape is None else [SHAPES[n] for n in (shape, *SHAPES[shape].accepts)]
        definition = fields_in(self.seen)
        return next((form for form in forms if form.is_form_of(definition)), None)

    def goes_to(self, shape: str | None) -> bool:
        """Whether the API of this shape accepts the tool. None is the API from which it was read, "plain" is no API."""
        if self.api is None or shape in (None, "plain", self.api):
            return True
        api = SHAPES[shape]
        return self.kind in api.accepts_tools.get(self.api, ()) or self._may_be_of(api)

    def claimed(self, shape: str) -> Tool:
        """An unknown tool assigned to the API of this shape, or to no API if it cannot be that one's."""
        if self.api not in _NAMED_BY:
            return self
        return attrs.evolve(self, api=shape if self._may_be_of(SHAPES[shape]) else FOREIGN)

    def _may_be_of(self, api: Shape) -> bool:
        """Whether this is an unknown tool whose kind is named as those of this API are."""
        return self.api in _NAMED_BY and _NAMED_BY[self.api] == api.named_by


def own_definition(tool: Tool) -> dict[str, Any]:
    """A copy of the caller's definition of a provider's own tool."""
    return cast("dict[str, Any]", private_copy(tool.seen))


KEYED = "keyed"
"""The `api` of an unknown tool that is named by its key."""

_NAMED_BY = {NEUTRAL: "type", KEYED: "key"}
"""What names the kind of an unknown tool, by its `api`."""


def tools_sent(tools: Iterable[Tool], shape: str) -> list[Tool]:
    """The tools that an API of this shape accepts, in the form in which it is sent them."""
    return [tool for tool in (tool_for_shape(tool, shape) for tool in tools) if tool.goes_to(shape)]


def tool_for_shape(tool: Tool, shape: str) -> Tool:
    """The tool in the form for an API of this shape. Every API but `plain` gets `"type": "object"` in the schema."""
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
    """The tool; if it is another API's custom tool, a function with the text `input`."""
    if tool.kind != "custom" or tool.goes_to(shape):
        return tool
    fields = fields_in(tool.seen, "custom") or fields_in(tool.seen)
    form = fields_in(fields, "format")
    grammar = (fields_in(form, "grammar") or form).get("definition")
    about = str(fields.get("description") or "")
    about += f"\nThe input follows this grammar:\n{grammar}" if grammar else ""
    return Tool(tool.name, about, private_copy(dict(_ONE_TEXT)), tool.raw)
