"""Prices a message for Mistral by its open chat template, and media by their size.

The template (mistral-common, Apache-2.0) puts each turn between control tokens of one token each, so with the Tekken
vocabulary the sum is the billed number. Evidence for every number: docs/how-it-counts-mistral.md.
"""

from __future__ import annotations

import attrs

from assembler.conversation.messages.message import Media, Message
from assembler.dialects.hosts import pricing as hosted
from assembler.dialects.hosts.families import Family
from assembler.pricing.media import read_media
from assembler.pricing.media.lengths import price_audio
from assembler.pricing.media.refusal import without_price
from assembler.pricing.opaque import price_pages
from budgets.count import Count, Grade, TokenCounter, total

IMAGE = Count(1_000, Grade.ESTIMATED, upper=4_200)
"""A picture of unknown size: one token per 16 x 16 or 28 x 28 pixels, 1,024 pixels a side at most (not recorded)."""


def price_message(message: Message, family: Family, count: TokenCounter) -> Count:
    """Price one message with its control tokens. Raises `UnsupportedContentError` for videos."""
    media = [part for part in message.parts if isinstance(part, Media)]
    if not media:
        return hosted.price_message(message, family, count)
    rest = tuple(part for part in message.parts if not isinstance(part, Media))
    price = hosted.price_message(attrs.evolve(message, parts=rest), family, count)
    return total(map(_price_medium, media), price)


def _price_medium(part: Media) -> Count:
    match part.kind:
        case "image":
            return IMAGE
        case "audio":
            return price_audio(read_media(part))
        case "document":
            return price_pages(part)
        case _:
            raise without_price(part.kind, "published price here")
