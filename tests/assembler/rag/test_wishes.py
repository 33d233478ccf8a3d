"""An own order and number of sources, numbers that old answers cite, and values taken for nothing."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, CitedSources, Placement, PromptError, TrimOldest
from assembler.errors import MarkupError
from assembler.rag import MergeNeighbours, Order
from assembler.regions.knowledge import Document
from budgets import Budget, BudgetError


def with_sources(strategy: CitedSources, scores: Sequence[float], **more: Any) -> Assembler:
    assembler = Assembler(strategy=strategy, **more)
    for number, score in enumerate(scores):
        assembler.add_knowledge(f"Fact {number}.", type="rag", source=f"{number}", score=score)
    return assembler.add_message({"role": "user", "content": "Which?"})


def read(assembler: Assembler) -> list[str | None]:
    return [source.source for source in assembler.build().sources]


@given(st.lists(st.floats(0, 1), max_size=7), st.randoms(use_true_random=False))
def test_sources_are_read_in_the_order_that_a_function_gives(scores: list[float], random: Any) -> None:
    shown: list[str | None] = []

    def shuffled(documents: Sequence[Document]) -> list[Document]:
        assert [one.score for one in documents] == sorted(scores, reverse=True)
        mixed: list[Document] = random.sample(list(documents), len(documents))
        shown[:] = [one.source for one in mixed]
        return mixed

    assert read(with_sources(CitedSources(duplicates=(), order=shuffled), scores)) == shown[: len(scores)]


def test_an_order_by_name_numbers_the_sources_in_it() -> None:
    by_name = CitedSources(order=lambda documents: sorted(documents, key=lambda one: one.source or ""))
    context = with_sources(by_name, [0.1, 0.9, 0.5]).build()
    assert [source.source for source in context.sources] == ["0", "1", "2"]
    assert (context.system or "").index("[Source 1]\nDocument: 0") < (context.system or "").index(
        "[Source 3]\nDocument: 2"
    )


@pytest.mark.parametrize(
    "wrong",
    [
        lambda documents: documents[1:],
        lambda documents: [*documents, documents[0]],
        lambda documents: [Document("x", "rag")] * len(documents),
        lambda documents: None,
    ],
)
def test_an_order_that_loses_or_adds_a_document_is_refused(wrong: Any) -> None:
    with pytest.raises(PromptError, match="order returned"):
        with_sources(CitedSources(order=wrong), [0.1, 0.9]).build()


@pytest.mark.parametrize("wrong", ["best", 3, Order, None])
def test_a_wrong_order_is_refused_at_once(wrong: Any) -> None:
    with pytest.raises(BudgetError, match="order"):
        CitedSources(order=wrong)


@given(st.lists(st.floats(0, 1), max_size=7), st.integers(0, 8), st.booleans())
def test_the_top_k_are_the_best_and_the_report_says_what_is_beyond(scores: list[float], k: int, merge: bool) -> None:
    merging = MergeNeighbours() if merge else None
    context = with_sources(CitedSources(duplicates=(), order=Order.SCORE, top_k=k, merging=merging), scores).build()
    ranked = sorted(range(len(scores)), key=lambda at: (-scores[at], at))
    assert [source.source for source in context.sources] == [str(at) for at in ranked[:k]]
    beyond = [row for row in context.report.rows if row.reason == "beyond the top_k"]
    assert len(beyond) == max(0, len(scores) - k)


def test_the_top_k_are_counted_after_duplicates_and_documents_that_have_enough() -> None:
    assembler = Assembler(strategy=CitedSources(per_document=1, top_k=2, order=Order.SCORE))
    for text, source, score in [("a", "x", 0.9), ("a", "y", 0.8), ("b", "x", 0.7), ("c", "z", 0.6), ("d", "w", 0.5)]:
        assembler.add_knowledge(text, type="rag", source=source, score=score)
    assert [source.text for source in assembler.build().sources] == ["a", "c"]


@pytest.mark.parametrize(
    ("placement", "answer", "warned"),
    [
        (Placement.QUESTION, "It is blue [Source 1].", True),
        (Placement.QUESTION, "It is blue 【Source 2】.", True),
        (Placement.QUESTION, "It is blue (Sources 1, 2).", True),
        (Placement.QUESTION, "It is blue.", False),
        (Placement.SYSTEM, "It is blue [Source 1].", False),
    ],
)
def test_numbers_that_old_answers_cite_cause_a_warning_if_sources_change(
    placement: Placement, answer: str, warned: bool
) -> None:
    assembler = Assembler(strategy=CitedSources(placement=placement)).add_messages(
        [{"role": "user", "content": "And the sea?"}, {"role": "assistant", "content": answer}]
    )
    assembler.add_knowledge("The sky is blue.", type="rag").add_message({"role": "user", "content": "And the sky?"})
    notes = [note for note in assembler.build().report.notes if "earlier answer" in note]
    assert len(notes) == warned
    assert not notes or (notes[0].startswith("1 earlier") and "blue" not in notes[0])


def test_no_number_causes_a_warning_without_sources_or_if_the_answer_was_cut() -> None:
    strategy = CitedSources(placement=Placement.QUESTION)
    old = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "Blue [Source 1]. " + "word " * 200}]
    asked = {"role": "user", "content": "And the sky?"}
    without = Assembler(strategy=strategy).add_messages([*old, asked]).build()
    cut = Assembler(Budget(120), strategy=strategy, on_overflow=TrimOldest()).add_messages([*old, asked])
    cut.add_knowledge("The sky is blue.", type="rag")
    for context in (without, cut.build()):
        assert [note for note in context.report.notes if "earlier answer" in note] == []


class Kind(enum.Enum):
    PAGE = "page"
    NUMBER = 3


def test_an_enum_member_is_accepted_by_its_value() -> None:
    assert Assembler.xml_tag("x", type=Kind.PAGE) == Assembler.xml_tag("x", type="page")
    built = Assembler().add_knowledge("x", type=Kind.PAGE).build()
    assert built.system == Assembler().add_knowledge("x", type="page").build().system
    with pytest.raises(MarkupError, match="type"):
        Assembler.xml_tag("x", type=Kind.NUMBER)


@pytest.mark.parametrize("order", [Order.STABLE, Order.DOCUMENT])
@pytest.mark.parametrize("named", [np.array([1, 2]), ["a"], {"a": 1}, (["a"],)], ids=repr)
def test_a_value_that_cannot_name_a_document_caps_and_sorts_nothing(named: Any, order: Order) -> None:
    """Retrievers put any value into metadata: an array broke the choice, and a list the cap of each document."""
    assembler = Assembler(strategy=CitedSources(per_document=1, order=order))
    for text in ("One.", "Two."):
        assembler.add_knowledge(text, type="rag", metadata={"document_id": named})
    assert len(assembler.add_message({"role": "user", "content": "Which?"}).build().sources) == 2


@pytest.mark.parametrize("index", [["a"], "1", 1.0, None], ids=repr)
def test_a_value_that_is_no_index_merges_nothing(index: Any) -> None:
    """Only some of the chunks fit, so that the others are tried as neighbours of these."""
    assembler = Assembler(Budget(80, model="gpt-4o"), strategy=CitedSources(merging=MergeNeighbours()))
    for at in range(9):
        assembler.add_knowledge(f"Chunk {at}.", type="rag", source="a", metadata={"chunk_index": index})
    context = assembler.add_message({"role": "user", "content": "Which?"}).build()
    assert 0 < len(context.sources) < 9
    assert all(source.text.startswith("Chunk") and "\n" not in source.text for source in context.sources)


def test_documents_whose_ids_are_written_alike_keep_their_own_neighbours() -> None:
    """A number and a text are two documents. Their chunks lay between each other, and none was merged."""
    assembler = Assembler(strategy=CitedSources(merging=MergeNeighbours(), order=Order.GIVEN))
    for text, named, index in (("a", 1, 0), ("b", "1", 0), ("c", 1, 1), ("d", "1", 1)):
        assembler.add_knowledge(text, type="rag", metadata={"document_id": named, "chunk_index": index})
    context = assembler.add_message({"role": "user", "content": "Which?"}).build()
    assert [source.text for source in context.sources] == ["a\nc", "b\nd"]


def test_a_document_whose_id_is_a_number_that_python_cannot_print_is_merged() -> None:
    assembler = Assembler(strategy=CitedSources(merging=MergeNeighbours()))
    for index in (0, 1):
        metadata = {"document_id": 10**5_000, "chunk_index": index}
        assembler.add_knowledge(f"{index}", type="rag", metadata=metadata)
    context = assembler.add_message({"role": "user", "content": "Which?"}).build()
    assert [source.text for source in context.sources] == ["0\n1"]


@pytest.mark.parametrize("field", ["section_title", "page_number", "section_path"])
def test_a_number_that_python_cannot_print_is_refused_where_a_source_is_headed(field: str) -> None:
    value: Any = [10**5_000] if field == "section_path" else 10**5_000
    assembler = Assembler(strategy=CitedSources())
    assembler.add_knowledge("One.", type="rag", metadata={field: value})
    with pytest.raises(MarkupError, match="metadata"):
        assembler.add_message({"role": "user", "content": "Which?"}).build()
