"""Selects the sources to send.

A source costs its body plus a heading with its number. Numbers are assigned last, and what k headings cost depends only
on k. So the k-th source taken is charged with the k-th heading, whichever source it is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol, TypeAlias, cast

import attrs

from assembler.validation import as_int, at_least_zero, must_be
from budgets import BudgetError, Tokens

Heading: TypeAlias = Callable[[int], Tokens]
"""The cost of the heading of the k-th source, k from 1."""


@attrs.frozen(slots=True)
class Candidate:
    """A source that may be chosen: the price of its body, its score, its document, and its vector if it has one."""

    cost: Tokens
    score: float
    origin: Hashable = None
    vector: Any = attrs.field(default=None, eq=False, repr=False)


class Selection(Protocol):
    """Chooses which sources are sent. Pure: the same candidates and tokens left give the same choice."""

    def pick(self, candidates: Sequence[Candidate], tokens_left: Tokens, heading: Heading, /) -> list[int]:
        """The indexes of the chosen candidates. `candidates` come best first; the chosen cost at most `tokens_left`."""
        ...


@attrs.frozen
class Everything:
    """Takes all sources. If they do not fit, the build raises `ContextLengthError`; none is left out."""

    def pick(self, candidates: Sequence[Candidate], tokens_left: Tokens, heading: Heading, /) -> list[int]:
        """All, in the order given."""
        return list(range(len(candidates)))


@attrs.frozen
class Greedy:
    """Takes sources best first. One that does not fit is passed over, and smaller ones after it are tried. O(n).

    Another source never pushes a better one out.
    """

    def pick(self, candidates: Sequence[Candidate], tokens_left: Tokens, heading: Heading, /) -> list[int]:
        """Those that fit, best first."""
        return _fill_greedily(candidates, range(len(candidates)), tokens_left, heading)


def _fill_greedily(
    candidates: Sequence[Candidate], ranked: Sequence[int], tokens_left: Tokens, heading: Heading
) -> list[int]:
    taken: list[int] = []
    next_heading = heading(1)
    for index in ranked:
        cost = candidates[index].cost + next_heading
        if cost <= tokens_left:
            taken.append(index)
            tokens_left -= cost
            next_heading = heading(len(taken) + 1)
    return taken


@attrs.frozen
class Best:
    """The largest sum of scores that fits: exact, by dynamic programming over tokens (Bellman's 0/1 knapsack).

    It is exact while sources × tokens left is at most `cells`, and greedy beyond that. (n sources in r tokens take
    about n·r nanoseconds and n·r/8 bytes.) Every heading is charged at the highest price of a heading. The sum is never
    below the greedy one. What is left is filled with the best of the remaining sources.
    """

    cells: int = attrs.field(default=100_000_000, converter=as_int, validator=at_least_zero)

    def pick(self, candidates: Sequence[Candidate], tokens_left: Tokens, heading: Heading, /) -> list[int]:
        """The best sum, or the greedy choice if that is better or the table would be too large."""
        greedy = Greedy().pick(candidates, tokens_left, heading)
        if len(greedy) == len(candidates) or tokens_left <= 0:
            return greedy
        heading_cost = max(heading(number) for number in _find_dearest_numbers(len(candidates)))
        scores = _scale_scores([candidate.score for candidate in candidates])
        fitting = [at for at, candidate in enumerate(candidates) if candidate.cost + heading_cost <= tokens_left]
        useful = [at for at in fitting if scores[at] > 0]
        if len(useful) * tokens_left > self.cells:
            return greedy
        costs = [candidates[at].cost + heading_cost for at in useful]
        chosen = [useful[at] for at in best_subset(costs, [scores[at] for at in useful], tokens_left)]
        rest = tokens_left - sum(candidates[at].cost for at in chosen) - sum(map(heading, range(1, len(chosen) + 1)))
        others = sorted(set(range(len(candidates))) - set(chosen))
        more = _fill_greedily(candidates, others, rest, lambda number: heading(number + len(chosen)))
        chosen = sorted([*chosen, *more])
        return chosen if _add_up_scores(scores, chosen) >= _add_up_scores(scores, greedy) else greedy


def best_subset(weights: Sequence[int], values: Sequence[float], capacity: int) -> list[int]:
    """The indexes, ascending, of the subset with the largest sum of values and a weight of at most `capacity`.

    Values must be above 0, and weights from 0 to `capacity`. Bellman's recursion over capacities, one row for each
    item: O(n · capacity) time, and memory for `capacity` doubles and n · `capacity` bits. Sums are doubles, so subsets
    whose sums differ by less than the rounding error count as equal.
    """
    import numpy as np

    capacity = min(capacity, sum(weights))
    reached = np.zeros(capacity + 1)
    better: list[np.ndarray[tuple[int], np.dtype[np.uint8]]] = []
    for weight, value in zip(weights, values, strict=True):
        with_item = reached[: capacity + 1 - weight] + value
        wins = with_item > reached[weight:]
        np.copyto(reached[weight:], with_item, where=wins)
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


def _find_dearest_numbers(count: int) -> set[int]:
    """The numbers from 1 to `count` whose headings may cost most: the last with each number of digits, and the last."""
    return {min(10**digits - 1, count) for digits in range(1, len(str(count)) + 1)}


_MOST = 2.0**900
"""The largest score that is added as it is."""


def _scale_scores(scores: Sequence[float]) -> Sequence[float]:
    """The scores, made smaller by the same factor if they are so large that their sum may be infinite."""
    return [score * 2.0**-100 for score in scores] if max(map(abs, scores)) > _MOST else scores


def _add_up_scores(scores: Sequence[float], chosen: Sequence[int]) -> float:
    import math

    return math.fsum(scores[at] for at in chosen)


def _must_be_weight(owner: object, field: attrs.Attribute[float], value: object) -> None:
    must_be(f"{type(owner).__name__}: {field.name}", value, (int, float), "a number from 0 to 1")
    if not 0 <= cast(float, value) <= 1:
        raise BudgetError(f"{type(owner).__name__}: {field.name} is {value}: a number from 0 to 1 is expected")


@attrs.frozen
class Diverse:
    """Maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998): takes sources that score well and differ.

    Each time it takes the source with the largest `relevance · score − (1 − relevance) · similarity`. Similarity is the
    largest cosine with a source that was taken before. Scores should lie between 0 and 1, as cosines do. A source that
    does not fit is passed over. One without an embedding is like no other. O(taken · n · dimensions).
    """

    relevance: float = attrs.field(default=0.7, validator=_must_be_weight)

    def pick(self, candidates: Sequence[Candidate], tokens_left: Tokens, heading: Heading, /) -> list[int]:
        """The chosen candidates, in the order in which they were taken."""
        from assembler.strategies.sources.vectors import MarginalRelevance

        taken: list[int] = []
        search = MarginalRelevance(candidates, self.relevance)
        while (index := search.offer()) is not None:
            cost = candidates[index].cost + heading(len(taken) + 1)
            if cost <= tokens_left:
                taken.append(index)
                tokens_left -= cost
                search.take(index)
        return taken


def cap_per_document(candidates: Sequence[Candidate], per_document: int) -> list[int]:
    """The indexes of the best `per_document` of each document. `candidates` come best first. O(n)."""
    seen: dict[Hashable, int] = {}
    kept: list[int] = []
    for index, candidate in enumerate(candidates):
        count = seen[candidate.origin] = seen.get(candidate.origin, 0) + 1
        if count <= per_document:
            kept.append(index)
    return kept
