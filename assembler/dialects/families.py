"""Tables of families: one row for each generation of models, with the evidence for what its provider bills.

A provider's table is a tuple of rows, most specific first. Adding a generation adds one row.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Protocol, TypeVar

import attrs


@attrs.frozen(kw_only=True)
class Evidence:
    """How much supports a row: where the recordings came from, and how many there are."""

    source: str
    """What was read or recorded: a kind of recordings, or the title and section of a page."""
    read: str
    """The month in which it was, such as `2026-11`."""
    rows: int = 0
    """Recorded bills that the row was held against."""
    repositories: int = 0
    """Public repositories that these bills come from: a rule that one repository supports may be its habit."""


class Row(Protocol):
    """What every row of a table has."""

    @property
    def names(self) -> re.Pattern[str]:
        """Matches the beginning of the names of the family's models, lower case and without a host's prefix."""
        ...

    @property
    def evidence(self) -> Evidence:
        """What supports its numbers."""
        ...


AnyRow = TypeVar("AnyRow", bound=Row)


def first_match(table: Iterable[AnyRow], name: str) -> AnyRow | None:
    """The first row whose pattern matches the beginning of `name`; None where none does. O(rows)."""
    return next((row for row in table if row.names.match(name)), None)
