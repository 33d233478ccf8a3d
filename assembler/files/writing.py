"""Writes text or JSON to a file, all of it or nothing."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import stat
import sys
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from assembler.files.json_text import bytes_as_base64
from assembler.files.place import Place
from assembler.files.reading import STANDARD


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write the value as UTF-8 JSON, in which bytes are base64. Raises the errors of `write_text`."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2, default=bytes_as_base64)
    write_text(path, text + "\n")


def same_file(path: Path, other: Path) -> bool:
    """Whether two paths lead to the same file. A path that leads nowhere, such as a loop of links, equals no other.

    Standard input and standard output are different.
    """
    if STANDARD in (path, other):
        return False
    try:
        return path.resolve() == other.resolve()
    except (OSError, RuntimeError):
        return path == other


def standard_output(place: Place) -> BinaryIO:
    """Standard output as bytes. Raises `SpecError` at `place` if the process was started with it closed."""
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise place.error("expected an open standard output; it is closed: name a file")
    return sys.stdout.buffer


def is_standard_output(path: Path) -> bool:
    """Whether standard output goes to this file: `/dev/stdout` that leads to a file, or the same file by its name."""
    try:
        return os.path.samestat(path.stat(), os.fstat(sys.stdout.fileno()))
    except (OSError, AttributeError):  # no such file; standard output is closed
        return False


def write_text(path: Path, content: str) -> None:
    """Write the text as UTF-8, so that a reader never sees half of it.

    Writes a file next to the target, then renames it. Links are followed. A device or pipe is written to
    directly. An existing file keeps its permissions. The path `-` is standard output. Raises `SpecError` if it
    cannot be written; an existing file is then unchanged.
    """
    if path == STANDARD:
        standard_output(Place(str(path))).write(content.encode("utf-8"))
        return
    try:
        target = path.resolve()
        if target.exists() and not target.is_file():
            target.write_text(content, encoding="utf-8", newline="\n")
            return
        replace_text(target, content)
    except OSError as error:
        raise Place(str(path)).error(f"expected a place to write to: {error.strerror}") from None
    except RuntimeError:
        raise Place(str(path)).error("expected a place to write to: a loop of links") from None


def replace_text(target: Path, content: str) -> None:
    """Write the text to a file as UTF-8, whole or not at all. An existing file keeps its permissions.

    Raises OSError, and then leaves no partial file.
    """
    with replacing(target) as file:
        file.write(content.encode())


@contextlib.contextmanager
def replacing(target: Path) -> Generator[BinaryIO]:
    """Open a temporary file that replaces `target` at the end, or is removed after an error.

    Its name is random, because process ids repeat, above all in containers. An existing file keeps its permissions.
    Raises OSError.
    """
    fresh = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    try:
        with fresh.open("xb") as file:
            permit_no_more(fresh, target)
            yield file
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(target)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def permit_no_more(fresh: Path, target: Path) -> None:
    """Give an empty file the permissions of the one that it will replace, before any text is written.

    If the group cannot be kept, group permissions are removed, because they would apply to another group.
    """
    try:
        there = target.stat()
    except FileNotFoundError:
        return
    mode = stat.S_IMODE(there.st_mode)
    fresh.chmod(mode & stat.S_IRWXU)
    if fresh.stat().st_gid != there.st_gid:
        with contextlib.suppress(OSError):
            os.chown(fresh, -1, there.st_gid)
        if fresh.stat().st_gid != there.st_gid:
            mode &= ~stat.S_IRWXG
    fresh.chmod(mode)
