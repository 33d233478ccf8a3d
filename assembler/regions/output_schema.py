"""The output schema of a request: a JSON schema with a name, from a dict or a pydantic model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

import attrs

from assembler.errors import ToolError
from assembler.regions.tools.models import is_model, model_schema
from assembler.regions.tools.plain import plain
from assembler.regions.tools.schema import Schema, refuse_unlisted, rewrite_schema
from assembler.validation import must_be, name_of_value
from budgets.errors import OfTheCaller

_LEGAL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""OpenAI API reference, response_format.json_schema.name, read 2026-11: letters, digits, `_` and `-`, at most 64."""


@attrs.frozen
class OutputSchema:
    """A schema that the answer must obey, with a name, which some APIs require."""

    name: str
    schema: Mapping[str, Any] = attrs.field(repr=False)
    description: str | None = attrs.field(default=None, repr=False)
    strict: bool = False
    """Whether the schema obeys the rules of strict decoding: every object closed, and every property required."""


def read_output_schema(given: object, name: str | None) -> OutputSchema:
    """The schema of a JSON schema (a dict) or a pydantic model class.

    For a model, objects are closed and properties required, as strict decoding needs; a dict is sent unchanged. The
    name is `name`, else the model's, else the schema's title, else `answer`. Raises `ToolError` for anything else, and
    for a name that an API would refuse.
    """
    if name is not None:
        must_be("output schema: name", cast(object, name), (str,), "a text (str) or None", ToolError)
    if is_model(given):
        from assembler.regions.strict_schema import close_schema  # for a class alone

        schema = rewrite_schema(model_schema(given, given.__name__), close_schema)
        return _make_output_schema(schema, name or given.__name__)
    if isinstance(given, Mapping):
        with OfTheCaller("output schema", ToolError):
            schema = cast("Schema", plain(cast("Mapping[str, object]", given), tool=name, path=("schema",)))
        refuse_unlisted(schema, tool=name or "answer")
        title: object = schema.get("title")
        return _make_output_schema(schema, name or (title if isinstance(title, str) and _is_legal(title) else "answer"))
    kind = (
        f"the class {given.__name__}; pass pydantic.TypeAdapter(cls).json_schema()" if isinstance(given, type) else ""
    )
    expected = "output schema: expected a JSON schema (a dict) or a pydantic model class"
    raise ToolError(f"{expected}, got {kind or name_of_value(given)}")


def written_by_the_sdk(model: Any) -> OutputSchema:
    """A pydantic model, or another class, as OpenAI's SDK writes it when it is passed the class, with titles.

    The docstring stays inside the schema (`write_strictly`). Raises `ToolError` for a class without a schema.
    """
    from assembler.regions.strict_schema import write_strictly  # for a class alone

    name = str(getattr(model, "__name__", "answer"))
    return OutputSchema(name, write_strictly({**json_schema_of(model)}), strict=True)


def json_schema_of(answer: Any) -> Mapping[str, Any]:
    """The JSON schema of a pydantic model, a dataclass, a `TypedDict` or `list[Answer]`. Raises `ToolError`."""
    if hasattr(answer, "model_json_schema"):
        return cast("Mapping[str, Any]", answer.model_json_schema())
    from pydantic import PydanticUserError, TypeAdapter  # for classes that write none themselves

    try:
        return TypeAdapter(answer).json_schema()
    except (PydanticUserError, TypeError, AttributeError):
        problem = ToolError(f"the answer's class has no JSON schema: {name_of_value(answer)}; pass the schema itself")
    raise problem


def _make_output_schema(schema: Schema, name: str) -> OutputSchema:
    if not isinstance(cast(object, name), str) or not _is_legal(name):
        raise ToolError("output schema: its name is at most 64 letters, digits, '_' and '-'; pass another name=…")
    description = schema.pop("description", None) if isinstance(schema.get("description"), str) else None
    return OutputSchema(name, schema, description, strict=_is_strict(schema))


def _is_legal(name: str) -> bool:
    return _LEGAL_NAME.fullmatch(name) is not None


def _is_strict(schema: Schema) -> bool:
    """Whether a schema obeys OpenAI's rules of strict decoding (Structured Outputs, "Supported schemas", 2026-11)."""
    loose: list[Schema] = []

    def note_loose(inner: Schema, _key: str | None) -> Schema:
        properties = inner.get("properties")
        if inner.get("type") == "object" or properties is not None:
            listed = [*cast("Schema", properties)] if isinstance(properties, dict) else []
            required: object = inner.get("required", [])
            every = isinstance(required, list) and {*listed} <= {*map(str, cast("list[object]", required))}
            if inner.get("additionalProperties") is not False or not every:
                loose.append(inner)
        return inner

    rewrite_schema(schema, note_loose)
    return not loose and schema.get("type") == "object"
