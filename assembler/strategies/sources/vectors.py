"""Cosine likeness of many vectors: what repeats another, in blocks, and what is marginally relevant, one by one.

The one file of this package that uses numpy: it is imported where a rule first compares vectors.

A chunk is dropped if its cosine with a kept one before it is above the threshold. Rows are held against the kept rows
a block at a time, so that the work is that of one matrix product; what lies within the rounding error of single
precision of the threshold is computed again in double precision, and what lies within that one's in fractions.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from assembler.errors import PromptError
from assembler.strategies.sources.selection import Candidate

Matrix: TypeAlias = NDArray[np.float32]

BLOCK = 512
"""Rows held against the kept ones at once, at most: 20 MB of products beside 10,000 of them."""

PRODUCTS = 12_000_000
"""Products at once, and for each whether it is above the threshold: 60 MB."""

_ROUNDING = 2.0**-24
"""Half a unit in the last place of single precision. A dot product of n terms of unit vectors errs by at most about n
of these, and rounding the two rows adds a few."""
_ROUNDED_ROWS = 8
_DOUBLE_ROUNDING = 2.0**-52
"""The same for double precision, with the roundings of the scaled vectors and their lengths."""


def repeated_vectors(vectors: Sequence[Any], threshold: float) -> dict[int, int]:
    """The index of each vector that is too like a kept one before it, and the index of that one.

    Only vectors of the most common length are compared; a vector of 0 is like nothing. Extra memory: the vectors once
    in single precision, and `PRODUCTS`.
    """
    rows, places = unit_rows(vectors)
    search, start = _Search(vectors, places, rows, threshold), 0
    while start < len(places):
        stop = min(start + rows_at_once(len(search.kept)), len(places))
        search.take(start, stop)
        start = stop
    return {places[row]: places[kept] for row, kept in search.gone.items()}


def rows_at_once(kept: int) -> int:
    """How many rows are held at once against so many kept ones."""
    return max(1, min(BLOCK, PRODUCTS // max(kept, 1)))


@attrs.define
class _Search:
    """The rows kept so far stand at the front of `rows`, so that no copy of them is ever made."""

    vectors: Sequence[Any]
    places: list[int]
    rows: Matrix
    threshold: float
    kept: list[int] = attrs.field(factory=list[int])
    gone: dict[int, int] = attrs.field(factory=dict[int, int])

    @property
    def doubt(self) -> float:
        """How far a product of rows may be from the cosine."""
        return float(self.rows.shape[1] + _ROUNDED_ROWS) * _ROUNDING

    def take(self, start: int, stop: int) -> None:
        block = self.rows[start:stop]
        earlier = block @ self.rows[: len(self.kept)].T
        within = block @ block.T
        doubtful = self.threshold - self.doubt
        met = np.flatnonzero((earlier > doubtful).any(axis=1)) if self.kept else np.empty(0, dtype=np.intp)
        suspects = {int(row) for row in met} | {
            int(row) for row in np.flatnonzero((np.tril(within, -1) > doubtful).any(axis=1))
        }
        known = list(self.kept)
        fresh: list[int] = []
        for row in range(stop - start):
            like = self._like(row, start, known, fresh, earlier, within) if row in suspects else None
            if like is None:
                fresh.append(row)
            else:
                self.gone[start + row] = like
        for row in fresh:
            self.rows[len(self.kept)] = self.rows[start + row]
            self.kept.append(start + row)

    def _like(
        self, row: int, start: int, known: list[int], fresh: list[int], earlier: Matrix, within: Matrix
    ) -> int | None:
        """The first kept row that this one is too like."""
        doubtful = self.threshold - self.doubt
        for at in np.flatnonzero(earlier[row] > doubtful):
            if self._above(start + row, known[int(at)], float(earlier[row, at])):
                return known[int(at)]
        for other in fresh:
            if within[row, other] > doubtful and self._above(start + row, start + other, float(within[row, other])):
                return start + other
        return None

    def _above(self, row: int, other: int, likeness: float) -> bool:
        if likeness > self.threshold + self.doubt:
            return True
        return is_above(self.vectors[self.places[row]], self.vectors[self.places[other]], self.threshold)


def is_above(one: Any, other: Any, threshold: float) -> bool:
    """Whether the cosine of two vectors is above a threshold; at the threshold it is not, however it rounds."""
    likeness = cosine(one, other)
    if abs(likeness - threshold) > (len(one) + _ROUNDED_ROWS) * _DOUBLE_ROUNDING:
        return likeness > threshold
    a, b = ([Fraction(number) for number in _numbers(vector).tolist()] for vector in (one, other))
    product, limit = _dot(a, b), Fraction(repr(float(threshold)))  # 0.3 means three tenths
    return product * abs(product) > limit * abs(limit) * _dot(a, a) * _dot(b, b)


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum(map(operator.mul, a, b), Fraction())


def cosine(one: Any, other: Any) -> float:
    """The cosine of two vectors in double precision."""
    a, b = (vector / np.abs(vector).max() for vector in (_numbers(one), _numbers(other)))
    return float(a @ b / (np.sqrt(a @ a) * np.sqrt(b @ b)))


def _length(vector: Any) -> int:
    try:
        return len(vector)
    except TypeError:
        raise _no_vector(vector) from None


def _numbers(vector: Any) -> NDArray[np.float64]:
    try:
        numbers = np.asarray(vector, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):  # its text may quote the value: leave no trace of it in the chain
        numbers = None
    if numbers is None or numbers.ndim != 1:
        raise _no_vector(vector)
    return numbers


def _no_vector(vector: object) -> PromptError:
    return PromptError(
        f"an embedding is no list of numbers ({type(vector).__name__}); leave it out where there is none"
    )


def unit_rows(vectors: Sequence[Any]) -> tuple[Matrix, list[int]]:
    """The comparable vectors as rows of length 1, in one array of our own, and where each came from.

    Raises PromptError for a vector that is no list of numbers.
    """
    lengths = [_length(vector) for vector in vectors]
    width = Counter(lengths).most_common(1)[0][0] if lengths else 0
    places = [index for index, length in enumerate(lengths) if length == width and width]
    rows = np.empty((len(places), width), dtype=np.float32)
    filled: list[int] = []
    for index in places:
        # Scaled before it is squared: a vector of 1e30 or 1e-30 has a direction all the same.
        vector = _numbers(vectors[index])
        largest = float(np.abs(vector).max())
        if 0 < largest < float("inf"):
            scaled = vector / largest
            rows[len(filled)] = scaled / np.sqrt(scaled @ scaled)
            filled.append(index)
    return rows[: len(filled)], filled


class MarginalRelevance:
    """Offers each candidate once, the one of the largest marginal relevance to those taken so far first.

    Ties go to the earlier candidate. `offer` costs O(n), `take` O(n · dimensions).
    """

    def __init__(self, candidates: Sequence[Candidate], relevance: float) -> None:
        having = [at for at, one in enumerate(candidates) if one.vector is not None]
        self._rows, places = unit_rows([candidates[at].vector for at in having])
        self._row_of = {having[place]: row for row, place in enumerate(places)}
        self._at_row = np.array([having[place] for place in places], dtype=np.intp)
        self._worth = relevance * np.array([one.score for one in candidates], dtype=np.float64)
        # A likeness below 0 is no merit: an opposite is no better company than a stranger.
        self._likeness = np.zeros(len(candidates))
        self._penalty = 1 - relevance

    def offer(self) -> int | None:
        """The next candidate's index; None once all were offered."""
        worth = self._worth - self._penalty * self._likeness
        index = int(worth.argmax()) if len(worth) else 0
        if not len(worth) or worth[index] == -np.inf:
            return None
        self._worth[index] = -np.inf
        return index

    def take(self, index: int) -> None:
        """Hold later candidates against this one too."""
        row = self._row_of.get(index)
        if row is not None:
            near = self._rows @ self._rows[row]
            self._likeness[self._at_row] = np.maximum(self._likeness[self._at_row], near)
