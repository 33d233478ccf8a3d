"""Estimates pictures for open models and Grok, whose hosts publish no price."""

from __future__ import annotations

from math import ceil
from typing import Final

from assembler.pricing.media.facts import MediaFacts, Source
from assembler.pricing.media.refusal import without_price
from budgets.count import Count, Grade, Tokens

PATCH: Final = 28
"""Pixels a side of a patch, which is one token (Qwen2-VL's model card, read 2026-11; not recorded)."""
MOST: Tokens = 16_384
"""The most tokens of a picture by default (the same card)."""
LEAST: Tokens = 256
"""A picture of one tile (Gemma 3's model card, read 2026-11)."""
_TYPICAL: Tokens = 1_000
_LEAST_BOUND: Tokens = 2_600
"""What a model that fills a fixed number of tiles may bill for the smallest picture: a bound of ours."""


def price_picture(facts: MediaFacts) -> Count:
    """The price of a picture, by its patches if its size is known. Raises `UnsupportedContentError` for no picture."""
    if facts.kind != "image" or facts.source is Source.UNKNOWN:
        raise without_price(facts.kind, "recorded price here")
    if facts.size is None:
        return Count(_TYPICAL, Grade.ESTIMATED, upper=MOST)
    width, height = facts.size
    tokens = min(MOST, max(LEAST, ceil(width / PATCH) * ceil(height / PATCH)))
    return Count(tokens, Grade.ESTIMATED, upper=min(MOST, max(_LEAST_BOUND, 2 * tokens)))
