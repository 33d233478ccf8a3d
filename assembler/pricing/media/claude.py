"""Prices images and PDFs as Claude bills them.

Sources, read 2026-11, none of them recorded here: Anthropic, "Images and vision" (a token is a patch of 28 x 28
pixels; larger images are scaled down) and its earlier edition (width x height / 750); "PDF support" (each page as 1,500
to 3,000 tokens of text and as an image). The two editions differ by 4 % or, on small images, by a row of patches. The
newer one is the count, and the larger of both the upper bound.
"""

from __future__ import annotations

from bisect import bisect_right
from math import ceil

import attrs

from assembler.pricing.media.facts import MediaFacts, Source
from assembler.pricing.media.refusal import unpriced
from assembler.pricing.media.unseen import LARGEST_WINDOW, price_pages
from budgets import Count, Grade, Tokens

PATCH = 28
PIXELS_PER_TOKEN = 750
"""The earlier edition's rule."""
FRAMING = 8
"""Tokens around an image: unknown, so part of the upper bound."""
PAGE_TEXT: Tokens = 2_250
"""The middle of the published 1,500 to 3,000."""
PAGE_TEXT_UPPER: Tokens = 3_000


@attrs.frozen(kw_only=True)
class Resolution:
    """The largest image of a model generation, in pixels a side and in tokens. Larger ones are scaled down."""

    longest_side: int
    most_tokens: Tokens

    @property
    def ceiling(self) -> Tokens:
        """The most that either rule charges."""
        return ceil(self.most_tokens * PATCH**2 / PIXELS_PER_TOKEN)


STANDARD = Resolution(longest_side=1_568, most_tokens=1_568)
HIGH = Resolution(longest_side=2_576, most_tokens=4_784)
"""Opus 4.7 and later."""


def price_media(facts: MediaFacts, resolution: Resolution, window: Tokens = LARGEST_WINDOW) -> Count:
    """Tokens of one part, estimated. An image of unknown size costs the most that an image can.

    A PDF of unknown length is bounded by the window. Raises `UnsupportedContentError` for media that Claude does not
    read.
    """
    match facts.kind:
        case "image":
            size = facts.size
            if size is None:
                return Count(resolution.most_tokens, Grade.ESTIMATED, upper=resolution.ceiling + FRAMING)
            return price_image(*size, resolution)
        case "document" if facts.source is not Source.TEXT:
            page, upper = PAGE_TEXT + resolution.most_tokens // 2, PAGE_TEXT_UPPER + resolution.ceiling
            return price_pages(facts, Count(page, Grade.ESTIMATED, upper=upper + FRAMING), window)
        case _:
            raise unpriced(facts, "Claude")


def price_image(width: int, height: int, resolution: Resolution) -> Count:
    """The price of an image, by both rules. O(log side)."""
    patches, area = _count_patches(width, height, resolution), _price_area(width, height, resolution)
    return Count(patches, Grade.ESTIMATED, upper=max(patches, area) + FRAMING)


def _count_patches(width: int, height: int, resolution: Resolution) -> Tokens:
    """The patches of an image, scaled down to the largest size that the generation accepts."""
    long, short = max(width, height), min(width, height)
    sides = range(1, min(long, resolution.longest_side) + 1)
    fitting = bisect_right(sides, resolution.most_tokens, key=lambda side: _count_covering_patches(side, short, long))
    return _count_covering_patches(sides[fitting - 1], short, long)


def _count_covering_patches(side: int, short: int, long: int) -> int:
    """The patches of an image whose long side was scaled to `side`."""
    return -(-side // PATCH) * max(1, ceil(short * side / long / PATCH))


def _price_area(width: int, height: int, resolution: Resolution) -> Tokens:
    scale = min(1.0, resolution.longest_side / max(width, height))
    return min(ceil(width * height * scale**2 / PIXELS_PER_TOKEN), resolution.ceiling)
