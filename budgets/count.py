"""How many tokens, how sure, and at most how many."""

from __future__ import annotations

import enum
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
        return Count(self.tokens + other.tokens, max(self.grade, other.grade), upper=self.upper + other.upper)


def total(counts: Iterable[Count]) -> Count:
    """The sum of counts: tokens and uppers add, the worst grade holds. `total([])` is an exact zero."""
    return sum(counts, Count(0))
