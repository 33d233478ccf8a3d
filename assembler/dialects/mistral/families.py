"""Mistral's generations: what its chat templates put around the texts, in tokens. The rows: `families.toml`."""

from __future__ import annotations

import attrs

from assembler.dialects.families import first_match, guess, is_forwarded, table_in
from assembler.dialects.hosts.families import Family
from budgets.count import Tokens
from budgets.models.names import bare

VOCABULARY = "tekken"


SETTINGS = 12
"""Tokens that mistral-small and magistral-small add to every request (57 recordings of 2 repositories; in 2025 the same
names stood for models without)."""

FAMILIES = table_in(__name__, Family, {})


_DEFAULT_PROMPT: Tokens = 500
"""What hosts that run an open template put in place of a missing system text: about 400 tokens
(mistralai/Mistral-Small-3.2-24B-Instruct-2506, SYSTEM_PROMPT.txt). Mistral's own servers do not."""


def family_of(model: str) -> Family:
    """The generation of a model name; every other name has no settings block, bounded as if it had one.

    A gateway chooses the host: its bound has room for a host's own system text.
    """
    family = first_match(FAMILIES, bare(model)) or FAMILIES[-1]
    if not is_forwarded(model):
        return family
    opening = family.opening
    return attrs.evolve(family, opening=guess(opening.tokens, opening.upper + _DEFAULT_PROMPT))
