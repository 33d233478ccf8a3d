"""Merges neighbouring chunks of a document into one source, with their overlap only once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import attrs

from assembler.regions.knowledge import Document
from assembler.strategies.sources.source import Source, metadata_of, position
from assembler.text.runs import runs
from assembler.validation import as_int, at_least_zero

OVERLAP = 20
"""Characters. A shorter overlap may be chance."""


def overlap(text: str, following: str) -> int:
    """The length of the longest ending of `text` that `following` begins with.

    O(characters): Knuth, Morris and Pratt.
    """
    reach = min(len(text), len(following))
    head, tail = following[:reach], text[len(text) - reach :]
    fallback = [0] * reach
    matched = 0
    for at in range(1, reach):
        while matched and head[at] != head[matched]:
            matched = fallback[matched - 1]
        matched += head[at] == head[matched]
        fallback[at] = matched
    matched = 0
    for character in tail:
        while matched and (matched == reach or character != head[matched]):
            matched = fallback[matched - 1]
        matched += character == head[matched]
    return matched


@attrs.frozen
class MergeNeighbours:
    """Joins chunks of one document whose indexes follow each other (`metadata["chunk_index"]`).

    If the end of one repeats in the beginning of the next, for `overlap` characters or more, it is sent once. Otherwise
    a line break joins the two. The merged source has the best score of its parts, the section and page of the first,
    and no embedding. `metadata["chunk_ids"]` lists the parts.
    """

    overlap: int = attrs.field(default=OVERLAP, converter=as_int, validator=at_least_zero)

    def merge(self, sources: Sequence[Source]) -> list[Source]:
        """The sources in no particular order, each run of neighbours merged into one. O(characters)."""
        number: dict[Hashable, int] = {}  # not the origin's text: 1 and "1" are two documents
        for source in sources:
            number.setdefault(source.origin, len(number))
        line = sorted(sources, key=lambda source: (number[source.origin], position(source.document), source.place))
        return [self._join_run(run) if len(run) > 1 else run[0] for run in runs(line, _follows)]

    def _join_run(self, run: Sequence[Source]) -> Source:
        text = run[0].document.text
        for source in run[1:]:
            following = source.document.text
            shared = overlap(text[-len(following) :], following)
            text += following[shared:] if shared >= self.overlap else "\n" + following
        best = min(run, key=lambda source: (-source.score, source.place))
        return Source(_unite_documents(run, text, best.document), best.place, best.score)


def _unite_documents(run: Sequence[Source], text: str, best: Document) -> Document:
    first = run[0].document
    ids = [metadata_of(source.document, "chunk_id") for source in run]
    metadata = {**(first.metadata or {}), "chunk_ids": ids, "places": [source.place for source in run]}
    trusted = all(source.document.trusted for source in run)
    return attrs.evolve(first, text=text, score=best.score, trusted=trusted, embedding=None, metadata=metadata)


def neighbours_of(source: Source) -> set[tuple[Hashable, int]]:
    """The places of a source's neighbours: its document, and the indexes before and after its own, if it has one."""
    index = metadata_of(source.document, "chunk_index")
    origin = source.origin
    return {(origin, index - 1), (origin, index + 1)} if isinstance(index, int) else set()


def _follows(source: Source, before: Source) -> bool:
    if before.origin != source.origin:
        return False
    index, last = metadata_of(source.document, "chunk_index"), metadata_of(before.document, "chunk_index")
    return isinstance(last, int) and isinstance(index, int) and index == last + 1
