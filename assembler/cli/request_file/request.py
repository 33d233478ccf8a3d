"""The keys of a request file, with one reader for each."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from assembler.cli.request_file.policies import overflow
from assembler.cli.request_file.shapes import (
    Reader,
    any_text,
    fields_of,
    json_value,
    kind,
    list_of,
    mapping,
    number,
    one_of,
    table_of,
    true_or_false,
    whole_number,
)
from assembler.dialects import DIALECTS
from assembler.files.place import Place

_LIMIT = {"cap": number, "floor": number, "share": number, "priority": whole_number}
_BUDGET = {
    "context_window": whole_number,
    "max_output_tokens": whole_number,
    "least_output_tokens": whole_number,
    "reasoning_tokens": whole_number,
    "max_input_tokens": whole_number,
    "overhead": whole_number,
    "safety_margin": whole_number,
    "limits": table_of(fields_of(_LIMIT), what="mapping of regions"),
}
_DOCUMENT = {
    "type": any_text,
    "text": any_text,
    "file": any_text,
    "source": any_text,
    "trusted": true_or_false,
    "score": number,
}


def _read_document(place: Place, value: object) -> dict[str, Any]:
    document = fields_of(_DOCUMENT, required=["type"])(place, value)
    if ("text" in document) == ("file" in document):
        given = "both" if "text" in document else "neither"
        raise place.error(f"expected either text or file, got {given}")
    return document


def _read_path(place: Place, value: object) -> Path:
    """Read the path of a file with the value. It is relative to the folder of the request file."""
    return Path(fields_of({"file": any_text}, required=["file"])(place, value)["file"])


def _make_reader_or_file(reader: Reader[Any], *, what: str) -> Reader[Any]:
    """A reader of a value that may also be in a separate file: `{file: path}`."""

    def read(place: Place, value: object) -> Any:
        if isinstance(value, dict):
            return _read_path(place, cast("object", value))
        if not isinstance(value, str | list):
            raise place.error(f"expected {what} or {{file: path}}, got {kind(value)}")
        return reader(place, cast("object", value))

    return read


def _read_schema(place: Place, value: object) -> dict[str, Any] | Path:
    schema = mapping(place, value, what="JSON schema or {file: path}")
    return _read_path(place, schema) if schema.keys() == {"file"} else schema_value(place, schema)


def schema_value(place: Place, value: object) -> dict[str, Any]:
    """Read a mapping that JSON can carry."""
    return {name: json_value(place.key(name), item) for name, item in mapping(place, value, what="JSON schema").items()}


def _read_strategy(place: Place, value: object) -> Any:
    from assembler.cli.request_file.strategies import strategy  # most files have none

    return strategy(place, value)


def _read_cache_marks(place: Place, value: object) -> Any:
    from assembler.cli.request_file.strategies import cache_marks  # nor these

    return cache_marks(place, value)


messages_value = list_of(json_value, what="messages")
tools_value = list_of(json_value, what="tool definitions")

read_request = fields_of(
    {
        "model": any_text,
        "budget": fields_of(_BUDGET),
        "dialect": one_of(DIALECTS),
        "instruction": _make_reader_or_file(any_text, what="text"),
        "tools": _make_reader_or_file(tools_value, what="a list of tool definitions"),
        "knowledge": list_of(_read_document, what="documents"),
        "messages": _make_reader_or_file(messages_value, what="a list of messages"),
        "on_overflow": overflow,
        "strategy": _read_strategy,
        "cache_marks": _read_cache_marks,
        "output_schema": _read_schema,
    }
)
"""Reads a whole file, by key. Raises `SpecError` naming the key."""
