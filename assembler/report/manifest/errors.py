"""The errors of a replay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import attrs

from budgets.errors import Evidence

Scalar: TypeAlias = str | int | float | bool | None

LISTED = 3
"""The most differences in the text of an error; `differences` has all of them."""

SHOWN = 12
"""The characters of a hash in the text of an error."""


@attrs.frozen
class Difference:
    """One input that changed: its place, and its hash or number then and now. None means that it was missing."""

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
    """Not a manifest, or one of a format that this version of the library does not read.

    `place` is the path of the field that is wrong, such as `items.tools[2].sha256`.
    """

    def __init__(self, problem: str, *, place: str | None = None) -> None:
        self.place = place
        super().__init__(problem)


class ReplayError(Evidence):
    """The assembler's content gives other bytes than those that were sent.

    `differences` lists the inputs that changed or, if none did, what was decided differently. If it is empty, something
    has changed that a manifest cannot see: a function of yours (a summarizer, a policy, a counter, a tokenizer), or how
    a message class writes itself.
    """

    def __init__(self, differences: Sequence[Difference]) -> None:
        self.differences = tuple(differences)
        super().__init__(f"the request cannot be reproduced: {_explain_differences(self.differences)}")


def _explain_differences(differences: Sequence[Difference]) -> str:
    if not differences:
        return (
            "every input, setting and version is the same, but the bytes differ. Check the results of your own "
            "functions: a summarizer, a policy, a counter, a tokenizer."
        )
    more = f" (and {len(differences) - LISTED} more)" if len(differences) > LISTED else ""
    listed = "; ".join(map(str, differences[:LISTED]))
    return f"{listed}{more}. Restore what changed, or build() a new request."
