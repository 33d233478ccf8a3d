"""How often a definition that a tool's schema refers to may be written out again.

A request holds every definition once, however often it is referred to. What a provider makes of the references is not
published; the recordings that exist refer to a definition once or twice. So a definition is priced wherever it is
referred to, while that is little text; beyond it a reference is a word. Without an end, forty definitions that refer
to one another three times each stand for more text than any window holds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import attrs

WRITTEN_AGAIN = 8_192
"""Characters of definitions that one tool may write beyond the first time, some 2,000 tokens: an address of 600
characters in 13 more places."""


@attrs.define
class Repeats:
    """How much one tool may write again. Each definition is measured once, so the work is O(its schema)."""

    left: int = WRITTEN_AGAIN
    _sizes: dict[str, int] = attrs.field(factory=dict[str, int], init=False)

    def taken(self, name: str, definition: Mapping[str, Any], times: int = 1) -> bool:
        """Take what a definition costs that is written again; whether so much was left."""
        if name not in self._sizes:
            self._sizes[name] = _size(definition)
        needed = self._sizes[name] * times
        if needed > self.left:
            return False
        self.left -= needed
        return True


def _size(definition: Mapping[str, Any]) -> int:
    try:
        return len(json.dumps(definition, ensure_ascii=False, default=str))
    except (RecursionError, ValueError):
        return WRITTEN_AGAIN + 1
