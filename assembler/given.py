"""What an argument must be, said at the door. Knows types by name; shows no value, since it could be a text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from budgets import BudgetError


def named(value: object) -> str:
    """What to call a value in an error: its type, and of a class that it is one."""
    return f"the class {value.__name__}: call it" if isinstance(value, type) else type(value).__name__


def wrong(place: str, expected: str, value: object) -> str:
    """`place: expected …, got TYPE`: the text of a refusal."""
    return f"{place}: expected {expected}, got {named(value)}"


def must_be(
    place: str,
    value: object,
    kinds: tuple[type, ...],
    expected: str,
    error: Callable[[str], Exception] = BudgetError,
) -> None:
    """Raise `error` for what is of none of these types; a bool is no number."""
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise error(wrong(place, expected, value))


@attrs.frozen
class Is:
    """A validator: one of these types and no other, or an error with what is `expected`."""

    kinds: tuple[type, ...]
    expected: str
    error: Callable[[str], Exception] = BudgetError

    def __call__(self, owner: object, field: attrs.Attribute[Any], value: object) -> None:
        """Let the value pass, or raise."""
        must_be(f"{type(owner).__name__}: {field.name}", value, self.kinds, self.expected, self.error)


@attrs.frozen
class Does:
    """A validator: an object with this method (a function, where it is `__call__`), or BudgetError."""

    method: str
    expected: str

    def __call__(self, owner: object, field: attrs.Attribute[Any], value: object) -> None:
        """Let the value pass, or raise."""
        if isinstance(value, type) or not callable(getattr(value, self.method, None)):
            raise BudgetError(wrong(f"{type(owner).__name__}: {field.name}", self.expected, value))


@attrs.frozen
class OneOf:
    """A validator: one of these words, or BudgetError that lists them."""

    words: tuple[str, ...]

    def __call__(self, owner: object, field: attrs.Attribute[Any], value: object) -> None:
        """Let the value pass, or raise."""
        if not isinstance(value, str) or value not in self.words:
            raise BudgetError(wrong(f"{type(owner).__name__}: {field.name}", f"one of {', '.join(self.words)}", value))


A_TEXT = Is((str,), "a text (str)")
A_TEXT_OR_NONE = Is((str, type(None)), "a text (str) or None")
