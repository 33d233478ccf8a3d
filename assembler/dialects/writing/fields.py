"""Writes the fields that several APIs share: tools and their schemas, the output schema, and the tool choice.

Whatever comes from the caller's objects is copied, so that nothing is shared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from assembler.conversation.messages.dicts import private_copy
from assembler.regions.layout import Layout
from assembler.regions.output_schema import OutputSchema
from assembler.regions.tools import Tool
from assembler.regions.tools.tool import own_definition

NO_PARAMETERS: Mapping[str, Any] = {"type": "object", "properties": {}}
"""The schema of a tool without arguments, for an API that requires one."""


def own_fields(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A deep copy of the fields as a dict."""
    return cast("dict[str, Any]", private_copy(dict(raw)))


def named_tool(tool: Tool) -> dict[str, Any]:
    """A tool's name, and its description if it has one: most definitions begin with these."""
    return {"name": tool.name, "description": tool.description} if tool.description else {"name": tool.name}


def object_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a tool's schema with `"type": "object"`, which every API demands."""
    return own_fields(schema) if "type" in schema else {"type": "object", **own_fields(schema)}


def named_schema(output: OutputSchema) -> dict[str, Any]:
    """The schema with its name, description and `strict`."""
    fields: dict[str, Any] = {"name": output.name, "schema": own_fields(output.schema)}
    if output.description is not None:
        fields["description"] = output.description
    return fields | ({"strict": True} if output.strict else {})


def bare_schema(output: OutputSchema) -> dict[str, Any]:
    """The schema with the description inside, for an API without a separate field."""
    described = {} if output.description is None else {"description": output.description}
    schema: dict[str, Any] = own_fields(output.schema)
    return {**described, **schema}


def tool_choice_in(options: Mapping[str, Any]) -> object:
    """The tool choice of a request in OpenAI's formats, on Chat also by its older name."""
    choice: object = options.get("tool_choice")
    return options.get("function_call") if choice is None else choice


def asked_choice(layout: Layout) -> str | None:
    """The choice, or None if its tool is missing, because a limit may have left it out."""
    known = {"auto", "none", "required", *(tool.name for tool in layout.tools)}
    return layout.choice if layout.tools and layout.choice in known else None


def choice_of(layout: Layout, named: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    """`tool_choice` for one of OpenAI's APIs: a word, or what `named` returns for a tool's name."""
    choice = asked_choice(layout)
    if choice is None:
        return {}
    if choice in ("auto", "none", "required"):
        return {"tool_choice": choice}
    own = next((tool for tool in layout.tools if tool.name == choice and tool.api is not None), None)
    return {"tool_choice": named(choice) if own is None else _write_own_choice(own)}


def _write_own_choice(tool: Tool) -> dict[str, Any]:
    """The choice of a provider's own tool: its type, and the field that distinguishes tools of one type."""
    definition = own_definition(tool)
    if isinstance(definition.get("custom"), dict):
        return {"type": "custom", "custom": {"name": tool.name}}
    if tool.kind == "mcp":
        return {"type": "mcp", "server_label": definition.get("server_label")}
    return {"type": tool.kind, "name": tool.name} if tool.kind == "custom" else {"type": tool.kind}
