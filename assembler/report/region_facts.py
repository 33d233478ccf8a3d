"""Remembers facts of the fixed regions for reports, so that unchanged regions are examined once.

They are stored with the measured regions. Threads share them: each would compute the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from assembler.pipeline.measure import Measured
from assembler.text.invisible import Invisible
from budgets import Count

if TYPE_CHECKING:
    from assembler.report.cache.volatile import Volatile
    from assembler.report.rows import Row


@attrs.define(eq=False)
class FixedFacts:
    """Facts of the fixed regions; None before the first report."""

    rows: tuple[Row, ...] | None = None
    framing: Row | None = None
    invisible: tuple[Invisible, ...] | None = None
    volatile: tuple[Volatile, ...] | None = None
    prefix: Count | None = None
    """The price of system text, head and tools."""


def fixed_facts(measured: Measured) -> FixedFacts:
    """The facts of measured regions."""
    if measured.facts is None:
        measured.facts = FixedFacts()
    return measured.facts
