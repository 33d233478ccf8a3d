"""Prices what both APIs of OpenAI bill alike: the fixed part, the settings, several texts, media."""

from __future__ import annotations

import abc
from collections.abc import Sequence

import attrs

from assembler.conversation.messages import Media, Message
from assembler.dialects.openai.framing import Family
from assembler.dialects.openai.pricing import (
    price_one_tool,
    price_parallel_tool_calls,
    price_response_format,
    price_tool_choice,
    price_tools,
)
from assembler.pricing.media import read_media
from assembler.pricing.media.openai import detail_of, price_media
from assembler.pricing.pricer import FixedPrices, Has, JoiningPricer, Piece, price_pieces
from assembler.regions.layout import Layout
from assembler.regions.tools import Tool
from budgets import Count, Grade, TokenCounter, Tokens
from budgets.apportion import split_framing
from budgets.count import NOTHING, Difference, exact

ROLE = 1
"""Tokens of any role word: each is one token in both vocabularies."""


@attrs.frozen(eq=False)
class OpenAIBill(JoiningPricer, abc.ABC):
    """Prices requests of one family on one API: primer + messages + tools."""

    family: Family
    count: TokenCounter
    model: str | None = None
    """The model's name: image prices differ within a family."""
    envelope: Tokens = attrs.field(
        default=attrs.Factory(lambda self: self.family.per_message + ROLE, takes_self=True), init=False, repr=False
    )
    """What a message costs on top of its text."""

    @abc.abstractmethod
    def message(self, message: Message) -> Count:
        """Price one message with its framing."""

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        """Price the system text in pieces, the head, the tools, the primer, and once the slack of a request."""
        texts = [piece.text for piece in pieces]
        closing = "\n" if tools and self.family.system_newline_with_tools else ""
        if texts:
            texts[-1] += closing
        first_in_head = closing if closing and not texts else ""
        bill = price_tools(tools, self.family, self.count, Has.what(texts or head, tools)) if tools else NOTHING
        each, tooling = split_framing(bill, [price_one_tool(tool, self.family, self.count) for tool in tools])
        framing = self.family.primer + (self.envelope if texts else 0)
        slack = self.family.text_slack + (self.family.tooled_slack if tools else self.family.untooled_slack)
        return FixedPrices(
            pieces=tuple(Count(n) for n in price_pieces(texts, self.count)),
            head=tuple(self._head(message, first_in_head if place == 0 else "") for place, message in enumerate(head)),
            tools=each,
            tooling=tooling,
            framing=Count(framing, self.family.text_grade, framing + slack),
        )

    def settings(self, layout: Layout, choice: object, form: object, *, answers: int = 0) -> list[Count]:
        """Price a forced tool, serial calls and an output schema in a request with so many `answers`."""
        tools = layout.tools
        serial = layout.options.get("parallel_tool_calls") if tools else None
        has = Has.what(layout.system is not None or layout.head, tools)
        return [
            price_tool_choice(choice, self.family, self.count, tools),
            price_parallel_tool_calls(serial, self.family),
            price_response_format(form, self.family, self.count, has, answers=answers),
        ]

    def text(self, tokens: Tokens) -> Count:
        """Return the price of so many tokens of plain text."""
        grade = self.family.text_grade
        return Count(tokens, grade) if grade else exact(tokens)

    def texts(self, envelope: Tokens, texts: Sequence[str]) -> Count:
        """Price several texts joined without a separator: exact in 3 of 4 recordings; counted separately, in 2 of 4."""
        if len(texts) < 2:
            return self.text(envelope + (self.count(texts[0]) if texts else 0))
        as_one, apart = self.count("".join(texts)), sum(map(self.count, texts))
        return Count(envelope + as_one, max(Grade.BOUNDED, self.family.text_grade), envelope + max(as_one, apart))

    def medium(self, part: Media) -> Count:
        """Price an image, a document or a sound by its published formula."""
        facts = read_media(part)
        return price_media(facts, detail_of(part), self.model)

    def _head(self, message: Message, closing: str) -> Count:
        """Price a head message. Tools add a line break to the first system text."""
        texts = [part for part in message.parts if type(part) is str] if closing else []
        if not texts:
            return self.message(message)
        # A line break after blanks may save tokens: together they are one piece of the vocabulary.
        grown = self.count(texts[-1] + closing) - self.count(texts[-1])
        return self.message(message) + Difference(grown, upper=grown)
