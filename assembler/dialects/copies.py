"""Fields that a request takes from what the caller gave: copied, so that nothing is shared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from assembler.conversation.messages.dicts import private_copy
from assembler.regions.tools import Tool

NO_PARAMETERS: Mapping[str, Any] = {"type": "object", "properties": {}}
"""The schema of a tool that takes no arguments, for an API that wants one all the same."""


def own_fields(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A dict of these fields that shares no list and no dict with them."""
    return cast("dict[str, Any]", private_copy(dict(raw)))


def named_tool(tool: Tool) -> dict[str, Any]:
    """The name of a tool, and its description where it has one: how most definitions begin."""
    return {"name": tool.name, "description": tool.description} if tool.description else {"name": tool.name}


def object_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a tool's schema that says that it is an object, as every API demands."""
    return own_fields(schema) if "type" in schema else {"type": "object", **own_fields(schema)}
