"""Which documents a tree of requests branches by: those behind which most is shared, found by looking ahead."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import attrs

from assembler.strategies.sources.source import Identity

Group: TypeAlias = list[frozenset[Identity]]
"""Requests, each as the documents that it holds and that do not stand in front of it yet."""

Sizes: TypeAlias = Mapping[Identity, float]


@attrs.frozen
class Sight:
    """How many documents are compared for a group of so many requests, and how far each comparison looks ahead.

    To compare is to grow the tree behind each of them and to see what it saves. On 40 small batches, where every order
    can be tried, the tree saves 93 % of the best at worst, and without a look ahead 82 %. In groups of more than 32
    requests a look ahead takes seconds and saves another half percent (`tests/benchmarks/shared_prefix.py`).
    """

    requests: int
    documents: int
    beyond: Sequence[Sight] = ()


FAR = (Sight(8, 8, beyond=(Sight(8, 8),)), Sight(32, 4))


def everywhere(group: Group) -> frozenset[Identity]:
    """What all of several requests hold."""
    return group[0].intersection(*group[1:]) if len(group) > 1 else frozenset()


def split(group: Group, sizes: Sizes, sights: Sequence[Sight] = FAR) -> Iterator[tuple[Identity, Group]]:
    """The group, part by part: the requests that share the document that saves most, then those of the rest.

    Each part comes without that document. O(documents of the group · log) for a large group; in a small one, times the
    number of parts and of documents that its sight compares.
    """
    if len(group) > max((sight.requests for sight in sights), default=0):
        yield from _split_by_size(group, sizes)
        return
    while document := _saves_most(group, sizes, sights):
        yield document, [request - {document} for request in group if document in request]
        group = [request for request in group if document not in request]


def _saves_most(group: Group, sizes: Sizes, sights: Sequence[Sight]) -> Identity | None:
    """The document to put first, or None where no two requests share one."""
    counts = Counter(document for request in group for document in request)
    shared = [document for document, count in counts.items() if count > 1]
    found = sorted(shared, key=lambda document: (-(counts[document] - 1) * sizes[document], document))
    sight = next((sight for sight in sights if len(group) <= sight.requests), None)
    if sight is None or len(found) < 2:
        return found[0] if found else None

    def saved_behind(document: Identity) -> float:
        behind = [request - {document} for request in group if document in request]
        rest = [request for request in group if document not in request]
        saved = (len(behind) - 1) * sizes[document]
        return saved + _saved(behind, sizes, sight.beyond) + _saved(rest, sizes, sight.beyond)

    return max(found[: sight.documents], key=saved_behind)


def _saved(group: Group, sizes: Sizes, sights: Sequence[Sight]) -> float:
    """What the tree of a group saves: of each document at each of its places, all but one."""
    saved, waiting = 0.0, [group]
    while waiting:
        group = waiting.pop()
        common = everywhere(group)
        saved += (len(group) - 1) * sum(map(sizes.__getitem__, sorted(common)))
        for document, part in split([request - common for request in group], sizes, sights):
            saved += (len(part) - 1) * sizes[document]
            waiting.append(part)
    return saved


def _split_by_size(group: Group, sizes: Sizes) -> Iterator[tuple[Identity, Group]]:
    """The split by size, without a look ahead. O(documents of the group · log)."""
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
        if count != counts[document]:  # some of those that held it are in another part by now
            if counts[document] > 1:
                heapq.heappush(heap, entry(document))
            continue
        part = [place for place in holding[document] if place in left]
        left.difference_update(part)
        counts.subtract(other for place in part for other in group[place])
        yield document, [group[place] - {document} for place in part]
