"""What is told of a request: the report in the terminal, the page, the cache's estimate, the manifest, the logs."""

from assembler.report.report import CacheRow, Outcome, Report, Row, report_of

__all__ = ["CacheRow", "Outcome", "Report", "Row", "report_of"]
