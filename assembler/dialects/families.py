"""Tables of families: one row for each generation of models, with the evidence for what its provider bills.

A provider's table is a tuple of rows, most specific first. Adding a generation adds one row.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeVar

import attrs

from budgets.count import Count, Grade, Tokens


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


@attrs.frozen(kw_only=True)
class Row:
    """A generation of models: what every row of every table has. What its provider bills is added by the table."""

    name: str
    names: re.Pattern[str]
    """Matches the beginning of the names of the family's models, lower case and without a host's prefix."""
    evidence: Evidence
    """What supports its numbers."""


AnyRow = TypeVar("AnyRow", bound=Row)


def recorded(rows: int, repositories: int) -> Evidence:
    """The evidence of most rows."""
    return Evidence(source="public test recordings", read="2026-11", rows=rows, repositories=repositories)


def about(tokens: Tokens, slack: Tokens) -> Count:
    """A number that recordings show, with what they exceed it by at most."""
    return Count(tokens, Grade.BOUNDED, upper=tokens + slack)


def guess(tokens: Tokens, upper: Tokens) -> Count:
    """A number that hardly anything supports, or that one name's servers disagree about."""
    return Count(tokens, Grade.ESTIMATED, upper=upper)


def first_match(table: Iterable[AnyRow], name: str) -> AnyRow | None:
    """The first row whose pattern matches the beginning of `name`; None where none does. O(rows)."""
    return next((row for row in table if row.names.match(name)), None)
