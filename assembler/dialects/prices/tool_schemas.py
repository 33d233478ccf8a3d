"""Bounds the price of a tool's schema: limits repeated definitions, and estimates the most tokens of a text.

A request holds every definition once. How a provider expands references is not published, and the recordings refer to
a definition once or twice. So a definition is priced at every reference, up to a small amount of text; after that a
reference counts as a word. Without a limit, forty definitions that refer to one another three times each would expand
to more text than any window holds. Of some keywords no recording shows whether they are billed: a price leaves their
text out, and the bound includes it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import attrs

from budgets import Tokens

WRITTEN_AGAIN = 8_192
"""The characters of repeated definitions in one tool, about 2,000 tokens: such as an address of 600 characters in 13
more places."""


@attrs.define
class Repeats:
    """The characters that one tool may still repeat. Each definition is measured once, so the work is O(schema)."""

    left: int = WRITTEN_AGAIN
    _sizes: dict[str, int] = attrs.field(factory=dict[str, int], init=False)

    def taken(self, name: str, definition: Mapping[str, Any], times: int = 1) -> bool:
        """Use up the characters of a repeated definition. Returns False if too few are left."""
        if name not in self._sizes:
            self._sizes[name] = _measure_size(definition)
        needed = self._sizes[name] * times
        if needed > self.left:
            return False
        self.left -= needed
        return True


def _measure_size(definition: Mapping[str, Any]) -> int:
    try:
        return len(json.dumps(definition, ensure_ascii=False, default=str))
    except (RecursionError, ValueError):
        return WRITTEN_AGAIN + 1


def most_tokens(text: str) -> Tokens:
    """About the most tokens of a text: one for three letters, and one for each other character. O(text)."""
    others = len(_NO_LETTER.findall(text))
    return (len(text) - others) // 3 + others + 2 if text else 0


_NO_LETTER = re.compile(r"[^A-Za-z\s]")
