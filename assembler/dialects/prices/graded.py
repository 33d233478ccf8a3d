"""Gives prices no better grade than their counter has, and tells whose vocabulary a counter counts by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeVar

import attrs

from assembler.conversation.messages import Message
from assembler.errors import UnsupportedContentError
from assembler.pricing.pricer import (
    FixedPrices,
    FormattingPricer,
    MergingPricer,
    Piece,
    Pricer,
    is_joining,
    price_unread,
)
from assembler.regions.layout import Layout
from assembler.regions.tools import Tool
from budgets import Count, Grade, TokenCounter, Tokens
from budgets.count import NOTHING, Difference, grade_of
from budgets.counters.by_model import shared_vocabulary
from budgets.counters.guard import name_of
from budgets.counters.tiktoken import BUNDLED, OPEN_MODELS
from budgets.models.families import open_vocabulary_of

Priced = TypeVar("Priced", bound=Count | Difference)

_FOR_OPEN_MODELS = frozenset(f"tiktoken:{vocabulary}" for vocabulary in OPEN_MODELS)
_FOR_OPENAI = frozenset(f"{engine}:{encoding}" for engine in ("tiktoken", "toktok") for encoding in BUNDLED)


def grade_price(price: Priced, count: TokenCounter) -> Priced:
    """The price with the worse of two grades: its own, and its counter's at this moment."""
    grade = grade_of(count)
    return price if price.grade >= grade else attrs.evolve(price, grade=grade)


def graded_pricer(rules: Pricer, count: TokenCounter, beside_rules: Count = NOTHING) -> Pricer:
    """The rules with prices graded by their counter, and with what a request costs `beside_rules`.

    With an exact counter and no such cost, return the rules themselves.
    """
    if grade_of(count) is Grade.EXACT and beside_rules is NOTHING:
        return rules
    if isinstance(rules, MergingPricer):
        return GradedMergingPricer(rules=rules, count=count, beside_rules=beside_rules)
    return GradedPricer(rules, count, beside_rules=beside_rules)


@attrs.frozen(eq=False)
class RuledPricer:
    """A pricer that changes the prices of another one, and delegates everything else to it."""

    rules: Pricer

    def join(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Delegate to the rules."""
        return self.rules.join(messages) if is_joining(self.rules) else messages

    def bills_results_together(self, message: Message, before: Message) -> bool:
        """Delegate to the rules."""
        return is_joining(self.rules) and self.rules.bills_results_together(message, before)

    def bills_model_messages_together(self, message: Message, before: Message) -> bool:
        """Delegate to the rules."""
        return is_joining(self.rules) and self.rules.bills_model_messages_together(message, before)

    def sends_results_last(self) -> bool:
        """Delegate to the rules."""
        return is_joining(self.rules) and self.rules.sends_results_last()

    def unread(self, message: Message) -> Count:
        """Delegate to the rules."""
        return price_unread(self.rules, message)

    def drop_unsent(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Delegate to the rules."""
        return self.rules.drop_unsent(messages) if is_joining(self.rules) else messages

    def formatted(self) -> Self:
        """Delegate to the rules."""
        rules = self.rules.formatted() if isinstance(self.rules, FormattingPricer) else self.rules
        return self if rules is self.rules else attrs.evolve(self, rules=rules)


class RuledMergingPricer(RuledPricer, MergingPricer):
    """A `RuledPricer` for rules that merge messages, so that sums of their prices are only bounds."""

    __slots__ = ()
    rules: MergingPricer

    def when_sent(self) -> MergingPricer:
        """The rules' pricer for sent messages, with its prices changed in the same way."""
        return attrs.evolve(self, rules=self.rules.when_sent())

    def difference_at_end(self, message: Message, options: Mapping[str, Any]) -> Difference | None:
        """Delegate to the rules."""
        return self.rules.difference_at_end(message, options)

    def spares(self) -> Tokens:
        """Delegate to the rules."""
        return self.rules.spares()

    def forgets_reasoning(self) -> bool:
        """Delegate to the rules."""
        return self.rules.forgets_reasoning()

    def ends_reasoning(self, message: Message, opening: Message | None = None) -> bool:
        """Delegate to the rules."""
        return self.rules.ends_reasoning(message, opening)

    def without_reasoning(self, message: Message) -> Message:
        """Delegate to the rules."""
        return self.rules.without_reasoning(message)


@attrs.frozen(eq=False)
class GradedPricer(RuledPricer):
    """Gives each price the counter's grade at the time of pricing, which falls when an endpoint fails."""

    count: TokenCounter
    beside_rules: Count = attrs.field(default=NOTHING, kw_only=True)

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        """The rules' prices, graded, with what each request costs beside them."""
        prices = self.rules.fixed(pieces, head, tools).each(lambda price: grade_price(price, self.count))
        return attrs.evolve(prices, framing=prices.framing + self.beside_rules)

    def message(self, message: Message) -> Count:
        """The rules' price, graded."""
        return grade_price(self.rules.message(message), self.count)

    def options(self, layout: Layout) -> Count | Difference:
        """The rules' price, graded."""
        return grade_price(self.rules.options(layout), self.count)


@attrs.frozen(eq=False)
class GradedMergingPricer(GradedPricer, RuledMergingPricer):
    """A `GradedPricer` for rules that merge messages."""

    rules: MergingPricer

    def difference_after(self, message: Message, before: Message | None) -> Difference | None:
        """The rules' difference, graded."""
        more = self.rules.difference_after(message, before)
        return None if more is None else grade_price(more, self.count)


def lenient_pricer(rules: Pricer, count: TokenCounter) -> Pricer:
    """The rules with a price of nothing for a message that they refuse: the least that it may cost.

    For finding out what would be dropped even so. What stays must be priced by the rules.
    """
    if isinstance(rules, MergingPricer):
        return _LenientMergingPricer(rules=rules, count=count)
    return _LenientPricer(rules, count)


def _price_or_nothing(rules: Pricer, message: Message) -> Count:
    try:
        return rules.message(message)
    except UnsupportedContentError:
        return NOTHING


class _LenientPricer(GradedPricer):
    __slots__ = ()

    def message(self, message: Message) -> Count:
        """The rules' price; nothing if they refuse the message."""
        return _price_or_nothing(self.rules, message)


class _LenientMergingPricer(GradedMergingPricer):
    __slots__ = ()

    def message(self, message: Message) -> Count:
        """The rules' price; nothing if they refuse the message."""
        return _price_or_nothing(self.rules, message)


def counts_for_openai(count: TokenCounter) -> bool:
    """Whether it is one of the library's counters of OpenAI's vocabularies, the default without a model."""
    return name_of(count) in _FOR_OPENAI


def counts_for_open_model(count: TokenCounter) -> bool:
    """Whether it is one of the library's counters of open models' vocabularies, the default for those models."""
    return name_of(count) in _FOR_OPEN_MODELS


def counts_for_claude(count: TokenCounter) -> bool:
    """Whether it is the library's reconstruction of Claude's vocabularies, the default for Claude."""
    return name_of(count).startswith("reconstructed:")


def estimated_for(model: str | None, vocabulary: str, price: Count) -> Count:
    """The price, graded as an estimate if the named model has another vocabulary, or an unpublished one."""
    known = model is None or not model.strip() or open_vocabulary_of(model) == vocabulary
    return price if known else attrs.evolve(price, grade=Grade.ESTIMATED)


def own_counter(vocabulary: str, count: TokenCounter) -> TokenCounter:
    """A counter of the vocabulary in place of OpenAI's. Keep any other counter: the caller chose it."""
    return shared_vocabulary(vocabulary) if counts_for_openai(count) else count
