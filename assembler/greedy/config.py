"""The encoder's token limit, and the file with it."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, Self, cast

import attrs

from assembler.files.place import Place, SpecError
from assembler.files.yaml_text import parse_yaml
from assembler.validation import Is, must_be
from budgets import BudgetError, Tokens
from budgets.numbers import whole_tokens

SHIPPED = Path(__file__).with_name("config.yaml")
LARGEST_FILE = 1_000_000
"""The most characters of a configuration file."""


class Limited(Protocol):
    """The type of `Config.generator`."""

    @property
    def encoder_max_tokens(self) -> Tokens:
        """The maximum tokens of a prompt."""
        ...


class Configured(Protocol):
    """A configuration: any object with `generator.encoder_max_tokens`."""

    @property
    def generator(self) -> Limited:
        """The encoder's part."""
        ...


def _must_be_above_zero(_owner: object, field: attrs.Attribute[Tokens], value: Tokens) -> None:
    if whole_tokens(value, f"generator.{field.name}") == 0:
        raise BudgetError(f"generator.{field.name} is 0: a prompt needs at least one token")


@attrs.frozen
class Generator:
    """The encoder's limit, in tokens."""

    encoder_max_tokens: Tokens = attrs.field(validator=_must_be_above_zero)


@attrs.frozen
class Config:
    """A configuration: `Config(Generator(512))`, or read from a file."""

    generator: Generator = attrs.field(validator=Is((Generator,), "Generator(512), the encoder's limit in tokens"))

    @classmethod
    def read(cls, path: str | Path = SHIPPED) -> Self:
        """Read a YAML 1.2 file, by default the library's own, whose limit is 1024.

        Other keys are ignored. Raises BudgetError for a file without the limit or with a key twice, MissingExtraError
        without a YAML reader (extra `cli`), and OSError for a file that cannot be read.
        """
        must_be("path", path, (str, PathLike), "a path (str or Path)")
        problem, text = "", ""
        try:
            text = _read_text(path)
        except UnicodeDecodeError as failure:  # it holds the whole file, so it must not be in the chain
            problem = f"it is not UTF-8 at byte {failure.start}"
        except ValueError:  # NUL, or a lone surrogate
            problem = "its path holds an illegal character"
        if problem:
            raise BudgetError(f"configuration cannot be read: {problem}")
        if len(text) > LARGEST_FILE:
            raise BudgetError(f"configuration has more than {LARGEST_FILE} characters: shorten it")
        read: object = None
        try:
            read = parse_yaml(text, Place("configuration"))
        except SpecError as failure:
            problem = str(failure)
        if problem:
            raise BudgetError(problem)
        return cls(Generator(_read_entry(_read_entry(read, "generator"), "encoder_max_tokens")))


def _read_text(path: str | Path) -> str:
    """The beginning of a file, which may be endless. The library's own may lie in an archive."""
    if path == SHIPPED and (shipped := pkgutil.get_data(__name__, SHIPPED.name)) is not None:
        return shipped.decode()
    with Path(path).open(encoding="utf-8-sig") as file:
        return file.read(LARGEST_FILE + 1)


def _read_entry(fields: object, name: str) -> Any:
    if not isinstance(fields, Mapping) or name not in cast("Mapping[str, object]", fields):
        raise BudgetError(f"configuration has no {name!r}; expected generator: {{encoder_max_tokens: 1024}}")
    return cast("Mapping[str, Any]", fields)[name]
