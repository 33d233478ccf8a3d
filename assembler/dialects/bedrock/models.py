"""Estimates what Bedrock bills for other makers' models, by the makers' price lists with wider bounds.

There are few recordings from Bedrock. An open model's template is the same on every host, but hosts add different text.
So prices of a maker's list are estimates with a margin. A model without a list (Cohere, AI21, Writer, …) is priced by
Llama's list with a wider margin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import attrs

from assembler.conversation.messages import Message
from assembler.conversation.messages.foreign_parts import adapt_message
from assembler.dialects.bedrock.blocks import sends
from assembler.dialects.bedrock.unlisted import price_unlisted
from assembler.dialects.blocks.pricing import as_sent, with_error_text, with_json_of_object, with_parts
from assembler.dialects.blocks.unread_fields import price_unread
from assembler.pricing.opaque import price_lasting
from assembler.pricing.pricer import FixedPrices, MergingPricer, Piece, Pricer
from assembler.regions.layout import Layout
from assembler.regions.tools import Tool
from budgets import Count, Grade, TokenCounter, Tokens
from budgets.apportion import bound_together
from budgets.count import NOTHING
from budgets.models.families import family_of

_LISTED = 1.1
"""Margin over the maker's own bound, for the host's unknown additions. A guess."""
_UNLISTED = 1.5
"""Margin over Llama's bound: no published vocabulary needs 1.5 times as many tokens as Llama's for English, code and
JSON (docs/how-it-counts-others.md: Claude 4.7, the largest, needs a third more than `o200k_base`)."""
_PREAMBLE = Count(0, Grade.ESTIMATED, upper=20)
"""Tokens that a host may put before a request: up to 9 on Mistral's models (5 recordings, one repository)."""

_STRANGER = "llama-3"


def is_claude(model: str | None) -> bool:
    """Whether it is a model id of Claude's, or none."""
    return model is None or "claude" in model.lower()


@attrs.frozen(eq=False)
class OpenModelPricer(MergingPricer):
    """A maker's price list with a margin on each price. Messages in one turn share its framing."""

    makers: Pricer
    margin: float
    count: TokenCounter

    @classmethod
    def of(cls, model: str, count: TokenCounter) -> OpenModelPricer:
        """The price list of the model's maker, or Llama's."""
        from assembler.dialects.hosts.upstream import hosted_pricer

        if family_of(model) == "mistral":
            from assembler.dialects.mistral.dialect import mistral

            return cls(mistral.pricer(model, count), _LISTED, count)
        makers = hosted_pricer(model, count)
        if makers is not None:
            return cls(makers, _LISTED, count)
        borrowed = hosted_pricer(_STRANGER, count)
        if borrowed is None:
            raise AssertionError(f"{_STRANGER} has no price list")
        return cls(borrowed, _UNLISTED, count)

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        """The list's prices, each with its margin."""
        head = [adapt_message(message, "bedrock") for message in head]
        exact = self.makers.fixed(pieces, head, tools)
        prices = exact.each(self._loosen_price)
        unlisted = [self._loosen_price(price_unlisted(message.parts, self.count)) for message in head]
        together = bound_together(
            [attrs.evolve(piece, grade=Grade.ESTIMATED) for piece in exact.pieces], self._raise_bound
        )
        heads = zip(prices.head, unlisted, head, strict=True)
        each = tuple(price + more if message.parts else NOTHING for price, more, message in heads)
        return attrs.evolve(prices, pieces=together, head=each, framing=prices.framing + _PREAMBLE)

    def message(self, message: Message) -> Count:
        """Price one message, with its margin."""
        sent = as_sent(adapt_message(message, "bedrock"), sends)
        if sent is None:
            return self._loosen_price(Count(0))
        billed = with_parts(with_parts(sent, with_json_of_object), with_error_text)
        # The maker's own API has no such blocks, so its list does not price them.
        unlisted = price_lasting(sent.parts) + price_unlisted(sent.parts, self.count)
        return self._loosen_price(self.makers.message(billed) + unlisted)

    def unread(self, message: Message) -> Count:
        """Bound the text in fields that no one reads."""
        return price_unread(message, "bedrock")

    def options(self, layout: Layout) -> Count:
        """0: nothing is known about the price of Converse's other keys."""
        return Count(0)

    def _loosen_price(self, price: Count) -> Count:
        return Count(price.tokens, Grade.ESTIMATED, self._raise_bound(price.upper))

    def _raise_bound(self, upper: Tokens) -> Tokens:
        return max(upper, math.ceil(upper * self.margin))
