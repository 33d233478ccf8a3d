"""Finds an order of rows and sources in which neighbouring requests begin alike, before any is built."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from assembler.assembler import Assembler
from assembler.batch.errors import BatchError
from assembler.batch.journal import open_rows, read_state, rows_from
from assembler.batch.lines import row_of
from assembler.batch.rows import lay_over
from assembler.pipeline.settings import Settings
from assembler.regions.knowledge import Document
from assembler.strategies.sources.shared_prefixes import PrefixTree
from assembler.strategies.strategy import OrderedStrategy
from budgets import AssemblyError


def shared_order(source: Path, base: Assembler) -> tuple[Assembler, list[int]]:
    """The base with an order of sources that many rows share, and the indexes of the rows in a shared order.

    Reads the whole file once, and keeps the documents of all rows in memory. Raises `BatchError` if the spec has no
    strategy for sources, or if the file changed meanwhile, and `OSError` for the file.
    """
    draft, settings = base.inside
    if not isinstance(settings.strategy, OrderedStrategy):
        raise BatchError("--order shared sorts sources: the spec needs `strategy: cited_sources`")
    began = read_state(source)
    batch = list(_read_documents(source, base))
    tree = PrefixTree.of(batch)
    strategy = settings.strategy.in_order(tree)
    shared = Settings.of(settings.budget, settings.dialect, settings.policies, strategy, settings.cache_marks)
    places = tree.schedule(batch)
    if read_state(source) != began:  # a row that was added since has no place, and would be lost
        raise BatchError(f"{source}: changed while it was sorted; start again")
    return Assembler.around(draft, shared), places


def _read_documents(source: Path, base: Assembler) -> Iterator[Sequence[Document]]:
    """The documents of each row, including the spec's own; none for a bad row."""
    with open_rows(source) as file:
        for number, line in enumerate(rows_from(file)):
            try:
                row = row_of(number, line)
                yield lay_over(base, {"knowledge": row.get("knowledge")}).knowledge
            except (AssemblyError, ValueError):
                yield ()
