"""To look at it: a report as a page of HTML, a session as a picture. Imported only when somebody looks."""

from __future__ import annotations

from assembler.page.chart import Line, Ticks, chart_svg
from assembler.page.html import notebook_html, page_html
from assembler.page.session import Call, calls_of, session_svg
from assembler.page.texts import Texts

__all__ = ["Call", "Line", "Texts", "Ticks", "calls_of", "chart_svg", "notebook_html", "page_html", "session_svg"]
