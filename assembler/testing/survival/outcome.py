"""What survived, by kind and by age, and what it cost. Counts; runs nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

AGES = ("oldest quarter", "third quarter", "second quarter", "newest quarter")
"""How long ago a fact was told, in quarters of the conversation."""


@attrs.frozen
class Share:
    """So many of so many."""

    survived: int = 0
    planted: int = 0

    @property
    def share(self) -> float:
        """From 0 to 1; 1 where nothing was planted."""
        return self.survived / self.planted if self.planted else 1.0

    def __add__(self, other: Share) -> Share:
        return Share(self.survived + other.survived, self.planted + other.planted)

    def __str__(self) -> str:
        return f"{self.share:.0%}"


@attrs.frozen
class Survival:
    """What was still there when it was asked about, and what the sessions cost on the way.

    `requests` were made, `unfit` of them could not be, were too large or invalid. `tokens` went out in all, and
    `fresh` of them behind the first difference from the request before: what a prefix cache could not serve.
    """

    kinds: Mapping[str, Share]
    ages: Mapping[str, Share]
    requests: int
    unfit: int
    tokens: int
    fresh: int

    @property
    def facts(self) -> Share:
        """All kinds together."""
        return sum(self.kinds.values(), Share())

    def to_dict(self) -> dict[str, Any]:
        """The numbers as plain data."""
        return attrs.asdict(self)

    def __str__(self) -> str:
        return survival_table({"": self})


def survival_table(outcomes: Mapping[str, Survival]) -> str:
    """A line for each: what survived in all, by kind and by age, tokens, fresh tokens, requests that were unfit."""
    kinds = list(dict.fromkeys(kind for outcome in outcomes.values() for kind in outcome.kinds))
    ages = [age for age in AGES if any(age in outcome.ages for outcome in outcomes.values())]
    head = ["", "facts", *kinds, *ages, "tokens", "fresh", "unfit"]
    lines = [head]
    for name, outcome in outcomes.items():
        shares = [outcome.facts, *(outcome.kinds.get(kind, Share()) for kind in kinds)]
        shares += [outcome.ages.get(age, Share()) for age in ages]
        unfit = f"{outcome.unfit}/{outcome.requests}" if outcome.unfit else "none"
        lines.append([name, *map(str, shares), f"{outcome.tokens:,}", f"{outcome.fresh:,}", unfit])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            [line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True))]
        )
        for line in lines
    )
