"""The keys of a request file, with one reader for each."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from assembler.cli.request_file.policies import read_ladder
from assembler.cli.request_file.shapes import (
    Reader,
    describe_type,
    fields_of,
    json_value,
    list_of,
    one_of,
    read_any_text,
    read_mapping,
    read_number,
    read_true_or_false,
    read_whole_number,
    table_of,
)
from assembler.dialects import DIALECTS
from assembler.files.place import Place

_LIMIT = {"cap": read_number, "floor": read_number, "share": read_number, "priority": read_whole_number}
_BUDGET = {
    "context_window": read_whole_number,
    "max_output_tokens": read_whole_number,
    "least_output_tokens": read_whole_number,
    "reasoning_tokens": read_whole_number,
    "max_input_tokens": read_whole_number,
    "overhead": read_whole_number,
    "safety_margin": read_whole_number,
    "limits": table_of(fields_of(_LIMIT), what="mapping of regions"),
}
_DOCUMENT = {
    "type": read_any_text,
    "text": read_any_text,
    "file": read_any_text,
    "source": read_any_text,
    "trusted": read_true_or_false,
    "score": read_number,
}


def _read_document(place: Place, value: object) -> dict[str, Any]:
    document = fields_of(_DOCUMENT, required=["type"])(place, value)
    if ("text" in document) == ("file" in document):
        given = "both" if "text" in document else "neither"
        raise place.error(f"expected either text or file, got {given}")
    return document


def _read_path(place: Place, value: object) -> Path:
    """Read the path of a file with the value. It is relative to the folder of the request file."""
    return Path(fields_of({"file": read_any_text}, required=["file"])(place, value)["file"])


def _make_reader_or_file(reader: Reader[Any], *, what: str) -> Reader[Any]:
    """A reader of a value that may also be in a separate file: `{file: path}`."""

    def read(place: Place, value: object) -> Any:
        if isinstance(value, dict):
            return _read_path(place, cast("object", value))
        if not isinstance(value, str | list):
            raise place.error(f"expected {what} or {{file: path}}, got {describe_type(value)}")
        return reader(place, cast("object", value))

    return read


def _read_schema(place: Place, value: object) -> dict[str, Any] | Path:
    schema = read_mapping(place, value, what="JSON schema or {file: path}")
    return _read_path(place, schema) if schema.keys() == {"file"} else schema_value(place, schema)


def schema_value(place: Place, value: object) -> dict[str, Any]:
    """Read a mapping that JSON can carry."""
    fields = read_mapping(place, value, what="JSON schema")
    return {name: json_value(place.key(name), item) for name, item in fields.items()}


def _read_strategy(place: Place, value: object) -> Any:
    from assembler.cli.request_file.strategies import read_strategy  # most files have none

    return read_strategy(place, value)


def _read_cache_marks(place: Place, value: object) -> Any:
    from assembler.cli.request_file.strategies import read_cache_marks  # nor these

    return read_cache_marks(place, value)


messages_value = list_of(json_value, what="messages")
tools_value = list_of(json_value, what="tool definitions")

read_request = fields_of(
    {
        "model": read_any_text,
        "budget": fields_of(_BUDGET),
        "dialect": one_of(DIALECTS),
        "instruction": _make_reader_or_file(read_any_text, what="text"),
        "tools": _make_reader_or_file(tools_value, what="a list of tool definitions"),
        "knowledge": list_of(_read_document, what="documents"),
        "messages": _make_reader_or_file(messages_value, what="a list of messages"),
        "on_overflow": read_ladder,
        "strategy": _read_strategy,
        "cache_marks": _read_cache_marks,
        "held": read_whole_number,
        "output_schema": _read_schema,
    }
)
"""Reads a whole file, by key. Raises `SpecError` naming the key."""
