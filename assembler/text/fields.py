"""Reads dicts, lists and objects from outside data. A value of another type counts as missing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

Fields: TypeAlias = Mapping[str, Any]

DEEPEST_READ: Final = 190
"""How deeply a JSON text may be nested, so that a message of 200 levels can hold its value. Python's own limit depends
on how deep the caller's stack is."""
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


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


def json_in(text: str) -> Any:
    """Parse a JSON text. Raises `ValueError` for any other text, and for a value that is nested deeper than
    `DEEPEST_READ` or holds a lone surrogate, which cannot be counted.
    """
    try:
        value: Any = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    refuse_depth(text, value)
    if _SURROGATE.search(text):
        json.dumps(value, ensure_ascii=False).encode()
    return value


def refuse_depth(text: str, value: object) -> None:
    """Raise `ValueError` for the value of a JSON text if it is nested deeper than `DEEPEST_READ`. O(values)."""
    if text.count("[") + text.count("{") <= DEEPEST_READ:  # so few cannot be that deep
        return
    level = [value]
    for _ in range(DEEPEST_READ):
        level = [inner for item in level for inner in (*items_of(item), *(fields_of(item) or {}).values())]
    if any(isinstance(item, list | dict) for item in level):
        raise ValueError("nested too deeply")


def object_in(text: str) -> Fields | None:
    """Parse a JSON object; None for any text that `json_in` does not parse, or as another value."""
    try:
        return fields_of(json_in(text))
    except ValueError:
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
