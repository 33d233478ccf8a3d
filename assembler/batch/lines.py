"""Turns an input line of JSON into an output line."""

from __future__ import annotations

import difflib
import functools
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from assembler.assembler import Assembler
from assembler.batch.errors import RowError
from assembler.batch.formats import OWN, Format, outcome
from assembler.batch.rows import Assembled, Failed, as_utf_8, write_line
from assembler.files.json_text import parse_json
from budgets import MissingExtraError

WRITTEN = ("row", "error", "request", "tokens", "upper", "grade", "dropped")
"""The fields that an output line writes. All other fields of a row are copied."""

LIKENESS = 0.85
"""The similarity from which a field counts as misspelled: `mesages`, `tool`, `instructions`, but not `message_id`."""

LONGEST = 64 * 1024 * 1024
"""The most bytes of one row, which bounds memory: about 15 million tokens, more than any window."""

FAILED = re.compile(rb'\{"row":\d+,"error":')
"""The beginning of the line of a row without a request."""


def begins(number: int) -> bytes:
    """The beginning of a row's output line."""
    return b'{"row":%d,' % number


def answer(base: Assembler, number: int, line: bytes, kind: Format = OWN) -> bytes:
    """The output line of a row with its line break: its request, or its error. Equal lines give equal bytes.

    Raises only if a package is missing. Any other error is written to the row's line.
    """
    carried: Mapping[str, Any] = {}
    try:
        row = row_of(number, line, kind)
        carried = {name: value for name, value in row.items() if name not in kind.read}
        _refuse_slips(carried, kind.read)
        return _spell_line(number, carried, outcome(base, row, kind))
    except MissingExtraError:
        raise
    except Exception as error:
        known = {name: value for name, value in carried.items() if name not in WRITTEN}
        return _spell_line(number, known, Failed.by(error))


def row_of(number: int, line: bytes, kind: Format = OWN) -> dict[str, Any]:
    """Parse the object of a line. Raises `RowError` for any other line."""
    if len(line) > LONGEST:
        raise RowError(f"the row is longer than {LONGEST // 1024**2} MiB")
    row = _parse_value(_decode_text(number, line))
    if not isinstance(row, dict):
        raise RowError(f"expected a JSON object with {', '.join(kind.read)}")
    return cast("dict[str, Any]", row)


def _decode_text(number: int, line: bytes) -> str:
    try:
        return line.decode("utf-8-sig" if number == 0 else "utf-8")
    except UnicodeDecodeError as error:  # it holds the row, so it must not be in the chain
        offset = error.start
    raise RowError(f"expected UTF-8, the row has other bytes at offset {offset}")


def _parse_value(text: str) -> object:
    try:
        return parse_json(text)
    except json.JSONDecodeError as error:
        problem = f"column {error.colno}: {error.msg}"
    except RecursionError:
        problem = "nested too deeply"
    except ValueError as error:
        problem = str(error)
    raise RowError(f"expected JSON, {problem}")


def _refuse_slips(carried: Mapping[str, Any], read: Sequence[str]) -> None:
    for name in carried:
        if name in WRITTEN:
            raise RowError(f"the row has a field {name}, which the output line writes: rename it")
        if (near := _find_similar(name, tuple(read))) is not None:
            raise RowError(f"the row has a field that is nearly {near}: spell it so, or rename it")


@functools.lru_cache(maxsize=256)
def _find_similar(name: str, read: tuple[str, ...]) -> str | None:
    """The field that a name is similar to. Cached: most rows of a file have the same fields."""
    return next(iter(difflib.get_close_matches(name.lower(), read, n=1, cutoff=LIKENESS)), None)


def _spell_line(number: int, carried: Mapping[str, Any], found: Assembled | Failed) -> bytes:
    fields = write_line(carried)[1:-1] if carried else ""
    more = f",{fields}" if fields else ""
    match found:
        case Failed():
            text = f'{{"row":{number},"error":{write_line({"kind": found.kind, "message": found.message})}{more}}}'
        case Assembled():
            count = found.count
            figures = (
                f'"tokens":{count.tokens},"upper":{count.upper},"grade":"{count.grade!s}","dropped":{found.dropped}'
            )
            text = f'{{"row":{number}{more},"request":{found.request},{figures}}}'
    return as_utf_8(text) + b"\n"  # a copied field may have a lone surrogate
