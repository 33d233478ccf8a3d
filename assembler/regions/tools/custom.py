"""OpenAI's custom tools, which take a text of any kind, as functions of one text: so any other API can be told them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from assembler.conversation.messages.dicts import private_copy
from assembler.regions.tools.tool import Tool

_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
}


def as_function(tool: Tool, shape: str) -> Tool:
    """The tool as an API of this shape can be told it: a custom tool of another as a function with the text `input`."""
    if tool.kind != "custom" or tool.goes_to(shape):
        return tool
    fields = cast("Mapping[str, Any]", tool.seen)
    nested: object = fields.get("custom")
    fields = cast("Mapping[str, Any]", nested) if isinstance(nested, Mapping) else fields
    about, form = str(fields.get("description") or ""), fields.get("format")
    if isinstance(form, Mapping):
        form = cast("Mapping[str, Any]", form)
        inner: object = form.get("grammar")
        held = cast("Mapping[str, Any]", inner) if isinstance(inner, Mapping) else form
        grammar = held.get("definition")
        about += f"\nThe input follows this grammar:\n{grammar}" if grammar else ""
    return Tool(tool.name, about, private_copy(dict(_SCHEMA)), tool.raw)
