"""A count: a number of tokens, its grade, and an upper bound."""

from __future__ import annotations

import enum
import functools
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeAlias, cast

import attrs

from budgets.errors import BudgetError
from budgets.value import Value

Tokens: TypeAlias = int
"""A number of tokens, never of characters or bytes."""

TokenCounter: TypeAlias = Callable[[str], int]
"""Any callable from a text to its tokens: pure, never negative, 0 for the empty text.

Its numbers are taken as they are: an estimate that it returns is the upper bound too, so it must err high.
"""

AwaitedCounter: TypeAlias = Callable[[str], Awaitable[int]]
"""An async counter. Needs `await assembler.abuild()`."""


class Grade(enum.IntEnum):
    """How reliable a count is. Later members are less reliable, so `max` of several is the grade of their sum."""

    EXACT = 0
    """Follows the provider's published or recorded rule to the token."""
    BOUNDED = 1
    """The true count is at most `upper`, as recordings show."""
    ESTIMATED = 2
    """A guess, such as a factor for an unpublished tokenizer. `upper` includes a margin.

    A counter that grades itself so gets no margin: its numbers are the most that its texts may cost.
    """

    def __str__(self) -> str:
        return self._name_.lower()


_ITS_TOKENS = cast("Tokens", object())


@attrs.frozen(eq=False, repr=False, init=False)
class Count(Value):
    """Tokens with their grade and an upper bound. A budget is checked against the bound.

    `0 <= tokens <= upper`; anything else raises `BudgetError`. Subtracting one count from another gives a `Difference`,
    which may be negative.
    """

    tokens: Tokens
    grade: Grade
    upper: Tokens

    # Written by hand for speed, since every price is a `Count`: the method of attrs makes three calls, three lookups.
    def __init__(self, tokens: Tokens, grade: Grade = Grade.EXACT, upper: Tokens = _ITS_TOKENS) -> None:
        if upper is _ITS_TOKENS:
            upper = tokens
        try:
            counts = True if 0 <= tokens <= upper else False  # noqa: SIM210 - an array has no truth value
        except Exception as error:  # not comparable with a number
            kinds = f"{type(tokens).__name__} and {type(upper).__name__}"
            raise BudgetError(f"a count: expected whole tokens and an upper bound, got {kinds}") from error
        if not counts:
            raise BudgetError(
                f"a count of {tokens} tokens, at most {upper}: tokens are 0 or more, and never above the "
                "upper bound; subtract two counts for a Difference"
            )
        _set_tokens(self, tokens)
        _set_grade(self, grade)
        _set_upper(self, upper)

    def __add__(self, other: Count | Difference) -> Count:
        grade = self.grade if self.grade >= other.grade else other.grade  # three times as fast as max()
        tokens, upper = self.tokens + other.tokens, self.upper + other.upper
        if type(other) is Count:
            return Count(tokens, grade, upper)
        tokens = max(tokens, 0)
        return Count(tokens, grade, max(upper, tokens))

    def __sub__(self, other: Count) -> Difference:
        return Difference(self.tokens - other.tokens, max(self.grade, other.grade), self.upper - other.upper)


_set_tokens, _set_grade, _set_upper = (vars(Count)[name].__set__ for name in ("tokens", "grade", "upper"))


@attrs.frozen(eq=False, repr=False)
class Difference(Value):
    """The difference of two counts, which may be negative: `part + (whole - part)` is `whole`.

    Add it to a sum that includes `part`, and the sum includes `whole` instead. A sum never falls below 0, and its bound
    never below its tokens.
    """

    tokens: int = 0
    grade: Grade = Grade.EXACT
    upper: int = 0

    def __add__(self, other: Difference) -> Difference:
        return Difference(self.tokens + other.tokens, max(self.grade, other.grade), self.upper + other.upper)

    def __sub__(self, other: Difference) -> Difference:
        return Difference(self.tokens - other.tokens, max(self.grade, other.grade), self.upper - other.upper)

    @property
    def saved(self) -> Tokens:
        """By how many tokens the bound is lower; negative if it is higher."""
        return -self.upper

    def alone(self) -> Count:
        """The difference as a count, for what can only add tokens, such as a text added to a message."""
        return NOTHING + self


def add_differences(differences: Sequence[Difference]) -> Difference:
    """The sum of differences. Faster than `+`, because it makes none for each step."""
    if not differences:
        return Difference()
    tokens, grade, upper = 0, Grade.EXACT, 0
    for each in differences:
        tokens += each.tokens
        grade = each.grade if each.grade > grade else grade
        upper += each.upper
    return Difference(tokens, grade, upper)


_SHARED = 4096
"""The most exact counts to cache: about half a megabyte."""


@functools.lru_cache(maxsize=_SHARED)
def exact(tokens: Tokens) -> Count:
    """An exact count. Cached, because counts repeat and making a value is slow."""
    return Count(tokens, Grade.EXACT, tokens)


NOTHING = Count(0)


def total(counts: Iterable[Count], start: Count = NOTHING) -> Count:
    """The sum of counts: tokens and upper bounds add up, and the worst grade holds. `total([])` is an exact zero.

    Faster than `sum`, because it makes no count for each step.
    """
    tokens, grade, upper = start.tokens, start.grade, start.upper
    for count in counts:
        tokens += count.tokens
        upper += count.upper
        if count.grade > grade:
            grade = count.grade
    return Count(tokens, grade, upper)


def grade_of(count: TokenCounter) -> Grade:
    """The grade that a counter declares; exact for a plain function."""
    return cast("Grade", getattr(count, "grade", Grade.EXACT))


def adds_at_seams(count: TokenCounter) -> bool:
    """Whether a counter promises that counts add at tag seams."""
    return bool(getattr(count, "additive_at_tag_seams", False))
