"""How much work one rendering may do.

Jinja's sandbox bounds what a template can reach and not what it can cost: `'a' * 10**8` is instant, forty doublings are
a terabyte, and its limit on `range` is per call. A template is the developer's code; these bounds are for accidents:
they hold output, memory and passes. Time they do not hold: a hundred thousand slices of a long text are allowed.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

import attrs

MAX_STEPS = 100_000
"""Loop passes and calls of one rendering. Ours: up to a second of Jinja; Jinja's own limit on one `range`."""
SCRATCH = 4
"""Characters that a rendering may build on the way, per character that it may print. Ours."""
MAX_BITS = 4_096
"""Size of a whole number that a template may compute. Ours: far above any count, far below Python's printing limit."""


HELD = 128
"""Characters that a list inside a list is paid with, beside its items. Ours: walking through it takes as long as
printing some hundred characters."""
LOOKED_AT = 16
"""Items of a list that are looked at for one step. Ours: a step is about a microsecond, as these are."""


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


def pay_for(allowance: Allowance, items: Collection[object]) -> None:
    """Spend what printing these items would take, whatever they hold more than once. Stops once it is too much."""
    waiting = [items]
    while waiting:
        held = waiting.pop()
        allowance.step(len(held) // LOOKED_AT)
        allowance.build(max(len(held), sum(len(item) for item in held if isinstance(item, str))))
        inner = [cast("list[object]", item) for item in held if isinstance(item, list | tuple | dict)]
        allowance.build(HELD * len(inner))
        waiting += [cast("dict[object, object]", item).values() if isinstance(item, dict) else item for item in inner]


def add(allowance: Allowance, left: Any, right: Any) -> Any:
    """`left + right`, paid for."""
    for part in (left, right):
        if isinstance(part, str):
            allowance.build(len(part))
        elif isinstance(part, list | tuple):
            pay_for(allowance, cast("list[object]", part))
    return left + right


def multiply(allowance: Allowance, left: Any, right: Any) -> Any:
    """`left * right`, paid for: a text or list times a number, or two numbers."""
    for sequence, times in ((left, right), (right, left)):
        if not isinstance(times, int) or times <= 0:
            continue
        if isinstance(sequence, str):
            allowance.build(len(sequence) * times)
        elif isinstance(sequence, list | tuple):
            before = allowance.characters
            pay_for(allowance, cast("list[object]", sequence))
            allowance.build((before - allowance.characters) * (times - 1))
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
