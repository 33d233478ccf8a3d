"""Prices models that a dialect has no rules for, where the dialect merges neighbouring messages."""

from __future__ import annotations

import math

from assembler.conversation.messages import Message
from assembler.dialects.prices.graded import RuledMergingPricer
from assembler.dialects.prices.unknown_models import AROUND_A_MESSAGE, ForeignPricer
from assembler.pricing.pricer import MergingPricer
from budgets import Grade, Tokens
from budgets.count import Difference


class ForeignMergingPricer(ForeignPricer, RuledMergingPricer):
    """A `ForeignPricer` for rules that merge messages."""

    __slots__ = ()
    rules: MergingPricer

    def difference_after(self, message: Message, before: Message | None) -> Difference | None:
        """The rules' difference with a wider bound, without savings, which another model may not have."""
        more = self.rules.difference_after(message, before)
        if more is None:
            return None
        return Difference(more.tokens, Grade.ESTIMATED, max(0, math.ceil(more.upper * self.farthest)))

    def spares(self) -> Tokens:
        """What the rules spare with a wider bound, and the text around a message."""
        return math.ceil(self.rules.spares() * self.farthest) + AROUND_A_MESSAGE
