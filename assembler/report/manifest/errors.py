"""The errors of a replay whose bytes would differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import attrs

from budgets.errors import Evidence

Scalar: TypeAlias = str | int | float | bool | None

LISTED = 3
"""Differences that the text of an error names; all of them are in its evidence."""

SHOWN = 12
"""Characters of a hash that the text of an error shows."""


@attrs.frozen
class Difference:
    """One input that changed: its place, and its hash or number then and now. None means that nothing was there."""

    place: str
    then: Scalar
    now: Scalar

    def __str__(self) -> str:
        return f"{self.place} was {_shorten(self.then)}, is {_shorten(self.now)}"


def _shorten(value: Scalar) -> str:
    if value is None:
        return "absent"
    text = str(value)
    return text if len(text) < 64 else text[:SHOWN] + "…"


class ManifestError(Evidence, ValueError):
    """Something that is no manifest, or one of a format that this version of the library does not read.

    `place` is the path of the field that is wrong, such as `items.tools[2].sha256`.
    """

    def __init__(self, problem: str, *, place: str | None = None) -> None:
        self.place = place
        super().__init__(problem)


class ReplayError(Evidence):
    """What was added now does not give the bytes that were sent; `differences` says what changed, inputs first.

    If it is empty, every input is as it was. Then something has changed that a manifest cannot see: a function of yours
    (a summarizer, a policy, a counter, a tokenizer), or a message class that now writes itself differently.
    """

    def __init__(self, differences: Sequence[Difference]) -> None:
        self.differences = tuple(differences)
        super().__init__(f"the request cannot be made again: {_explained(self.differences)}")


def _explained(differences: Sequence[Difference]) -> str:
    if not differences:
        return (
            "every input, setting and version is as it was, and its bytes are not. Look at what only a function "
            "decides: a summarizer, a policy, a counter, a tokenizer of your own."
        )
    more = f" (and {len(differences) - LISTED} more)" if len(differences) > LISTED else ""
    listed = "; ".join(map(str, differences[:LISTED]))
    return f"{listed}{more}. Put back what changed, or build() a new request."
