"""Prices of a model that a dialect has no rules for: by the dialect's own, with a bound that holds for any template.

Another vocabulary needs up to about 2.2 times as many tokens as `o200k_base` for a text (measured over the published
ones of 2025), and every chat template writes something around a message, around a request and around tools. What these
add is taken from the open templates: docs/how-it-counts-hosts.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import attrs

from assembler.conversation.messages import Message
from assembler.dialects.own_tokenizer import counts_for_open_model, counts_for_openai
from assembler.pricing.pricer import FixedPrices, JoiningPricer, Piece, Pricer
from assembler.regions.layout import Layout
from assembler.regions.tools import Tool
from budgets import Count, Grade, TokenCounter, Tokens
from budgets.count import Difference

FARTHEST = 2.2
"""Tokens of another vocabulary for one of `o200k_base`, at most."""
AROUND_A_MESSAGE: Tokens = 12
AROUND_A_REQUEST: Tokens = 64
AROUND_TOOLS: Tokens = 700


def foreign(rules: Pricer, model: str | None, count: TokenCounter) -> Pricer:
    """The rules, loosened where a model is named that is none of OpenAI's; without a name, as they are.

    A counter of the caller's own was chosen for its model and is taken at its word.
    """
    if model is None:
        return rules
    if counts_for_open_model(count):
        return ForeignPricer(rules, farthest=1.0)
    if not counts_for_openai(count):
        return rules
    from budgets.models import encoding_of

    return rules if encoding_of(model) is not None else ForeignPricer(rules)


@attrs.frozen(eq=False)
class ForeignPricer:
    """The prices of a pricer for a model that it was not made for: estimates, with bounds for any vocabulary."""

    rules: Pricer
    farthest: float = FARTHEST

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        """By rule, each of them loosened."""
        prices = self.rules.fixed(pieces, head, tools)
        return attrs.evolve(
            prices.each(self._loosened),
            head=tuple(map(self.message, head)),
            tooling=self._loosened(prices.tooling, AROUND_TOOLS if tools else 0),
            framing=self._loosened(prices.framing, AROUND_A_REQUEST),
        )

    def message(self, message: Message) -> Count:
        """By rule, loosened."""
        return self._loosened(self.rules.message(message), AROUND_A_MESSAGE * max(len(message.parts), 1))

    def joined(self, messages: Sequence[Message]) -> Sequence[Message]:
        """As the rules have it."""
        return self.rules.joined(messages) if isinstance(self.rules, JoiningPricer) else messages

    def options(self, layout: Layout) -> Count | Difference:
        """By rule, loosened; what an option saves with one model is not believed of another."""
        price = self.rules.options(layout)
        return self._loosened(price if isinstance(price, Count) else price.alone())

    def _loosened(self, price: Count, around: Tokens = 0) -> Count:
        return Count(price.tokens, Grade.ESTIMATED, math.ceil(price.upper * self.farthest) + around)
