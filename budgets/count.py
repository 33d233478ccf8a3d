"""A count: how many tokens, how sure that is, and at most how many."""

from __future__ import annotations

import enum
import functools
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeAlias, cast, overload

import attrs

from budgets.errors import BudgetError
from budgets.value import Value

Tokens: TypeAlias = int
"""A number of tokens of one tokenizer; never characters, never bytes."""

TokenCounter: TypeAlias = Callable[[str], int]
"""Any callable from a text to its tokens: pure, never negative, 0 for the empty text."""

AwaitedCounter: TypeAlias = Callable[[str], Awaitable[int]]
"""The same, where the tokens must be awaited: `await assembler.abuild()` does."""


class Grade(enum.IntEnum):
    """What a count is worth: later members are worth less, so `max` of several is the grade of their sum."""

    EXACT = 0
    """The provider's published or recorded rule, reproduced to the token."""
    BOUNDED = 1
    """The true count lies at or under `upper`; recordings say so."""
    ESTIMATED = 2
    """A factor stands in for an unpublished tokenizer; `upper` keeps a margin."""

    def __str__(self) -> str:
        return self.name.lower()


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

    # By hand, since every price is one: what attrs would make takes three calls and three looks for a name.
    def __init__(self, tokens: Tokens, grade: Grade = Grade.EXACT, upper: Tokens = _ITS_TOKENS) -> None:
        if upper is _ITS_TOKENS:
            upper = tokens
        try:
            counts = 0 <= tokens <= upper
        except Exception as error:  # no number: whatever cannot be compared with one
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

    @overload
    def __add__(self, other: Count) -> Count: ...
    @overload
    def __add__(self, other: Difference) -> Count: ...
    def __add__(self, other: Count | Difference) -> Count:
        grade = self.grade if self.grade >= other.grade else other.grade  # a third of what max() takes
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
    """What one count is more than another, below zero where it is less: `part + (whole - part)` is `whole`.

    It is worth something only beside the count that it is a difference to: a sum that holds `part` holds `whole` in its
    place once the difference is added. A sum never falls below zero, nor its bound below its tokens.
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
        """How many tokens less the bound is; below zero where it is more."""
        return -self.upper

    def alone(self) -> Count:
        """The difference as a price of its own, for what can only cost more: what is added to a message, say."""
        return NOTHING + self


_SHARED = 4096
"""Exact counts kept, newest asked for first: about half a megabyte."""


@functools.lru_cache(maxsize=_SHARED)
def exact(tokens: Tokens) -> Count:
    """An exact count: one value for one number, since most messages cost what another did, and a value is dear."""
    return Count(tokens, Grade.EXACT, tokens)


NOTHING = Count(0)


def total(counts: Iterable[Count], start: Count = NOTHING) -> Count:
    """The sum of counts: tokens and uppers add, the worst grade holds. `total([])` is an exact zero.

    No value is made for a step of the sum: a count is dear beside three integers.
    """
    tokens, grade, upper = start.tokens, start.grade, start.upper
    for count in counts:
        tokens += count.tokens
        upper += count.upper
        if count.grade > grade:
            grade = count.grade
    return Count(tokens, grade, upper)


def grade_of(count: TokenCounter) -> Grade:
    """What a counter says that its counts are worth; a plain function is taken at its word."""
    return cast("Grade", getattr(count, "grade", Grade.EXACT))


def adds_at_seams(count: TokenCounter) -> bool:
    """Whether a counter promises that counts add where one tag ends and the next begins."""
    return bool(getattr(count, "additive_at_tag_seams", False))
