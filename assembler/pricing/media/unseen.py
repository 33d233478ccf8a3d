"""Bounds documents, sounds and films whose length cannot be seen: at a URL, in a provider's store, in a closed format.

The count is that of a typical medium. The bound is the longest medium that the API takes, and never more than the
model's window, since no API takes a request beyond it. Sources, read 2026-11: Anthropic, "PDF support" (100 pages a
request, 600 in a window of 1,000,000 tokens, which is more than either window holds at the price of its pages); Google,
"Document understanding" (1,000 pages a file); OpenAI, "File inputs" (50 MB, no limit of pages).
"""

from __future__ import annotations

from math import ceil

from assembler.pricing.media.facts import MediaFacts, Source
from budgets import Count, Grade, Tokens
from budgets.models import facts_or_none

TYPICAL_PAGES = 10
TYPICAL_PAGE, LEANEST_PAGE = 50_000, 500
"""Bytes of a page, typically and at least. The latter is a page of compressed text."""
LARGEST_WINDOW: Tokens = 1_050_000
"""The largest window of an API that takes files (GPT-5.4), for a model whose own is not known."""


def window_of(model: str | None) -> Tokens:
    """The published window of a model, or the largest one where its own is unknown."""
    facts = None if model is None else facts_or_none(model)
    return LARGEST_WINDOW if facts is None else facts.window


def price_pages(facts: MediaFacts, page: Count, window: Tokens, most: int | None = None) -> Count:
    """The price of a document, estimated: by its pages if they are known, else by its bytes, else typically.

    `page` is the price of one page. `most` is the largest number of pages that the API takes, None without a limit.
    """
    if facts.pages is not None:
        return Count(page.tokens * facts.pages, Grade.ESTIMATED, upper=page.upper * facts.pages)
    if facts.bytes:
        leanest = ceil(facts.bytes / LEANEST_PAGE)
        longest = leanest if most is None else min(leanest, most)
        return cap_at_window(window, page.tokens * ceil(facts.bytes / TYPICAL_PAGE), page.upper * longest)
    upper = window if most is None or _may_be_text(facts) else page.upper * most
    return cap_at_window(window, page.tokens * TYPICAL_PAGES, upper)


def cap_at_window(window: Tokens, tokens: Tokens, upper: Tokens) -> Count:
    """An estimate that does not exceed the window."""
    upper = min(upper, window)
    return Count(min(tokens, upper), Grade.ESTIMATED, upper=upper)


def _may_be_text(facts: MediaFacts) -> bool:
    """Whether an unseen file may be a text, which has no pages. One at an address is sent as a PDF."""
    return facts.source is not Source.URL if facts.mime is None else facts.mime.startswith("text/")
