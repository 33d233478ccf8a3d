"""To look at it: a report as a page of HTML, a session as a picture. Imported only when somebody looks."""

from __future__ import annotations

from assembler.page.html import notebook_html, page_html
from assembler.page.texts import Texts

__all__ = ["Texts", "notebook_html", "page_html"]
