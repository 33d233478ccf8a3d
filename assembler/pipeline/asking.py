"""The price of what is not the turns: a strategy's pieces, the head, the tools, the output schema and the choice."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from assembler.conversation.messages import Message
from assembler.dialects import Dialect
from assembler.pricing.hosted import fixed_with_hosted
from assembler.pricing.pricer import FixedPrices, Piece, Pricer
from assembler.regions.layout import Layout
from assembler.regions.regions import Regions
from budgets import Count
from budgets.count import NOTHING, Difference


def fixed_prices(
    pricer: Pricer, dialect: Dialect, pieces: Sequence[Piece], head: Sequence[Message], regions: Regions
) -> FixedPrices:
    """The price of everything but the turns.

    The output schema costs what it adds; where it takes the place of something, framing is the less. What a tool choice
    costs, or saves, is a matter of the tools.
    """
    prices = fixed_with_hosted(pricer, pieces, head, regions.tools, dialect.api.shape)
    if regions.held is not None:
        prices = attrs.evolve(prices, framing=prices.framing + regions.held)
    if regions.output is None and regions.choice is None:
        return prices
    system = "".join(piece.text for piece in pieces) if pieces else None
    asked = Layout(system=system, head=head, tools=regions.tools, output=regions.output, choice=regions.choice)
    schema = _cost(pricer, dialect, attrs.evolve(asked, choice=None))
    choice, output = _cost(pricer, dialect, asked) - schema, schema.alone()
    framing = prices.framing + (schema - (output - NOTHING))
    return attrs.evolve(prices, output=output, tooling=prices.tooling + choice, framing=framing)


def _cost(pricer: Pricer, dialect: Dialect, asked: Layout) -> Difference:
    price = pricer.options(attrs.evolve(asked, options=dialect.options(asked)))
    return price - NOTHING if isinstance(price, Count) else price
