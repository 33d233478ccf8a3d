"""Reads the text of a file, or raises a one-line error."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO

from assembler.files.place import Place

MEBIBYTE = 1024 * 1024

STANDARD = Path("-")
"""The path of standard input for reading, and of standard output for writing."""


def standard_input(place: Place) -> BinaryIO:
    """Standard input as bytes. Raises `SpecError` at `place` if the process was started with it closed."""
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise place.error("expected an open standard input; it is closed: name a file")
    return sys.stdin.buffer


def file_text(path: Path, place: Place, *, limit: int) -> str:
    """The UTF-8 text of a file of at most `limit` bytes, without a byte order mark.

    Reads little more than `limit` bytes, so that an endless device or pipe is refused too. Raises `SpecError` at
    `place`.
    """
    try:
        content = _read_content(path, place, limit + 1)
    except FileNotFoundError:
        raise place.error(f"expected a file, found none{place.named(path, ' at ')}") from None
    except IsADirectoryError:
        raise place.error(f"expected a file, found a folder{place.named(path, ' at ')}") from None
    except (OSError, ValueError) as error:
        raise place.error(f"expected a file that can be read: {path}: {_name_reason(error)}") from None
    if len(content) > limit:
        raise place.error(f"expected at most {limit // MEBIBYTE} MiB, found more{place.named(path, ' in ')}")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:  # it holds the whole file, so it must not be in the chain
        line = content.count(b"\n", 0, error.start) + 1
    raise place.error(f"expected UTF-8 text, found other bytes in line {line}{place.named(path, ' of ')}")


def _read_content(path: Path, place: Place, most: int) -> bytes:
    if path == STANDARD:
        return standard_input(place).read(most)
    with path.open("rb") as file:
        return file.read(most)


def _name_reason(error: OSError | ValueError) -> str:
    return (error.strerror or type(error).__name__) if isinstance(error, OSError) else str(error)
