"""Prices what is around a system text for Claude: its framing, and what its edges cost in their place."""

from __future__ import annotations

from collections.abc import Sequence

from assembler.dialects.anthropic.families import Family
from assembler.pricing.pricer import Has
from budgets.count import NOTHING, Count, Difference, Grade, TokenCounter

_EDGE = 24
"""How many characters beside blanks hold the pieces that they may be in."""


def price_system(family: Family, has: Has) -> Count:
    """The price of the system text's framing."""
    if Has.SYSTEM not in has:
        return NOTHING
    return family.system_beside if Has.TOOLS in has else family.system


def price_system_edges(texts: Sequence[str], family: Family, has: Has, count: TokenCounter) -> Difference:
    """How much less, or more, the edges of the system text cost in their place than alone.

    Its beginning is counted as behind a colon, since a piece of the vocabulary may span it: blanks are 1 less in 60
    recordings of 3 projects, `{:` is 1 more in 5 of one, and `[` or another brace the same in 35 of 3. A line break at
    its end joins the one before the next section of the prompt: 38 recordings of 4. Blanks behind it do not keep them
    apart up to Claude 4.6. Claude 3 to 3.7 are shown a system text without blanks around it: 13 recordings of 2.
    """
    if family.trims_system:
        return _price_trimmed(texts, count)
    saved = _price_beginning(texts[0], count) if texts else Difference()
    end = texts[-1].rstrip(" " if family.generation == "claude-3" else "") if texts else ""
    if end.endswith("\n") and price_system(family, has).tokens:
        saved += Difference(-1, Grade.BOUNDED)
    return saved


def _price_beginning(text: str, count: TokenCounter) -> Difference:
    if text[0].isalpha():  # a piece may span a letter's edge in neither place
        return Difference()
    edge = text[: _EDGE + len(text) - len(text.lstrip())]
    return Difference(count(f":{edge}") - count(":") - count(edge), Grade.BOUNDED)


def _price_trimmed(texts: Sequence[str], count: TokenCounter) -> Difference:
    """How much less a system text costs without the blanks around it, as which Claude 3 is shown it."""
    if not texts:
        return Difference()
    first, last = texts[0], texts[-1]
    begin, end = first[: _EDGE + len(first) - len(first.lstrip())], last[max(0, len(last.rstrip()) - _EDGE) :]
    saved = Difference()
    if begin != (shown := begin.lstrip()):
        saved += Difference(count(shown) - count(begin), Grade.BOUNDED)
    if shown:
        saved += _price_beginning(shown, count)
    elif len(texts) == 1:  # all of it is blank, and saved already
        return saved
    if end != (shown := end.rstrip()):
        saved += Difference(count(shown) - count(end), Grade.BOUNDED)
    return saved
