"""Reads pydantic model classes as tools, and as the argument schemas of other tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeGuard, cast

from assembler.regions.tools.plain import plain
from assembler.regions.tools.reading import Reading
from assembler.regions.tools.refusal import tool_error
from assembler.regions.tools.schema import Schema, rewrite_schema, without_made_up


def read_model(tool: object) -> tuple[Reading, ...] | None:
    """Read a model class: its name, its docstring, and its fields as the arguments."""
    if not is_model(tool):
        return None
    schema = model_schema(tool, tool.__name__)
    return (Reading(tool.__name__, schema.pop("description", None), schema),)


def is_model(value: object) -> TypeGuard[type]:
    """Whether this is a class with a JSON schema, as pydantic's have."""
    return isinstance(value, type) and callable(
        getattr(value, "model_json_schema", None) or getattr(value, "schema", None)
    )


def model_schema(model: Any, tool: str | None) -> Schema:
    """A model's schema without the titles that pydantic generates. Raises `ToolError` if pydantic cannot write one."""
    write: Callable[[], Mapping[str, object]] = getattr(model, "model_json_schema", None) or model.schema
    try:
        written = write()
    except Exception as cause:
        raise tool_error(f"{model.__name__} has no JSON schema ({type(cause).__name__})", tool=tool) from cause
    schema = plain(written, tool=tool, path=("parameters",))
    shown = rewrite_schema(cast("Schema", schema), without_made_up, model.__name__)
    # For a recursive model pydantic writes a bare `$ref`, which OpenAI refuses: "schema must be a JSON Schema of 'type:
    # "object"', got 'type: "None"'".
    return shown if "type" in shown else {"type": "object", **shown}
