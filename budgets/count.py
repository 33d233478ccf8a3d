"""How many tokens, how sure, and at most how many."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Iterable
from typing import TypeAlias

import attrs

Tokens: TypeAlias = int
"""A number of tokens of one tokenizer; never characters, never bytes."""

TokenCounter: TypeAlias = Callable[[str], int]
"""Any callable from a text to its tokens: pure, never negative, 0 for the empty text."""


class Grade(enum.IntEnum):
    """What a count is worth: later members are worth less, so `max` of several is the grade of their sum."""

    EXACT = 0
    """The provider's published or recorded rule, reproduced to the token."""
    BOUNDED = 1
    """The true count lies at or under `upper`; recordings say so."""
    ESTIMATED = 2
    """A factor stands in for a tokenizer nobody published; `upper` keeps a margin."""

    def __str__(self) -> str:
        return self.name.lower()


def _as_exact(count: Count) -> Tokens:
    return count.tokens


@attrs.frozen
class Count:
    """Tokens with their grade and an upper bound: `upper >= tokens`, and a budget is checked against `upper`."""

    tokens: Tokens
    grade: Grade = Grade.EXACT
    upper: Tokens = attrs.field(default=attrs.Factory(_as_exact, takes_self=True))

    def __add__(self, other: Count) -> Count:
        grade = self.grade if self.grade >= other.grade else other.grade  # a third of what max() takes
        return Count(self.tokens + other.tokens, grade, self.upper + other.upper)


_SHARED = 4096
"""Exact counts kept, newest asked for first: about half a megabyte."""


@functools.lru_cache(maxsize=_SHARED)
def exact(tokens: Tokens) -> Count:
    """An exact count: one value for one number, since most messages cost what another did, and a value is dear."""
    return Count(tokens)


_ZERO = Count(0)


def total(counts: Iterable[Count], start: Count = _ZERO) -> Count:
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


def less(whole: Count, part: Count) -> Count:
    """What `whole` costs more than `part`, below zero where it costs less; the worse grade holds."""
    return Count(whole.tokens - part.tokens, max(whole.grade, part.grade), whole.upper - part.upper)
