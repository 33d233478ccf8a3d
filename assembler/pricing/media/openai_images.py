"""Prices an image as OpenAI bills it, by its size in pixels.

Two formulas, by model: squares of 512 pixels (recorded, exact) and patches of 32 (published, not recorded).
Source: the formulas of OpenAI's "Images and vision" guide as commonly quoted, not read again here; tile figures
checked against eight published counts of pamelafox/openai-messages-token-helper.
"""

from __future__ import annotations

import re
from math import ceil, isqrt
from typing import Literal, TypeAlias

import attrs

from budgets.count import Count, Grade, Tokens
from budgets.models.names import bare

Detail: TypeAlias = Literal["auto", "low", "high"]

LONGEST_SIDE = 2048
SHORTEST_SIDE = 768
TILE = 512
PATCH = 32
MOST_PATCHES = 1536


@attrs.frozen
class Tiles:
    """A price for the image, and one for each of its 512-pixel squares after it is scaled down."""

    once: Tokens
    per_tile: Tokens


@attrs.frozen
class Patches:
    """A price for each 32-pixel square, of which there are at most 1,536, times the model's factor."""

    multiplier: float


_BY_NAME = tuple(
    (re.compile(pattern), price)
    for pattern, price in (
        (r"gpt-4o-mini", Tiles(2833, 5667)),
        (r"gpt-4\.1-mini|gpt-5(\.\d+)?-mini", Patches(1.62)),
        (r"gpt-4\.1-nano|gpt-5(\.\d+)?-nano", Patches(2.46)),
        (r"o4-mini", Patches(1.72)),
        (r"o[13]", Tiles(75, 150)),
        (r"gpt-5", Tiles(70, 140)),
    )
)
_RECORDED = re.compile(r"(chat)?gpt-4o(?!-(audio|realtime|search))")
"""The models that published counts cover."""


def price_image(width: int, height: int, detail: Detail, model: str | None) -> Count:
    """Tokens of one image of `width` × `height` pixels. O(1).

    Exact for the tile models that published counts cover (gpt-4o, gpt-4o-mini); bounded by one tile for
    other tile models; estimated for patch models, whose multipliers are not recorded. Raises ValueError for a side
    below 1.
    """
    if width < 1 or height < 1:
        raise ValueError(f"an image has at least one pixel a side, got {width} × {height}")
    name = bare(model) if model is not None else ""
    price = next((price for pattern, price in _BY_NAME if pattern.match(name)), Tiles(85, 170))
    match price:
        case Tiles():
            tokens = _price_tiles(width, height, detail, price)
            if _RECORDED.match(name):
                return Count(tokens)
            return Count(tokens, Grade.BOUNDED, upper=tokens + price.per_tile)
        case Patches():
            tokens = ceil(_count_patches(width, height) * price.multiplier)
            return Count(tokens, Grade.ESTIMATED, upper=ceil(MOST_PATCHES * price.multiplier))


def _price_tiles(width: int, height: int, detail: Detail, price: Tiles) -> Tokens:
    if detail == "low":
        return price.once
    # In whole numbers. With doubles, a side scaled down to 512 pixels could be slightly more and cost another tile.
    scales = ((1, 1), (LONGEST_SIDE, max(width, height)), (SHORTEST_SIDE, min(width, height)))
    across, down = (min(-(-side * by // (TILE * of)) for by, of in scales) for side in (width, height))
    return price.once + price.per_tile * across * down


def _count_patches(width: int, height: int) -> int:
    whole = ceil(width / PATCH) * ceil(height / PATCH)
    if whole <= MOST_PATCHES:
        return whole
    # As in the guide, scaled down to 1,536 patches and then until one side is whole patches: 1800 × 2400 is 33 × 44.
    # In whole numbers too.
    across, down = (max(1, isqrt(MOST_PATCHES * a // b)) for a, b in ((width, height), (height, width)))
    if across * height < down * width:
        down = -(-height * across // width)
    else:
        across = -(-width * down // height)
    return min(MOST_PATCHES, across * down)
