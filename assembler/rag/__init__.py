"""Prompts of numbered sources with the RAG source system's names, over the library's pipeline; and citation reports.

    from assembler.rag import PromptBuilder, RetrievalResult, citation_report

The same in an `Assembler`: `Assembler(budget, strategy=CitedSources(order=Order.EDGES_FIRST))`.
"""

from assembler.rag.citation_report import CitationReport, Quote, Sentence, citation_report
from assembler.rag.citations import Citation, parse_citations
from assembler.rag.context_optimizer import ContextOptimizer, OptimizationStats
from assembler.rag.native_citations import answer_text
from assembler.rag.prompt_builder import PromptBuilder, PromptComponents
from assembler.rag.reserve import FixedReserve, OutputReserve, ReserveByQuestion
from assembler.rag.result import RetrievalResult, read_results
from assembler.rag.settings import Settings
from assembler.rag.source_formatter import SourceFormatter, SourceMapping
from assembler.rag.token_budget import BudgetInfo, TokenBudgetManager
from assembler.strategies.cited_sources import CitedSources
from assembler.strategies.sources.duplicates import AlikeTexts, Duplicates, SameText, SimilarVectors
from assembler.strategies.sources.layout import Headings, NativeSources, PlainSources, SourceLayout, TaggedSources
from assembler.strategies.sources.merging import MergeNeighbours
from assembler.strategies.sources.ordering import Order
from assembler.strategies.sources.selection import Best, Candidate, Diverse, Everything, Greedy, Selection
from assembler.strategies.sources.shared_prefixes import PrefixTree
from assembler.strategies.sources.templates import MULTI_HOP, SINGLE_HOP, SYSTEM_INSTRUCTIONS, QuestionTemplate
from assembler.strategies.strategy import Placement

__all__ = [
    "MULTI_HOP",
    "SINGLE_HOP",
    "SYSTEM_INSTRUCTIONS",
    "AlikeTexts",
    "Best",
    "BudgetInfo",
    "Candidate",
    "Citation",
    "CitationReport",
    "CitedSources",
    "ContextOptimizer",
    "Diverse",
    "Duplicates",
    "Everything",
    "FixedReserve",
    "Greedy",
    "Headings",
    "MergeNeighbours",
    "NativeSources",
    "OptimizationStats",
    "Order",
    "OutputReserve",
    "Placement",
    "PlainSources",
    "PrefixTree",
    "PromptBuilder",
    "PromptComponents",
    "QuestionTemplate",
    "Quote",
    "ReserveByQuestion",
    "RetrievalResult",
    "SameText",
    "Selection",
    "Sentence",
    "Settings",
    "SimilarVectors",
    "SourceFormatter",
    "SourceLayout",
    "SourceMapping",
    "TaggedSources",
    "TokenBudgetManager",
    "answer_text",
    "citation_report",
    "parse_citations",
    "read_results",
]
