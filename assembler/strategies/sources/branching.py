"""Chooses the documents by which a tree of requests branches, so that requests share as much as possible."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import attrs

from assembler.strategies.sources.source import Identity

Group: TypeAlias = list[frozenset[Identity]]
"""Requests, each as the set of its documents that are not placed yet."""

Sizes: TypeAlias = Mapping[Identity, float]


@attrs.frozen
class LookAhead:
    """For a group of up to `requests`: how many documents to compare, and how far each comparison looks ahead.

    A comparison builds the tree after each document and computes what it saves. On 40 small batches, where every order
    can be tried, the tree saves at least 93 % of the best, and 82 % without looking ahead. In groups of more than 32
    requests looking ahead takes seconds and saves another half percent (`tests/benchmarks/shared_prefix.py`).
    """

    requests: int
    documents: int
    beyond: Sequence[LookAhead] = ()


FAR = (LookAhead(8, 8, beyond=(LookAhead(8, 8),)), LookAhead(32, 4))


def find_shared_by_all(group: Group) -> frozenset[Identity]:
    """The documents that all requests of a group share; none for a single request."""
    return group[0].intersection(*group[1:]) if len(group) > 1 else frozenset()


def split(group: Group, sizes: Sizes, look_aheads: Sequence[LookAhead] = FAR) -> Iterator[tuple[Identity, Group]]:
    """Split a group into parts: the requests that share the document that saves most, then the same for the rest.

    Each part comes without its document. O(documents of the group · log) for a large group; in a small one, times the
    number of parts and of documents that are compared.
    """
    if len(group) > max((look_ahead.requests for look_ahead in look_aheads), default=0):
        yield from _split_by_size(group, sizes)
        return
    while document := _find_most_saving(group, sizes, look_aheads):
        yield document, [request - {document} for request in group if document in request]
        group = [request for request in group if document not in request]


def _find_most_saving(group: Group, sizes: Sizes, look_aheads: Sequence[LookAhead]) -> Identity | None:
    """The document to put first, or None if no two requests share one."""
    counts = Counter(document for request in group for document in request)
    shared = [document for document, count in counts.items() if count > 1]
    found = sorted(shared, key=lambda document: (-(counts[document] - 1) * sizes[document], document))
    look_ahead = next((look_ahead for look_ahead in look_aheads if len(group) <= look_ahead.requests), None)
    if look_ahead is None or len(found) < 2:
        return found[0] if found else None

    def saved_behind(document: Identity) -> float:
        behind = [request - {document} for request in group if document in request]
        rest = [request for request in group if document not in request]
        saved = (len(behind) - 1) * sizes[document]
        return saved + _measure_saved(behind, sizes, look_ahead.beyond) + _measure_saved(rest, sizes, look_ahead.beyond)

    return max(found[: look_ahead.documents], key=saved_behind)


def _measure_saved(group: Group, sizes: Sizes, look_aheads: Sequence[LookAhead]) -> float:
    """What the tree of a group saves: all but one occurrence of each document at each of its places."""
    saved, unvisited = 0.0, [group]
    while unvisited:
        group = unvisited.pop()
        shared = find_shared_by_all(group)
        saved += (len(group) - 1) * sum(map(sizes.__getitem__, sorted(shared)))
        for document, part in split([request - shared for request in group], sizes, look_aheads):
            saved += (len(part) - 1) * sizes[document]
            unvisited.append(part)
    return saved


def _split_by_size(group: Group, sizes: Sizes) -> Iterator[tuple[Identity, Group]]:
    """Split by size alone, without looking ahead. O(documents of the group · log)."""
    counts = Counter(document for request in group for document in request)
    holding: dict[Identity, list[int]] = {}
    for place, request in enumerate(group):
        for document in request:
            holding.setdefault(document, []).append(place)

    def entry(document: Identity) -> tuple[float, Identity, int]:
        return -(counts[document] - 1) * sizes[document], document, counts[document]

    heap = [entry(document) for document, count in counts.items() if count > 1]
    heapq.heapify(heap)
    left = set(range(len(group)))
    while heap:
        _, document, count = heapq.heappop(heap)
        if count != counts[document]:  # some requests with it are in another part by now
            if counts[document] > 1:
                heapq.heappush(heap, entry(document))
            continue
        part = [place for place in holding[document] if place in left]
        left.difference_update(part)
        counts.subtract(other for place in part for other in group[place])
        yield document, [group[place] - {document} for place in part]
