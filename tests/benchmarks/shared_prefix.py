"""What a prefix cache serves of a batch of RAG requests, by the order of their sources; and what the order costs.

    python tests/benchmarks/shared_prefix.py

150 requests of 6 documents out of 60, drawn by Zipf's law. A cache that forgets nothing holds every prefix of every
earlier request, word by word; a small one holds the last eight requests. `served` is the share of all words that
came out of it. `evidence` is where the best source stands, on average, from 0 (first) to 1 (last), and the share of
requests in which it stands in the middle third, where models read worst (Liu et al., Lost in the Middle, 2023).

Then small batches, against the best that any orders of all their sources could reach, found by trying all.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from assembler import Assembler, CitedSources
from assembler.dialects import openai_chat
from assembler.rag import Order, PrefixTree
from assembler.regions.knowledge import Document
from budgets import Budget

REQUESTS, DOCUMENTS, EACH = 150, 60, 6
TARGET = 3.0
CLOSE = 0.9


def corpus(draw: random.Random, number: int) -> list[str]:
    """Texts of 60 to 180 words, none like another."""
    words = ["order", "refund", "parcel", "invoice", "delay", "customs", "address", "label", "claim", "carrier"]
    return [f"Document {n}. " + " ".join(draw.choices(words, k=draw.randrange(60, 180))) + "." for n in range(number)]


def batch(seed: int, requests: int, documents: int, each: int) -> list[list[Document]]:
    """The documents of each request with their scores: the more popular are asked for more often, in any order."""
    draw = random.Random(seed)
    texts = corpus(draw, documents)
    weights = [1 / (rank + 1) for rank in range(documents)]
    rows: list[list[Document]] = []
    for _ in range(requests):
        taken: list[int] = []
        while len(taken) < each:
            [one] = draw.choices(range(documents), weights)
            if one not in taken:
                taken.append(one)
        scores = sorted((draw.random() for _ in taken), reverse=True)
        rows.append(
            [
                Document(texts[one], "doc", source=f"doc-{one:03}", score=score)
                for one, score in zip(taken, scores, strict=True)
            ]
        )
    return rows


def requests_of(rows: Iterable[Sequence[Document]], order: Any) -> list[list[str]]:
    """Each request as its words: the system text with the sources, then the question."""
    base = Assembler(
        Budget(30_000, model="gpt-4o"), dialect=openai_chat, strategy=CitedSources(order=order, duplicates=())
    ).add_instruction("Answer from the sources, and cite them.")
    sent: list[list[str]] = []
    for place, row in enumerate(rows):
        made = base.fork()
        for one in row:
            made.add_knowledge(one.text, type="doc", source=one.source, score=one.score)
        made.add_message({"role": "user", "content": f"Question {place}: what happened to parcel {place * 7919}?"})
        text = "".join(message["content"] for message in made.build().request()["messages"])
        sent.append(text.split(" "))
    return sent


def served(sent: Sequence[Sequence[str]], remembered: int | None = None) -> float:
    """The share of all words that stood at the front of an earlier request, or of one of the last few."""
    hits = 0
    for place, request in enumerate(sent):
        earlier = sent[:place] if remembered is None else sent[max(place - remembered, 0) : place]
        hits += max((common(request, other) for other in earlier), default=0)
    return hits / sum(map(len, sent))


def common(one: Sequence[str], other: Sequence[str]) -> int:
    if one[:20] != other[:20]:
        return next(
            (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
        )
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def evidence(rows: Iterable[Sequence[Document]], order: Callable[[Sequence[Document]], Sequence[Document]]) -> str:
    """Where the best source stands."""
    places = [
        order(row).index(max(row, key=lambda one: one.score or 0)) / (len(row) - 1) for row in rows if len(row) > 1
    ]
    middle = sum(1 / 3 < place < 2 / 3 for place in places) / len(places)
    return f"{sum(places) / len(places):8.2f} {middle:8.0%}"


def saved(orders: Iterable[Sequence[Document]]) -> int:
    """Characters of documents that stood at the front of an earlier request, in any order of the requests."""
    seen: set[tuple[str, ...]] = set()
    hits = 0
    for documents in orders:
        for length in range(1, len(documents) + 1):
            prefix = tuple(one.text for one in documents[:length])
            if prefix in seen:
                hits += len(documents[length - 1].text)
            seen.add(prefix)
    return hits


def best(rows: Sequence[Sequence[Document]]) -> int:
    """The most that any orders save: all tried."""
    choices = [list(itertools.permutations(row)) for row in rows]
    return max(saved(orders) for orders in itertools.product(*choices))


def small_batches(number: int, requests: int = 4, documents: int = 5, each: int = 3) -> list[tuple[int, int]]:
    """What the tree saves of small batches, and the best there is."""
    found: list[tuple[int, int]] = []
    for seed in range(number):
        rows = batch(seed, requests, documents, each)
        tree = PrefixTree.of(rows)
        found.append((saved([tree(row) for row in rows]), best(rows)))
    return found


def main() -> int:
    rows = batch(7, REQUESTS, DOCUMENTS, EACH)
    tree = PrefixTree.of(rows)
    by_score = lambda row: sorted(row, key=lambda one: -(one.score or 0))  # noqa: E731
    edges = lambda row: [*by_score(row)[0::2], *by_score(row)[1::2][::-1]]  # noqa: E731
    stable = lambda row: sorted(row, key=lambda one: one.source or "")  # noqa: E731
    orders: list[tuple[str, Any, Callable[[Sequence[Document]], Sequence[Document]]]] = [
        ("Order.SCORE", Order.SCORE, by_score),
        ("Order.EDGES_FIRST (the default)", Order.EDGES_FIRST, edges),
        ("Order.STABLE", Order.STABLE, stable),
        ("PrefixTree.of(batch)", tree, tree),
    ]
    print(f"{'order of the sources':34} {'served':>7} {'last 8':>7} {'evidence':>8} {'middle':>8}")
    shares: list[float] = []
    for name, order, spoken in orders:
        sent = requests_of(rows, order)
        shares.append(served(sent))
        print(f"{name:34} {shares[-1]:7.3f} {served(sent, 8):7.3f} {evidence(rows, spoken)}")
    scheduled = [rows[place] for place in tree.schedule(rows)]
    sent = requests_of(scheduled, tree)
    print(f"{'… and tree.schedule(batch)':34} {served(sent):7.3f} {served(sent, 8):7.3f} {evidence(scheduled, tree)}")
    small = small_batches(40)
    share = sum(ours for ours, _ in small) / sum(most for _, most in small)
    worst = min((ours / most for ours, most in small if most), default=1.0)
    print(f"\n40 batches of 4 requests: the tree saves {share:.1%} of what any orders could, {worst:.0%} at worst")
    return int(shares[-1] < TARGET * min(shares[:2]) or share < CLOSE)


if __name__ == "__main__":
    raise SystemExit(main())
