"""What is told of a request: the report in the terminal, the page, the cache's estimate, the manifest, the logs."""

from __future__ import annotations

import typing

from budgets.later import load_later as _load_later

if typing.TYPE_CHECKING:
    from assembler.report.report import CacheRow, Outcome, Report, Row, report_of

_load_later(__name__, {"assembler.report.report": "CacheRow Outcome Report Row report_of"})

__all__ = ["CacheRow", "Outcome", "Report", "Row", "report_of"]
