"""Which row of a dialect's table says what its provider's prefix cache serves for a model."""

from __future__ import annotations

from assembler.dialects import DIALECTS
from assembler.dialects.prefix_cache import PrefixCache, first_rule


def rule_for(dialect: str, model: str | None) -> PrefixCache | None:
    """The rule of a model spoken to in a dialect; without a model, that of the newest. None where nothing is known."""
    spoken = DIALECTS.get(dialect)
    return None if spoken is None else first_rule(spoken.api.caches, model)
