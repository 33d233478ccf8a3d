"""Models of Anthropic, Google and Mistral in OpenAI's formats: a gateway forwards the request, and its maker's bill.

OpenRouter, Azure and the makers' own OpenAI-shaped endpoints do so. Evidence: docs/how-it-counts-hosts.md, Gateways.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import attrs

from budgets import TokenCounter
from budgets.models.names import bare

if TYPE_CHECKING:
    from assembler.pricing.pricer import Pricer

Maker: TypeAlias = Callable[[str, TokenCounter], "Pricer"]


def forwarded_pricer(model: str | None, count: TokenCounter) -> Pricer | None:
    """The price list of the maker whose model a gateway serves; None for any other model."""
    if model is None:
        return None
    name = bare(model)
    return next((maker(model, count) for pattern, maker in _MAKERS if pattern.match(name)), None)


def _claude(model: str, count: TokenCounter) -> Pricer:
    from assembler.dialects.hosts.forwarded_claude import forwarded_claude

    return forwarded_claude(model, count)


def _gemini(model: str, count: TokenCounter) -> Pricer:
    from assembler.dialects.gemini.dialect import gemini

    return attrs.evolve(gemini.pricer(model, count), shape="openai")


def _mistral(model: str, count: TokenCounter) -> Pricer:
    from assembler.dialects.mistral.dialect import mistral

    return mistral.pricer(model, count)


_MAKERS: tuple[tuple[re.Pattern[str], Maker], ...] = (
    (re.compile(r"(anthropic\.)?claude-"), _claude),
    (re.compile(r"gemini-"), _gemini),
    (re.compile(r"(labs-|open-)?(mi|code|dev|magi|mini|lean)stral|(open-)?mixtral|(pix|vox)tral"), _mistral),
)
