"""The RAG source system's names, keys, defaults and edge cases, one by one."""

from __future__ import annotations

import dataclasses
import itertools
import json
import logging
import random
from types import SimpleNamespace
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, ContextLengthError, PromptError
from assembler.rag import (
    MULTI_HOP,
    Best,
    CitedSources,
    ContextOptimizer,
    MergeNeighbours,
    Order,
    PromptBuilder,
    PromptComponents,
    ReserveByQuestion,
    RetrievalResult,
    SourceFormatter,
    TokenBudgetManager,
    citation_report,
    read_results,
)
from assembler.rag.settings import Settings, settings_from
from budgets import Budget, BudgetError, Grade
from tests.budgets.raw_engines import tokens_of
from tests.interpreter import ran

VARIABLES = ("GENERATION_MODEL", "MODEL_MAX_TOKENS", "MAX_OUTPUT_TOKENS", "TEMPERATURE")


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def count(text: str) -> int:
    return tokens_of("cl100k_base", text)


def results(number: int, *, words: int = 12, dimension: int = 8) -> list[RetrievalResult]:
    draw = random.Random(number)
    return [
        RetrievalResult(
            f"Chunk {at} says: " + " ".join(draw.choices(["alpha", "beta", "gamma,", "delta."], k=words)),
            score=draw.random(),
            chunk_id=f"c{at}",
            document_id=f"d{at % 3}",
            document_filename=f"file{at % 3}.pdf",
            section_title="Introduction" if at % 2 else None,
            page_number=at,
            embedding=[draw.gauss(0, 1) for _ in range(dimension)],
        )
        for at in range(number)
    ]


# ── TokenBudgetManager


def test_the_breakdown_of_the_published_example_adds_up() -> None:
    manager = TokenBudgetManager(counter=lambda text: {"What is...": 5, "You are...": 500}[text])
    assert manager.calculate_budget(query="What is...", system_prompt="You are...") == {
        "total_budget": 1_048_576,
        "query_tokens": 5,
        "system_tokens": 500,
        "output_tokens": 8_192,
        "safety_margin": 100,
        "context_budget": 1_039_779,
        "budget_exceeded": False,
    }


@given(st.text(max_size=20), st.text(max_size=20), st.integers(10, 200), st.integers(0, 9), st.integers(0, 9))
def test_the_parts_of_a_budget_always_add_up_to_the_window(
    query: str, system: str, window: int, output: int, margin: int
) -> None:
    parts = TokenBudgetManager(window, output, safety_margin=margin, counter=len).calculate_budget(query, system)
    spent = parts["query_tokens"] + parts["system_tokens"] + parts["output_tokens"] + parts["safety_margin"]
    assert spent + parts["context_budget"] == parts["total_budget"] == window
    assert parts["budget_exceeded"] == (parts["context_budget"] < 0)


def test_tokens_are_those_of_cl100k() -> None:
    for text in ("", "Deep learning neural networks", "漢字 <|endoftext|>"):
        assert TokenBudgetManager().count_tokens(text) == count(text)


@given(st.lists(st.tuples(st.text(max_size=9), st.floats(0, 1)), max_size=8), st.integers(-3, 40))
def test_truncation_keeps_the_best_that_fit_best_first(pairs: list[tuple[str, float]], budget: int) -> None:
    texts, scores = [text for text, _ in pairs], [score for _, score in pairs]
    expected: list[int] = []
    left = budget
    for at in sorted(range(len(pairs)), key=lambda at: (-scores[at], at)):
        if len(texts[at]) <= left:
            expected.append(at)
            left -= len(texts[at])
    assert TokenBudgetManager(counter=len).truncate_to_budget(texts, scores, budget) == expected


def test_texts_and_scores_go_together() -> None:
    with pytest.raises(PromptError, match="2 texts and 1 scores"):
        TokenBudgetManager().truncate_to_budget(["a", "b"], [1.0], 5)


# ── settings


def test_the_defaults_are_the_published_ones() -> None:
    assert settings_from({}) == Settings("gemini-1.5-pro-latest", 1_048_576, 8_192, 0.1)
    manager = TokenBudgetManager()
    assert (manager.model_max_tokens, manager.max_output_tokens) == (1_048_576, 8_192)


def test_the_environment_is_read_only_when_an_object_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in zip(VARIABLES, ("m", "4_000", "1,000", "0.7"), strict=True):
        monkeypatch.setenv(name, value)
    builder = PromptBuilder()
    for name in VARIABLES:
        monkeypatch.setenv(name, "broken")
    manager = builder.token_budget_manager
    assert manager.settings == Settings("m", 4_000, 1_000, 0.7)
    assert builder.temperature == 0.7
    assert manager.calculate_budget("q", "s")["total_budget"] == 4_000
    assert builder.build_prompt("q", []).source_count == 0
    monkeypatch.setenv("MODEL_MAX_TOKENS", "9000")
    monkeypatch.setenv("MAX_OUTPUT_TOKENS", " ")
    monkeypatch.setenv("TEMPERATURE", "")
    assert TokenBudgetManager(max_output_tokens=10).model_max_tokens == 9_000


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MODEL_MAX_TOKENS", "many"),
        ("MODEL_MAX_TOKENS", "-1"),
        ("MAX_OUTPUT_TOKENS", "1e4"),
        ("MAX_OUTPUT_TOKENS", "9" * 5_000),
        ("TEMPERATURE", "warm"),
        ("TEMPERATURE", "nan"),
        ("TEMPERATURE", "-1"),
    ],
)
def test_the_error_for_a_wrong_variable_names_it_and_hides_its_value(name: str, value: str) -> None:
    with pytest.raises(BudgetError, match=name) as caught:
        settings_from({name: value})
    assert value not in str(caught.value) or len(value) < 3


def test_a_question_of_more_parts_reserves_more_and_never_above_the_most() -> None:
    rule = ReserveByQuestion(least=100, per_part=50)
    plain = rule.tokens("What is it?", 8_192)
    assert plain == 100
    assert rule.tokens("Compare A and B, and explain why. How?", 8_192) > plain
    assert rule.tokens("a and b " * 1_000, 500) == 500
    manager = TokenBudgetManager(4_000, 500, output_reserve=rule)
    assert manager.calculate_budget("What is it?", "")["output_tokens"] == 100
    assert manager.budget_for("What is it?").max_output_tokens == 100
    with pytest.raises(BudgetError):
        ReserveByQuestion(least=0)


# ── SourceFormatter


def test_sources_are_written_as_published() -> None:
    assert (
        SourceFormatter.format_source(
            source_number=1, content="Text.", document_filename="doc.pdf", section_title="Introduction", page_number=3
        )
        == "[Source 1]\nDocument: doc.pdf\nSection: Introduction\nPage: 3\nContent:\nText."
    )
    assert SourceFormatter.format_sources(["a", "b"], ["d.pdf", None], page_numbers=[None, 0]) == (
        "[Source 1]\nDocument: d.pdf\nContent:\na\n\n---\n\n[Source 2]\nPage: 0\nContent:\nb"
    )
    assert SourceFormatter.format_sources([]) == ""
    assert SourceFormatter.format_source(2, "x") == "[Source 2]\nContent:\nx"
    with pytest.raises(PromptError, match="section_titles has 1 entries for 2"):
        SourceFormatter.format_sources(["a", "b"], section_titles=["x"])


def test_the_columns_of_results_are_the_parameters_of_the_formatter() -> None:
    found = results(3)
    assert "Page: 1" in SourceFormatter.format_sources(**SourceFormatter.extract_document_info(found))
    assert SourceFormatter.create_source_mapping(found)[2] == {"chunk_id": "c1", "document_id": "d1", "page": 1}


# ── ContextOptimizer


def test_the_statistics_of_the_published_example() -> None:
    before = [RetrievalResult("x", chunk_id=str(at)) for at in range(15)]
    stats = ContextOptimizer(counter=lambda _: 800).get_optimization_stats(before, before[:10])
    assert stats == {
        "original_count": 15,
        "optimized_count": 10,
        "removed_count": 5,
        "removal_rate": 33.33,
        "original_tokens": 12_000,
        "optimized_tokens": 8_000,
        "token_reduction": 4_000,
        "token_reduction_rate": 33.33,
    }
    assert ContextOptimizer().get_optimization_stats([], [])["removal_rate"] == 0.0


@given(st.integers(0, 30), st.integers(-5, 900))
def test_the_optimized_are_the_very_results_and_their_blocks_fit(number: int, budget: int) -> None:
    found = results(number)
    kept: list[Any] = ContextOptimizer().optimize(found, budget)
    assert all(any(one is other for other in found) for one in kept)
    if kept:
        info = SourceFormatter.extract_document_info(kept)
        assert count(SourceFormatter.format_sources(**info)) <= budget


def test_six_results_are_read_best_first_and_second_best_last() -> None:
    found = [attrs.evolve(one, score=1 - at / 10) for at, one in enumerate(results(6))]
    kept: list[Any] = ContextOptimizer().optimize(found, 10_000)
    assert [one.chunk_id for one in kept] == ["c0", "c2", "c4", "c5", "c3", "c1"]


def test_the_higher_scored_of_two_similar_chunks_stays_and_the_threshold_can_be_set() -> None:
    pair = [
        RetrievalResult("low", score=0.2, embedding=[1.0, 0.30]),
        RetrievalResult("high", score=0.9, embedding=[1.0, 0.0]),
    ]
    assert [one.content for one in ContextOptimizer().optimize(pair, 999)] == ["high"]  # type: ignore[attr-defined]
    assert len(ContextOptimizer(similarity_threshold=0.98).optimize(pair, 999)) == 2


def test_without_embeddings_there_is_a_warning_and_only_equal_texts_are_dropped(
    caplog: pytest.LogCaptureFixture,
) -> None:
    found = [RetrievalResult("a"), RetrievalResult("a"), RetrievalResult("b")]
    with caplog.at_level(logging.WARNING, "assembler.rag"):
        assert len(ContextOptimizer().optimize(found, 999)) == 2
    assert ["No embeddings" in record.getMessage() for record in caplog.records] == [True]


def test_merged_neighbours_come_back_as_one_result() -> None:
    found = [
        RetrievalResult(f"part {at}", score=1.0, document_id="d", chunk_id=f"c{at}", metadata={"chunk_index": at})
        for at in range(2)
    ]
    optimizer = ContextOptimizer(strategy=CitedSources(merging=MergeNeighbours()))
    (merged,) = read_results(optimizer.optimize(found, 999))
    assert merged.content == "part 0\npart 1"
    builder = PromptBuilder(TokenBudgetManager(5_000, 100), optimizer)
    assert builder.build_prompt("q", found).source_mapping == {
        1: {"chunk_id": "c0", "document_id": "d", "page": None, "chunk_ids": ["c0", "c1"]}
    }


def test_a_counter_without_additive_seams_is_checked_on_the_whole_text() -> None:
    def lines(text: str) -> int:
        return max(1, len(text) // 2)

    for budget in range(0, 400, 13):
        kept = ContextOptimizer(counter=lines).optimize(results(9), budget)
        info = SourceFormatter.extract_document_info(kept)
        assert not kept or lines(SourceFormatter.format_sources(**info)) <= budget


# ── PromptBuilder


@given(st.integers(0, 12), st.integers(-3, 600), st.sampled_from(Order), st.booleans())
def test_the_prompt_recounted_is_what_it_says_and_never_above_its_budget(
    number: int, room: int, order: Order, best: bool
) -> None:
    strategy = CitedSources(order=order, selection=Best()) if best else CitedSources(order=order)
    window = 60 + 100 + room + 8
    builder = PromptBuilder(TokenBudgetManager(max(window, 120), 8), ContextOptimizer(strategy=strategy))
    try:
        prompt = builder.build_prompt("Which chunk says beta?", results(number), system_instructions="Cite [Source X].")
    except ContextLengthError:
        return
    assert count(prompt.system_prompt) + count(prompt.user_prompt) == prompt.total_tokens <= max(window, 120) - 108
    assert prompt.source_count == len(prompt.source_mapping) == prompt.context.count("[Source ")
    assert prompt.context in prompt.user_prompt
    assert count(prompt.context) == prompt.context_tokens
    blocks = prompt.context.split("\n\n---\n\n")
    for (mapped, entry), block in zip(prompt.source_mapping.items(), blocks, strict=False):
        assert block.startswith(f"[Source {mapped}]\n")
        assert f"Chunk {entry['page']} says" in block


def test_the_user_prompt_is_the_published_template() -> None:
    prompt = PromptBuilder().build_prompt("Why?", [RetrievalResult("Because.", document_filename="a.txt")])
    assert prompt.user_prompt == (
        "Based on the following sources, please answer the question.\n\nSOURCES:\n"
        "[Source 1]\nDocument: a.txt\nContent:\nBecause.\n\nQUESTION:\nWhy?\n\nANSWER:"
    )
    assert prompt.system_prompt == PromptBuilder.SYSTEM_INSTRUCTIONS
    assert prompt.query == "Why?"
    assert "ALWAYS cite sources using [Source X] notation" in prompt.system_prompt
    assert [field.name for field in dataclasses.fields(PromptComponents)][:8] == [
        "system_prompt", "user_prompt", "context", "query", "source_count", "total_tokens", "context_tokens",
        "source_mapping",
    ]  # fmt: skip


@pytest.mark.parametrize("query", ["", "   ", "\n\t"])
def test_an_empty_query_is_refused(query: str) -> None:
    with pytest.raises(ValueError, match="Query cannot be empty"):
        PromptBuilder().build_prompt(query, results(1))


@pytest.mark.parametrize("nothing", [None, [], ()])
def test_no_results_make_a_prompt_that_says_so(nothing: Any) -> None:
    prompt = PromptBuilder().build_prompt("Why?", nothing)
    assert prompt.user_prompt.startswith("I don't have any relevant sources")
    assert (prompt.source_count, prompt.context, prompt.context_tokens, prompt.source_mapping) == (0, "", 0, {})
    assert count(prompt.system_prompt) + count(prompt.user_prompt) == prompt.total_tokens


def test_a_query_over_the_budget_warns_and_raises_with_the_arithmetic(caplog: pytest.LogCaptureFixture) -> None:
    builder = PromptBuilder(TokenBudgetManager(1_000, 100))
    with caplog.at_level(logging.WARNING, "assembler.rag"), pytest.raises(ContextLengthError) as caught:
        builder.build_prompt("why " * 900, results(3))
    assert "Query too long, reducing context budget" in caplog.text
    assert caught.value.excess > 0


def test_unoptimized_results_go_in_as_they_are_or_not_at_all() -> None:
    twice = [*results(3), *results(3)]
    builder = PromptBuilder(TokenBudgetManager(1_500, 100))
    prompt = builder.build_prompt("q", twice, optimize_context=False)
    assert [entry["chunk_id"] for entry in prompt.source_mapping.values()] == ["c0", "c1", "c2"] * 2
    assert builder.build_prompt("q", twice).source_count == 3
    with pytest.raises(ContextLengthError):
        builder.build_prompt("q", results(90), optimize_context=False)
    assert 0 < builder.build_prompt("q", results(90)).source_count < 90


def test_instructions_are_replaced_for_one_prompt_or_for_a_builder() -> None:
    builder = PromptBuilder()
    assert builder.build_prompt("q", [], system_instructions="Be brief.").system_prompt == "Be brief."
    builder.SYSTEM_INSTRUCTIONS = "Answer using provided sources."
    assert builder.build_prompt("q", []).system_prompt == "Answer using provided sources."
    assert builder.build_prompt("q", [], system_instructions="").system_prompt == ""
    assert PromptBuilder.SYSTEM_INSTRUCTIONS != builder.SYSTEM_INSTRUCTIONS


def test_a_preview_is_cut_and_says_so() -> None:
    prompt = PromptBuilder().build_prompt("Why?", results(2))
    preview = PromptBuilder.preview_prompt(prompt, max_chars=100)
    assert len(preview) == 100
    assert preview.endswith("…")
    assert PromptBuilder.preview_prompt(prompt, max_chars=0) == ""
    assert preview.startswith("SYSTEM:\nYou are a helpful AI assistant")
    assert PromptBuilder().preview_prompt(prompt, max_chars=10**6).endswith("ANSWER:")


def test_a_multi_hop_question_gets_its_own_words() -> None:
    prompt = PromptBuilder(template=MULTI_HOP).build_prompt("Who leads the firm that made it?", results(2))
    assert "STEPS:" in prompt.user_prompt
    assert prompt.user_prompt.endswith("ANSWER:")


FIELDS = [
    "query_preview", "retrieval_results", "optimize_context", "original_count", "deduplicated", "after_truncation",
    "final_count", "context_budget", "context_tokens", "budget_utilization", "source_count", "total_tokens",
    "average_tokens_per_source", "optimization_time_ms",
]  # fmt: skip


def test_the_log_record_has_its_fields_and_no_text(caplog: pytest.LogCaptureFixture) -> None:
    found = [*results(4), results(4)[0], *results(60, words=40)]
    builder = PromptBuilder(TokenBudgetManager(1_500, 100))
    with caplog.at_level(logging.INFO, "assembler.rag"):
        prompt = builder.build_prompt("A secret question", found)
    (record,) = [record for record in caplog.records if record.levelno == logging.INFO]
    fields = {name: getattr(record, name) for name in FIELDS}
    assert fields["query_preview"] == ""
    assert fields["retrieval_results"] == fields["original_count"] == 65
    assert fields["deduplicated"] == 64
    assert fields["after_truncation"] == fields["final_count"] == fields["source_count"] == prompt.source_count < 64
    assert fields["budget_utilization"] == round(100 * prompt.context_tokens / fields["context_budget"], 2)
    assert fields["optimize_context"] is True
    assert fields["average_tokens_per_source"] == round(prompt.context_tokens / prompt.source_count, 2)
    assert 0 < fields["optimization_time_ms"] < 60_000
    assert "secret" not in str(record.__dict__)
    assert "alpha" not in str(record.__dict__)


def test_a_query_preview_is_given_to_who_asks(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "assembler.rag"):
        PromptBuilder(query_preview_characters=8).build_prompt("What is this about?", [])
    assert [getattr(record, "query_preview", None) for record in caplog.records] == ["What is "]


def test_a_prompt_keeps_its_sources_for_the_citation_report() -> None:
    prompt = PromptBuilder().build_prompt("q", results(3))
    report = citation_report("Yes [Source 2]. No [Source 9].", prompt)
    assert report.used == (2,)
    assert report.unused == (1, 3)
    assert sum(row.name.startswith("[Source") for row in prompt.report.rows) == 3
    assert "alpha" not in repr(prompt) + repr(prompt.assembled) + str(prompt.report)


# ── what retrievers say


class Node:
    """As LlamaIndex's TextNode and NodeWithScore."""

    def __init__(self, text: str) -> None:
        self.node_id, self.ref_doc_id, self.embedding = "n1", "d1", [1.0, 0.0]
        self.metadata = {"file_name": "a.pdf", "page_label": "iv"}
        self._text = text

    def get_content(self) -> str:
        return self._text


LANGCHAIN = SimpleNamespace(page_content="text", metadata={"source": "a.pdf", "page": 3}, id="l1")
SAID = [
    (RetrievalResult("text", score=0.5), {"content": "text", "score": 0.5}),
    ({"content": "text", "score": 0.5, "page_number": 2}, {"score": 0.5, "page_number": 2}),
    ({"text": "text", "similarity": 0.5, "id": 7}, {"chunk_id": "7"}),
    ({"text": "text", "metadata": {"filename": "a.pdf"}}, {"document_filename": "a.pdf"}),
    ((LANGCHAIN, 0.25), {"score": 0.25, "document_filename": "a.pdf", "page_number": 3, "chunk_id": "l1"}),
    (LANGCHAIN, {"score": 0.0}),
    (SimpleNamespace(node=Node("text"), score=0.75), {"score": 0.75, "chunk_id": "n1", "document_id": "d1"}),
    (Node("text"), {"page_number": "iv"}),
    (SimpleNamespace(node=Node("text"), score=None), {"score": 0.0, "embedding": [1.0, 0.0]}),
    (Node("text"), {"document_filename": "a.pdf"}),
    ("text", {"score": 0.0, "chunk_id": None}),
    (("text", 0.5), {"score": 0.5}),
]  # fmt: skip


@pytest.mark.parametrize(("retrieved", "expected"), SAID)
def test_a_retrievers_own_objects_are_understood(retrieved: Any, expected: dict[str, Any]) -> None:
    (read,) = read_results([retrieved])
    assert read.content == "text"
    for name, value in expected.items():
        assert getattr(read, name) == value


def test_numpy_scores_and_embeddings_are_understood() -> None:
    import numpy as np

    draw = np.random.default_rng(0)
    found = [{"content": f"t{at}", "score": np.float32(at / 4), "embedding": draw.normal(size=4)} for at in range(4)]
    assert PromptBuilder().build_prompt("q", found).source_count == 4


@pytest.mark.parametrize("bad", [None, 3, {}, {"content": 3}, {"score": 1}, SimpleNamespace(), (1, 2), Node(3)])  # type: ignore[arg-type]
def test_a_result_without_text_is_named_by_its_place(bad: Any) -> None:
    with pytest.raises(PromptError, match="retrieval result 1"):
        read_results(["good", bad])


@pytest.mark.parametrize("bad", ["text", b"x", {"content": "x"}, 3])
def test_a_value_that_is_not_a_list_of_results_is_refused(bad: Any) -> None:
    with pytest.raises(PromptError, match="expected a list"):
        read_results(bad)


def test_the_error_for_a_wrong_score_names_its_place() -> None:
    with pytest.raises(PromptError, match="score of retrieval result 0"):
        read_results([{"content": "x", "score": "high"}])


def test_every_combination_of_steps_keeps_numbers_and_mapping_in_line() -> None:
    found = [*results(7), *results(2)]
    combinations = itertools.product(Order, (None, 1), (None, MergeNeighbours()), (120, 400, 9_000))
    for order, cap, merging, room in combinations:
        strategy = CitedSources(order=order, per_document=cap, merging=merging)
        builder = PromptBuilder(TokenBudgetManager(room + 600, 100), ContextOptimizer(strategy=strategy))
        prompt = builder.build_prompt("q", found)
        for number, source in enumerate(prompt.sources, 1):
            heading = prompt.context.index(f"[Source {number}]\n")
            assert prompt.context.index(source.text) > heading
            assert prompt.source_mapping[number]["chunk_id"] == (source.metadata or {})["chunk_id"]


def test_a_source_entry_answers_both_names_of_its_page() -> None:
    entry = SourceFormatter.create_source_mapping([RetrievalResult("x", chunk_id="c", page_number=3)])[1]
    assert entry == {"chunk_id": "c", "document_id": None, "page": 3}
    assert (entry["page_number"], json.loads(json.dumps(entry))) == (3, dict(entry))
    with pytest.raises(KeyError):
        entry["section"]


def test_a_wrong_score_is_refused_and_an_empty_list_is_not() -> None:
    with pytest.raises(PromptError, match="nan"):
        TokenBudgetManager().truncate_to_budget(["a", "b"], [1.0, float("nan")], 10)
    assert ContextOptimizer().optimize(None, 100) == []


def test_a_source_is_asked_by_either_name_in_every_way() -> None:
    found = RetrievalResult("x", chunk_id="c", document_filename="a.pdf", page_number=3)
    entry = SourceFormatter.create_source_mapping([found])[1]
    assert list(entry) == ["chunk_id", "document_id", "page"]
    for key, value in {"page": 3, "page_number": 3, "document_filename": "a.pdf", "document_id": None}.items():
        assert (entry[key], entry.get(key), entry.get(key, "default"), key in entry) == (value, value, value, True)
    assert (entry.get("section"), entry.get("section", 7), "section" in entry) == (None, 7, False)
    assert SourceFormatter.create_source_mapping([found])[1] == entry


def test_a_source_without_any_id_is_listed_by_its_file() -> None:
    (entry,) = SourceFormatter.create_source_mapping([{"content": "x", "source": "a.pdf"}]).values()
    assert entry == {"chunk_id": None, "document_id": None, "page": None, "document_filename": "a.pdf"}
    (bare,) = SourceFormatter.create_source_mapping(["x"]).values()
    assert bare == {"chunk_id": None, "document_id": None, "page": None}


def test_components_are_made_of_the_published_fields_and_replaced() -> None:
    made = PromptComponents("s", "u", "c", "q", 1, 20, 10, {1: SourceFormatter.create_source_mapping(["c"])[1]})
    assert dataclasses.replace(made, query="other").query == "other"
    with pytest.raises(PromptError, match="made by hand"):
        _ = made.report
    with pytest.raises(PromptError, match="hold no sources"):
        citation_report("Yes [Source 1].", made)
    built = PromptBuilder().build_prompt("q", results(2))
    changed = dataclasses.replace(built, user_prompt="Shorter.")
    assert (changed.report, changed.sources, changed.user_prompt) == (built.report, built.sources, "Shorter.")
    assert citation_report("Yes [Source 2].", changed).used == (2,)


NUMBERS = [RetrievalResult(" ".join(str(at * 7_919 + n) for n in range(60)), score=1 / (at + 1)) for at in range(60)]


@pytest.mark.parametrize(
    "model", ["gemini-1.5-pro-latest", "gpt-4o", "claude-3-opus-20240229", "mistral-large-2411", "x/y"]
)
@pytest.mark.parametrize("window", [1_200, 4_700])
def test_a_model_with_another_vocabulary_is_estimated_and_its_own_rule_fits_the_window(
    model: str, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GENERATION_MODEL", model)
    prompt = PromptBuilder(TokenBudgetManager(window, 100)).build_prompt("Which is the largest?", NUMBERS)
    assembled = prompt.assembled
    assert assembled is not None
    assert prompt.total_tokens == count(prompt.system_prompt) + count(prompt.user_prompt)
    assert assembled.count.grade is Grade.ESTIMATED
    assert prompt.source_count > 0
    if model != "x/y":
        own = Assembler(Budget(10**6, model=model)).add_instruction(prompt.system_prompt)
        own.add_message({"role": "user", "content": prompt.user_prompt})
        assert own.build().count.tokens <= assembled.count.upper <= window - 200
        # Ceilings of many short texts and the ceiling of one long text are not the same number.
        assert own.build().count.upper <= 1.02 * assembled.count.upper


def test_the_report_names_the_model_that_was_assumed_and_no_model_that_was_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def notes(manager: TokenBudgetManager) -> tuple[str, ...]:
        return PromptBuilder(manager).build_prompt("q", results(2)).report.notes

    (note,) = notes(TokenBudgetManager(3_500, 500))
    assert "gemini-1.5-pro-latest, the default" in note
    assert notes(TokenBudgetManager(3_500, 500, counter=len)) == ()
    named = TokenBudgetManager(3_500, 500, generation_model="gpt-4o")
    assert notes(named) == ()
    assert named.settings.generation_model == "gpt-4o"
    monkeypatch.setenv("GENERATION_MODEL", "gpt-4o")
    assert notes(TokenBudgetManager(3_500, 500)) == ()


def test_a_model_named_in_the_call_is_held_to_its_own_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = PromptBuilder(TokenBudgetManager(3_500, 500, generation_model="claude-opus-4-8")).build_prompt(
        "q", results(2)
    )
    monkeypatch.setenv("GENERATION_MODEL", "claude-opus-4-8")
    theirs = PromptBuilder(TokenBudgetManager(3_500, 500)).build_prompt("q", results(2))
    assert asked.report.count == theirs.report.count


def test_a_model_of_that_vocabulary_and_an_own_counter_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = PromptBuilder(TokenBudgetManager(counter=len)).build_prompt("q", results(2)).assembled
    monkeypatch.setenv("GENERATION_MODEL", "gpt-4")
    theirs = PromptBuilder(TokenBudgetManager()).build_prompt("q", results(2)).assembled
    assert mine is not None
    assert theirs is not None
    assert mine.count.grade is theirs.count.grade is Grade.EXACT


def test_normal_use_writes_nothing_to_the_terminal() -> None:
    code = (
        "from assembler.rag import PromptBuilder; from assembler.prompts import ValidatedPromptTemplate\n"
        "PromptBuilder().build_prompt('Why?', ['Because.'])\n"
        "ValidatedPromptTemplate('t', '{question} {sources}').format(question='q', sources='s')"
    )
    done = ran(code)
    assert done == ""


def test_a_name_of_a_file_that_is_no_text_is_written_as_one() -> None:
    result = RetrievalResult("x", document_filename=np.array([1, 2]))  # type: ignore[arg-type]
    assert ContextOptimizer().optimize([result], 1_000) == [result]


def test_a_threshold_that_no_double_holds_is_refused() -> None:
    with pytest.raises(PromptError, match="threshold is not a number"):
        ContextOptimizer(10**400)
