"""Prices the reasoning of Claude's that is sent back to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assembler.conversation.messages.message import Call, Message, Thinking
from assembler.dialects.anthropic.families import Family
from assembler.dialects.prices.families import estimate_with_slack, guess
from assembler.text.fields import fields_in
from budgets.count import NOTHING, Count

_RUNNING = estimate_with_slack(7, 5)
"""What the reasoning of a running tool loop costs around its text."""
_BEYOND_TEXT = 30
"""What past reasoning costs beyond its readable text, which is a summary, if nothing else tells (8 recordings of one
repository: 5 to 46)."""
_HIDDEN = guess(180, 400)
"""Past reasoning of which nothing tells the length."""
_SLACK = 60
"""Part of the bound of reasoning whose length a signature tells. It was 10 at most."""


def price_thinking(part: Thinking, message: Message, family: Family, texts: list[str]) -> Count:
    """The price of reasoning: in running tool loops for all generations, in past turns after Claude 4.5 only.

    The message does not show whether its loop still runs, so reasoning in a message with calls is priced as if it did.
    The pricer drops that price once the loop has ended.
    """
    if family.keeps_thinking:
        return _price_kept(part, family, texts)
    if not any(isinstance(other, Call) for other in message.parts):
        return NOTHING
    texts.append(part.text)
    return _RUNNING


def _price_kept(part: Thinking, family: Family, texts: list[str]) -> Count:
    """The price of reasoning that stays billed: by its signature, which holds it encrypted, or else by its text.

    A readable text is a summary, or empty, so it does not tell how long the reasoning was. The length of the signature
    does, to 10 tokens in 9 recordings of one repository, of two generations.
    """
    sealed = _measure_seal(part.raw)
    tokens = round((sealed - family.seal_header) / family.seal_characters)
    if tokens > 0:
        return guess(tokens, max(tokens + tokens // 3, sealed // 2, len(part.text) // 2) + _SLACK)
    if not part.text:
        return guess(_HIDDEN.tokens, max(_HIDDEN.upper, sealed // 2))
    texts.append(part.text)
    return guess(_BEYOND_TEXT, 60 + len(part.text) // 10)


def _measure_seal(raw: Mapping[str, Any]) -> int:
    """The characters of a signature, or of reasoning that is sent encrypted: in Messages' form or in Bedrock's."""
    reasoning = fields_in(raw, "reasoningContent")
    seal: object = raw.get("signature") or raw.get("data") or fields_in(reasoning, "reasoningText").get("signature")
    seal = seal or reasoning.get("redactedContent")
    if isinstance(seal, bytes):  # as AWS's own client has it
        return len(seal) * 4 // 3
    return len(seal) if isinstance(seal, str) else 0
