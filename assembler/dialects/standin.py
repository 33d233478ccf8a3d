"""What a vocabulary that is not bundled would count, from one that is.

Few hosted models are left whose vocabulary is neither bundled nor the caller's own. Each names the bundled one that its
recorded texts come nearest to, and how far they stray: docs/how-it-counts-others.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import attrs

from budgets.count import NOTHING, Count, Grade, TokenCounter, Tokens


@attrs.frozen
class StandIn:
    """How a hidden vocabulary differs from the bundled one that stands in for it."""

    typical: float = 1.0
    """Its tokens for one of the other."""
    ceiling: float = 1.0
    """The most that it needs for one of the other."""
    flat: Tokens = 0
    """Added to the ceiling once for all texts of a message."""


def price_texts(texts: Iterable[str], count: TokenCounter, stand_in: StandIn | None) -> Count:
    """The price of several texts that a message keeps apart. None: `count` is the model's own, at its word."""
    tokens = sum(count(text) for text in texts if text)
    if stand_in is None:
        return Count(tokens)
    if not tokens:
        return NOTHING
    typical = round(tokens * stand_in.typical)
    ceiling = math.ceil(tokens * stand_in.ceiling) + stand_in.flat
    return Count(typical, Grade.ESTIMATED, upper=max(typical, ceiling))
