"""What an item of reasoning costs that goes back to Responses: no API says, so that all is estimated."""

from __future__ import annotations

from assembler.conversation.messages import Thinking
from budgets import Count, Grade, TokenCounter, Tokens

_SEALED_BYTES_PER_TOKEN = (4, 2)
"""Bytes of reasoning behind a token, typically and at the least: a guess, from the length of English in o200k_base.
Base64 carries three bytes in four characters; what was sealed is never longer than its seal."""


def price_reasoning(part: Thinking, count: TokenCounter, envelope: Tokens) -> Count:
    """An estimate: what the item holds is sealed or kept by the server, and the server may leave it out."""
    shown = count(part.text)
    sealed = part.raw.get("encrypted_content")
    octets = len(sealed) * 3 // 4 if isinstance(sealed, str) else 0
    typical, dearest = (octets // size for size in _SEALED_BYTES_PER_TOKEN)
    return Count(max(shown, typical), Grade.ESTIMATED, upper=envelope + max(shown, dearest))
