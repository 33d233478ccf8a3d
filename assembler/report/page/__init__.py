"""Reports as HTML pages, and charts."""

from __future__ import annotations

from assembler.report.page.chart import Line, Ticks, chart_svg
from assembler.report.page.html import notebook_html, page_html
from assembler.report.page.texts import Texts

__all__ = ["Line", "Texts", "Ticks", "chart_svg", "notebook_html", "page_html"]
