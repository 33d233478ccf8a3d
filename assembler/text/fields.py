"""Reads dicts, lists and objects from outside data. A value of another type counts as missing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

Fields: TypeAlias = Mapping[str, Any]


def fields_of(value: object) -> Fields | None:
    """The value if it is a mapping, else None."""
    if type(value) is dict:  # nearly always, and faster than the abstract class
        return cast(Fields, value)
    return cast(Fields, value) if isinstance(value, Mapping) else None


def fields_in(value: object, *keys: str) -> Fields:
    """The mapping under these nested keys; an empty one if there is none."""
    found = fields_of(value) or {}
    for key in keys:
        found = fields_of(found.get(key)) or {}
    return found


def value_in(value: object, name: str) -> object:
    """The value under a key of a mapping, or of an attribute of another object; None if there is none, or if
    the object of a caller raises.
    """
    try:
        if isinstance(value, Mapping):
            return cast("Mapping[str, object]", value).get(name)
        return getattr(value, name, None)
    except Exception:
        return None


def object_in(text: str) -> Fields | None:
    """Parse a JSON object; None for any other text."""
    try:
        return fields_of(json.loads(text))
    except (ValueError, RecursionError):
        return None


def items_of(value: object) -> Sequence[object]:
    """A list or a tuple, and an empty sequence for anything else."""
    return cast("Sequence[object]", value) if isinstance(value, list | tuple) else ()


def texts_in(value: object) -> Iterator[str]:
    """Every text in a value, at any depth, but no key of a mapping."""
    if isinstance(value, str):
        yield value
    for item in cast(Fields, value).values() if isinstance(value, Mapping) else items_of(value):
        yield from texts_in(item)
