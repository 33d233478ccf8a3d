"""`PromptBuilder`: the source system's interface to the pipeline, from a query and results to a prompt that fits."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import attrs

from assembler.context import Context, context_of
from assembler.conversation.history import History
from assembler.errors import PromptError
from assembler.loggers import logger
from assembler.pipeline.build import make_plan
from assembler.pipeline.draft import Draft
from assembler.pipeline.emit import emit
from assembler.pipeline.planned import Planned
from assembler.pipeline.settings import Settings, counter_for
from assembler.policies import Refuse
from assembler.rag.context_optimizer import ContextOptimizer, percentage, warn_without_embeddings
from assembler.rag.result import as_document, read_results
from assembler.rag.source_formatter import SourceMapping, mapping_of
from assembler.rag.token_budget import TokenBudgetManager
from assembler.regions.knowledge import Document, provenance
from assembler.regions.regions import Regions
from assembler.report.report import Report
from assembler.strategies.cited_sources import FRAME, REPEATS, CitedSources
from assembler.strategies.sources.ordering import Order
from assembler.strategies.sources.selection import Everything
from assembler.strategies.sources.templates import SINGLE_HOP, SYSTEM_INSTRUCTIONS, QuestionTemplate
from assembler.strategies.strategy import Placement
from assembler.text.checked import checked_text
from assembler.validation import must_be
from budgets import BudgetError, Count, Tokens
from budgets.count import adds_at_seams, total
from budgets.numbers import as_whole_number

_LOG = logger("rag")


@dataclass(frozen=True)
class PromptComponents:
    """A prompt in its parts. `context` is the sources alone. All numbers but `source_count` are tokens.

    `context_tokens` counts `context`, and `total_tokens` counts system and user prompt. A dataclass, as in the source
    system: you can make one from the first eight fields, and change one with `dataclasses.replace`. `assembled` is the
    pipeline's own result, or None in one made by hand. `sources` are the documents, number 1 first.
    """

    system_prompt: str = field(repr=False)
    user_prompt: str = field(repr=False)
    context: str = field(repr=False)
    query: str = field(repr=False)
    source_count: int
    total_tokens: Tokens
    context_tokens: Tokens
    source_mapping: SourceMapping
    assembled: Context | None = field(default=None, repr=False, compare=False)
    sources: tuple[Document, ...] = field(default=(), repr=False, compare=False)

    @property
    def report(self) -> Report:
        """Every source kept or dropped, its tokens, and why. Raises PromptError for a prompt made by hand."""
        if self.assembled is None:
            raise PromptError("these PromptComponents were made by hand: only build_prompt() gives a report")
        return self.assembled.report


class PromptBuilder:
    """Builds prompts of instructions, numbered sources and a question, within a model's window.

    Without a manager the window is read from the environment, once, here. The log record has the first
    `query_preview_characters` of each query; by default none, because logs should hold no user text. Raises BudgetError
    for an argument of another type.
    """

    SYSTEM_INSTRUCTIONS: str = SYSTEM_INSTRUCTIONS

    def __init__(
        self,
        token_budget_manager: TokenBudgetManager | None = None,
        context_optimizer: ContextOptimizer | None = None,
        *,
        template: QuestionTemplate = SINGLE_HOP,
        query_preview_characters: int = 0,
    ) -> None:
        none = type(None)
        must_be("token_budget_manager", token_budget_manager, (TokenBudgetManager, none), "TokenBudgetManager(8_000)")
        must_be("context_optimizer", context_optimizer, (ContextOptimizer, none), "ContextOptimizer()")
        must_be("template", template, (QuestionTemplate,), "a QuestionTemplate such as SINGLE_HOP")
        self.token_budget_manager = TokenBudgetManager() if token_budget_manager is None else token_budget_manager
        self.context_optimizer = ContextOptimizer() if context_optimizer is None else context_optimizer
        self._template = template
        self._preview = as_whole_number(query_preview_characters, "query_preview_characters")
        if self._preview < 0:
            raise BudgetError(f"query_preview_characters is {self._preview}: 0 or more is expected")

    @property
    def temperature(self) -> float:
        """The environment's temperature, for the caller's request. It has no effect on prompts."""
        return self.token_budget_manager.settings.temperature

    def build_prompt(
        self,
        query: str,
        retrieval_results: Sequence[object] | None,
        optimize_context: bool = True,
        system_instructions: str | None = None,
    ) -> PromptComponents:
        """Build the prompt for `query`, never above the window less the answer's reserve and the safety margin.

        Without `optimize_context` every result is used, in order. Raises PromptError for an empty query, and for a
        result without text. Raises ContextLengthError if the prompt is too long even without sources, or with all of
        them if `optimize_context` is False.
        """
        must_be("optimize_context", optimize_context, (bool,), "True or False")
        if not checked_text(query, field="query").strip():
            raise PromptError("Query cannot be empty")
        documents = tuple(
            as_document(result) for result in read_results(() if retrieval_results is None else retrieval_results)
        )
        system = self.SYSTEM_INSTRUCTIONS if system_instructions is None else system_instructions
        checked_text(system, field="system_instructions")
        parts = self.token_budget_manager.calculate_budget(query, system)
        if parts["budget_exceeded"]:
            _LOG.warning("Query too long, reducing context budget")
        strategy = self.context_optimizer.strategy if optimize_context else self._keep_everything()
        strategy = attrs.evolve(strategy, template=self._template)
        warn_without_embeddings(strategy, documents)
        regions = Regions(system or None, documents=documents, provenance=provenance(system))
        draft = Draft(regions, History.of([{"role": "user", "content": query}]))
        manager = self.token_budget_manager
        began = time.perf_counter()
        plan = make_plan(draft, Settings.of(manager.budget_for(query), manager.dialect, Refuse(), strategy))
        took = time.perf_counter() - began
        components = _make_components(plan, query)
        asked = {"optimize_context": optimize_context, "context_budget": parts["context_budget"]}
        self._log_build(plan, components, asked, took)
        return components

    @staticmethod
    def preview_prompt(prompt_components: PromptComponents, max_chars: int = 1000) -> str:
        """System and user prompt under headlines, at most `max_chars` characters, for people to read."""
        must_be("prompt_components", prompt_components, (PromptComponents,), "what build_prompt() returned")
        most = as_whole_number(max_chars, "max_chars")
        text = f"SYSTEM:\n{prompt_components.system_prompt}\n\nUSER:\n{prompt_components.user_prompt}"
        return text if len(text) <= most else text[: max(most - 1, 0)] + "…" * (most > 0)

    def _keep_everything(self) -> CitedSources:
        return CitedSources(
            duplicates=(),
            selection=Everything(),
            order=Order.GIVEN,
            layout=self.context_optimizer.strategy.layout,
            placement=Placement.QUESTION,
        )

    def _log_build(self, plan: Planned, components: PromptComponents, asked: Mapping[str, Any], took: float) -> None:
        original = len(plan.draft.regions.documents)
        omitted = plan.measured.rendered.omitted
        repeats = sum(1 for one in omitted if one.reason.startswith(REPEATS))
        record = {
            "query_preview": components.query[: self._preview],
            "retrieval_results": original,
            **asked,
            "original_count": original,
            "deduplicated": original - repeats,
            "after_truncation": original - len(omitted),
            "final_count": components.source_count,
            "context_tokens": components.context_tokens,
            "budget_utilization": percentage(components.context_tokens, asked["context_budget"]),
            "source_count": components.source_count,
            "total_tokens": components.total_tokens,
            "average_tokens_per_source": round(components.context_tokens / max(components.source_count, 1), 2),
            "optimization_time_ms": round(1_000 * took, 3),
        }
        _LOG.info("prompt built", extra=record)


def _make_components(plan: Planned, query: str) -> PromptComponents:
    emit(plan)
    assembled = context_of(plan)
    rendered = plan.measured.rendered
    priced = zip(rendered.every_piece, plan.measured.prices.pieces, strict=True)
    blocks = [(piece.text, price) for piece, price in priced if piece.region == "knowledge" and piece.name not in FRAME]
    context = "".join(text for text, _ in blocks).rstrip("\n")
    return PromptComponents(
        system_prompt=assembled.system or "",
        user_prompt=cast("dict[str, str]", assembled.messages[-1])["content"],
        context=context,
        query=query,
        source_count=len(rendered.sources),
        total_tokens=assembled.count.tokens,
        context_tokens=_count_context(context, blocks, plan.settings),
        source_mapping=mapping_of(rendered.sources),
        assembled=assembled,
        sources=rendered.sources,
    )


def _count_context(context: str, blocks: Sequence[tuple[str, Count]], settings: Settings) -> Tokens:
    """The cost of the context alone. If counts add up, only the last block, now at the end, is counted again."""
    count = counter_for(settings.budget)
    if not blocks or not adds_at_seams(count):
        return count(context)
    *before, (last, _) = blocks
    return total(price for _, price in before).tokens + count(last.rstrip("\n"))
