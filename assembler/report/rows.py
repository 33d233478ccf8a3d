"""The rows of a report, and what it says of the cache."""

from __future__ import annotations

import functools
from typing import Any, Literal, TypeAlias

import attrs

from budgets import Tokens

Outcome: TypeAlias = Literal["kept", "shortened", "dropped"]
REGIONS = ("instruction", "capability", "knowledge", "conversation", "framing")
"""In the order in which a report lists them."""


def span_name(start: int, stop: int) -> str:
    """What reports call the messages from `start` to before `stop`."""
    return f"message {start}" if stop - start == 1 else f"messages {start}-{stop - 1}"


def shown_name(text: str) -> str:
    """One line in which nothing hides or moves a terminal's cursor: a replacement for what cannot be printed."""
    return text if text.isprintable() else "".join(one if one.isprintable() else "�" for one in text)


@attrs.frozen
class Row:
    """One item of a region: tokens before and after the policy, what became of it, and why.

    `messages` is how many messages the item stands for: a run of dropped turns shares a row. `before` is None where a
    dropped item could not be read, so that nothing is known of its size.
    """

    region: str
    name: str
    before: Tokens | None
    after: Tokens
    outcome: Outcome = "kept"
    reason: str = ""
    messages: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The fields by name."""
        return self._fields.copy()

    # Most rows of a report stood in the last one, and a copy takes a fifth of the time.
    @functools.cached_property
    def _fields(self) -> dict[str, Any]:
        return {
            "region": self.region,
            "name": self.name,
            "before": self.before,
            "after": self.after,
            "outcome": self.outcome,
            "reason": self.reason,
            "messages": self.messages,
        }


@attrs.frozen
class CacheRow:
    """The prefix cache: tokens before the newest turn, and what of them the next such request may be served.

    `served` is an estimate and `upper` its bound. `least` and `step` are the provider's rule in tokens.
    """

    stable_prefix: Tokens
    served: Tokens
    upper: Tokens
    least: Tokens | None = None
    """None where nothing is cached."""
    step: Tokens | None = None
    source: str | None = None
    """Where the rule was read; None where no rule is known."""

    def to_dict(self) -> dict[str, Any]:
        """The fields by name."""
        return {
            "stable_prefix": self.stable_prefix,
            "served": self.served,
            "upper": self.upper,
            "least": self.least,
            "step": self.step,
            "source": self.source,
        }
