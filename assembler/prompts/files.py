"""Reads prompt files.

`read_prompt` takes a developer's own path, which may lead anywhere. `PromptLibrary` takes names from any source, and
reads only below its root.
"""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Self

import attrs

from assembler.errors import PromptError
from assembler.prompts.prompt import Prompt
from assembler.validation import must_be
from budgets.numbers import as_whole_number

MAX_PROMPT_BYTES = 1_048_576
"""The default limit of a prompt file: a mebibyte is about 250,000 tokens of English, more than most windows."""

_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""Non-blocking, so that opening a named pipe does not wait."""
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$", "clock$"}
    | {f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"}
)
"""Names of devices on Windows, in every directory and with any extension. Refused on every system.

Source: "Naming Files, Paths, and Namespaces", learn.microsoft.com, read 2026-11."""
_PIECE = 1_048_576
"""The bytes of one read, since a read allocates as many as it asks for."""
_SHOWN = 80
"""The most characters of a refused name in an error."""


class PromptNotFoundError(PromptError, FileNotFoundError):
    """There is no such prompt file. Also a FileNotFoundError, which the source system raises."""

    def __new__(cls, problem: str, *, name: str | None = None, line: int | None = None) -> Self:
        """Make it as an OSError, which has the larger memory layout. Unpickling needs `__new__` by name."""
        return FileNotFoundError.__new__(cls, problem)


def read_prompt(path: str | os.PathLike[str], *, max_bytes: int = MAX_PROMPT_BYTES) -> Prompt:
    """Read a file as UTF-8, unchanged but without a byte order mark. The path becomes the prompt's `source`.

    For paths that the developer chose: it follows links and reads anywhere. Raises PromptNotFoundError (also a
    FileNotFoundError), or PromptError for a directory, a device, more than `max_bytes`, or bytes that are not UTF-8.
    """
    must_be("path", path, (str, bytes, os.PathLike), "a path (str or Path)", PromptError)
    return _read(os.fspath(path), shown=os.fspath(path), flags=_READ, max_bytes=max_bytes)


def _find_directory(root: str | os.PathLike[str]) -> Path:
    must_be("prompt library", root, (str, os.PathLike), "a path (str or Path)", PromptError)
    try:
        resolved = Path(root).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        resolved = None
    if resolved is None:
        raise PromptNotFoundError(f"prompt library {os.fspath(root)!r} does not exist: create it or correct the path")
    if not resolved.is_dir():
        raise PromptError(f"prompt library {os.fspath(root)!r} is not a directory")
    return resolved


def _must_be_whole_number(_owner: object, field: attrs.Attribute[int], value: object) -> None:
    as_whole_number(value, field.name)


@attrs.frozen
class PromptLibrary:
    """A directory of prompts, read by names such as `support/answer.md` that cannot lead out of it.

    Links are followed if they stay below the root. A process that writes below the root during the check can still race
    it; the last step of the path is opened without following a link.
    """

    root: Path = attrs.field(converter=_find_directory)
    max_bytes: int = attrs.field(default=MAX_PROMPT_BYTES, kw_only=True, validator=_must_be_whole_number)

    def read(self, name: str) -> Prompt:
        """Read the prompt of this name as `read_prompt` does. Its `name` is the name, and its `source` the path.

        Raises PromptError for a name that leads out of the library, and PromptNotFoundError for a missing prompt.
        """
        path = self._resolve_path(_refuse_escape(name))
        prompt = _read(str(path), shown=name, flags=_READ | _NO_LINK, max_bytes=self.max_bytes)
        return Prompt(prompt, name=name, source=str(path))

    def _resolve_path(self, name: str) -> Path:
        problem = ""
        try:
            path = (self.root / name).resolve(strict=True)
        except (FileNotFoundError, NotADirectoryError):
            path = None
        except (OSError, RuntimeError, ValueError):  # too long a name, a loop of links, no permission
            path, problem = None, "cannot be resolved"
        if problem:
            raise _make_refusal(name, problem)
        if path is None:
            raise PromptNotFoundError(f"prompt {_shorten(name)} does not exist in the library", name=name)
        if not path.is_relative_to(self.root):
            raise _make_refusal(name, "leads out of the library")
        return path


def _refuse_escape(name: object) -> str:
    """The name if it has only plain steps downwards. Raises PromptError otherwise."""
    if not isinstance(name, str):
        raise PromptError(f"a prompt's name is a str, got {type(name).__name__}")
    if not name.isprintable() or "\\" in name or ":" in name:
        raise _make_refusal(name, "holds a backslash, a colon or a character that does not print")
    for step in name.split("/"):
        if step in ("", ".", "..") or step != step.rstrip(". "):
            raise _make_refusal(
                name, "is not a plain relative name: no empty step, '.', '..', or step that ends in one"
            )
        if step.partition(".")[0].rstrip().lower() in _DEVICES:
            raise _make_refusal(name, "is the name of a device")
    return name


def _read(path: str, *, shown: str, flags: int, max_bytes: int) -> Prompt:
    problem, missing, max_bytes = "", False, as_whole_number(max_bytes, "max_bytes")
    content = b""
    try:
        with open(os.open(path, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                problem = "is not a regular file"
            elif status.st_size <= max_bytes:
                content = b"".join(_read_pieces(file, max_bytes))  # it may have grown since
            if not problem and max(status.st_size, len(content)) > max_bytes:
                problem = f"has more than {max_bytes} bytes: shorten it or raise max_bytes"
    except FileNotFoundError:
        missing = True
    except (OSError, ValueError) as error:
        problem = f"cannot be read: {type(error).__name__}"
    if missing:
        raise PromptNotFoundError(f"prompt file {_shorten(shown)} does not exist: correct the path", name=shown)
    if not problem:
        text, offset = _decode_content(content)
        if offset is None:
            return Prompt(text, source=path)
        problem = f"is not UTF-8 at byte {offset}: save it as UTF-8"
    raise _make_refusal(shown, problem)


def _read_pieces(file: BinaryIO, most: int) -> Iterator[bytes]:
    """The file's content, but little more than `most` bytes, which shows that it is too large."""
    while most >= 0 and (piece := file.read(min(most + 1, _PIECE))):
        most -= len(piece)
        yield piece


def _decode_content(content: bytes) -> tuple[str, int | None]:
    """The text without a leading byte order mark, and None; or the offset of the first wrong byte."""
    text = content.removeprefix(codecs.BOM_UTF8)
    try:
        return text.decode("utf-8"), None
    except UnicodeDecodeError as error:  # it holds the whole file, so it must not be in a traceback
        return "", error.start + len(content) - len(text)


def _shorten(name: str) -> str:
    return repr(name if len(name) <= _SHOWN else name[:_SHOWN] + "…")


def _make_refusal(name: str, problem: str) -> PromptError:
    return PromptError(f"prompt {_shorten(name)} {problem}", name=name)
