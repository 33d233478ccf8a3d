"""Estimates media for open models and Grok, whose hosts publish no price, and for a request without a model.

Sources, read 2026-11: Qwen2-VL's and Gemma 3's model cards for pictures. Documents are parsed to text by the host
(OpenRouter, "PDF Inputs") or searched by a tool (xAI, "Files"); sounds and films cost at most what Google's do
("Understand and count tokens"). None of them is recorded. A medium whose length cannot be seen is bounded by the
largest window.
"""

from __future__ import annotations

from math import ceil
from typing import Final

import attrs

from assembler.pricing.media.facts import MediaFacts, Source
from assembler.pricing.media.lengths import AUDIO, VIDEO, Coding
from assembler.pricing.media.refusal import without_price
from assembler.pricing.media.unseen import LARGEST_WINDOW, cap_at_window, price_pages
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
PAGE = Count(1_000, Grade.ESTIMATED, upper=8_000)
"""A page as text, and at most as the dearest of text and image (Anthropic, "PDF support", with its largest image)."""
SECOND_OF_AUDIO: Tokens = 32
SECOND_OF_VIDEO: Tokens = 263
SLACK = 1.25
UNSEEN_FILM = 60
"""Seconds of a film whose length cannot be seen: a guess."""


def price_medium(facts: MediaFacts) -> Count:
    """The price of a medium, estimated: a picture by its patches, a document by its pages, any other by its seconds.

    Raises `UnsupportedContentError` for a picture or document that is not there, and for another kind.
    """
    if facts.source is Source.UNKNOWN and facts.kind in ("image", "document") and facts.pages is None:
        raise without_price(facts.kind, f"{facts.kind} in it: give it a URL or base64 data")
    match facts.kind:
        case "image":
            return _price_picture(facts)
        case "document":
            return price_pages(facts, PAGE, LARGEST_WINDOW)
        case "audio":
            return _price_seconds(facts, AUDIO, SECOND_OF_AUDIO)
        case "video":
            return _price_seconds(facts, attrs.evolve(VIDEO, unseen=UNSEEN_FILM), SECOND_OF_VIDEO)
        case _:
            raise without_price(facts.kind, "recorded price here")


def _price_picture(facts: MediaFacts) -> Count:
    if facts.size is None:
        return Count(_TYPICAL, Grade.ESTIMATED, upper=MOST)
    width, height = facts.size
    tokens = min(MOST, max(LEAST, ceil(width / PATCH) * ceil(height / PATCH)))
    return Count(tokens, Grade.ESTIMATED, upper=min(MOST, max(_LEAST_BOUND, 2 * tokens)))


def _price_seconds(facts: MediaFacts, coding: Coding, second: Tokens) -> Count:
    typical, longest = (ceil(seconds * second) for seconds in coding.seconds(facts))
    return cap_at_window(LARGEST_WINDOW, typical, ceil(longest * SLACK))
