"""Orders that make requests begin alike: the same documents, with the most shared ones first."""

from __future__ import annotations

import itertools
import pickle
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, CitedSources
from assembler.dialects import plain
from assembler.rag import Order, PrefixTree
from assembler.regions.knowledge import Document
from assembler.strategies.sources.ordering import order_sources
from assembler.strategies.sources.source import ranked_sources
from budgets import Budget
from tests.benchmarks.shared_prefix import saved
from tests.scaled import scaled


def document(name: int, score: float = 0.0, chunk: int | None = None) -> Document:
    metadata = None if chunk is None else {"chunk_index": chunk}
    return Document(f"text {name} " * (name + 1), "doc", source=f"doc-{name:02}", score=score, metadata=metadata)


rows = st.lists(st.integers(0, 7), max_size=5, unique=True).map(lambda names: [document(name) for name in names])
batches = st.lists(rows, max_size=8)


@given(st.permutations(range(6)), st.lists(st.floats(0, 1), min_size=6, max_size=6))
def test_a_stable_order_is_the_same_whatever_the_scores_and_the_order_given(
    names: list[int], scores: list[float]
) -> None:
    given_ones = [document(name, score, chunk=name % 2) for name, score in zip(names, scores, strict=True)]
    found = order_sources(ranked_sources(given_ones, {}), Order.STABLE)
    assert [one.document.source for one in found] == [f"doc-{name:02}" for name in range(6)]


def test_chunks_of_one_document_stand_together_in_their_order() -> None:
    chunks = [document(1, chunk=10), document(0, chunk=9), document(1, chunk=2), document(0)]
    found = [one.document for one in order_sources(ranked_sources(chunks, {}), Order.STABLE)]
    assert found == [chunks[1], chunks[3], chunks[2], chunks[0]]


@given(batches, rows, st.randoms())
def test_a_tree_returns_the_very_documents_in_an_order_that_depends_on_nothing_else(
    batch: list[list[Document]], row: list[Document], draw: random.Random
) -> None:
    tree = PrefixTree.of(batch)
    for documents in (*batch, row):
        shuffled = draw.sample(documents, len(documents))
        found = tree(documents)
        assert sorted(map(id, found)) == sorted(map(id, documents))
        assert found == tree(shuffled) == pickle.loads(pickle.dumps(tree))(shuffled)
    again = PrefixTree.of([draw.sample(documents, len(documents)) for documents in batch])
    assert again(row) == tree(row)


@given(batches)
def test_documents_of_every_request_come_first_in_each(batch: list[list[Document]]) -> None:
    shared = [[*row, document(9), document(8)] for row in batch]
    tree = PrefixTree.of(shared)
    common = set.intersection(*({one.source for one in row} for row in shared)) if len(shared) > 1 else set()
    assert all({one.source for one in tree(row)[: len(common)]} == common for row in shared)
    same = [batch[0]] * 3 if batch else []
    tree = PrefixTree.of(same)
    assert saved(map(tree, same)) == 2 * sum(len(one.text) for row in same[:1] for one in row)


@pytest.mark.parametrize(("requests", "documents", "each"), [(4, 5, 3), (5, 4, 2), (8, 6, 2)])
def test_a_tree_saves_nine_tenths_of_what_the_best_order_of_a_small_batch_saves(
    requests: int, documents: int, each: int
) -> None:
    for seed in range(6):
        draw = random.Random(seed)
        weights = [1 / (rank + 1) for rank in range(documents)]
        batch: list[list[Document]] = []
        while len(batch) < requests:
            names = set(draw.choices(range(documents), weights, k=each + 1))
            if len(names) == each:
                batch.append([document(name) for name in sorted(names)])
        most = max(map(saved, itertools.product(*(list(itertools.permutations(row)) for row in batch))))
        assert saved(map(PrefixTree.of(batch), batch)) >= 0.9 * most


@scaled(0.5)
@given(batches, st.randoms())
def test_a_schedule_is_every_request_once_and_neighbours_share_as_much_as_all(
    batch: list[list[Document]], draw: random.Random
) -> None:
    tree = PrefixTree.of(batch)
    schedule = tree.schedule(batch)
    assert sorted(schedule) == list(range(len(batch)))

    def with_the_one_before(places: Sequence[int]) -> int:
        """Documents that a cache of a single request serves."""
        orders = [[one.text for one in tree(batch[place])] for place in places]
        pairs = itertools.pairwise(orders)
        return sum(len([*itertools.takewhile(lambda two: two[0] == two[1], zip(a, b, strict=False))]) for a, b in pairs)

    assert with_the_one_before(schedule) >= with_the_one_before(draw.sample(schedule, len(schedule)))


def test_a_batch_that_is_zipf_shares_three_times_as_much_as_by_score() -> None:
    draw = random.Random(7)
    weights = [1 / (rank + 1) for rank in range(60)]
    batch: list[list[Document]] = []
    for _ in range(150):
        names: list[int] = []
        while len(names) < 6:
            [name] = draw.choices(range(60), weights)
            names += [name] * (name not in names)
        batch.append([document(name % 60, draw.random()) for name in names])
    by_score = saved(sorted(row, key=lambda one: -(one.score or 0)) for row in batch)
    stable = saved(sorted(row, key=lambda one: one.source or "") for row in batch)
    tree = PrefixTree.of(batch)
    assert 3 * by_score < saved(map(tree, batch))
    assert by_score < stable < saved(map(tree, batch))


def test_sources_cite_the_right_document_in_any_order() -> None:
    batch = [[document(name, 1 / (at + 1)) for at, name in enumerate(names)] for names in ((3, 1, 2), (2, 3), (4, 3))]
    for order in (Order.STABLE, PrefixTree.of(batch)):
        for row in batch:
            made = Assembler(Budget(5_000, counter=len), dialect=plain, strategy=CitedSources(order=order))
            for one in row:
                made.add_knowledge(one.text, type="doc", source=one.source, score=one.score)
            context = made.add_message({"role": "user", "content": "q"}).build()
            system = str(context.system)
            for number, source in enumerate(context.sources, 1):
                assert f"[Source {number}]" in system
                text = system.split(f"[Source {number}]")[1]
                assert next(one.text for one in row if one.source == source.source).strip() in text
