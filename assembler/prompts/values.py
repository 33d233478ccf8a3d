"""Copies the values for a template, which must be plain data.

From a type, a function or a module a template could reach the rest of the process: Jinja's sandbox guards the bound
`str.format`, but not the unbound one (pallets/jinja#2205, read 2026-11).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias, cast

from assembler.errors import PromptError
from assembler.prompts.history import turns_of
from assembler.prompts.variables import HISTORIES
from budgets.errors import OfTheCaller, named_type

PlainValue: TypeAlias = (
    str | int | float | bool | list["PlainValue"] | tuple["PlainValue", ...] | dict["PlainValue", "PlainValue"] | None
)

MAX_DEPTH = 32
"""The deepest nesting of a value: JSON that people write stays below ten. This also stops cycles."""
MAX_ITEMS = 100_000
"""The most leaves and containers of one value: a list that many lists share is printed many times."""


def plain_values(values: Mapping[str, object], *, template: str) -> dict[str, PlainValue]:
    """Copy the values as exact builtins. A list of messages under a history's name becomes turns.

    Raises PromptError for anything that is not str, int, float, bool, None or a list, tuple or dict of those.
    """
    return {name: _read_variable(name, value, template) for name, value in values.items()}


def plain_or_text(value: object) -> PlainValue:
    """Copy a value as exact builtins. What is no plain data in it, such as a date, is its `str`, as Jinja prints it.

    Raises PromptError if it is nested deeper than `MAX_DEPTH`, or holds more than `MAX_ITEMS`.
    """
    try:
        return _Printer().copy(value, MAX_DEPTH)
    except _RefusedValueError as refused:
        problem = str(refused)
    raise PromptError(f"fields of a document: one {problem}")


def _read_variable(name: str, value: object, template: str) -> PlainValue:
    try:
        plain = _Copier().copy(value, MAX_DEPTH)
    except _RefusedValueError as refused:
        problem = str(refused)
    else:
        if name in HISTORIES and isinstance(plain, list | tuple):
            turns = turns_of(plain, template=template)
            return plain if turns is None else turns
        return plain
    raise PromptError(f"template {template!r}: value of {name!r} {problem}", name=template)


class _RefusedValueError(Exception):
    """The reason why a value is not plain data, without quoting it."""


class _Copier:
    """Copies one value, and counts the items so far."""

    def __init__(self) -> None:
        self.items = 0

    def copy(self, value: object, depth: int) -> PlainValue:
        self.items += 1
        if self.items > MAX_ITEMS:
            raise _RefusedValueError(f"holds more than {MAX_ITEMS} items: pass fewer")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, int):
            return int.__int__(value)
        if isinstance(value, float):
            return float.__float__(value)
        if depth == 0:
            raise _RefusedValueError(f"is nested deeper than {MAX_DEPTH}, or contains itself: flatten it")
        return self._copy_container(value, depth)

    def _copy_container(self, value: object, depth: int) -> PlainValue:
        if isinstance(value, dict):
            pairs = cast("Iterable[tuple[object, object]]", dict.items(value))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
            return {self._copy_key(key): self.copy(item, depth - 1) for key, item in pairs}
        if isinstance(value, list):
            return [self.copy(item, depth - 1) for item in cast("Iterable[object]", list.__iter__(value))]  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        if isinstance(value, tuple):
            return tuple(self.copy(item, depth - 1) for item in cast("Iterable[object]", tuple.__iter__(value)))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        return self._convert_other(value)

    def _convert_other(self, value: object) -> PlainValue:
        raise _RefusedValueError(
            f"holds {named_type(value)}: pass plain data (str, int, float, bool, None, list, tuple, dict)"
        )

    def _copy_key(self, key: object) -> PlainValue:
        if key is None or isinstance(key, str | int | float):
            return self.copy(key, 0)
        raise _RefusedValueError(f"has {named_type(key)} as a key: use str, int, float, bool or None")


class _Printer(_Copier):
    """Writes what is no plain data as text."""

    def _convert_other(self, value: object) -> PlainValue:
        with OfTheCaller("fields of a document", PromptError):
            return str.__str__(str(value))

    def _copy_key(self, key: object) -> PlainValue:
        return self.copy(key, 0) if key is None or isinstance(key, str | int | float) else self._convert_other(key)
