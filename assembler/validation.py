"""Checks arguments. Each error says what was expected."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable
from typing import Any, SupportsFloat, cast

import attrs

from budgets import BudgetError, models, numbers
from budgets.value import Value


def name_of_value(value: object) -> str:
    """The name of a value in an error: its type, or, for a class, that it is one."""
    return f"the class {value.__name__}: call it" if isinstance(value, type) else type(value).__name__


def wrong(place: str, expected: str, value: object) -> str:
    """The text of an error: `place: expected …, got TYPE`."""
    return f"{place}: expected {expected}, got {name_of_value(value)}"


def must_be(
    place: str,
    value: object,
    kinds: tuple[type, ...],
    expected: str,
    error: Callable[[str], Exception] = BudgetError,
) -> None:
    """Raise `error` unless the value has one of these types. A bool does not count as a number."""
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise error(wrong(place, expected, value))


LONGEST_NAME = 40
"""Characters. No similar name is searched for a longer text."""

OFTEN_MEANT = {
    "chat": "openai_chat",
    "claude": "anthropic",
    "converse": "bedrock",
    "google": "gemini",
    "openai": "openai_chat",
    "responses": "openai_responses",
}
"""Common names of APIs, and the dialects that are meant."""


def unknown_dialect(name: str, known: Iterable[str], otherwise: str) -> BudgetError:
    """The error for a text that is not a dialect's name. It suggests the nearest name, the dialect if the text names a
    model, or `otherwise`, and does not quote the text.
    """
    import difflib  # most names are right

    names = tuple(known)
    spelled = name.lower().replace("-", "_").replace(" ", "_")[:LONGEST_NAME]
    near = OFTEN_MEANT.get(spelled) or next(iter(difflib.get_close_matches(spelled, names, n=1)), None)
    dialect = models.dialect_of(name) if len(name) <= LONGEST_NAME else None
    if near is not None and not otherwise:
        otherwise = f"; did you mean {near}?"
    elif dialect is not None:
        otherwise = f"; that is a model, and its dialect is {dialect}"
    return BudgetError(f"dialect: expected one of {', '.join(names)}, got another text{otherwise}")


LARGEST = 1e15
"""Numbers to draw have at most 15 digits, so that their sums are exact and their texts fit into a chart."""


def finite(place: str, value: object) -> float:
    """A number of any type as a float. Raises `BudgetError` for a bool, a text, or a number beyond `LARGEST`."""
    number = math.nan
    if not isinstance(value, bool | str | bytes):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            number = float(cast(float, value))
    if not -LARGEST <= number <= LARGEST:
        raise BudgetError(wrong(place, "a number of at most 15 digits", value))
    return number


def is_number(value: object) -> bool:
    """Whether a value is a number that can be ordered, of any size: not a bool, a text or NaN."""
    if isinstance(value, bool | str | bytes) or not isinstance(value, SupportsFloat):
        return False
    with contextlib.suppress(TypeError, ValueError):
        try:
            return not math.isnan(float(value))
        except OverflowError:  # an int beyond doubles
            return True
    return False


def finite_numbers(place: str, values: object) -> tuple[float, ...]:
    """Numbers of any types as floats. Raises `BudgetError` for anything else. O(values)."""
    return tuple(finite(f"{place}[{at}]", value) for at, value in enumerate(as_tuple(place, values, "numbers")))


def iterates(value: object) -> bool:
    """Whether a value can be iterated. (An array without dimensions is an `Iterable`, but cannot.)"""
    with contextlib.suppress(Exception):  # an object's own method can raise anything
        iter(cast("Iterable[object]", value))
        return True
    return False


def as_tuple(place: str, values: object, of: str) -> tuple[object, ...]:
    """An iterable as a tuple. Raises `BudgetError` for anything else."""
    with contextlib.suppress(TypeError):
        return tuple(iter(cast("Iterable[object]", values)))  # not `len`, which a class may define wrongly
    raise BudgetError(wrong(place, f"a list of {of}", values))


@attrs.frozen(eq=False, repr=False)
class Is(Value):
    """A validator that accepts only these types. Its error says what is `expected`."""

    kinds: tuple[type, ...]
    expected: str
    error: Callable[[str], Exception] = BudgetError

    def __call__(self, owner: object, field: attrs.Attribute[Any], value: object) -> None:
        """Raise unless the value is valid."""
        must_be(f"{type(owner).__name__}: {field.name}", value, self.kinds, self.expected, self.error)


def offers(value: object, *methods: str) -> bool:
    """Whether a value is an object with these methods. A class, and an object that raises when it is asked, is not."""
    try:
        return not isinstance(value, type) and all(callable(getattr(value, method, None)) for method in methods)
    except Exception:  # a proxy of nothing raises for any attribute
        return False


@attrs.frozen(eq=False, repr=False)
class Does(Value):
    """A validator that accepts objects with this method; `__call__` accepts functions."""

    method: str
    expected: str

    def __call__(self, owner: object, field: attrs.Attribute[Any], value: object) -> None:
        """Raise unless the value is valid."""
        if not offers(value, self.method):
            raise BudgetError(wrong(f"{type(owner).__name__}: {field.name}", self.expected, value))


@attrs.frozen(eq=False, repr=False)
class OneOf(Value):
    """A validator that accepts only these words. Its error lists them."""

    words: tuple[str, ...]

    def __call__(self, owner: object, field: attrs.Attribute[Any], value: object) -> None:
        """Raise unless the value is valid."""
        if not isinstance(value, str) or value not in self.words:
            raise BudgetError(wrong(f"{type(owner).__name__}: {field.name}", f"one of {', '.join(self.words)}", value))


A_TEXT = Is((str,), "a text (str)")
A_TEXT_OR_NONE = Is((str, type(None)), "a text (str) or None")


def as_int(value: int) -> int:
    """A whole number of any type, numpy's included, as an int. Anything else is returned unchanged, for a validator."""
    number = numbers.index_of(value)
    return value if number is None else number


def as_number(value: float) -> float:
    """`as_int`, for fields that also accept a share."""
    number = numbers.index_of(value)
    return value if number is None else number


def at_least_zero(policy: object, field: attrs.Attribute[Any], value: object) -> None:
    """A whole number, 0 or more."""
    _must_be_whole_number(policy, field, value, 0)


def at_least_one(policy: object, field: attrs.Attribute[Any], value: object) -> None:
    """A whole number, 1 or more."""
    _must_be_whole_number(policy, field, value, 1)


def _must_be_whole_number(policy: object, field: attrs.Attribute[Any], value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < numbers.LARGEST:
        raise BudgetError(
            f"{type(policy).__name__}: {field.name} is a whole number, {least} or more, got {numbers.shown(value)}"
        )
