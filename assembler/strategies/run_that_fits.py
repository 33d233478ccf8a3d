"""`run_that_fits`: how many of the first documents fit, for strategies whose prompt must be counted as a whole."""

from __future__ import annotations

from collections.abc import Callable


def run_that_fits(count: int, fits: Callable[[int], bool]) -> int:
    """How many of the first surely fit together: found by doubling, then bisection. 0 is not tried."""
    most, unfit = 0, 1
    while unfit <= count and fits(unfit):
        most, unfit = unfit, 2 * unfit
    unfit = min(unfit, count + 1)
    while unfit - most > 1:
        middle = (most + unfit) // 2
        most, unfit = (middle, unfit) if fits(middle) else (most, middle)
    return most
