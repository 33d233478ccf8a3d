"""Prices anchored at a provider's own bill: the rules say what is new, the bill what came before."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from assembler.calibration import CalibratedCounter, Fingerprint
from assembler.dialects import Dialect
from assembler.layout import Layout
from assembler.messages import Message
from assembler.pricing import FixedPrices, Piece, Pricer, priced_layout
from assembler.tools import Tool
from budgets import Count, Tokens
from budgets.count import Difference


@attrs.frozen(eq=False)
class AnchoredPricer:
    """The prices of a pricer, and of a whole request as its calibration corrects it. One emit and hash a request."""

    rules: Pricer
    dialect: Dialect
    calibration: CalibratedCounter
    model: str | None = None

    def whole(self, layout: Layout) -> Count:
        """The request of this layout: its billed beginning as billed, what is new by rule."""
        request, turns = self.dialect.emit(layout), self.calibration.request.turns
        beginning = Fingerprint.of(request, dialect=self.dialect.name, model=self.model, turns=turns)
        return self.calibration.correct(priced_layout(self.rules, layout), beginning)

    def at_least(self, message: Message, price: Count) -> Tokens:
        """Nothing: a bill may be far below the rules, and a weighing is cheap here."""
        return 0

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        """By rule."""
        return self.rules.fixed(pieces, head, tools)

    def message(self, message: Message) -> Count:
        """By rule."""
        return self.rules.message(message)

    def options(self, layout: Layout) -> Count | Difference:
        """By rule."""
        return self.rules.options(layout)
