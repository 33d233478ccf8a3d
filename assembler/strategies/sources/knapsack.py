"""The 0/1 knapsack, exactly."""

from __future__ import annotations

from collections.abc import Sequence


def best_subset(weights: Sequence[int], values: Sequence[float], capacity: int) -> list[int]:
    """The indexes, ascending, of a subset of weight `capacity` at most with the largest sum of values.

    Values above 0, weights 0 or more, each weight at most `capacity`. Bellman's recursion over capacities, a row an
    item: O(n · capacity) time, capacity doubles and n · capacity bits. Sums are doubles: subsets whose sums differ by
    less than their rounding error are as good as each other.
    """
    import numpy as np

    capacity = min(capacity, sum(weights))
    reached = np.zeros(capacity + 1)
    better: list[np.ndarray[tuple[int], np.dtype[np.uint8]]] = []
    for weight, value in zip(weights, values, strict=True):
        with_it = reached[: capacity + 1 - weight] + value
        wins = with_it > reached[weight:]
        np.copyto(reached[weight:], with_it, where=wins)
        better.append(np.packbits(wins))
    chosen: list[int] = []
    tokens_left = capacity
    for index in range(len(weights) - 1, -1, -1):
        at = tokens_left - weights[index]
        if at >= 0 and better[index][at >> 3] >> (7 - (at & 7)) & 1:
            chosen.append(index)
            tokens_left = at
    chosen.reverse()
    return chosen
