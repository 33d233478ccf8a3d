"""`Refuse`: drops nothing."""

from __future__ import annotations

import attrs

from assembler.policies.policy_views import PricedTurns
from assembler.policies.traits import KeepsAll, Traits
from assembler.pricing.ledger import Cut
from budgets import Tokens
from budgets.value import Value


@attrs.frozen(eq=False, repr=False)
class Refuse(Value):
    """Keeps everything, so that a conversation that does not fit raises `ContextLengthError`."""

    @property
    def traits(self) -> Traits:
        """Declares `KeepsAll`."""
        return Traits(keeps=KeepsAll())

    def cut(self, ledger: PricedTurns, tokens_left: Tokens, /) -> Cut:
        """Keep everything. O(1)."""
        return Cut(ledger.first, "refused to drop anything")
