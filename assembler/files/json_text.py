"""Reads JSON and JSON lines strictly: no duplicate keys, no NaN, no infinity, and errors with line numbers."""

from __future__ import annotations

import base64
import json
import math
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from assembler.files.place import Place, shown_key
from assembler.files.reading import MEBIBYTE, file_text

LONGEST = 64 * MEBIBYTE
"""The most bytes of a JSON file, which bounds memory: about 15 million tokens, more than any window."""

DEEPEST = 128
"""The deepest nesting: far above any message or schema, and far below Python's recursion limit."""

LINES = frozenset({".jsonl", ".ndjson"})
"""The suffixes of files with a value on each line."""


class _RefusedError(ValueError):
    """A fault of the value, not of the syntax."""


def read_json(path: Path, place: Place) -> Any:
    """Read the value of a JSON file, or the list of values of JSON lines. Raises `SpecError` at `place`."""
    if path.suffix.lower() in LINES:
        return read_json_lines(path, place)
    return _parse_at(file_text(path, place, limit=LONGEST), place, str(path))


def read_json_lines(path: Path, place: Place) -> list[Any]:
    """Read the values of a file of JSON lines with any name. Raises `SpecError` at `place`."""
    text = file_text(path, place, limit=LONGEST)
    return [
        _parse_at(line, place, str(path), first_line=number)
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ]


def _parse_at(text: str, place: Place, path: str, *, first_line: int | None = None) -> Any:
    file = place.named(path, ", ")
    where = file if first_line is None else f"{file}, line {first_line}"
    try:
        return parse_json(text)
    except json.JSONDecodeError as error:  # it holds the whole text, so it must not be in the chain
        problem = f"{file}, line {(first_line or 1) + error.lineno - 1}, column {error.colno}: {error.msg}"
    except RecursionError:
        problem = f"{where}: nested too deeply"
    except ValueError as error:
        problem = f"{where}: {error}"
    raise place.error(f"expected JSON{problem}")


def parse_json(text: str) -> Any:
    """Parse a JSON text. Raises `ValueError`, and `RecursionError` for a value that is nested too deeply."""
    if text.startswith("\ufeff"):
        raise json.JSONDecodeError("Unexpected UTF-8 BOM (decode using utf-8-sig)", text, 0)
    value: Any = _STRICT.decode(text)
    if text.count("[") + text.count("{") >= DEEPEST:  # fewer cannot be that deep
        _refuse_depth(value)
    return value


def bytes_as_base64(value: object) -> str:
    """Return the base64 of bytes, such as those of an image, as in the APIs' own JSON: a `default` of `json.dumps`."""
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    raise TypeError(type(value).__name__)


def _refuse_depth(value: Any) -> None:
    """Raise `RecursionError` for a value that is nested too deeply. Does not recurse itself; O(values)."""
    level: list[Any] = [value]
    for _ in range(DEEPEST):
        level = [inner for item in level for inner in _list_items(item)]
        if not level:
            return
    raise RecursionError


def _list_items(value: object) -> Iterable[Any]:
    if isinstance(value, dict):
        return cast("dict[str, Any]", value).values()
    return cast("Iterable[Any]", value) if isinstance(value, list) else ()


def _refuse_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        [(twin, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise _RefusedError(f"key {shown_key(twin)} given twice in one object")
    return fields


def _read_finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _RefusedError("a number is beyond the largest that a double can hold")
    return number


def _refuse_constant(name: str) -> Any:
    raise _RefusedError(f"{name} is not a JSON number")


_STRICT = json.JSONDecoder(object_pairs_hook=_refuse_twins, parse_constant=_refuse_constant, parse_float=_read_finite)
