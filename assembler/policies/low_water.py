"""How far down a cut goes: to a share that the caller fixed, or to one that follows how the conversation grows.

A low mark cuts seldom, so that a prefix cache serves more, and leaves the window emptier. How empty depends on the
conversation: where turns are large, a cut overshoots the mark and the window is never quite full. So `AUTO` does not
fix the mark but how full the window is on average, and sets each cut's mark by what the marks before it came to.
"""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

import attrs

from assembler.policies.checks import a_share
from budgets import Tokens
from budgets.value import Value

LowWater: TypeAlias = float | Literal["auto"]

AUTO: Final = "auto"
FULL = 0.74
"""How full the window should be, the mean after each message since the first cut. It is full when a message more
does not fit, so the window comes to a little less: 67 to 72 % on the ten kinds of session of
`tests/benchmarks/cache_economy.py`, with at most 1.05 times the tokens outside the cache of the best fixed mark that
fills it as much."""
_CORRECTION = 4
"""How strongly a mark answers a mean that is off. From 3 to 6 the ten kinds come out alike."""
_LEAST, _MOST = 0.15, 0.85
IN_A_LADDER = 0.5
"""What `AUTO` stands for where other policies share the work: they decide how far down the ladder comes."""


def a_share_or_auto(policy: object, field: attrs.Attribute[Any], value: object) -> None:
    """None, "auto", or a share of the tokens left above 0 and up to 1."""
    if not isinstance(value, str) or value != AUTO:
        a_share(policy, field, value)


@attrs.frozen(eq=False, repr=False)
class Filled(Value):
    """What was kept after each message since the first cut, added up: the pace that the marks came to."""

    messages: int = 0
    tokens: Tokens = 0

    def and_then(self, messages: int, tokens: Tokens) -> Filled:
        """With a stretch more between two cuts."""
        return Filled(self.messages + messages, self.tokens + tokens)

    def share(self, low_water: LowWater, tokens_left: Tokens) -> float:
        """The share of the tokens left that the next cut goes down to. O(1)."""
        if low_water != "auto":
            return low_water
        mean = self.tokens / (self.messages * tokens_left) if self.messages and tokens_left else FULL
        return min(_MOST, max(_LEAST, 2 * FULL - 1 + _CORRECTION * (FULL - mean)))
