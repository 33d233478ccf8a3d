"""Neighbours in a document become one passage, their overlap said once. Knows texts and chunk indexes; no tokens."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from assembler.knowledge import Document
from assembler.passages.ordering import position
from assembler.passages.passage import Passage, of

OVERLAP = 20
"""Characters. A shorter ending that is also the other's beginning may be chance."""


def overlap(one: str, other: str) -> int:
    """The length of the longest ending of `one` that `other` begins with. O(characters): Knuth, Morris and Pratt."""
    reach = min(len(one), len(other))
    head, tail = other[:reach], one[len(one) - reach :]
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
    """Chunks of one document with indexes that follow each other (`metadata["chunk_index"]`) are read as one.

    What the end of one and the beginning of the next have in common, `overlap` characters or more, is said once; with
    none they are joined by a line break. The merged passage has the best score of its parts, the first one's section
    and page, no embedding, and `metadata["chunk_ids"]` lists the parts.
    """

    overlap: int = OVERLAP

    def merge(self, passages: Sequence[Passage]) -> list[Passage]:
        """Runs of neighbours as one passage each, the rest as they are; in no particular order. O(characters)."""
        line = sorted(passages, key=lambda passage: (str(passage.origin), position(passage), passage.place))
        merged: list[list[Passage]] = []
        for passage in line:
            if merged and _follows(merged[-1][-1], passage):
                merged[-1].append(passage)
            else:
                merged.append([passage])
        return [self._joined(run) if len(run) > 1 else run[0] for run in merged]

    def _joined(self, run: Sequence[Passage]) -> Passage:
        text = run[0].document.text
        for passage in run[1:]:
            following = passage.document.text
            shared = overlap(text[-len(following) :], following)
            text += following[shared:] if shared >= self.overlap else "\n" + following
        best = min(run, key=lambda passage: (-passage.score, passage.place))
        return Passage(_united(run, text, best.document), best.place, best.score)


def _united(run: Sequence[Passage], text: str, best: Document) -> Document:
    first = run[0].document
    ids = [of(passage.document, "chunk_id") for passage in run]
    metadata = {**(first.metadata or {}), "chunk_ids": ids, "places": [passage.place for passage in run]}
    trusted = all(passage.document.trusted for passage in run)
    return attrs.evolve(first, text=text, score=best.score, trusted=trusted, embedding=None, metadata=metadata)


def _follows(one: Passage, other: Passage) -> bool:
    if one.origin != other.origin:
        return False
    here, there = of(one.document, "chunk_index"), of(other.document, "chunk_index")
    return isinstance(here, int) and isinstance(there, int) and there == here + 1
