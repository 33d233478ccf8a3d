"""Prices images, PDFs, audio and video as Gemini bills them.

Sources, read 2026-11, none of them recorded here: Google, "Understand and count tokens" (258 tokens up to 384 x 384,
else tiles of 768 x 768 at 258 each; 32 tokens a second of audio, 263 of video), "Image understanding" of Vertex AI (a
tile is two thirds of the shorter side, 256 to 768 pixels), "Media resolution" (Gemini 3: 1,120 an image, 560 a page, 70
a frame), "Document understanding" (a file that is no PDF is read as text). The two tile rules differ on images with a
side under 1,152, and users report bills one tile above them. So the larger count plus one tile is the upper bound.
"""

from __future__ import annotations

from math import ceil
from typing import TypeAlias

import attrs

from assembler.pricing.media.facts import MediaFacts, Source
from assembler.pricing.media.lengths import Coding
from assembler.pricing.media.refusal import unpriced
from assembler.pricing.media.unseen import LARGEST_WINDOW, cap_at_window, price_pages
from budgets import Count, Grade, Tokens

SMALL = 384
"""Pixels a side of an image that is one tile."""
TILE = 768
LEAST_TILE = 256
UNSEEN_TILES, MOST_TILES = 4, 24
"""Tiles of an image of unknown size, typically and at most: 3,072 x 384 pixels by Vertex AI's rule, the longest side to
which an image is scaled down."""
MOST_PAGES = 1_000
AUDIO_SECOND: Tokens = 32
AUDIO = Coding(typical=16_000, leanest=1_000, unseen=60, longest=34_200)
"""At most 9.5 hours in a request (Google, "Audio understanding", read 2026-11)."""
VIDEO = Coding(typical=250_000, leanest=12_500, unseen=600, longest=10_800)
"""At most 3 hours, at a low resolution (Google, "Video understanding", read 2026-11)."""
VIDEO_SLACK = 1.25
"""A second of video is published as 263 tokens, but its frames, audio and time stamps add up to 290 and more."""


@attrs.frozen
class Tiles:
    """Gemini 1.5 to 2.5: a price for a tile or a page, and one for a second of video."""

    page: Tokens = 258
    video_second: Tokens = 263

    def image(self, facts: MediaFacts) -> Count:
        """The price of an image by its tiles. The bound is the larger of two rules plus one tile."""
        if facts.size is None:
            return Count(UNSEEN_TILES * self.page, Grade.ESTIMATED, upper=(MOST_TILES + 1) * self.page)
        if max(facts.size) <= SMALL:
            return _estimate(self.page)
        width, height = facts.size
        tiles = ceil(width / TILE) * ceil(height / TILE)
        return Count(
            tiles * self.page, Grade.ESTIMATED, upper=(max(tiles, _count_tiles(width, height)) + 1) * self.page
        )

    def at(self, level: object) -> Rates:
        """The prices at the media resolution that a request asks for; the default ones for any other value."""
        return _OF_TILES.get(level.upper(), self) if isinstance(level, str) else self


@attrs.frozen
class Flat:
    """Gemini 3: one price for any image at the default resolution, one for a page and one for a second of video."""

    each: Tokens = 1_120
    page: Tokens = 560
    video_second: Tokens = 70 + AUDIO_SECOND

    def image(self, facts: MediaFacts) -> Count:
        """The price of an image, the same for every size."""
        return _estimate(self.each)

    def at(self, level: object) -> Flat:
        """The prices at the resolution that a part or a request asks for; the default ones for any other value."""
        return _AT.get(level.upper(), self) if isinstance(level, str) else self


_AT = {
    "MEDIA_RESOLUTION_LOW": Flat(each=280, page=280),
    "MEDIA_RESOLUTION_MEDIUM": Flat(each=560),
    "MEDIA_RESOLUTION_HIGH": Flat(page=1_120, video_second=280 + AUDIO_SECOND),
    "MEDIA_RESOLUTION_ULTRA_HIGH": Flat(each=2_240, page=1_120, video_second=280 + AUDIO_SECOND),
}
"""The published prices of each level, by Google's "Media resolution". Only Gemini 3 reads it from a part."""
_OF_TILES = {
    "MEDIA_RESOLUTION_LOW": Flat(each=64, page=64, video_second=64 + AUDIO_SECOND),
    "MEDIA_RESOLUTION_MEDIUM": Flat(each=258, page=258, video_second=263),
}
"""The same of Gemini 2.5: up to medium an image is not cut into tiles."""

Rates: TypeAlias = Tiles | Flat
"""What a generation bills for a medium."""


def price_resolved(facts: MediaFacts, rates: Rates, level: object) -> Count:
    """Tokens of one part at a resolution. The bound of Gemini 2.5 stays that of the default: no bill is recorded."""
    price = price_media(facts, rates.at(level))
    if isinstance(rates, Flat):
        return price
    return Count(price.tokens, Grade.ESTIMATED, upper=max(price.tokens, price_media(facts, rates).upper))


def price_media(facts: MediaFacts, rates: Rates) -> Count:
    """Tokens of one part, estimated: of a typical one, bounded by the longest, if its size or length is unknown.

    Raises `UnsupportedContentError` for media that Gemini does not read.
    """
    match facts.kind:
        case "image":
            return rates.image(facts)
        case "document" if facts.source is not Source.TEXT:
            return price_pages(facts, _estimate(rates.page), LARGEST_WINDOW, MOST_PAGES)
        case "audio":
            return _price_seconds(facts, AUDIO, AUDIO_SECOND)
        case "video":
            return _price_seconds(facts, VIDEO, rates.video_second, VIDEO_SLACK)
        case _:
            raise unpriced(facts, "Gemini")


def _price_seconds(facts: MediaFacts, coding: Coding, second: Tokens, slack: float = 1.0) -> Count:
    typical, longest = (ceil(seconds * second) for seconds in coding.seconds(facts))
    if facts.seconds is None:
        return cap_at_window(LARGEST_WINDOW, typical, ceil(longest * slack))
    return Count(typical, Grade.ESTIMATED, upper=ceil(typical * slack))


def price_file(tokens: Tokens) -> Count:
    """Tokens of a file of text that has so many by itself, estimated."""
    return Count(tokens, Grade.ESTIMATED, upper=ceil(tokens * FILE_SLACK) + AROUND_FILE)


FILE_SLACK = 1.1
AROUND_FILE: Tokens = 16
"""What may stand around a file of text. No recording has one."""


def _count_tiles(width: int, height: int) -> int:
    """The tiles of an image by Vertex AI's rule."""
    side = min(max(min(width, height) * 2 // 3, LEAST_TILE), TILE)
    return ceil(width / side) * ceil(height / side)


def _estimate(tokens: Tokens) -> Count:
    return Count(tokens, Grade.ESTIMATED)
