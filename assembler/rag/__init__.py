"""Prompts of numbered sources with the RAG source system's names, over the library's pipeline; and citation reports.

    from assembler.rag import PromptBuilder, RetrievalResult, citation_report

The same in an `Assembler`: `Assembler(budget, strategy=CitedSources(order=Order.EDGES_FIRST))`.
"""

from budgets.lazy_names import load_later as _load_later

_load_later(__name__)
