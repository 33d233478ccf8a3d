"""Reads the keyword arguments of an SDK's call as the JSON that the SDK sends for them.

A caller may pass what an SDK takes: an option that is "not given", a typed `config` of Gemini's, or the class of a
structured answer. Messages and tools are read elsewhere, as objects of any SDK.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

from assembler.regions.output_schema import json_schema_of, written_by_the_sdk
from assembler.regions.strict_schema import close_schema
from assembler.regions.tools.schema import rewrite_schema
from assembler.text.fields import fields_in, fields_of

Arguments: TypeAlias = Mapping[str, Any]

_NOT_GIVEN = frozenset({"NotGiven", "Omit", "Unset"})
"""Classes of values that SDKs leave out of a body (openai 3.54, anthropic 2.12, mistralai 3.7; read 2026-11)."""
_JSON = frozenset({str, int, float, bool, list, dict, tuple, type(None)})
_CONFIG = "config"
_SCHEMAS = ("response_schema", "response_json_schema")
_DUMPED = frozenset({"system_instruction", "systemInstruction", *_SCHEMAS})


def without_sdk_values(request: Arguments) -> Arguments:
    """The request without options that are not given, and with Gemini's typed `config` as a dict.

    The same object if nothing changes. O(keys).
    """
    if all(type(value) in _JSON for value in request.values()) and _CONFIG not in request:
        return request
    given = {key: value for key, value in request.items() if type(value).__name__ not in _NOT_GIVEN}
    if _CONFIG in given:
        given[_CONFIG] = _open_config(given[_CONFIG])
    return given


def _open_config(config: object) -> object:
    """A typed config as a dict of its fields that are set, with a typed system instruction as a dict."""
    fields = fields_of(config)
    if fields is None:
        names = cast("Mapping[str, object]", getattr(type(config), "model_fields", {}))
        fields = {name: getattr(config, name) for name in names if getattr(config, name) is not None}
        if not names:
            return config
    typed = {
        key: _dump_value(held)
        for key, held in fields.items()
        if key in _DUMPED and type(held) not in _JSON and not _is_class(held)
    }
    return {**fields, **typed} if typed else fields


def _dump_value(held: object) -> object:
    from assembler.conversation.messages.sdk_objects import filled_dump  # for typed configs alone

    dumped = filled_dump(held)
    return held if dumped is None else dumped


def with_schemas(request: Arguments) -> Arguments:
    """The request with a schema for each class of an answer, as the SDK writes it. The same object if none.

    Raises `ToolError` for a class without a schema.
    """
    classes = [key for key in _WRITTEN if _is_class(request.get(key))]
    config = fields_in(request, _CONFIG)
    inside = [key for key in _SCHEMAS if _is_class(config.get(key))]
    if not classes and not inside:
        return request
    changed = dict(request)
    for key in classes:
        changed |= _WRITTEN[key](request, request[key])
    if inside:
        changed[_CONFIG] = {**config, **{key: _find_schema(config[key]) for key in inside}}
    return changed


def _is_class(value: object) -> bool:
    """Whether this is a class, or a generic one such as `list[Answer]`."""
    return isinstance(value, type) or hasattr(value, "__origin__")


def _find_schema(answer: Any) -> dict[str, Any]:
    return {**json_schema_of(answer)}


def _write_strict(answer: Any) -> dict[str, Any]:
    """Name and schema as OpenAI's SDK writes them: closed, and with every property required."""
    written = written_by_the_sdk(answer)
    return {"name": written.name, "schema": written.schema, "strict": True}


def _write_for_chat(_: Arguments, answer: Any) -> dict[str, Any]:
    return {"response_format": {"type": "json_schema", "json_schema": _write_strict(answer)}}


def _write_for_responses(request: Arguments, answer: Any) -> dict[str, Any]:
    return {"text": {**fields_in(request, "text"), "format": {"type": "json_schema", **_write_strict(answer)}}}


def _write_for_messages(_: Arguments, answer: Any) -> dict[str, Any]:
    return {"output_format": {"type": "json_schema", "schema": rewrite_schema(_find_schema(answer), close_schema)}}


_WRITTEN: Mapping[str, Callable[[Arguments, Any], dict[str, Any]]] = {
    "response_format": _write_for_chat,
    "text_format": _write_for_responses,
    "output_format": _write_for_messages,
}
"""The options that take a class, by the SDKs' helpers for parsed answers."""
