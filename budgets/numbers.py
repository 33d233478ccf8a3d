"""Checks the numbers and keywords that a caller passes."""

from __future__ import annotations

import functools
import math
import operator
import re
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, ParamSpec, SupportsIndex, TypeVar, cast

from budgets.errors import BudgetError, named_type

if TYPE_CHECKING:
    from budgets.count import Tokens

LARGEST = 10**640
"""The bound of all numbers here, so that every interpreter can print them (`sys.int_info.str_digits_check_threshold`).
Printing a longer one may raise a ValueError."""


def index_of(value: object) -> int | None:
    """`value` as an int if it is a whole number below `LARGEST`, numpy's included; None for anything else or a bool."""
    if type(value) is int:  # checking the protocol takes six times as long
        return value if -LARGEST < value < LARGEST else None
    # numpy's bools are recognised by name, so that numpy need not be imported.
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_") or not hasattr(type(value), "__index__"):
        return None  # asked of the class: an object may raise for any attribute
    try:
        number = operator.index(cast(SupportsIndex, value))
    except Exception:  # a numpy array of more than one number has __index__ too
        return None
    return number if -LARGEST < number < LARGEST else None


def as_whole_number(value: object, name: str) -> int:
    """`value` as an int. Raises `BudgetError` for a bool, a float, a text or None."""
    number = index_of(value)
    if number is None:
        raise BudgetError(f"{name} is {shown(value)}: a whole number is expected")
    return number


def whole_tokens(value: object, name: str) -> Tokens:
    """`value` as an int >= 0. Raises `BudgetError` for anything else."""
    number = index_of(value)
    if number is None or number < 0:
        raise BudgetError(
            f"{name} is {shown(value) if number is None else number}: whole tokens, 0 or more, are expected"
        )
    return number


def share(value: object, name: str) -> float:
    """`value` as a float in (0, 1]. Raises `BudgetError` for anything else, even the int 1: it may mean one token."""
    if not isinstance(value, float) or math.isnan(value) or not 0 < value <= 1:
        raise BudgetError(f"{name} is {shown(value)}: a share is a float above 0 and at most 1, 0.4 for 40 %")
    return float(value)


def part_of(share: float, tokens: int) -> int:
    """A share of some tokens, rounded down."""
    try:
        return int(share * tokens)
    except OverflowError:
        from fractions import Fraction  # more tokens than a double holds

        return int(Fraction(share) * tokens)


def grouped(text: str) -> str:
    """A text with commas in its numbers."""
    return re.sub(r"\d{4,}", lambda found: f"{int(found[0]):,}", text)


def in_tokens(number: int) -> str:
    """A number of tokens with its noun: 1 token, 1200 tokens."""
    return with_noun(number, "token")


def with_noun(number: int, noun: str) -> str:
    """A number with its noun, which takes an s as a plural."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def shown(value: object) -> str:
    """A number as text; for anything else only its type, since it could be a prompt."""
    if isinstance(value, int) and not -LARGEST < value < LARGEST:
        return f"an integer of {value.bit_length()} bits"
    return str(value) if isinstance(value, int | float) else named_type(value)


P = ParamSpec("P")
R = TypeVar("R")
Class = TypeVar("Class", bound=type)
LONGEST_WORD = 60
"""Characters of an unknown word that an error shows."""


def hints(by_place: str = "", /, **meant: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator that gives a method better errors for wrong arguments. They are `TypeError`s, like Python's own.

    `meant` maps unknown keywords to what to write instead, and required ones to what to do if they are missing.
    `by_place` says what to write for too many positional arguments. For other unknown keywords the error suggests the
    nearest known one, or lists all.
    """

    def around(function: Callable[P, R]) -> Callable[P, R]:
        written = cast(FunctionType, function)
        code = written.__code__
        known = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
        places = code.co_argcount
        optional = {*known[places - 1 - len(written.__defaults__ or ()) : places - 1], *(written.__kwdefaults__ or ())}
        needed = [(place, word) for place, word in enumerate(known, 1) if word in meant and word not in optional]

        def check(args: tuple[object, ...], given: dict[str, Any]) -> None:
            if len(args) > places:
                raise TypeError(_word_too_many(function, len(args) - 1, known[: places - 1], by_place))
            for word in given:
                if word not in known:
                    raise TypeError(_word_refusal(function, word, known, meant))
            for place, word in needed:
                if word not in given and len(args) <= place:
                    raise TypeError(f"{_name_function(function)} needs {word}=; {meant[word]}")

        @functools.wraps(function)
        def called(*args: P.args, **given: P.kwargs) -> R:
            if given or len(args) != len(known) + 1:  # otherwise all arguments are positional and complete
                check(args, given)
            return function(*args, **given)

        return called

    return around


def hints_at(by_place: str = "", /, **meant: str) -> Callable[[Class], Class]:
    """`hints` for the constructor of a class."""

    def around(kind: Class) -> Class:
        made: Any = kind
        made.__init__ = hints(by_place, **meant)(made.__init__)
        return kind

    return around


def _word_refusal(function: Callable[..., object], word: str, known: tuple[str, ...], meant: dict[str, str]) -> str:
    import difflib  # most keywords are right

    near = next(iter(difflib.get_close_matches(word[:LONGEST_WORD], known, n=1)), None)
    if word in meant:
        step = meant[word]
    elif near is not None:
        step = f"did you mean {near}=?"
    else:
        step = f"it has {', '.join(known)}"
    return f"{_name_function(function)} has no argument {word[:LONGEST_WORD]!r}; {step}"


def _word_too_many(function: Callable[..., object], given: int, taken: tuple[str, ...], by_place: str) -> str:
    """The error text for too many positional arguments."""
    received = f"{len(taken)} positional argument{'s' if len(taken) > 1 else ''} ({', '.join(taken)}), got {given}"
    return f"{_name_function(function)} takes {received}; {by_place or 'name the others: name=value'}"


def _name_function(function: Callable[..., object]) -> str:
    return function.__qualname__.removesuffix(".__init__")
