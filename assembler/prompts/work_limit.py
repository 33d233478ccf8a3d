"""Limits the work of one rendering.

Jinja's sandbox limits what a template can reach, but not its cost: `'a' * 10**8` is instant, forty doublings are a
terabyte, and its limit on `range` is per call. A template is the developer's code, so these limits are for accidents.
They bound output, memory and loop passes, but not time: a hundred thousand slices of a long text are allowed.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

import attrs

from assembler.errors import PromptError

MAX_STEPS = 100_000
"""The most loop passes and calls of one rendering: up to a second of Jinja, and Jinja's own limit on one `range`."""
SCRATCH = 4
"""The characters that a rendering may build, for each character that it may print."""
MAX_BITS = 4_096
"""The largest whole number of a template, in bits: far above any count, far below Python's limit for printing."""


HELD = 128
"""The cost of a list inside a list on top of its items, in characters: walking it takes as long as printing about a
hundred."""
LOOKED_AT = 16
"""The items of a list that cost one step, which is about a microsecond."""


class ExceededError(Exception):
    """A rendering exceeds its allowance. The text names the limit and quotes no value."""


class OversizeError(ExceededError):
    """A rendering is larger than its limits allow. With fewer or shorter values it may not be."""


class PromptTooLongError(PromptError):
    """A rendering is larger than the limits of its template allow. `FittedTemplate` then takes fewer documents."""


@attrs.define
class Allowance:
    """The remaining steps of one rendering, and the characters or list items that it may still build."""

    characters: int
    steps: int = MAX_STEPS

    def step(self, steps: int) -> None:
        """Spend loop passes or calls."""
        self.steps -= steps
        if self.steps < 0:
            raise OversizeError(f"more than {MAX_STEPS} loop passes and calls: simplify the template")

    def build(self, size: int) -> None:
        """Spend characters or list items, before they are made."""
        self.characters -= size
        if self.characters < 0:
            raise OversizeError("builds more text than it may print: shorten the values or raise max_characters")


def pay_for(allowance: Allowance, items: Collection[object]) -> None:
    """Spend the cost of printing these items, counting shared ones each time. Stops when the allowance is exceeded."""
    unvisited = [items]
    while unvisited:
        held = unvisited.pop()
        allowance.step(len(held) // LOOKED_AT)
        allowance.build(max(len(held), sum(len(item) for item in held if isinstance(item, str))))
        inner = [cast("list[object]", item) for item in held if isinstance(item, list | tuple | dict)]
        allowance.build(HELD * len(inner))
        unvisited += [cast("dict[object, object]", item).values() if isinstance(item, dict) else item for item in inner]


def add(allowance: Allowance, left: Any, right: Any) -> Any:
    """Compute `left + right`, and spend its cost."""
    for part in (left, right):
        if isinstance(part, str):
            allowance.build(len(part))
        elif isinstance(part, list | tuple):
            pay_for(allowance, cast("list[object]", part))
    return left + right


def multiply(allowance: Allowance, left: Any, right: Any) -> Any:
    """Compute `left * right`, and spend its cost: a text or list times a number, or two numbers."""
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
        _refuse_large(left.bit_length() + right.bit_length())
    return left * right


def power(allowance: Allowance, left: Any, right: Any) -> Any:
    """Compute `left ** right`, if its size is bounded."""
    if isinstance(left, int) and isinstance(right, int):
        _refuse_large(left.bit_length() * max(right, 0))
    return left**right


def modulo(allowance: Allowance, left: Any, right: Any) -> Any:
    """Compute `left % right` of numbers. Text formatting with `%` is refused, because it takes widths of any size."""
    if isinstance(left, str):
        raise ExceededError("'%' formats text there: write the parts one after another instead")
    return left % right


def _refuse_large(bits: int) -> None:
    if bits > MAX_BITS:
        raise ExceededError(f"computes a number of more than {MAX_BITS} bits")


OPERATORS = {"+": add, "*": multiply, "**": power, "%": modulo}
