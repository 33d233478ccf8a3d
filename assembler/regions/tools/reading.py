"""The result of every reader of tools, and the check that turns it into a `Tool`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

import attrs

from assembler.regions.tools.plain import plain
from assembler.regions.tools.refusal import shown, tool_error
from assembler.regions.tools.schema import Schema, refuse_unlisted, spelled_small
from assembler.regions.tools.tool import Tool

# The rule of OpenAI and Bedrock, the strictest: a name that obeys it is legal for every dialect.
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@attrs.frozen
class Reading:
    """A tool as its reader found it, not yet checked or copied."""

    name: object
    description: object = attrs.field(repr=False)
    parameters: object = attrs.field(repr=False)
    extra: Mapping[str, object] = attrs.field(factory=dict[str, object], repr=False)
    api: str | None = attrs.field(default=None, kw_only=True)
    """The shape of the API whose own tool this is; None for a function."""


def finish_tool(reading: Reading, raw: object) -> Tool:
    """Check and copy a reading into a `Tool`. Raises `ToolError` for anything that no API accepts."""
    name = legal_name(reading.name)
    description = "" if reading.description is None else plain(reading.description, tool=name, path=("description",))
    if not isinstance(description, str):
        raise tool_error("description is not a string", tool=name)
    return Tool(
        name=name,
        description=description,
        parameters=_check_parameters(reading.parameters, name),
        raw=raw,
        extra=cast("dict[str, Any]", plain(reading.extra, tool=name)),
        api=reading.api,
    )


def legal_name(name: object) -> str:
    """The name as a plain string. Raises `ToolError` unless it is 1 to 64 of the characters a-z A-Z 0-9 _ -."""
    if not isinstance(name, str):
        raise tool_error(f"the tool's name is {shown(name)}, not a string")
    if NAME.fullmatch(name) is None:
        step = "; give the function a name with def" if name == "<lambda>" else ""
        raise tool_error(f"illegal name; use 1 to 64 of the characters a-z A-Z 0-9 _ -{step}", tool=name)
    return str.__str__(name)


def _check_parameters(given: object, name: str) -> Schema:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise tool_error(f"parameters are {shown(type(given).__name__)}, not a JSON schema (a dict)", tool=name)
    schema = spelled_small(cast("Schema", plain(cast("object", given), tool=name, path=("parameters",))))
    if schema.get("type", "object") != "object":
        raise tool_error(
            'parameters.type is not "object": arguments are named, so every API wants an object', tool=name
        )
    refuse_unlisted(schema, tool=name)
    return schema
