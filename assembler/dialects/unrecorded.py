"""Bounds text of which no recording shows whether it is billed. A price leaves it out, and the bound includes it."""

from __future__ import annotations

import re

from budgets import Tokens


def most_tokens(text: str) -> Tokens:
    """Return about the most tokens of a text: one for three letters, and one for each other character. O(text)."""
    others = len(_NO_LETTER.findall(text))
    return (len(text) - others) // 3 + others + 2 if text else 0


_NO_LETTER = re.compile(r"[^A-Za-z\s]")
