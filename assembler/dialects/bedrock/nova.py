"""Estimates what Bedrock bills for Amazon's Nova models.

Texts are counted with `o200k_base`: on recorded texts of 100 tokens and more its median error is 1 %, and the largest
7 %. Each row was fitted on the recordings of one repository and checked on the others, if there are any.

There are no recordings of images. The Amazon Nova user guide ("Image understanding", read 2026-11) lists five sizes
with about 800 to 2,600 tokens. A smaller image is scaled up until a side has more than 896 pixels, and its aspect ratio
is rounded to one of a list. A line through the five sizes is at most 8 % off. The rounding may add a half, so the bound
is twice the line. The guide to Nova 2 says that it bills a flat 230, which is below the line.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from math import ceil

import attrs

from assembler.conversation.messages import Call, Media, Message, Opaque, Part, Result, Thinking
from assembler.conversation.messages.foreign_parts import adapt_message
from assembler.dialects.bedrock.blocks import sends
from assembler.dialects.bedrock.unlisted import context_of, sealed_thought
from assembler.dialects.blocks.pricing import as_sent, with_error_text, with_json_of_object, with_parts
from assembler.dialects.blocks.unread_fields import price_unread
from assembler.dialects.prices.families import Row, first_match, guess, table_in
from assembler.pricing.media.facts import MediaFacts
from assembler.pricing.media.reading import read_media
from assembler.pricing.media.refusal import unpriced
from assembler.pricing.media.unseen import LARGEST_WINDOW, price_pages
from assembler.pricing.opaque import add_words
from assembler.pricing.pricer import FixedPrices, MergingPricer, Piece, price_pieces
from assembler.regions.layout import Layout
from assembler.regions.tools import Tool
from assembler.text.fields import fields_in
from budgets import Count, Grade, TokenCounter, Tokens
from budgets.apportion import bound_together
from budgets.count import NOTHING, Difference, total
from budgets.models import names

_MARGIN = 0.15
"""Margin over a text: twice the worst recorded error of `o200k_base`."""


@attrs.frozen(kw_only=True)
class NovaFamily(Row):
    """One generation of Nova: the framing around the texts, in tokens."""

    opening: Count
    message: Count
    tooling: Count
    """The hidden prompt of a request with tools."""
    tool: Count
    call: Count
    """The framing of a call and its result."""
    times_billed: float
    """Tokens for each token of a call or a result: their text is billed more than once."""


FAMILIES = table_in(__name__, NovaFamily, {})
"""Most specific first; the last row matches every name."""

REASONING = guess(50, 70)
"""The hidden prompt of enabled reasoning (1 recording)."""
NOVA_EFFORT = "maxReasoningEffort"
"""A key that only Nova's `reasoningConfig` has (Amazon Nova 2 user guide, read 2026-11)."""


def is_nova(model: str) -> bool:
    """Whether it is a model id of Amazon Nova."""
    return "nova-" in model.lower()


def nova_pricer(model: str, count: TokenCounter) -> NovaPricer:
    """The price list of a Nova model."""
    plain = names.bare(model)
    found = first_match(FAMILIES, plain[max(plain.find("nova-"), 0) :])
    return NovaPricer(FAMILIES[-1] if found is None else found, count)


@attrs.frozen(eq=False)
class NovaPricer(MergingPricer):
    """Estimates a request for a Nova model. Messages in one turn share its framing."""

    family: NovaFamily
    count: TokenCounter

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        """Price the system text, the opening, the definitions and their hidden prompt."""
        return FixedPrices(
            pieces=self._price_pieces([piece.text for piece in pieces]),
            head=tuple(total(map(self._price_part, adapt_message(message, "bedrock").parts)) for message in head),
            tools=tuple(self._price_tool(tool) for tool in tools),
            tooling=self.family.tooling if tools else NOTHING,
            framing=self.family.opening,
        )

    def message(self, message: Message) -> Count:
        """Price one message. Raises `UnsupportedContentError` for media that Nova does not read."""
        sent = as_sent(adapt_message(message, "bedrock"), sends)
        if sent is None:
            return NOTHING
        billed = with_parts(with_parts(sent, with_json_of_object), with_error_text)
        return self.family.message + total(self._price_part(part) for part in billed.parts)

    def unread(self, message: Message) -> Count:
        """Bound the text in fields that no one reads."""
        return price_unread(message, "bedrock")

    def options(self, layout: Layout) -> Difference:
        """Price reasoning, compared with none. Nothing is known about other keys."""
        reasoning = fields_in(layout.options, "additionalModelRequestFields", "reasoningConfig")
        return (REASONING if reasoning.get("type") == "enabled" else NOTHING) - NOTHING

    def _price_pieces(self, texts: Sequence[str]) -> tuple[Count, ...]:
        return bound_together([guess(tokens, tokens) for tokens in price_pieces(texts, self.count)], _raise_bound)

    def _price_text(self, text: str, weight: float = 1.0) -> Count:
        tokens = round(self.count(text) * weight) if text else 0
        return guess(tokens, _raise_bound(tokens)) if tokens else NOTHING

    def _price_tool(self, tool: Tool) -> Count:
        definition = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        return self.family.tool + self._price_text(json.dumps(definition, ensure_ascii=False))

    def _price_part(self, part: Part) -> Count:
        match part:
            case str():
                return self._price_text(part)
            case Thinking():
                tokens, dearest = sealed_thought(part)
                return self._price_text(part.text) + guess(tokens, dearest)
            case Call():
                return self.family.call + self._price_text(part.name + part.arguments, self.family.times_billed)
            case Result():
                return total(self._price_held(held) for held in part.parts)
            case Opaque():
                words: list[str] = []
                beyond = add_words(part, words)
                return self._price_text("".join(words)) + beyond
            case Media():
                facts = read_media(part)
                shown = price_medium(facts) if facts.text is None else self._price_text(facts.text)
                return shown + self._price_text(context_of(part))

    def _price_held(self, part: str | Media | Opaque) -> Count:
        return self._price_text(part, self.family.times_billed) if isinstance(part, str) else self._price_part(part)


def _raise_bound(tokens: Tokens) -> Tokens:
    return math.ceil(tokens * (1 + _MARGIN)) + 1 if tokens else 0


LEAST_SIDE = 900
"""Pixels of the longer side to which a small image is scaled up: the side of the smallest published size."""
ANY = 250
PER_PIXEL = 0.00135
"""The line through the published sizes, in tokens."""


LARGEST_SIDE = 8_000
"""Pixels of the longest side of an image that Converse takes (Amazon Bedrock API reference, read 2026-11)."""
UNSEEN: Tokens = 1_300
"""An image of 900 by 900 pixels (Amazon Nova user guide)."""
PAGE = Count(3_000, Grade.ESTIMATED, upper=8_000)
"""A page of a PDF, which Nova reads as text and as an image, or of any other document. Nothing is published."""


def price_medium(facts: MediaFacts) -> Count:
    """Estimate the tokens of an image, by its size, or of a document, by its pages or bytes."""
    if facts.kind == "document":
        return price_pages(facts, PAGE, LARGEST_WINDOW)
    if facts.kind != "image":
        raise unpriced(facts, "Nova")
    if facts.size is None:
        return Count(UNSEEN, Grade.ESTIMATED, upper=_price_size(LARGEST_SIDE, LARGEST_SIDE).upper)
    return _price_size(*facts.size)


def _price_size(width: int, height: int) -> Count:
    scale = max(1.0, LEAST_SIDE / max(width, height))
    tokens = ceil(ANY + PER_PIXEL * (width * scale) * (height * scale))
    return Count(tokens, Grade.ESTIMATED, upper=2 * tokens)
