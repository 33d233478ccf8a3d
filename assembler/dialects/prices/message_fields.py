"""Estimates the fields of a Chat message other than its content, and reasoning items. No API publishes a price."""

from __future__ import annotations

from assembler.conversation.messages import Message, Thinking
from assembler.conversation.messages.extra_fields import field_of
from assembler.conversation.messages.parts import compact_json
from assembler.pricing.opaque import sealed_tokens
from assembler.text.fields import fields_in
from budgets import Count, Grade, TokenCounter, Tokens
from budgets.count import NOTHING, total

FRAMING: Tokens = 8
"""Slack for a field: the tags that a chat template puts around a thought are two to six tokens."""

SOUND_A_WORD = 6
DEAREST_SOUND_A_WORD = 12
"""Tokens of a spoken answer for each of its transcript. A token is 50 ms of the assistant's sound (OpenAI, "Managing
costs" of the Realtime API, read 2026-11). A speaker says about 150 words a minute, a slow one half of that."""
UNHEARD = Count(1_200, Grade.ESTIMATED, upper=16_384)
"""A spoken answer without a transcript: one minute, and at most the longest answer of gpt-4o-audio (OpenAI, "Models").
"""


def _price_thoughts(message: Message, count: TokenCounter) -> Count:
    """Price the reasoning fields of a message: the longest one, since several repeat the same text.

    The bound includes all of them, with their encrypted content, which a host may read.
    """
    each = [_price_thought(part, count) for part in message.parts if isinstance(part, Thinking) and field_of(part)]
    if not each:
        return NOTHING
    longest = max(thought.tokens for thought in each)
    return Count(longest, Grade.ESTIMATED, upper=sum(thought.upper for thought in each))


def _price_thought(part: Thinking, count: TokenCounter) -> Count:
    sealed: object = next(iter(part.raw.values()))
    shown = count(part.text)
    whole = shown if isinstance(sealed, str) else max(shown, count(compact_json(sealed)))
    return Count(shown, Grade.ESTIMATED, upper=whole + FRAMING)


def price_reasoning(part: Thinking, count: TokenCounter, envelope: Tokens) -> Count:
    """Price a reasoning item that is sent back to Responses. Its content is encrypted, and the server may skip it."""
    shown, sealed = count(part.text), part.raw.get("encrypted_content")
    typical, dearest = sealed_tokens(len(sealed) if isinstance(sealed, str) else 0)
    return Count(max(shown, typical), Grade.ESTIMATED, upper=envelope + max(shown, dearest))


def price_fields(message: Message, count: TokenCounter) -> Count:
    """Price all fields of a Chat message other than its content."""
    fields = [_price_unread_field(field, message.seen[field], count) for field in message.extra_fields]
    return total([_price_thoughts(message, count), *fields])


def bound_fields(message: Message, count: TokenCounter) -> Count:
    """Price the fields in the bound only: a gateway may pass reasoning on in the form of the maker's API."""
    price = price_fields(message, count)
    return Count(0, price.grade, price.upper)


def _price_unread_field(field: str, held: object, count: TokenCounter) -> Count:
    """Price an unread field by its text or its JSON, and a spoken answer by its transcript."""
    if field == "audio":
        return _price_sound(held, count)
    tokens = count(held if isinstance(held, str) else compact_json(held))
    return Count(tokens, Grade.ESTIMATED, upper=tokens + FRAMING)


def _price_sound(held: object, count: TokenCounter) -> Count:
    transcript: object = fields_in(held).get("transcript")
    if not isinstance(transcript, str) or not transcript:
        return UNHEARD
    words = count(transcript)
    return Count(words * SOUND_A_WORD, Grade.ESTIMATED, upper=words * DEAREST_SOUND_A_WORD + FRAMING)
