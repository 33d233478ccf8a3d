"""Which models are spoken to as OpenAI's and billed by a host's chat template."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from budgets import TokenCounter

if TYPE_CHECKING:
    from assembler.pricing.pricer import Pricer

_HOSTED = re.compile(r"deepseek|r1-distill|llama|qwen|gpt-oss|grok|compound|kimi|moonshot|glm")
"""The makers whose templates `assembler.dialects.hosted_families` lists; a test holds the two together."""


def hosted_pricer(model: str | None, count: TokenCounter, api: Literal["chat", "responses"] = "chat") -> Pricer | None:
    """The price list of DeepSeek, Grok, Llama, Qwen, gpt-oss, Kimi, GLM, Groq's compound; None for any other model.

    Exact texts where `count` is the model's own tokenizer, calibrated ones where a bundled one stands in.
    """
    if model is None or not _HOSTED.search(model.lower()):
        return None
    from assembler.dialects.hosts.bill import host_bill

    return host_bill(model, count, api)
