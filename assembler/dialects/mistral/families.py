"""Mistral's generations: what differs between its chat templates, in tokens, one row a generation.

The control tokens that all templates share are in `assembler.dialects.mistral.pricing`. Adding a generation adds a row.
"""

from __future__ import annotations

import re

import attrs

from assembler.dialects.families import Row, about, first_match, recorded
from budgets.count import Count, Grade
from budgets.models.names import bare

VOCABULARY = "tekken"


@attrs.frozen(kw_only=True)
class Family(Row):
    """One generation of Mistral's models: what its template adds."""

    opening: Count
    """The beginning-of-sequence token, and the settings block where a model has one."""
    answered: Count = attrs.field(default=Count(0, Grade.BOUNDED))
    """What a call and its answer cost more, where the template writes the call's id beside both."""


OPENING = 1
SETTINGS = 12
"""Tokens that mistral-small and magistral-small add to every request (57 recordings of 2 repositories; in 2025 the same
names stood for models without)."""


SMALL = Family(
    name="mistral-small",
    names=re.compile(r"(mistral|magistral)-small"),
    evidence=recorded(158, 3),
    opening=about(OPENING + SETTINGS, 1),
    answered=about(0, 22),
)
PLAIN = Family(
    name="mistral",
    names=re.compile(""),
    evidence=recorded(25, 4),
    opening=about(OPENING, SETTINGS),
    answered=about(0, 2),
)
WITH_IDS = attrs.evolve(
    PLAIN,
    name="mistral-2025",
    names=re.compile(r"ministral-3b|pixtral|voxtral|mistral-tiny"),
    evidence=recorded(76, 2),
    opening=about(OPENING, 9),  # mistral-tiny was once billed 9 more
    answered=about(36, 2),
)
FAMILIES = (WITH_IDS, SMALL, PLAIN)


def family_of(model: str) -> Family:
    """The generation of a model name; every other name has no settings block, bounded as if it had one."""
    return first_match(FAMILIES, bare(model)) or PLAIN
