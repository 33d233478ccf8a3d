"""How much messages of texts may cost, without counting: so a ledger knows what to read before it counts."""

from __future__ import annotations

from collections.abc import Iterable

from assembler.conversation.messages import Message
from assembler.conversation.messages.responses import RESPONSES
from budgets import Tokens

MANY: Tokens = 2**62
"""More than any window has."""

_BESIDE_TEXT: Tokens = 16
"""More than a message costs beyond its text."""


def most_tokens(messages: Iterable[Message]) -> Tokens:
    """About the most tokens that these messages may cost: a text has seldom more than characters.

    `MANY` if one of them holds anything but a text, or may join its neighbours.
    """
    tokens = 0
    for message in messages:
        part = message.parts[0] if message.shallow else None
        if type(part) is not str or message.shape == RESPONSES:
            return MANY
        tokens += len(part) + _BESIDE_TEXT
    return tokens
