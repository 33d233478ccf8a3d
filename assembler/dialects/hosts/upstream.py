"""Finds the price list for another maker's model behind OpenAI's formats.

Gateways (OpenRouter, Azure, the makers' own OpenAI-compatible endpoints) forward to Anthropic, Google and Mistral,
whose prices apply. Open models are billed by their host's chat template. Evidence:
docs/how-it-counts-hosts.md, Gateways.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias, cast

import attrs

from assembler.dialects.prices.families import template_name
from budgets import TokenCounter
from budgets.models.families import family_of

if TYPE_CHECKING:
    from assembler.dialects.openai.framing import OpenAIApi
    from assembler.pricing.pricer import MergingPricer, Pricer

Maker: TypeAlias = Callable[[str, TokenCounter], "MergingPricer"]

_HOSTED = re.compile(
    r"deepseek|r1-distill|llama|gemma-?3|qwen|qwq|qvq|gpt-oss|grok|compound|kimi|moonshot|glm|command|c4ai|aya-"
)
"""The makers with templates in `assembler.dialects.hosts.families`. A test compares the two."""


def upstream_pricer(model: str | None, count: TokenCounter, api: OpenAIApi) -> Pricer | None:
    """The price list of the forwarded model's maker, or of the model's host; None for any other model."""
    if model is None:
        return None
    family = family_of(model) or ""
    maker = next((maker for name, maker in _MAKERS.items() if family.startswith(name)), None)
    if maker is None:
        return hosted_pricer(model, count, api)
    from assembler.dialects.hosts.forwarded import ForwardedPricer

    return ForwardedPricer(rules=maker(model, count), count=count, api=api)


def hosted_pricer(model: str | None, count: TokenCounter, api: OpenAIApi = "chat") -> Pricer | None:
    """The prices of DeepSeek, Grok, Llama, Qwen, gpt-oss, Kimi, GLM or Groq's compound; None for other models.

    Texts are exact if `count` is the model's own tokenizer, and calibrated if a bundled one replaces it.
    """
    if model is None or not _HOSTED.search(template_name(model)):
        return None
    from assembler.dialects.hosts.bill import host_bill

    return host_bill(model, count, api)


def _make_claude_pricer(model: str, count: TokenCounter) -> MergingPricer:
    from assembler.dialects.hosts.forwarded_claude import forwarded_claude

    return forwarded_claude(model, count)


def _make_gemini_pricer(model: str, count: TokenCounter) -> MergingPricer:
    from assembler.dialects.gemini.dialect import gemini

    return attrs.evolve(gemini.pricer(model, count), shape="openai")


def _make_mistral_pricer(model: str, count: TokenCounter) -> MergingPricer:
    from assembler.dialects.mistral.dialect import mistral

    return cast("MergingPricer", mistral.pricer(model, count))


_MAKERS: Mapping[str, Maker] = {
    "claude": _make_claude_pricer,
    "gemini": _make_gemini_pricer,
    "mistral": _make_mistral_pricer,
}
"""The makers' price lists, by the beginning of the family's name."""
