"""Prices texts by a vocabulary that is not the model's, with the upper bound of the model's own rule.

The source system counts every model with cl100k_base. That count is reported. The bound that must fit the budget is
that of the model's own rule, or for an unknown model the largest of all vocabularies.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from assembler.conversation.messages import Message
from assembler.dialects import DIALECTS, Emission, plain
from assembler.dialects.plain.dialect import Plain
from assembler.pricing.pricer import FixedPrices, Piece, Pricer
from assembler.regions.layout import Layout
from assembler.regions.tools import Tool
from budgets import Budget, Count, Grade, TokenCounter, claude_counter, tiktoken_counter
from budgets.count import Difference
from budgets.counters.by_model import shared_vocabulary
from budgets.counters.tiktoken import OPEN_MODELS
from budgets.models import dialect_of

_NEWEST_CLAUDE = "claude-opus-4-8"
_VOCABULARIES = ("cl100k_base", *OPEN_MODELS)


@attrs.frozen(kw_only=True)
class PlainForOtherVocabulary(Plain):
    """`plain` for a model with another vocabulary: the counter's tokens, with the bound of the model's own rule."""

    model: str
    notes: tuple[str, ...] = ()
    """The notes of every report."""

    def pricer(self, model: str | None, count: TokenCounter) -> Pricer:
        """A pricer of texts, all estimated."""
        return _Pricer(plain.pricer(model, count), own_rule(self.model))

    def emit(self, layout: Layout) -> Emission:
        """Emit as `plain` does, and add the notes."""
        emission = plain.emit(layout)
        return attrs.evolve(emission, notes=(*emission.notes, *self.notes))


def own_rule(model: str) -> Pricer:
    """A pricer by the model's own dialect and vocabulary, or the highest prices for an unknown model."""
    name = dialect_of(model)
    if name is None or name not in DIALECTS:
        return _MostTokens(tiktoken_counter())
    return DIALECTS[name].pricer(model, Budget(1, model=model).token_counter)


@attrs.frozen(eq=False)
class _Pricer:
    """Combines two pricers: the tokens of the first, estimated, and the larger of both bounds."""

    counted: Pricer
    own: Pricer

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        counted, own = self.counted.fixed(pieces, head, tools), self.own.fixed(pieces, head, tools)
        return FixedPrices(
            pieces=tuple(map(_combine_counts, counted.pieces, own.pieces)),
            head=tuple(map(_combine_counts, counted.head, own.head)),
            tools=tuple(map(_combine_counts, counted.tools, own.tools)),
            tooling=_combine_counts(counted.tooling, own.tooling),
            framing=_combine_counts(counted.framing, own.framing),
        )

    def message(self, message: Message) -> Count:
        return _combine_counts(self.counted.message(message), self.own.message(message))

    def options(self, layout: Layout) -> Count | Difference:
        return self.counted.options(layout)


@attrs.frozen(eq=False)
class _MostTokens:
    """Prices texts by the bundled vocabulary that needs the most tokens for them."""

    count: TokenCounter

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        return FixedPrices(
            pieces=tuple(self._count_most([piece.text]) for piece in pieces), head=tuple(map(self.message, head))
        )

    def message(self, message: Message) -> Count:
        return self._count_most([part for part in message.parts if isinstance(part, str)])

    def options(self, layout: Layout) -> Count:
        return Count(0)

    def _count_most(self, texts: Sequence[str]) -> Count:
        counters: list[TokenCounter] = [self.count, claude_counter(_NEWEST_CLAUDE)]
        counters += map(shared_vocabulary, _VOCABULARIES)
        return Count(max(sum(map(count, texts)) for count in counters), Grade.ESTIMATED)


def _combine_counts(counted: Count, own: Count) -> Count:
    return Count(counted.tokens, Grade.ESTIMATED, upper=max(counted.upper, own.upper))
