"""How much work one rendering may do. Knows counts and sizes; refuses to know Jinja's syntax.

Jinja's sandbox bounds what a template can reach and not what it can cost: `'a' * 10**8` is instant, forty doublings are
a terabyte, and its limit on `range` is per call. A template is the developer's code; these bounds are for accidents.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Any, cast

import attrs

MAX_STEPS = 100_000
"""Loop passes and calls of one rendering. Ours: up to a second of Jinja; Jinja's own limit on one `range`."""
SCRATCH = 4
"""Characters that a rendering may build on the way, per character that it may print. Ours."""
MAX_BITS = 4_096
"""Size of a whole number that a template may compute. Ours: far above any count, far below Python's printing limit."""


class ExceededError(Exception):
    """A rendering asked for more than it may have; the text names the bound and holds no value."""


@attrs.define
class Allowance:
    """What is left to one rendering: steps, and characters (or list items) that it may build."""

    characters: int
    steps: int = MAX_STEPS

    def step(self, steps: int) -> None:
        """Spend loop passes or calls."""
        self.steps -= steps
        if self.steps < 0:
            raise ExceededError(f"more than {MAX_STEPS} loop passes and calls: give the template less to do")

    def build(self, size: int) -> None:
        """Spend characters or list items, before they are made."""
        self.characters -= size
        if self.characters < 0:
            raise ExceededError("builds more text than it may print: shorten the values or raise max_characters")


def add(allowance: Allowance, left: Any, right: Any) -> Any:
    """`left + right`, paid for."""
    for part in (left, right):
        if isinstance(part, Sized):
            allowance.build(len(part))
    return left + right


def multiply(allowance: Allowance, left: Any, right: Any) -> Any:
    """`left * right`, paid for: a text or list times a number, or two numbers."""
    for sequence, times in ((left, right), (right, left)):
        if isinstance(sequence, str | list | tuple) and isinstance(times, int):
            allowance.build(len(cast("Sequence[object]", sequence)) * max(times, 0))
    if isinstance(left, int) and isinstance(right, int):
        _whole(left.bit_length() + right.bit_length())
    return left * right


def power(allowance: Allowance, left: Any, right: Any) -> Any:
    """`left ** right` of bounded size."""
    if isinstance(left, int) and isinstance(right, int):
        _whole(left.bit_length() * max(right, 0))
    return left**right


def modulo(allowance: Allowance, left: Any, right: Any) -> Any:
    """`left % right` of numbers. `%` as text formatting takes widths of any size and is refused."""
    if isinstance(left, str):
        raise ExceededError("'%' formats text there: write the parts one after another instead")
    return left % right


def _whole(bits: int) -> None:
    if bits > MAX_BITS:
        raise ExceededError(f"computes a number of more than {MAX_BITS} bits")


OPERATORS = {"+": add, "*": multiply, "**": power, "%": modulo}
