"""Prices whose grade is no better than that of their counter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, TypeVar

import attrs

from assembler.conversation.messages import Message
from assembler.pricing.pricer import FixedPrices, FormattingPricer, MergingPricer, Piece, Pricer, is_joining
from assembler.regions.layout import Layout
from assembler.regions.tools import Tool
from budgets import Count, Grade, TokenCounter
from budgets.count import Difference, grade_of

Priced = TypeVar("Priced", bound=Count | Difference)


def grade_price(price: Priced, count: TokenCounter) -> Priced:
    """A price, of the lower of two grades: its own, and the one that its counter has now."""
    grade = grade_of(count)
    return price if price.grade >= grade else attrs.evolve(price, grade=grade)


def graded_pricer(rules: Pricer, count: TokenCounter) -> Pricer:
    """The rules of a pricer whose counter may be no exact one; an exact counter stays so, and costs nothing here."""
    if grade_of(count) is Grade.EXACT:
        return rules
    if isinstance(rules, MergingPricer):
        return GradedMergingPricer(rules=rules, count=count)
    return GradedPricer(rules, count)


@attrs.frozen(eq=False)
class RuledPricer:
    """The base of a pricer that changes another one's prices: it joins the messages that the other one joins."""

    rules: Pricer

    def joined(self, messages: Sequence[Message]) -> Sequence[Message]:
        """As the rules do."""
        return self.rules.joined(messages) if is_joining(self.rules) else messages

    def answers_together(self, message: Message, before: Message) -> bool:
        """As the rules do."""
        return is_joining(self.rules) and self.rules.answers_together(message, before)

    def puts_answers_last(self) -> bool:
        """As the rules do."""
        return is_joining(self.rules) and self.rules.puts_answers_last()

    def heard(self, messages: Sequence[Message]) -> Sequence[Message]:
        """As the rules do."""
        return self.rules.heard(messages) if is_joining(self.rules) else messages

    def formatted(self) -> Self:
        """As the rules do."""
        rules = self.rules.formatted() if isinstance(self.rules, FormattingPricer) else self.rules
        return self if rules is self.rules else attrs.evolve(self, rules=rules)


@attrs.frozen(eq=False)
class GradedPricer(RuledPricer):
    """The prices of a pricer, none graded above its counter as it is when they are made: an endpoint may fall back."""

    count: TokenCounter

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        """By rule, each of them graded."""
        return self.rules.fixed(pieces, head, tools).each(lambda price: grade_price(price, self.count))

    def message(self, message: Message) -> Count:
        """By rule, graded."""
        return grade_price(self.rules.message(message), self.count)

    def options(self, layout: Layout) -> Count | Difference:
        """By rule, graded."""
        return grade_price(self.rules.options(layout), self.count)


@attrs.frozen(eq=False)
class GradedMergingPricer(GradedPricer, MergingPricer):
    """Graded prices of rules whose sums are bounds."""

    rules: MergingPricer

    def when_sent(self) -> MergingPricer:
        """By rule, graded."""
        return attrs.evolve(self, rules=self.rules.when_sent())

    def beside(self, message: Message, before: Message | None) -> Difference | None:
        """By rule, graded."""
        more = self.rules.beside(message, before)
        return None if more is None else grade_price(more, self.count)

    def forgets(self, message: Message) -> bool:
        """By rule."""
        return self.rules.forgets(message)

    def when_forgotten(self, message: Message) -> Message:
        """By rule."""
        return self.rules.when_forgotten(message)
