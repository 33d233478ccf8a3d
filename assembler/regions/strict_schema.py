"""Writes a class's JSON schema as OpenAI's SDK does for strict decoding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard, cast

from assembler.regions.tools.schema import Schema, rewrite_schema

_DEFINITIONS = "#/$defs/"


def close_schema(schema: Schema, _key: str | None = None) -> Schema:
    """The schema with its object closed, and every property of it required."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return schema
    return {**schema, "required": [*cast("Schema", properties)], "additionalProperties": False}


def write_strictly(root: Schema) -> Schema:
    """The schema with every object closed, no default of null, and each reference with words beside it written out.

    As in openai 3.57, `_ensure_strict_json_schema` (read 2026-11). A definition that would hold itself stays
    a reference: the SDK comes to no end. O(the schema that is written).
    """

    def write(schema: Schema, _key: str | None) -> Schema:
        schema = _without_null(schema)
        definition = _find_definition(root, schema) if len(schema) > 1 else None
        if definition is not None and not _is_endless(root, schema["$ref"]):
            beside = {word: value for word, value in schema.items() if word != "$ref"}
            return write({**definition, **beside}, None)
        return close_schema(schema)

    return rewrite_schema(root, write)


def _without_null(schema: Schema) -> Schema:
    if schema.get("default", ...) is not None:
        return schema
    return {word: value for word, value in schema.items() if word != "default"}


def _find_definition(root: Schema, schema: Schema) -> Schema | None:
    """The definition that a schema refers to; None if it refers to none of the root's."""
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith(_DEFINITIONS):
        return None
    definitions: object = root.get("$defs")
    found: object = definitions.get(reference.removeprefix(_DEFINITIONS)) if _is_schema(definitions) else None
    return found if _is_schema(found) else None


def _is_schema(value: object) -> TypeGuard[Schema]:
    return isinstance(value, dict)


def _is_endless(root: Schema, reference: str) -> bool:
    """Whether a definition holds itself once its references are written out, over whatever others."""
    seen: set[str] = set()
    following = [reference]
    while following:
        definition = _find_definition(root, {"$ref": following.pop()})
        found = set(() if definition is None else _find_written_out(definition)) - seen
        seen |= found
        following += found
    return reference in seen


def _find_written_out(schema: Schema) -> Iterator[str]:
    """Yield the references in a schema that have words beside them."""
    noted: list[str] = []

    def note(one: Schema, _key: str | None) -> Schema:
        if isinstance(one.get("$ref"), str) and len(_without_null(one)) > 1:
            noted.append(one["$ref"])
        return one

    rewrite_schema(schema, note)
    yield from noted
