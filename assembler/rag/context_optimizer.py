"""`ContextOptimizer`: the source system's interface to `CitedSources`, without a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict, cast

import attrs

from assembler.loggers import logger
from assembler.pricing.pricer import Piece
from assembler.rag.result import RetrievalResult, as_document, as_list, read_results
from assembler.rag.token_budget import ENCODING
from assembler.regions.knowledge import Document
from assembler.regions.regions import Regions
from assembler.strategies import Rendered
from assembler.strategies.cited_sources import FRAME, CitedSources
from assembler.strategies.sources.duplicates import SIMILAR, SameText, SimilarVectors
from assembler.strategies.sources.source import metadata_of
from assembler.strategies.strategy import Placement
from assembler.validation import must_be
from budgets import TokenCounter, Tokens, memoised, tiktoken_counter
from budgets.count import adds_at_seams
from budgets.numbers import as_whole_number

_LOG = logger("rag")


class OptimizationStats(TypedDict):
    """The result of `get_optimization_stats`. Rates are percentages of the original, to two places."""

    original_count: int
    optimized_count: int
    removed_count: int
    removal_rate: float
    original_tokens: Tokens
    optimized_tokens: Tokens
    token_reduction: Tokens
    token_reduction_rate: float


@attrs.frozen(eq=False)
class _SourcesAlone:
    """A `Space` for sources alone, without a prompt."""

    budget: Tokens
    count: TokenCounter
    question: str | None = None
    takes_blocks: bool = False

    def price(self, pieces: Sequence[Piece]) -> list[Tokens]:
        return [self.count(piece.text) for piece in pieces]

    def left(self, rendered: Rendered) -> Tokens:
        texts = [piece.text for piece in rendered.pieces if piece.name not in FRAME]
        if adds_at_seams(self.count):
            return self.budget - sum(map(self.count, texts))
        return self.budget - self.count("".join(texts))


class ContextOptimizer:
    """Removes duplicates and chunks that do not fit, and sorts the rest.

    `similarity_threshold` is the cosine above which two chunks are duplicates. `strategy` replaces all of it by your
    own `CitedSources`, which has its own rule for duplicates. The default `counter` is cl100k_base.
    """

    def __init__(
        self,
        similarity_threshold: float = SIMILAR,
        *,
        strategy: CitedSources | None = None,
        counter: TokenCounter | None = None,
    ) -> None:
        must_be("strategy", strategy, (CitedSources, type(None)), "CitedSources() or None")
        rules = (SameText(), SimilarVectors(similarity_threshold))
        chosen = CitedSources(duplicates=rules) if strategy is None else strategy
        self.similarity_threshold = similarity_threshold
        self.strategy = attrs.evolve(chosen, placement=Placement.QUESTION)
        self._counter = memoised(tiktoken_counter(ENCODING) if counter is None else counter)

    def optimize(self, retrieval_results: Sequence[object] | None, context_budget: Tokens) -> list[object]:
        """The results to use, in reading order: the same objects, or a `RetrievalResult` for merged neighbours.

        Their blocks, including numbers and rules, cost at most `context_budget`; a negative one keeps none. Logs a
        warning if no result has an embedding: then only equal texts are duplicates.
        """
        results = [] if retrieval_results is None else as_list(retrieval_results, "retrieval results")
        documents = [as_document(result) for result in read_results(results)]
        warn_without_embeddings(self.strategy, documents)
        space = _SourcesAlone(as_whole_number(context_budget, "context_budget"), self._counter)
        rendered = self.strategy.choose(Regions(documents=tuple(documents)), space)
        mine = {id(document): result for document, result in zip(documents, results, strict=True)}
        return [mine[id(source)] if id(source) in mine else _make_result(source) for source in rendered.sources]

    def get_optimization_stats(
        self, original_results: Sequence[object], optimized_results: Sequence[object]
    ) -> OptimizationStats:
        """How many results and tokens were removed. A result costs its block without the number."""
        original_results = as_list(original_results, "original_results")
        optimized_results = as_list(optimized_results, "optimized_results")
        before, after = self._count_tokens(original_results), self._count_tokens(optimized_results)
        removed = len(original_results) - len(optimized_results)
        return OptimizationStats(
            original_count=len(original_results),
            optimized_count=len(optimized_results),
            removed_count=removed,
            removal_rate=percentage(removed, len(original_results)),
            original_tokens=before,
            optimized_tokens=after,
            token_reduction=before - after,
            token_reduction_rate=percentage(before - after, before),
        )

    def _count_tokens(self, results: Sequence[object]) -> Tokens:
        return sum(self._counter(self.strategy.layout.body(as_document(result))) for result in read_results(results))


def warn_without_embeddings(strategy: CitedSources, documents: Sequence[Document]) -> None:
    """Log a warning if the strategy compares vectors and no document has one."""
    compares = any(isinstance(rule, SimilarVectors) for rule in strategy.duplicates)
    if compares and documents and all(document.embedding is None for document in documents):
        _LOG.warning("No embeddings, skipping deduplication by similarity")


def percentage(part: float, whole: float) -> float:
    """`part` of `whole` in percent, to two places; 0 if `whole` is 0."""
    return round(100 * part / whole, 2) if whole > 0 else 0.0


def _make_result(document: Document) -> RetrievalResult:
    page = metadata_of(document, "page_number")
    return RetrievalResult(
        document.text,
        score=document.score or 0.0,
        chunk_id=cast("str | None", metadata_of(document, "chunk_id")),
        document_id=cast("str | None", metadata_of(document, "document_id")),
        document_filename=document.source,
        section_title=cast("str | None", metadata_of(document, "section_title")),
        page_number=page if isinstance(page, int | str) else None,
        metadata=document.metadata,
    )
