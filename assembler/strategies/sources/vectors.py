"""Compares many vectors by cosine: finds repeated ones in blocks, and marginally relevant ones one by one.

Only this file of the package uses numpy, and it is imported when a rule first compares vectors.

A vector is dropped if its cosine with an earlier kept one is above the threshold. Rows are compared with the kept rows
in blocks, so the work is that of one matrix product. A cosine within the rounding error of the threshold is computed
again in double precision, and if it is still within that error, in fractions.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeAlias, cast

import attrs
import numpy as np
from numpy.typing import NDArray

from assembler.errors import PromptError
from assembler.strategies.sources.selection import Candidate

Matrix: TypeAlias = NDArray[np.float32]

BLOCK = 512
"""The most rows compared with the kept ones at once: 20 MB of products with 10,000 of them."""

PRODUCTS = 12_000_000
"""The most products at once, each with a flag whether it is above the threshold: 60 MB."""

_ROUNDING = 2.0**-24
"""Half a unit in the last place of single precision. The error of a dot product of two unit vectors of n terms is at
most about n of these, plus a few for rounding the two rows."""
_ROUNDED_ROWS = 8
_DOUBLE_ROUNDING = 2.0**-52
"""The same for double precision, with the roundings of the scaled vectors and their lengths."""


def repeated_vectors(vectors: Sequence[Any], threshold: float) -> dict[int, int]:
    """The index of each vector that is too similar to an earlier kept one, and the index of that one.

    Only vectors of the most common length are compared; a zero vector is similar to none. Extra memory: the vectors
    once in single precision, and `PRODUCTS`.
    """
    rows, places = unit_rows(vectors)
    search, start = _Search(vectors, places, rows, threshold), 0
    while start < len(places):
        stop = min(start + rows_at_once(len(search.kept)), len(places))
        search.take(start, stop)
        start = stop
    return {places[row]: places[kept] for row, kept in search.repeats.items()}


def rows_at_once(kept: int) -> int:
    """How many rows to compare at once with so many kept ones."""
    return max(1, min(BLOCK, PRODUCTS // max(kept, 1)))


@attrs.define
class _Search:
    """A search in progress. The rows kept so far are moved to the front of `rows`, so they are never copied."""

    vectors: Sequence[Any]
    places: list[int]
    rows: Matrix
    threshold: float
    kept: list[int] = attrs.field(factory=list[int])
    repeats: dict[int, int] = attrs.field(factory=dict[int, int])

    @property
    def max_error(self) -> float:
        """The largest error of a product of two rows."""
        return float(self.rows.shape[1] + _ROUNDED_ROWS) * _ROUNDING

    def take(self, start: int, stop: int) -> None:
        block = self.rows[start:stop]
        earlier = block @ self.rows[: len(self.kept)].T
        within = block @ block.T
        doubtful = self.threshold - self.max_error
        met = np.flatnonzero((earlier > doubtful).any(axis=1)) if self.kept else np.empty(0, dtype=np.intp)
        suspects = {int(row) for row in met} | {
            int(row) for row in np.flatnonzero((np.tril(within, -1) > doubtful).any(axis=1))
        }
        known = list(self.kept)
        fresh: list[int] = []
        for row in range(stop - start):
            like = self._find_similar(row, start, known, fresh, earlier, within) if row in suspects else None
            if like is None:
                fresh.append(row)
            else:
                self.repeats[start + row] = like
        for row in fresh:
            self.rows[len(self.kept)] = self.rows[start + row]
            self.kept.append(start + row)

    def _find_similar(
        self, row: int, start: int, known: list[int], fresh: list[int], earlier: Matrix, within: Matrix
    ) -> int | None:
        """The first kept row to which this one is too similar, or None."""
        doubtful = self.threshold - self.max_error
        for at in np.flatnonzero(earlier[row] > doubtful):
            if self._is_above(start + row, known[int(at)], float(earlier[row, at])):
                return known[int(at)]
        for other in fresh:
            if within[row, other] > doubtful and self._is_above(start + row, start + other, float(within[row, other])):
                return start + other
        return None

    def _is_above(self, row: int, other: int, similarity: float) -> bool:
        if similarity > self.threshold + self.max_error:
            return True
        return is_above(self.vectors[self.places[row]], self.vectors[self.places[other]], self.threshold)


def is_above(first: Any, second: Any, threshold: float) -> bool:
    """Whether the cosine of two vectors is above a threshold. Exact: an equal cosine is not above, despite rounding."""
    similarity = cosine(first, second)
    if abs(similarity - threshold) > (len(first) + _ROUNDED_ROWS) * _DOUBLE_ROUNDING:
        return similarity > threshold
    a, b = ([Fraction(number) for number in _read_numbers(vector).tolist()] for vector in (first, second))
    product, limit = _multiply(a, b), Fraction(repr(float(threshold)))  # 0.3 means three tenths
    return product * abs(product) > limit * abs(limit) * _multiply(a, a) * _multiply(b, b)


def _multiply(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum(map(operator.mul, a, b), Fraction())


def cosine(first: Any, second: Any) -> float:
    """The cosine of two vectors in double precision."""
    a, b = (vector / np.abs(vector).max() for vector in (_read_numbers(first), _read_numbers(second)))
    return float(a @ b / (np.sqrt(a @ a) * np.sqrt(b @ b)))


def _count_numbers(vector: Any) -> int:
    try:
        return len(vector)
    except TypeError:
        raise _make_vector_error(vector) from None


def _read_numbers(vector: Any) -> NDArray[np.float64]:
    try:
        numbers = np.asarray(vector, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):  # not chained, because its text may quote the value
        numbers = None
    if numbers is None or numbers.ndim != 1:
        raise _make_vector_error(vector)
    return numbers


def _make_vector_error(vector: object) -> PromptError:
    return PromptError(
        f"an embedding is not a list of numbers ({type(vector).__name__}); leave it out if there is none"
    )


def unit_rows(vectors: Sequence[Any]) -> tuple[Matrix, list[int]]:
    """The comparable vectors as rows of length 1 in a new array, and the index of each.

    Raises `PromptError` for a vector that is not a list of numbers.
    """
    lengths = [_count_numbers(vector) for vector in vectors]
    width = Counter(lengths).most_common(1)[0][0] if lengths else 0
    places = [index for index, length in enumerate(lengths) if length == width and width]
    rows = np.empty((len(places), width), dtype=np.float32)
    filled: list[int] = []
    for index in places:
        # Scaled before it is squared, so that vectors of 1e30 or 1e-30 do not overflow or vanish.
        vector = _read_numbers(vectors[index])
        largest = float(np.abs(vector).max())
        if 0 < largest < float("inf"):
            scaled = vector / largest
            rows[len(filled)] = scaled / np.sqrt(scaled @ scaled)
            filled.append(index)
    return rows[: len(filled)], filled


class MarginalRelevance:
    """Offers each candidate once, the one with the largest marginal relevance first.

    Ties go to the earlier candidate. `offer` costs O(1), or O(n log n) after a `take` of a candidate with a vector;
    `take` costs O(n · dimensions).
    """

    def __init__(self, candidates: Sequence[Candidate], relevance: float) -> None:
        having = [at for at, candidate in enumerate(candidates) if candidate.vector is not None]
        self._rows, places = unit_rows([candidates[at].vector for at in having])
        self._row_of = {having[place]: row for row, place in enumerate(places)}
        self._at_row = np.array([having[place] for place in places], dtype=np.intp)
        self._worth = relevance * np.array([candidate.score for candidate in candidates], dtype=np.float64)
        # A negative similarity counts as 0: being opposite is no advantage over being unrelated.
        self._similarity = np.zeros(len(candidates))
        self._penalty = 1 - relevance
        self._offered = np.zeros(len(candidates), dtype=bool)
        self._order = self._walk_by_worth()

    def offer(self) -> int | None:
        """The next candidate's index; None once all were offered."""
        index = next(self._order, None)
        if index is not None:
            self._offered[index] = True
        return index

    def _walk_by_worth(self) -> Iterator[int]:
        """The candidates that were not offered, the best first."""
        worth = self._worth - self._penalty * self._similarity
        best_first = np.argsort(-worth, kind="stable")
        return iter(cast("list[int]", best_first[~self._offered[best_first]].tolist()))

    def take(self, index: int) -> None:
        """Compare later candidates with this one too."""
        row = self._row_of.get(index)
        if row is not None:
            near = self._rows @ self._rows[row]
            self._similarity[self._at_row] = np.maximum(self._similarity[self._at_row], near)
            self._order = self._walk_by_worth()
