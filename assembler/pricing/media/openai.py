"""Prices images, PDFs and audio as OpenAI bills them.

Sources, read 2026-11: OpenAI, "Images and vision" (see `openai_images`, tiles recorded), "File inputs" (a PDF is sent
as the text and an image of each page, a file of text as text, a table with a summary that a model writes), "Managing
costs" of the Realtime API (a token is 100 ms of the user's audio). The last two are not recorded here. Audio whose
length cannot be read is guessed from its bytes, and a document by URL or file id is bounded by the model's window.
"""

from __future__ import annotations

from math import ceil
from typing import Literal

import attrs

from assembler.conversation.messages.message import Media
from assembler.errors import UnsupportedContentError
from assembler.pricing.media.claude import PAGE_TEXT, PAGE_TEXT_UPPER  # OpenAI says nothing of the same pages
from assembler.pricing.media.facts import MediaFacts, Source
from assembler.pricing.media.lengths import AUDIO
from assembler.pricing.media.open_models import price_medium
from assembler.pricing.media.openai_images import LONGEST_SIDE, PATCH, SHORTEST_SIDE, Detail, price_image
from assembler.pricing.media.refusal import a_part, unpriced
from assembler.pricing.media.unseen import cap_at_window, price_pages, window_of
from assembler.text.fields import fields_in
from budgets import Count, Grade, Tokens
from budgets.models.families import family_of

AUDIO_SECOND: Tokens = 10
AUDIO_SLACK = 1.25
"""The factor of the bound, because the rate is published for another API of the same models."""


def price_media(facts: MediaFacts, detail: Detail | Literal["original"], model: str | None) -> Count:
    """Tokens of one part: an image by the model's formula and grade, anything else estimated.

    An image of unknown size costs the most that an image can. Raises `UnsupportedContentError` for a part without its
    image or document, and for media that OpenAI does not read.
    """
    match facts.kind:
        case "image" | "document" if facts.source is Source.UNKNOWN and facts.pages is None:
            raise UnsupportedContentError(
                f"{a_part(facts.kind)} part holds no {facts.kind}: give it a URL, base64 data or a file id",
                kind=facts.kind,
            )
        case "image":
            if detail == "original":
                return price_original(facts)
            size = facts.size
            return _price_most_expensive(detail, model) if size is None else price_image(*size, detail, model)
        case "document" if facts.source is not Source.TEXT:
            image = _price_most_expensive("high", model)
            page = Count(PAGE_TEXT + image.tokens // 2, Grade.ESTIMATED, upper=PAGE_TEXT_UPPER + image.upper)
            return price_pages(facts, page, window_of(model))
        case "audio":
            typical, longest = (seconds * AUDIO_SECOND for seconds in AUDIO.seconds(facts))
            if facts.seconds is not None:
                return Count(ceil(typical), Grade.ESTIMATED, upper=ceil(longest * AUDIO_SLACK))
            return cap_at_window(window_of(model), ceil(typical), ceil(longest * AUDIO_SLACK))
        case "video" if model is not None and family_of(model) is None:
            return price_medium(facts)  # a model of another maker behind this format, as vLLM serves it
        case _:
            raise unpriced(facts, "OpenAI")


def price_file(facts: MediaFacts, tokens: Tokens) -> Count:
    """Tokens of a file of text that has so many by itself, estimated."""
    around = SUMMARY if facts.mime in TABLES else AROUND_FILE
    return Count(tokens, Grade.ESTIMATED, upper=ceil(tokens * FILE_SLACK) + around)


FILE_SLACK = 1.1
AROUND_FILE: Tokens = 64
"""What may stand around a file of text, such as its name."""
SUMMARY: Tokens = 2_000
"""What a summary of a table may cost. Nothing is published about its length."""
TABLES = ("text/csv", "text/tab-separated-values")


def _price_most_expensive(detail: Detail, model: str | None) -> Count:
    """The price of the most expensive image: the largest that is not scaled down."""
    largest = price_image(LONGEST_SIDE, SHORTEST_SIDE, detail, model)
    # With detail "low", a model that bills tiles ignores the size of the image.
    return largest if detail == "low" and largest.grade is Grade.EXACT else attrs.evolve(largest, grade=Grade.ESTIMATED)


def price_original(facts: MediaFacts) -> Count:
    """The price of an image with detail "original" (Responses): a token for each patch of 32 pixels, at most 10,000.

    OpenAI, "Images and vision", read 2026-11; not recorded here. Small models multiply a patch by up to 2.46.
    """
    size = facts.size
    patches = TYPICAL_PATCHES if size is None else min(ceil(size[0] / PATCH) * ceil(size[1] / PATCH), MOST_PATCHES)
    most = MOST_PATCHES if size is None else patches
    return Count(patches, Grade.ESTIMATED, upper=ceil(most * DEAREST_PATCH))


MOST_PATCHES: Tokens = 10_000
TYPICAL_PATCHES: Tokens = 2_000
"""A screenshot of 1,920 by 1,080 pixels."""
DEAREST_PATCH = 2.46


def detail_of(part: Media) -> Detail | Literal["original"]:
    """The detail of an `image_url` or `input_image` part: "auto" by default, and "original" for any that is unknown.

    "original" is the dearest, and the last that was added to the API.
    """
    asked: object = fields_in(part.raw, "image_url").get("detail")
    asked = part.raw.get("detail") if asked is None else asked
    match asked:
        case None | "auto":
            return "auto"
        case "low":
            return "low"
        case "high":
            return "high"
        case _:
            return "original"
