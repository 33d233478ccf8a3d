"""Prices what a Converse request carries and no maker's list has: reasoning, and the contexts of documents."""

from __future__ import annotations

from collections.abc import Sequence

from assembler.conversation.messages import Media, Opaque, Part, Result, Thinking
from assembler.dialects.prices.message_fields import FRAMING
from assembler.pricing.opaque import price_beside_words, sealed_tokens
from assembler.text.fields import fields_in
from budgets import Count, Grade, TokenCounter, Tokens


def price_unlisted(parts: Sequence[Part], count: TokenCounter) -> Count:
    """Estimate the contexts of documents and blocks without words, and bound reasoning, which a template may drop."""
    each = [held for part in parts for held in (part.parts if isinstance(part, Result) else (part,))]
    contexts = sum(count(text) for part in each if (text := context_of(part)))
    thoughts = sum(_count_longest_thought(part, count) for part in each if isinstance(part, Thinking))
    return Count(contexts, Grade.ESTIMATED, upper=contexts + thoughts) + price_beside_words(each, count)


def context_of(part: Part) -> str:
    """The context of a document that is sent as a document, which the model sees; "" without one."""
    text: object = fields_in(part.raw, "document").get("context") if isinstance(part, Media | Opaque) else None
    return text if isinstance(text, str) else ""


def sealed_thought(part: Thinking) -> tuple[Tokens, Tokens]:
    """The tokens of reasoning that Converse sends back encrypted, typically and at most."""
    sealed: object = fields_in(part.raw, "reasoningContent").get("redactedContent")
    size = len(sealed) * 4 // 3 if isinstance(sealed, bytes) else len(sealed) if isinstance(sealed, str) else 0
    return sealed_tokens(size)


def _count_longest_thought(part: Thinking, count: TokenCounter) -> Tokens:
    return count(part.text) + sealed_thought(part)[1] + FRAMING
