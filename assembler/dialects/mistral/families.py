"""Mistral's generations: the tokens that its chat templates add. The rows are in `families.toml`."""

from __future__ import annotations

import attrs

from assembler.dialects.hosts.families import READERS, Family
from assembler.dialects.prices.families import first_match, guess, is_forwarded, table_in
from budgets.count import NOTHING, Count, Tokens
from budgets.models.names import bare

VOCABULARY = "tekken"


SETTINGS = 12
"""Tokens that mistral-small and magistral-small add to every request (57 recordings of 2 repositories; in 2025 the
models of these names had none)."""


@attrs.frozen(kw_only=True)
class MistralFamily(Family):
    """One generation of Mistral's chat templates."""

    writes_ids: bool = False
    """Whether calls and results are JSON with the id of the call."""
    call_list: Count = NOTHING
    """What the calls of a message cost more together."""


FAMILIES = table_in(__name__, MistralFamily, {"stand_in": READERS["stand_in"]})


_DEFAULT_PROMPT: Tokens = 500
"""The system text of about 400 tokens that hosts of an open template add if there is none
(mistralai/Mistral-Small-3.2-24B-Instruct-2506, SYSTEM_PROMPT.txt). Mistral's own servers do not add it."""


def family_of(model: str) -> MistralFamily:
    """The generation of a model. Any other name has no settings block, but the bound includes one.

    A gateway chooses the host, so its bound includes a host's own system text.
    """
    family = first_match(FAMILIES, bare(model)) or FAMILIES[-1]
    if not is_forwarded(model):
        return family
    opening = family.opening
    return attrs.evolve(family, opening=guess(opening.tokens, opening.upper + _DEFAULT_PROMPT))
