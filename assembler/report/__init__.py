"""Reports of a request: in the terminal, as a page, as a manifest, as logs; and what a prefix cache can serve."""

from __future__ import annotations

import typing

from budgets.later import load_later as _load_later

if typing.TYPE_CHECKING:
    from assembler.report.report import CacheRow as CacheRow
    from assembler.report.report import Outcome as Outcome
    from assembler.report.report import Report as Report
    from assembler.report.report import Row as Row
    from assembler.report.report import report_of as report_of

_load_later(__name__, {"assembler.report.report": "CacheRow Outcome Report Row report_of"})
