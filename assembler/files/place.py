"""Places in files, and the one-line errors that name them."""

from __future__ import annotations

import contextlib
import difflib
import re
from collections.abc import Collection, Generator

import attrs

from assembler.errors import ConversationError
from budgets import AssemblyError, ContextLengthError, MissingExtraError
from budgets.errors import Evidence


class SpecError(Evidence, ValueError):
    """A file that cannot be used, in one line: `file`, the `key` path or line in it, and what was expected there."""

    def __init__(self, problem: str, *, file: str, key: str) -> None:
        self.file = file
        self.key = key
        super().__init__(": ".join(part for part in (file, key, one_line(problem)) if part))


def one_line(text: str) -> str:
    """The text on one line, without characters that control a terminal."""
    return "".join(character if character.isprintable() else "\ufffd" for character in " ".join(text.split()))


@attrs.frozen
class Place:
    """A file and a key path in it, such as `knowledge[2].trusted`."""

    file: str
    path: str = ""

    def key(self, name: str) -> Place:
        """The place under a key of the mapping here."""
        return Place(self.file, f"{self.path}.{name}" if self.path else name)

    def item(self, index: int) -> Place:
        """The place at an index of the list here."""
        return Place(self.file, f"{self.path}[{index}]")

    def named(self, path: object, before: str = "") -> str:
        """The path for an error's text, if it is not the file at the error's beginning."""
        return "" if (self.file, self.path) == (str(path), "") else f"{before}{path}"

    def error(self, problem: str) -> SpecError:
        """An error for this place."""
        return SpecError(problem, file=self.file, key=self.path)

    def unknown(self, name: str, known: Collection[str]) -> SpecError:
        """The error for an unknown key, with the known ones and the most similar one."""
        listed = f"expected one of: {', '.join(known)}" if known else "expected none here"
        return self.key(shown_key(name)).error(f"unknown key{nearest(name, known)} {listed}")

    def _place_error(self, error: AssemblyError) -> SpecError:
        """Turn the library's error into one for the place that it names, or else for this place."""
        problem = str(error)
        if isinstance(error, ConversationError) and error.index is not None:
            return self.item(error.index).error(problem.removeprefix(f"message {error.index}: "))
        named, colon, rest = problem.partition(": ")
        if colon and self.path and re.fullmatch(re.escape(self.path) + r"[\w.\[\]]*", named):
            return SpecError(rest, file=self.file, key=named)
        return self.error(problem)

    @contextlib.contextmanager
    def answers_for(self, kind: type[AssemblyError] = AssemblyError) -> Generator[None]:
        """Turn the library's errors of this kind into a `SpecError` for this place.

        An overflow or a missing package is not a fault of the file, so these errors are not changed.
        """
        try:
            yield
        except (SpecError, ContextLengthError, MissingExtraError):
            raise
        except kind as error:
            raise self._place_error(error) from error


LONGEST_SHOWN = 40
"""The longest setting that an error quotes; a longer one may be a document, so only its length is given."""


def shown_key(name: str) -> str:
    """A key for an error's text."""
    clean = one_line(name)
    return clean if len(clean) <= LONGEST_SHOWN else clean[:LONGEST_SHOWN] + "…"


def nearest(name: str, known: Collection[str]) -> str:
    """The question `, did you mean …?` with the most similar known word, or `;` if none is similar."""
    close = difflib.get_close_matches(name, known, n=1)
    return f", did you mean {close[0]}?" if close else ";"
