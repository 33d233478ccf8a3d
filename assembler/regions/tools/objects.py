"""Reads tool classes and instances of any framework by their attributes, without importing the frameworks."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, cast

from assembler.regions.tools.definitions import SCHEMA_WORDS, read_definition
from assembler.regions.tools.docstrings import own_docstring
from assembler.regions.tools.models import is_model, model_schema
from assembler.regions.tools.reading import Reading
from assembler.regions.tools.refusal import shown, tool_error
from assembler.text.fields import fields_in

# Attributes with the schema, best first: LangChain without and with injected arguments · OpenAI Agents · our own and
# OpenAI's word · LlamaIndex · Pydantic AI. MCP and Gemini objects are read from their dumps.
SCHEMA_ATTRIBUTES = (
    "tool_call_schema",
    "args_schema",
    "params_json_schema",
    "parameters",
    "fn_schema",
    "parameters_json_schema",
)
# Attributes that hold the tool itself: LlamaIndex · Pydantic AI · Strands.
HOLDERS = ("metadata", "tool_def", "tool_spec")
# The schema of MCP tools, versions 1 and 2, and the fields of their definition: a subclass may also hold secrets.
MCP_SCHEMA = ("inputSchema", "input_schema")
MCP_WIRE = ("name", "title", "description", *MCP_SCHEMA, "outputSchema", "annotations", "icons", "_meta")

_MISSING = object()


def read_object(tool: object) -> tuple[Reading, ...] | None:
    """Read a class or instance with `name`, `description` and a schema, which is a pydantic model or a dict.

    A schema of None means no arguments. Without a description, the docstring of the class is used.
    """
    if isinstance(tool, Mapping) or (is_model(tool) and not _is_langchain_class(tool)):
        return None
    return _read_attributes(tool) or _read_dump(tool) or _read_inner(tool)


def _read_attributes(tool: object) -> tuple[Reading, ...] | None:
    name = _read_attribute(tool, "name")
    schemas = [value for word in SCHEMA_ATTRIBUTES if (value := _read_attribute(tool, word)) is not _MISSING]
    if _is_langchain_class(tool) and (name is _MISSING or schemas in ([], [None])):
        raise tool_error(
            f"the class {shown(_find_class(tool).__name__)} gets its schema when it is made; pass an instance"
        )
    if name is _MISSING or not schemas:
        return None
    description = _read_attribute(tool, "description")
    if description is _MISSING:
        description = own_docstring(_find_class(tool))
    schema = next((each for each in schemas if each is not None), None)
    return (Reading(name, description, _find_parameters(schema, name, description), _read_extra(tool)),)


def _find_parameters(schema: object, name: object, description: object) -> object:
    if is_model(schema):
        written = model_schema(schema, name if isinstance(name, str) else None)
        if written.get("description") == description:
            del written["description"]  # the provider would bill the docstring a second time
        return written
    return dump_model(schema) if callable(getattr(schema, "model_dump", None)) else schema


def _read_extra(tool: object) -> dict[str, Any]:
    """The further fields that LangChain (`extras`) and OpenAI Agents (`strict_json_schema`) send."""
    strict = {"strict": True} if _read_attribute(tool, "strict_json_schema") is True else {}
    return strict | dict(fields_in(_read_attribute(tool, "extras")))


def _read_dump(tool: object) -> tuple[Reading, ...] | None:
    """Read Gemini and MCP objects, and a provider's own tools, from their dumps."""
    if isinstance(tool, type):
        return None
    dumps = callable(getattr(tool, "model_dump", None))
    typed = isinstance(_read_attribute(tool, "type"), str)
    typed = typed or _read_attribute(tool, "function_declarations") is not _MISSING
    if dumps and typed:
        return read_definition(dump_model(tool))
    if all(_read_attribute(tool, word) is _MISSING for word in MCP_SCHEMA):
        return None
    fields = dump_model(tool) if dumps else {word: _read_attribute(tool, word) for word in MCP_WIRE}
    return read_definition({word: fields[word] for word in MCP_WIRE if fields.get(word, _MISSING) is not _MISSING})


def dump_model(model: Any) -> dict[str, object]:
    """An SDK object as a dict, with the field names of its API."""
    # Not mode="json", which silently turns NaN into null.
    return cast("dict[str, object]", model.model_dump(by_alias=True, exclude_none=True))


def _read_inner(tool: object) -> tuple[Reading, ...] | None:
    for word in HOLDERS:
        inner = _read_attribute(tool, word)
        if isinstance(inner, Mapping):
            if any(key in inner for key in SCHEMA_WORDS):
                return read_definition(cast("Mapping[str, object]", inner))
        elif inner is not _MISSING and (reading := _read_attributes(inner)) is not None:
            return reading
    return None


def _read_attribute(tool: object, word: str) -> object:
    """The attribute of an instance or a class; `_MISSING` for a method, or for a property of a class."""
    fields: Mapping[str, Any] = getattr(_find_class(tool), "model_fields", {})
    if isinstance(tool, type) and word in fields:
        return _MISSING if fields[word].is_required() else fields[word].default
    try:
        value: object = getattr(tool, word, _MISSING)
    except Exception as cause:
        raise tool_error(
            f"a {_find_class(tool).__name__} raised {type(cause).__name__} when asked for {word}"
        ) from cause
    return _MISSING if inspect.isroutine(value) or isinstance(value, property) else value


def _find_class(tool: object) -> type:
    return tool if isinstance(tool, type) else type(tool)


def _is_langchain_class(tool: object) -> bool:
    return isinstance(tool, type) and "args_schema" in getattr(tool, "model_fields", {})
