"""`PromptBuilder`: the source system's face of the pipeline. A query and results in, a prompt that fits out."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import cast

import attrs

from assembler.context import Context, emit
from assembler.dialects import plain
from assembler.draft import Draft, Regions
from assembler.errors import PromptError
from assembler.fit import fit
from assembler.given import must_be
from assembler.history import History
from assembler.knowledge import Document
from assembler.planned import Planned
from assembler.policies import Refuse
from assembler.rag.context_optimizer import ContextOptimizer, percentage, warn_without_embeddings
from assembler.rag.result import as_document, read_results
from assembler.rag.source_formatter import SourceMapping, mapping_of
from assembler.rag.token_budget import TokenBudgetManager
from assembler.report import Report
from assembler.sources.ordering import Order
from assembler.sources.selection import Everything
from assembler.sources.templates import SINGLE_HOP, SYSTEM_INSTRUCTIONS, QuestionTemplate
from assembler.strategies.cited_sources import FRAME, REPEATS, CitedSources
from assembler.strategies.strategy import Placement
from assembler.terms import Terms
from assembler.text import checked_text, provenance
from budgets import BudgetError, Tokens
from budgets.count import total
from budgets.numbers import whole

_LOG = logging.getLogger("assembler.rag")


@attrs.frozen
class PromptComponents:
    """A prompt in its parts. `context` is the sources alone; all numbers are tokens but `source_count`.

    `context_tokens` is what the sources cost in the prompt, numbers and rules included; `total_tokens` is system and
    user prompt. `assembled` is the pipeline's own result, with the report of every source kept and dropped.
    """

    system_prompt: str = attrs.field(repr=False)
    user_prompt: str = attrs.field(repr=False)
    context: str = attrs.field(repr=False)
    query: str = attrs.field(repr=False)
    source_count: int
    total_tokens: Tokens
    context_tokens: Tokens
    source_mapping: SourceMapping
    assembled: Context = attrs.field(repr=False, eq=False)
    sources: tuple[Document, ...] = attrs.field(default=(), repr=False, eq=False)
    """The sources, number 1 first."""

    @property
    def report(self) -> Report:
        """Every source kept or dropped, its tokens, and why."""
        return self.assembled.report


class PromptBuilder:
    """Builds prompts of instructions, numbered sources and a question, within a model's window.

    Without a manager the environment says which window (read here, once). `query_preview_characters` of each query go
    into the log record, none unless asked for: a log is no place for a user's text. Raises BudgetError for an argument
    of another kind.
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
        self._preview = whole(query_preview_characters, "query_preview_characters")
        if self._preview < 0:
            raise BudgetError(f"query_preview_characters is {self._preview}: 0 or more is expected")

    @property
    def temperature(self) -> float:
        """What the environment asked for, for the caller's request; it changes no prompt."""
        return self.token_budget_manager.settings.temperature

    def build_prompt(
        self,
        query: str,
        retrieval_results: Sequence[object] | None,
        optimize_context: bool = True,
        system_instructions: str | None = None,
    ) -> PromptComponents:
        """The prompt for `query`: never above the window less the answer's reserve and the safety margin.

        Without `optimize_context` every result goes in, in the order given. Raises PromptError for an empty query and
        for a result without text, ContextLengthError where even a prompt without sources, or one with all of them that
        were asked for unoptimized, is too long.
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
        strategy = self._strategy(optimize_context)
        warn_without_embeddings(strategy, documents)
        regions = Regions(system or None, documents=documents, provenance=provenance(system))
        draft = Draft(regions, History.of([{"role": "user", "content": query}]))
        plan = fit(draft, Terms.of(self.token_budget_manager.budget_for(query), plain, Refuse(), strategy))
        components = _components(plan, query)
        self._log(plan, components, optimize_context, parts["context_budget"])
        return components

    @staticmethod
    def preview_prompt(prompt_components: PromptComponents, max_chars: int = 1000) -> str:
        """System and user prompt under headlines, at most `max_chars` characters of it, for a person's eyes."""
        must_be("prompt_components", prompt_components, (PromptComponents,), "what build_prompt() returned")
        most = whole(max_chars, "max_chars")
        text = f"SYSTEM:\n{prompt_components.system_prompt}\n\nUSER:\n{prompt_components.user_prompt}"
        return text if len(text) <= most else text[: max(most - 1, 0)] + "…" * (most > 0)

    def _strategy(self, optimize: bool) -> CitedSources:
        own = attrs.evolve(self.context_optimizer.strategy, template=self._template)
        return (
            own
            if optimize
            else CitedSources(
                duplicates=(),
                selection=Everything(),
                order=Order.GIVEN,
                layout=own.layout,
                template=own.template,
                placement=Placement.QUESTION,
            )
        )

    def _log(self, plan: Planned, components: PromptComponents, optimized: bool, context_budget: Tokens) -> None:
        original = len(plan.draft.regions.documents)
        omitted = plan.measured.rendered.omitted
        repeats = sum(1 for one in omitted if one.reason.startswith(REPEATS))
        record = {
            "query_preview": components.query[: self._preview],
            "retrieval_results": original,
            "optimize_context": optimized,
            "original_count": original,
            "deduplicated": original - repeats,
            "after_truncation": original - len(omitted),
            "final_count": components.source_count,
            "context_budget": context_budget,
            "context_tokens": components.context_tokens,
            "budget_utilization": percentage(components.context_tokens, context_budget),
            "source_count": components.source_count,
            "total_tokens": components.total_tokens,
        }
        _LOG.info("prompt built", extra=record)


def _components(plan: Planned, query: str) -> PromptComponents:
    assembled = emit(plan)
    rendered = plan.measured.rendered
    priced = zip(rendered.every_piece, plan.measured.prices.pieces, strict=True)
    blocks = [(piece.text, price) for piece, price in priced if piece.region == "knowledge" and piece.name not in FRAME]
    return PromptComponents(
        system_prompt=assembled.system or "",
        user_prompt=cast("dict[str, str]", assembled.messages[-1])["content"],
        context="".join(text for text, _ in blocks).rstrip("\n"),
        query=query,
        source_count=len(rendered.sources),
        total_tokens=assembled.count.tokens,
        context_tokens=total(price for _, price in blocks).tokens,
        source_mapping=mapping_of(rendered.sources),
        assembled=assembled,
        sources=rendered.sources,
    )
