"""Prices media for another maker's model behind an endpoint that speaks Claude's API, as gateways offer it."""

from __future__ import annotations

from assembler.pricing.media import gemini, openai
from assembler.pricing.media.facts import MediaFacts
from assembler.pricing.media.open_models import price_medium
from budgets.count import Count, Grade
from budgets.models.families import family_of, model_within


def price_elsewhere(facts: MediaFacts, model: str, claudes: Count) -> Count:
    """Tokens of one part by the maker's own rules, estimated; `claudes` is what Claude would bill.

    A model without a family may be anyone's: it is counted as Claude's, and bounded by the dearer of Claude and the
    open models. Raises `UnsupportedContentError` for media that the maker's models do not read.
    """
    family = family_of(model_within(model) or model) or ""
    if family.startswith("claude"):
        return claudes
    if family.startswith("gemini"):
        price = gemini.price_media(facts, gemini.Flat() if family == "gemini-3" else gemini.Tiles())
    elif family.startswith("gpt"):
        price = openai.price_media(facts, "auto", model_within(model) or model)
    else:
        price = price_medium(facts)
    upper = max(price.upper, claudes.upper) if not family else price.upper
    return Count(price.tokens if family else claudes.tokens, Grade.ESTIMATED, upper=upper)
