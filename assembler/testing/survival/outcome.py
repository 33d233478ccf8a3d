"""The result of `survival`: what survived, by kind and by age, and its cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

AGES = ("oldest quarter", "third quarter", "second quarter", "newest quarter")
"""The age of a fact, in quarters of the conversation."""


@attrs.frozen
class Share:
    """A number out of a total."""

    survived: int = 0
    planted: int = 0

    @property
    def share(self) -> float:
        """The share from 0 to 1; 1 if the total is 0."""
        return self.survived / self.planted if self.planted else 1.0

    def __add__(self, other: Share) -> Share:
        return Share(self.survived + other.survived, self.planted + other.planted)

    def __str__(self) -> str:
        return f"{self.share:.0%}"


@attrs.frozen
class Survival:
    """The facts that survived, and the cost of the sessions.

    `unfit` of all `requests` could not be made, were too large or invalid. `tokens` were sent in all. A prefix cache
    could not serve `fresh` of them, which come after the first difference from the request before.
    """

    kinds: Mapping[str, Share]
    ages: Mapping[str, Share]
    requests: int
    unfit: int
    tokens: int
    fresh: int

    @property
    def facts(self) -> Share:
        """The facts of all kinds."""
        return sum(self.kinds.values(), Share())

    def to_dict(self) -> dict[str, Any]:
        """The numbers as plain data."""
        return attrs.asdict(self)

    def __str__(self) -> str:
        return survival_table({"": self})


def survival_table(outcomes: Mapping[str, Survival]) -> str:
    """A table with a line for each outcome: survival in all, by kind and by age, tokens, fresh tokens, unfit."""
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
