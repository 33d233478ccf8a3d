"""The encoder's limit, and the small file that it is read from."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, Self, cast

import attrs

from assembler.validation import Is, must_be
from budgets import BudgetError, Tokens
from budgets.errors import from_extra
from budgets.numbers import whole_tokens

SHIPPED = Path(__file__).with_name("config.yaml")
LARGEST_FILE = 1_000_000
"""Characters. A configuration is not longer; what is, is something else."""


class Limited(Protocol):
    """What `Config.generator` is."""

    @property
    def encoder_max_tokens(self) -> Tokens:
        """The most tokens that a prompt may have."""
        ...


class Configured(Protocol):
    """Any object with `generator.encoder_max_tokens` will do for a configuration."""

    @property
    def generator(self) -> Limited:
        """The part that concerns the encoder."""
        ...


def _limit(_owner: object, field: attrs.Attribute[Tokens], value: Tokens) -> None:
    if whole_tokens(value, f"generator.{field.name}") == 0:
        raise BudgetError(f"generator.{field.name} is 0: a prompt needs a token at least")


@attrs.frozen
class Generator:
    """The encoder's limit, in tokens."""

    encoder_max_tokens: Tokens = attrs.field(validator=_limit)


@attrs.frozen
class Config:
    """A configuration: `Config(Generator(512))`, or read from a file."""

    generator: Generator = attrs.field(validator=Is((Generator,), "Generator(512), the encoder's limit in tokens"))

    @classmethod
    def read(cls, path: str | Path = SHIPPED) -> Self:
        """The configuration in a YAML file; without a path the shipped one, whose limit is 1024.

        Other keys are ignored: they belong to other programs. Raises BudgetError for a file without the limit,
        MissingExtraError without a YAML reader (extra `cli`), OSError for a file that cannot be read.
        """
        with from_extra("cli", needed_for="Config.read"):
            from yaml import YAMLError, safe_load

        must_be("path", path, (str, PathLike), "a path (str or Path)")
        problem, text = "", ""
        try:
            with Path(path).open(encoding="utf-8-sig") as file:
                text = file.read(LARGEST_FILE + 1)  # no more of a file without an end
        except UnicodeDecodeError as failure:  # it holds the whole file: leave no trace of it in the chain
            problem = f"it is not UTF-8 at byte {failure.start}"
        except ValueError:  # NUL, or half a character
            problem = "its path holds a character that no path can hold"
        if problem:
            raise BudgetError(f"configuration cannot be read: {problem}")
        if len(text) > LARGEST_FILE:
            raise BudgetError(f"configuration of more than {LARGEST_FILE} characters: give it no more")
        try:
            read: object = safe_load(text)
        except (YAMLError, ValueError, RecursionError) as failure:
            problem, read = type(failure).__name__, None
        if problem:
            raise BudgetError(f"configuration is no YAML ({problem})")
        return cls(Generator(_entry(_entry(read, "generator"), "encoder_max_tokens")))


def _entry(fields: object, name: str) -> Any:
    if not isinstance(fields, Mapping) or name not in cast("Mapping[str, object]", fields):
        raise BudgetError(f"configuration has no {name!r}; expected generator: {{encoder_max_tokens: 1024}}")
    return cast("Mapping[str, Any]", fields)[name]
