"""Copies fields of the caller's objects into a request, so that nothing is shared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from assembler.conversation.messages.dicts import private_copy
from assembler.regions.tools import Tool

NO_PARAMETERS: Mapping[str, Any] = {"type": "object", "properties": {}}
"""The schema of a tool without arguments, for an API that requires one."""


def own_fields(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a deep copy of the fields as a dict."""
    return cast("dict[str, Any]", private_copy(dict(raw)))


def named_tool(tool: Tool) -> dict[str, Any]:
    """Return a tool's name, and its description if it has one: most definitions begin with these."""
    return {"name": tool.name, "description": tool.description} if tool.description else {"name": tool.name}


def object_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a tool's schema with `"type": "object"`, which every API demands."""
    return own_fields(schema) if "type" in schema else {"type": "object", **own_fields(schema)}
