"""Checks the numbers and keywords that a caller passes."""

from __future__ import annotations

import functools
import math
import operator
import re
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, ParamSpec, SupportsIndex, TypeVar, cast

from budgets.errors import BudgetError

if TYPE_CHECKING:
    from budgets.count import Tokens

LARGEST = 10**640
"""The bound of every number here, in the digits that every interpreter prints, however it is configured:
`sys.int_info.str_digits_check_threshold`. A longer one would raise a ValueError in whatever text shows it."""


def index_of(value: object) -> int | None:
    """`value` as an int where it is a whole number below `LARGEST`, numpy's included; None for all else, bools too."""
    if type(value) is int:  # a protocol is asked six times as long
        return value if -LARGEST < value < LARGEST else None
    # numpy is recognised by name, so that it need not be imported.
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_") or not isinstance(value, SupportsIndex):
        return None
    try:
        number = operator.index(value)
    except Exception:  # a numpy array of more than one number has __index__ too
        return None
    return number if -LARGEST < number < LARGEST else None


def whole(value: object, name: str) -> int:
    """`value` as an int. Raises BudgetError for a bool, a float, a text, None."""
    number = index_of(value)
    if number is None:
        raise BudgetError(f"{name} is {shown(value)}: a whole number is expected")
    return number


def whole_tokens(value: object, name: str) -> Tokens:
    """`value` as an int >= 0. Raises BudgetError for anything else."""
    number = index_of(value)
    if number is None or number < 0:
        raise BudgetError(
            f"{name} is {shown(value) if number is None else number}: whole tokens, 0 or more, are expected"
        )
    return number


def share(value: object, name: str) -> float:
    """`value` as a float in (0, 1]. Raises BudgetError for anything else, an int 1 too: it could mean one token."""
    if not isinstance(value, float) or math.isnan(value) or not 0 < value <= 1:
        raise BudgetError(f"{name} is {shown(value)}: a share is a float above 0 and at most 1, 0.4 for 40 %")
    return float(value)


def part_of(share: float, tokens: int) -> int:
    """The whole tokens in a share of so many, rounded down; of more than a double holds, by fractions."""
    try:
        return int(share * tokens)
    except OverflowError:
        from fractions import Fraction  # no window is so large

        return int(Fraction(share) * tokens)


def grouped(text: str) -> str:
    """A text for people: each of its numbers with commas."""
    return re.sub(r"\d{4,}", lambda found: f"{int(found[0]):,}", text)


def in_tokens(number: int) -> str:
    """A number of tokens for people: 1 token, 1,200 tokens."""
    return f"{number} token{'' if number == 1 else 's'}"


def shown(value: object) -> str:
    """Numbers as they are; of everything else the type alone, since it could be a text."""
    if isinstance(value, int) and not -LARGEST < value < LARGEST:
        return f"an integer of {value.bit_length()} bits"
    return str(value) if isinstance(value, int | float) else f"a {type(value).__name__}"


P = ParamSpec("P")
R = TypeVar("R")
Class = TypeVar("Class", bound=type)
LONGEST_WORD = 60
"""Characters of an unknown word that an error shows."""


def hints(by_place: str = "", /, **meant: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator of methods: `meant` says, by an unknown keyword, what to write in its place; by one that is known
    and needed, what to do without it. `by_place` says what to write where more is given by place than it takes.

    Other unknown keywords are answered with the nearest known one, or with all there are. The error is a `TypeError`,
    as Python's own.
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
                raise TypeError(_too_many(function, len(args) - 1, known[: places - 1], by_place))
            for word in given:
                if word not in known:
                    raise TypeError(_refusal(function, word, known, meant))
            for place, word in needed:
                if word not in given and len(args) <= place:
                    raise TypeError(f"{_name(function)} needs {word}=; {meant[word]}")

        @functools.wraps(function)
        def called(*args: P.args, **given: P.kwargs) -> R:
            if given or len(args) != len(known) + 1:  # else each has its argument, by place
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


def _refusal(function: Callable[..., object], word: str, known: tuple[str, ...], meant: dict[str, str]) -> str:
    import difflib  # most keywords are right

    near = next(iter(difflib.get_close_matches(word[:LONGEST_WORD], known, n=1)), None)
    if word in meant:
        step = meant[word]
    elif near is not None:
        step = f"did you mean {near}=?"
    else:
        step = f"it has {', '.join(known)}"
    return f"{_name(function)} has no argument {word[:LONGEST_WORD]!r}; {step}"


def _too_many(function: Callable[..., object], given: int, taken: tuple[str, ...], by_place: str) -> str:
    """What is said where more arguments are given by place than these."""
    said = f"{len(taken)} positional argument{'s' if len(taken) > 1 else ''} ({', '.join(taken)}), got {given}"
    return f"{_name(function)} takes {said}; {by_place or 'name the others: name=value'}"


def _name(function: Callable[..., object]) -> str:
    return function.__qualname__.removesuffix(".__init__")
