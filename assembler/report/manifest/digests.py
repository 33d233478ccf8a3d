"""Describes values by hashes and by plain data without texts."""

from __future__ import annotations

import enum
import hashlib
import json
from collections.abc import Collection, Mapping
from typing import Any, cast

import attrs

from assembler.validation import offers

DEEPEST = 6
"""The depth to which nested values are described; deeper ones are only a type name."""

MOST = 32
"""The most items of a collection that are listed; a longer one (control tokens of a tokenizer) is a length and hash."""


def spell_json(value: object) -> bytes:
    """Compact ASCII JSON in the value's own order, with bytes as hashes and other objects as type names."""
    try:
        return json.dumps(value, separators=(",", ":"), default=_write_value).encode()
    except (TypeError, ValueError, RecursionError):  # a key of another type, a cycle, or too deep
        return type(value).__name__.encode()


def _write_value(value: object) -> Any:
    if isinstance(value, bytes | bytearray):
        return {"bytes": hash_bytes(value)}
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, object]", value))
    # numpy's arrays and numbers have it; a proxy of nothing raises when it is asked.
    return cast(Any, value).tolist() if offers(value, "tolist") else type(value).__qualname__


def hash_bytes(content: bytes | bytearray) -> str:
    """The SHA-256 of bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def digest(value: object) -> str:
    """The SHA-256 of the value's JSON, in hexadecimal. O(characters)."""
    return hash_bytes(spell_json(value))


def describe_setting(value: object, depth: int = 0) -> Any:
    """A setting as plain data: numbers and names unchanged, texts as hashes, attrs values field by field.

    A function is only its name: a change of its code is not seen.
    """
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, str | bytes):
        return {"sha256": digest(value)}
    if depth >= DEEPEST:
        return type(value).__qualname__
    if isinstance(value, Mapping):
        entries = cast("Mapping[object, object]", value)
        return _shorten_items({str(key): describe_setting(item, depth + 1) for key, item in entries.items()})
    if isinstance(value, frozenset | set):
        return _shorten_items(
            sorted((describe_setting(item, depth + 1) for item in cast("Collection[object]", value)), key=spell_json)
        )
    if isinstance(value, list | tuple):
        return _shorten_items([describe_setting(item, depth + 1) for item in cast("Collection[object]", value)])
    return _describe_with_type(value, depth)


def _describe_with_type(value: object, depth: int) -> Any:
    kind = type(value)
    if not attrs.has(kind):
        home: object = value if hasattr(value, "__qualname__") else kind
        return f"{getattr(home, '__module__', '')}.{getattr(home, '__qualname__', '')}"
    fields = {
        field.alias or field.name: describe_setting(getattr(value, field.name), depth + 1)
        for field in attrs.fields(kind)
        if field.init
    }
    return {"type": kind.__qualname__, **fields}


def _shorten_items(items: Any) -> Any:
    return items if len(items) <= MOST else {"items": len(items), "sha256": digest(items)}
