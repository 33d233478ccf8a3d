"""Bounds the text in fields that no one reads, of what is sent to an API that writes messages as blocks."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from assembler.conversation.messages import Message
from assembler.conversation.messages.extra_fields import OF_CHAT
from assembler.conversation.messages.foreign_parts import is_mark
from assembler.conversation.messages.parts import FOREIGN, NEUTRAL
from assembler.conversation.messages.shapes import SHAPES
from assembler.dialects.blocks.writer import parts_as_they_came
from assembler.pricing.unread_fields import price_fields_of_message, price_fields_of_parts
from budgets import Count
from budgets.count import NOTHING


def price_unread(message: Message, shape: str) -> Count:
    """The bound of the unread fields that may be sent: all in the API's own shape.

    In a shape of no API, blocks of the API's own form keep their fields, but texts and the message do not. The bound
    includes blocks that are left out: the request is priced as it is sent.
    """
    if all(map(is_mark, message.parts)):  # it is not sent
        return NOTHING
    if message.shape in (shape, *SHAPES[shape].accepts):
        return price_fields_of_message(message, shape)
    if message.shape not in (NEUTRAL, FOREIGN):
        return NOTHING
    keeps_texts = message.shape == NEUTRAL and SHAPES[shape].named_by == "type"
    came = parts_as_they_came(message)
    kept = [raw for raw, part in zip(came, message.parts, strict=False) if keeps_texts or not isinstance(part, str)]
    return price_fields_of_parts(kept, message.parts, shape)


def with_own_fields(messages: Sequence[Message], shape: str) -> Sequence[Message]:
    """The messages of a request, with the shape of its API for those in a shared shape with fields of their own.

    Such a message of the caller's is sent without them. O(messages).
    """
    if not any([message.extra_fields for message in messages]):  # noqa: C419 - as nearly always
        return messages
    return [
        message
        if message.shape != NEUTRAL or OF_CHAT.issuperset(message.extra_fields)
        else attrs.evolve(message, shape=shape, shallow=False)
        for message in messages
    ]
