"""Tells how much of the newest turn is words, which can be shortened, and whether the rest is files."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from assembler.conversation.messages import Call, Media, Message, Part, Result, Thinking
from assembler.pipeline.planned import Planned
from assembler.pricing.opaque import is_measured
from budgets import Tokens


def tokens_of_words(plan: Planned) -> Tokens:
    """By how much the newest turn gets cheaper without its texts, reasoning and arguments."""
    price = plan.ledger.price
    return sum(price(message).upper - price(_wordless(message)).upper for message in _newest_turn(plan))


def holds_files(plan: Planned) -> bool:
    """Whether an image, a document, a sound or a film is in the newest turn."""
    return any(map(_is_file, (part for message in _newest_turn(plan) for part in message.parts)))


def _newest_turn(plan: Planned) -> Sequence[Message]:
    begins = plan.ledger.newest_turns(1)
    return [message for index, message in plan.kept_messages if index >= begins]  # as the policies left them


def _is_file(part: Part) -> bool:
    return any(map(_is_file, part.parts)) if isinstance(part, Result) else isinstance(part, Media) or is_measured(part)


def _wordless(message: Message) -> Message:
    parts = tuple(_emptied(part) for part in message.parts if not isinstance(part, Thinking))
    return attrs.evolve(message, parts=parts, shallow=False)


def _emptied(part: Part) -> Part:
    match part:
        case str():
            return ""
        case Call():
            return attrs.evolve(part, arguments="{}", given=None)
        case Result():
            return attrs.evolve(part, parts=tuple("" if isinstance(held, str) else held for held in part.parts))
        case _:
            return part
