"""Orders sources, and requests, so that many requests begin alike and a prefix cache can serve them.

A cache serves a request only up to its first difference from an earlier one. Requests with the same documents in
different orders share nothing; in one common order they share a beginning. The order here is a tree over the batch: the
documents that most requests of a group have in common come first, and each subgroup orders the rest by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import attrs

from assembler.regions.knowledge import Document
from assembler.strategies.sources.branching import Group, Sizes, find_shared_by_all, split
from assembler.strategies.sources.source import Identity, identity

_Branches: TypeAlias = Mapping[Identity, tuple[int, int]]
"""For each document at a node: its rank among the node's documents, and the node after it."""


@attrs.frozen(eq=False, repr=False)
class PrefixTree:
    """An order for `CitedSources(order=…)`, made once for a batch of requests.

    It is called with the documents that were chosen for one request, and returns them in an order that begins like that
    of other requests with the same documents. Documents that the batch does not share or hold come last, by identity.
    The best source may be anywhere: `Order.EDGES_FIRST` puts it where models read best, but shares little. `schedule`
    orders the requests for a cache that soon forgets.
    """

    _nodes: tuple[_Branches, ...]

    @classmethod
    def of(cls, batch: Iterable[Sequence[Document]], *, size: Callable[[str], float] = len) -> PrefixTree:
        """The tree of a batch, given the documents of each request, or those that may be chosen for it.

        `size` is the cost of a text: its length, or a token counter. At each place the document that saves most comes
        first: its size times the other requests that share it, and in small groups also what is shared after it.
        O(documents of all requests · log); in groups of up to 32 requests at worst times the square of their number.
        """
        sizes: dict[Identity, float] = {}
        requests: list[frozenset[Identity]] = []
        for documents in batch:
            named = {identity(document): document for document in documents}
            requests.append(frozenset(named))
            for key, document in named.items():
                if key not in sizes:
                    sizes[key] = size(document.text)
        return cls(_grow_branches(requests, sizes))

    def __call__(self, documents: Sequence[Document], /) -> list[Document]:
        """The documents in the order of the tree. O(n · branches) for n documents of one request."""
        by_identity: dict[Identity, list[Document]] = {}
        for document in documents:
            by_identity.setdefault(identity(document), []).append(document)
        shared = list(self._walk_path(by_identity))
        rest = sorted(by_identity.keys() - set(shared))
        return [document for key in (*shared, *rest) for document in by_identity[key]]

    def schedule(self, batch: Iterable[Sequence[Document]]) -> list[int]:
        """The places of the requests, ordered so that neighbours begin alike: one branch after the other.

        For caches of bounded size (vLLM, SGLang) and for those that forget within minutes.
        """
        places = [(self._find_ranks(documents), place) for place, documents in enumerate(batch)]
        return [place for _, place in sorted(places)]

    def _walk_path(self, keys: Iterable[Identity]) -> Iterator[Identity]:
        """The documents that the tree knows in this combination, in its order."""
        left, branches = set(keys), self._nodes[0]
        while found := _find_shared(left, branches):
            first = min(found, key=lambda key: branches[key][0])
            yield first
            left.remove(first)
            branches = self._nodes[branches[first][1]]

    def _find_ranks(self, documents: Sequence[Document]) -> list[int]:
        ranks, node = list[int](), 0
        for key in self._walk_path(map(identity, documents)):
            rank, node = self._nodes[node][key]
            ranks.append(rank)
        return ranks


def _find_shared(keys: set[Identity], branches: _Branches) -> list[Identity]:
    """The documents that are in both. O(the smaller)."""
    if len(branches) < len(keys):
        return [key for key in branches if key in keys]
    return [key for key in keys if key in branches]


def _grow_branches(requests: Group, sizes: Sizes) -> tuple[_Branches, ...]:
    nodes: list[dict[Identity, tuple[int, int]]] = [{}]
    unvisited = [(0, requests)]
    while unvisited:
        node, group = unvisited.pop()
        shared = find_shared_by_all(group)
        for key in sorted(shared):  # it costs nothing to put first what all of them hold
            nodes.append({})
            nodes[node][key] = (0, len(nodes) - 1)
            node = len(nodes) - 1
        for rank, (key, sharing) in enumerate(split([request - shared for request in group], sizes)):
            nodes.append({})
            nodes[node][key] = (rank, len(nodes) - 1)
            unvisited.append((len(nodes) - 1, sharing))
    return tuple(nodes)
