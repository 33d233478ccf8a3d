"""Mistral's generations: what differs between its chat templates, in tokens. The rows: `families.toml`.

The control tokens that all templates share are in `assembler.dialects.mistral.pricing`.
"""

from __future__ import annotations

import attrs

from assembler.dialects.families import Row, first_match, table_in
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


SETTINGS = 12
"""Tokens that mistral-small and magistral-small add to every request (57 recordings of 2 repositories; in 2025 the same
names stood for models without)."""

FAMILIES = table_in(__name__, Family, {})


def family_of(model: str) -> Family:
    """The generation of a model name; every other name has no settings block, bounded as if it had one."""
    return first_match(FAMILIES, bare(model)) or FAMILIES[-1]
