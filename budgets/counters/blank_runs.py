"""Cuts a text around runs of blanks too long for tiktoken's regex, without changing its count.

The regex engine inside tiktoken keeps one stack entry per blank while it tries the rule `\\s+(?!\\S)`, and gives up (in
`encode_ordinary` with a panic) at 999,999 blanks in a row; measured with 0.14.0, read 2026-11, for each encoding here.

The cuts are exact with the split patterns of `budgets.vocabularies.published`. Let U be a maximal run of blanks,
followed by the end of the text or by a character that is neither a blank nor a line break:
- No piece crosses into U from the left. Inside a piece only a blank can precede a blank, so any other character ends
  its piece there. (o200k_base and cl100k_base have a separate rule for line breaks, which matches them with the blanks
  before them, up to the last one. In r50k_base a line break is a blank like any other.)
- At the end of the text U is one piece. Before a character it is one piece without its last blank, which the look-ahead
  leaves to what follows. What follows is split as it would be alone, since no pattern looks behind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

BLOCK = 100_000
"""A run of so many blanks may be cut out, and one of twice as many always is: a fifth of what the engine can handle."""

# White_Space of Unicode, which is `\s` in the engine's regex. Python's `\s` also has U+001C to U+001F.
_BLANKS = r"\t\x0b\x0c \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"


def _match_runs(blanks: str, unless_before: str) -> str:
    # The look-behind keeps the search linear. Without it, a rejected run is tried again from its second blank.
    return rf"(?<![{blanks}])[{blanks}]{{{BLOCK},}}+{unless_before}"


LINE_BREAKS_APART = _match_runs(_BLANKS, r"(?![\r\n])")
LINE_BREAKS_AS_BLANKS = _match_runs(_BLANKS + r"\r\n", "")


def may_overflow(text: str) -> bool:
    """Whether a run of 2 × BLOCK blanks is possible: it would fill one of the checked blocks. O(text / BLOCK)."""
    return any(text[start : start + BLOCK].isspace() for start in range(0, len(text) - BLOCK + 1, BLOCK))


def cut_at_blank_runs(text: str, runs: str) -> Iterator[tuple[str, str]]:
    """Pairs of a text for the engine and a run that is one piece, in order. The counts add up to that of `text`."""
    start = 0
    for match in re.finditer(runs, text):
        end = match.end() if match.end() == len(text) else match.end() - 1
        yield text[start : match.start()], text[match.start() : end]
        start = end
    yield text[start:], ""
