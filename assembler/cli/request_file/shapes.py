"""Readers: pure functions `(place, value) -> T` from a file's value to a typed one, with errors of one line.

`Named` reads an object: its name, or its name with options. Errors quote short settings. A value that may be text of a
prompt is only described by its type and size.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping
from typing import Any, Generic, TypeAlias, TypeVar, cast

import attrs

from assembler.files.place import LONGEST_SHOWN, Place, SpecError, nearest
from budgets import UnknownModelError
from budgets.errors import named_type
from budgets.numbers import with_noun

T = TypeVar("T")
Reader: TypeAlias = Callable[[Place, object], T]


def describe_type(value: object) -> str:
    """Describe a value by its type, without quoting a text."""
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case int() | float():
            return f"{value}" if len(f"{value}") <= LONGEST_SHOWN else "a very long number"
        case str():
            return f"a text of {with_noun(len(value), 'character')}"
        case list():
            return "a list"
        case Mapping():
            return "a mapping"
        case _:
            return named_type(value)


def describe_setting(value: object) -> str:
    """Describe a setting as `describe_type` does, but quote a short text. Not for what may be part of a prompt."""
    if isinstance(value, str) and len(value) <= LONGEST_SHOWN:
        return json.dumps(value, ensure_ascii=False)
    return describe_type(value)


def read_any_text(place: Place, value: object) -> str:
    """Read any text."""
    if isinstance(value, str):
        return value
    hint = " (put it in quotes)" if isinstance(value, bool | int | float) else ""
    raise place.error(f"expected text, got {describe_type(value)}{hint}")


def read_true_or_false(place: Place, value: object) -> bool:
    """Read a boolean."""
    if isinstance(value, bool):
        return value
    raise place.error(f"expected true or false, got {describe_setting(value)}")


def read_whole_number(place: Place, value: object) -> int:
    """Read a whole number."""
    if type(value) is int:
        return value
    raise place.error(f"expected a whole number, got {describe_setting(value)}")


def read_number(place: Place, value: object) -> int | float:
    """Read a finite number."""
    if type(value) is int or (type(value) is float and math.isfinite(value)):
        return value
    raise place.error(f"expected a number, got {describe_setting(value)}")


def one_of(choices: Mapping[str, T]) -> Reader[T]:
    """A reader of one of these names, which returns the name's value."""

    def read(place: Place, value: object) -> T:
        if isinstance(value, str) and value in choices:
            return choices[value]
        close = nearest(value, choices) if isinstance(value, str) else ""
        hint = f" ({close[2:]})" if close.startswith(", ") else ""
        raise place.error(f"expected one of {', '.join(choices)}; got {describe_setting(value)}{hint}")

    return read


def list_of(reader: Reader[T], *, what: str) -> Reader[list[T]]:
    """A reader of a list. `what` names the items in errors."""

    def read(place: Place, value: object) -> list[T]:
        if not isinstance(value, list):
            raise place.error(f"expected a list of {what}, got {describe_type(value)}")
        return [reader(place.item(index), item) for index, item in enumerate(cast("list[object]", value))]

    return read


def table_of(reader: Reader[T], *, what: str) -> Reader[dict[str, T]]:
    """A reader of a mapping with any keys. `what` names the values in errors."""

    def read(place: Place, value: object) -> dict[str, T]:
        return {name: reader(place.key(name), item) for name, item in read_mapping(place, value, what=what).items()}

    return read


def fields_of(
    readers: Mapping[str, Reader[Any]], *, required: Collection[str] = (), what: str = ""
) -> Reader[dict[str, Any]]:
    """A reader of a mapping with these keys. An empty value counts as missing."""

    def read(place: Place, value: object) -> dict[str, Any]:
        given = read_mapping(place, value, what=what or f"mapping with {', '.join(readers)}")
        refuse_unknown(place, given, readers)
        values = {name: readers[name](place.key(name), item) for name, item in given.items() if item is not None}
        for name in required:
            if name not in values:
                raise place.key(name).error("missing, and required")
        return values

    return read


def refuse_unknown(place: Place, given: Mapping[str, object], known: Collection[str]) -> None:
    """Raise an error for the first unknown key."""
    for name in given:
        if name not in known:
            raise _find_foreign_name(place, name, known) or place.unknown(name, known)


_MEANT = {
    "max_tokens": "budget.max_output_tokens",
    "max_completion_tokens": "budget.max_output_tokens",
    "max_output_tokens": "budget.max_output_tokens",
    "context_length": "budget.context_window",
    "max_model_len": "budget.context_window",
    "context_window": "budget.context_window",
    "system": "instruction",
    "system_prompt": "instruction",
    "instructions": "instruction",
    "functions": "tools",
    "documents": "knowledge",
    "sources": "knowledge",
    "context": "knowledge",
    "history": "messages",
    "conversation": "messages",
    "input": "messages",
    "contents": "messages",
    "policy": "on_overflow",
    "overflow": "on_overflow",
    "response_format": "output_schema",
    "api": "dialect",
    "provider": "dialect",
}
"""The names of our keys in other files and APIs. The most similar of our own names may mean something else."""


def _find_foreign_name(place: Place, name: str, known: Collection[str]) -> SpecError | None:
    """The error for another program's name of a key that exists here or in the budget here."""
    ours = _MEANT.get(name, "")
    outer, _, inner = ours.rpartition(".")
    for key, meant in ((ours, ours), (outer, ours), (inner, inner)):
        if key and key in known:
            return place.key(name).error(f"unknown key; did you mean {meant}? expected one of: {', '.join(known)}")
    return None


def read_mapping(place: Place, value: object, *, what: str) -> dict[str, object]:
    """Read a mapping whose keys are texts."""
    if not isinstance(value, dict):
        raise place.error(f"expected a {what}, got {describe_type(value)}")
    fields = cast("dict[object, object]", value)
    for name in fields:
        if not isinstance(name, str):
            raise place.error(f"expected keys that are text, got {describe_type(name)} (put it in quotes)")
    return cast("dict[str, object]", fields)


def json_value(place: Place, value: object) -> Any:
    """Read anything that JSON can carry: no date, no bytes, no NaN, no key that is not text."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return read_number(place, value)
        case list():
            items = cast("list[object]", value)
            return [json_value(place.item(index), item) for index, item in enumerate(items)]
        case dict():
            fields = read_mapping(place, cast("object", value), what="mapping")
            return {name: json_value(place.key(name), item) for name, item in fields.items()}
        case _:
            raise place.error(f"expected a value that JSON can carry, got {describe_type(value)}")


def unknown_model(error: UnknownModelError) -> str:
    """The error's text for an unknown model."""
    like = f"; nearest known: {', '.join(error.nearest)}" if error.nearest else ""
    return f"expected a model whose window is published, got {describe_setting(error.name)}{like}"


@attrs.frozen
class Named(Generic[T]):
    """A constructor, the readers of its options, and which of them are required."""

    make: Callable[..., T]
    options: Mapping[str, Reader[Any]] = attrs.field(factory=dict[str, Reader[Any]])
    required: Collection[str] = ()

    def read(self, place: Place, value: object) -> T:
        """Construct the object with the options in this mapping. Missing ones have the constructor's defaults."""
        read = fields_of(self.options, required=self.required, what="mapping of options")
        values = read(place, {} if value is None else value)
        with place.answers_for():
            return self.make(**values)


def read_named(table: Mapping[str, Named[T]], place: Place, value: object, *, what: str, several: str) -> T:
    """Read one object of the table: a name, or a mapping of one name to its options. `several` is advice for more."""
    if not isinstance(value, dict):
        return one_of(table)(place, value).read(place.key(str(value)), None)
    given = read_mapping(place, cast("object", value), what=what)
    if len(given) != 1:
        raise place.error(f"expected one {what} with its options, got {len(given)} keys{several}")
    [(name, options)] = given.items()
    return one_of(table)(place, name).read(place.key(name), options)
