"""Finds sources that repeat a better one.

Every rule goes through the sources, best first, and drops those that are like a source that was kept. The rules differ
in what they call alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import attrs

from assembler.errors import PromptError
from assembler.strategies.sources.source import Source
from assembler.validation import LARGEST
from budgets.errors import from_extra, named_type

SIMILAR = 0.95
"""Two sources with a larger cosine are duplicates (the RAG source system's default)."""

ALIKE = 0.9
"""Two texts with a larger share of common characters, in order, are duplicates."""


def _must_be_number(_owner: object, field: attrs.Attribute[float], value: object) -> None:
    beyond = isinstance(value, int) and not -LARGEST <= value <= LARGEST  # doubles hold no int of 400 digits
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value or beyond:
        shown = value if isinstance(value, float) else named_type(value)
        raise PromptError(f"{field.name} is not a number ({shown}): pass a similarity, such as {SIMILAR}")


class Duplicates(Protocol):
    """Finds the sources that repeat a better one."""

    def repeated(self, sources: Sequence[Source], /) -> dict[int, int]:
        """The index of each source to drop, and of the kept one that it repeats. `sources` come best first."""
        ...


@attrs.frozen
class SameText:
    """Drops texts equal to a better one. Runs of blanks and line breaks count as one blank. O(characters)."""

    def repeated(self, sources: Sequence[Source], /) -> dict[int, int]:
        """The first of equal texts stays."""
        first: dict[str, int] = {}
        repeats: dict[int, int] = {}
        for index, source in enumerate(sources):
            kept = first.setdefault(" ".join(source.document.text.split()), index)
            if kept != index:
                repeats[index] = kept
        return repeats


@attrs.frozen
class SimilarVectors:
    """Drops a source whose embedding has a cosine above `threshold` with that of a better one.

    The result equals comparing each source with every kept one in double precision. The work is done in single
    precision and in blocks, and cosines near the threshold are computed again. It takes one single-precision copy of
    the vectors and at most 64 MB more. A source stays if it has no embedding, or one of zeros or of another length than
    the rest.
    """

    threshold: float = attrs.field(default=SIMILAR, validator=_must_be_number)

    def repeated(self, sources: Sequence[Source], /) -> dict[int, int]:
        """The best of similar sources stays. O(n · kept · dimensions), as one matrix product."""
        from assembler.strategies.sources.vectors import repeated_vectors

        having = [index for index, source in enumerate(sources) if source.document.embedding is not None]
        vectors: list[Any] = [sources[index].document.embedding for index in having]
        return {having[at]: having[kept] for at, kept in repeated_vectors(vectors, self.threshold).items()}


@attrs.frozen
class AlikeTexts:
    """Drops a text that has more than `threshold` of its and a better one's characters in common, in the same order.

    So a part of a much longer text stays. Needs no embeddings. Quadratic in the number of sources, although unlike
    texts are told apart quickly: meant for hundreds. Raises MissingExtraError without the extra `dedup`.
    """

    threshold: float = attrs.field(default=ALIKE, validator=_must_be_number)

    def repeated(self, sources: Sequence[Source], /) -> dict[int, int]:
        """The best of similar texts stays."""
        with from_extra("dedup", needed_for="AlikeTexts"):
            from rapidfuzz.distance import Indel

        kept: list[int] = []
        repeats: dict[int, int] = {}
        for index, source in enumerate(sources):
            text = source.document.text
            for other in kept:
                best = sources[other].document.text
                similarity = Indel.normalized_similarity(text, best, score_cutoff=self.threshold)
                if similarity > self.threshold:
                    repeats[index] = other
                    break
            else:
                kept.append(index)
        return repeats
