"""Walks and rewrites JSON schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, TypeAlias, cast

from assembler.regions.tools.refusal import kind_of, tool_error

Schema: TypeAlias = dict[str, Any]

# JSON Schema 2020-12, core and applicator vocabularies (json-schema.org, read 2026-11), and draft 7's `definitions`.
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_LISTED = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SINGLE = frozenset(
    {"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties"}
)


def rewrite_schema(schema: Schema, change: Callable[[Schema, str | None], Schema], key: str | None = None) -> Schema:
    """The schema with `change` applied to it and to every schema in it, outermost first.

    `change` also gets the key of its schema (a property, a definition), or None. Values that only look like schemas
    (`default`, `enum`, `const`, `examples`) are never changed.
    """
    return {word: _rewrite_below(word, value, change) for word, value in change(schema, key).items()}


def _rewrite_below(word: str, value: Any, change: Callable[[Schema, str | None], Schema]) -> Any:
    def below(each: Any, key: str | None = None) -> Any:
        # true and false are schemas too
        return rewrite_schema(cast("Schema", each), change, key) if isinstance(each, dict) else each

    if word in _NAMED and isinstance(value, dict):
        return {key: below(each, key) for key, each in cast("Schema", value).items()}
    if word in _LISTED and isinstance(value, list):
        return [below(each) for each in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return below(value) if word in _SINGLE else value


def without_made_up(schema: Schema, key: str | None) -> Schema:
    """The schema without the title that pydantic generates from `key`. A title that the caller wrote stays.

    A default that is a set is sorted, because its order would differ in the next process.
    """
    title = schema.get("title")
    if isinstance(title, str) and key is not None and _is_derived_title(title, key):
        schema = {word: value for word, value in schema.items() if word != "title"}
    if schema.get("uniqueItems") is True and isinstance(schema.get("default"), list):
        schema = {**schema, "default": sorted(schema["default"], key=lambda item: json.dumps(item, sort_keys=True))}
    return schema


def _is_derived_title(title: str, key: str) -> bool:
    # pydantic.json_schema.GenerateJsonSchema: fields use `get_title_from_name`, classes their name, and `$defs` keys
    # the name made legal for a reference, after the module if two classes share it.
    in_reference = re.sub(r"[^a-zA-Z0-9.\-_]", "_", title)
    return (
        title in {key, key.title().replace("_", " ").strip()}
        or key == in_reference
        or key.endswith(f"__{in_reference}")
    )


def refuse_unlisted(schema: Schema, *, tool: str) -> None:
    """Raise `ToolError` if `properties` or another key for named schemas holds anything but a dict. Not recursive."""
    unvisited: list[Any] = [schema]
    while unvisited:
        inner = unvisited.pop()
        if isinstance(inner, list):
            unvisited += inner  # pyright: ignore[reportUnknownVariableType]
        if not isinstance(inner, dict):
            continue
        for word, value in cast("Schema", inner).items():
            if word in _NAMED:
                if not isinstance(value, dict):
                    raise tool_error(f"{word} holds {kind_of(value)}, not a dict of schemas", tool=tool)
                unvisited += cast("Schema", value).values()
            elif word in _LISTED or word in _SINGLE:
                unvisited.append(value)


# google.genai.types.Type (google-genai 3.4, read 2026-11), and the numbers of that enum in the API.
_NUMBERED = ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")
_GEMINI_WORDS: dict[object, str] = {word: word.lower() for word in _NUMBERED}
_GEMINI_TYPES = _GEMINI_WORDS | {number: word.lower() for number, word in enumerate(_NUMBERED, 1)}


def spelled_small(schema: Schema) -> Schema:
    """The schema with Gemini's types in JSON Schema's spelling, if its own type is one of Gemini's words or numbers.

    Clients built on protocol buffers send the number of an enum member: 6 is OBJECT.
    """
    whole: object = schema.get("type")
    if type(whole) not in (int, str) or _GEMINI_TYPES.get(whole) != "object":
        return schema
    types = _GEMINI_TYPES if type(whole) is int else _GEMINI_WORDS

    def spell_type(inner: Schema, _key: str | None) -> Schema:
        kind: object = inner.get("type")
        known = types.get(kind) if type(kind) in (int, str) else None
        return inner if known is None else {**inner, "type": known}

    return rewrite_schema(schema, spell_type)
