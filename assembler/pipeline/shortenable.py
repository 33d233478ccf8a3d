"""Tells by how much the words that stay can be shortened, and whether the rest is files."""

from __future__ import annotations

import attrs

from assembler.conversation.messages import Call, Message, Part, Result, Thinking
from assembler.pipeline.planned import Planned
from assembler.pricing.opaque import is_measured
from budgets import Tokens


def words_to_shorten(plan: Planned, since: int, excess: Tokens) -> Tokens | None:
    """By how many tokens to shorten the words from a message on, so that they cost `excess` less; None if they cannot.

    Words that a policy has shortened cost less only once the caller's words are shorter than what the policy left.
    """
    price, saved = plan.ledger.price, plan.trimmed.savings
    of_caller = of_policies = 0
    for index, message in plan.kept_messages:
        words = price(message).upper - price(_remove_words(message)).upper if index >= since else 0
        of_policies += words if index in plan.trimmed.changed else 0
        of_caller += 0 if index in plan.trimmed.changed else words
    if excess <= of_caller:
        return excess
    if excess > of_caller + of_policies:
        return None
    return excess + sum(less.saved for start, less in saved.items() if start >= since)


def holds_files(plan: Planned, since: int) -> bool:
    """Whether an image, a document, a sound or a film stays in a message from this one on."""
    stays = (message for index, message in plan.kept_messages if index >= since)
    return any(_is_file(part) for message in stays for part in message.parts)


def _is_file(part: Part) -> bool:
    return any(map(_is_file, part.parts)) if isinstance(part, Result) else is_measured(part)


def _remove_words(message: Message) -> Message:
    parts = tuple(_empty_part(part) for part in message.parts if not isinstance(part, Thinking))
    return attrs.evolve(message, parts=parts, shallow=False)


def _empty_part(part: Part) -> Part:
    match part:
        case str():
            return ""
        case Call():
            return attrs.evolve(part, arguments="{}", given=None)
        case Result():
            return attrs.evolve(part, parts=tuple("" if isinstance(held, str) else held for held in part.parts))
        case _:
            return part
