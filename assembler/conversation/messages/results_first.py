"""Puts all results of a step before what the user said between them, for APIs that send each result as a message."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from assembler.conversation.messages.foreign_parts import is_mark
from assembler.conversation.messages.message import Message, Part, Result
from assembler.conversation.messages.parts import FOREIGN


def results_first(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages, with the results of each step side by side and then the user's words that came between them.

    Anthropic, Gemini and Bedrock accept a user's words beside a result, and more results of the step in the next
    message. If each result is a message, the words would split the step. Returns the same sequence if there is nothing
    to do. O(messages).
    """
    if not count_messages_between_results(messages):
        return messages
    ordered: list[Message] = []
    later: list[Message] = []
    for place, message in enumerate(messages):
        apart = later or _is_followed_by_results(messages, place)
        if apart and _find_words(message):
            message, words = _split_results(message)
            later.append(words)
        ordered.append(message)
        if later and not _is_followed_by_results(messages, place):
            ordered += later
            later = []
    return ordered


def _split_results(message: Message) -> tuple[Message, Message]:
    answers = tuple(part for part in message.parts if type(part) is Result)
    alone = attrs.evolve(message, parts=answers, shape=FOREIGN, shallow=False, extra_fields=())
    return alone, attrs.evolve(message, role="user", parts=_find_words(message), shape=FOREIGN, shallow=False)


def _find_words(message: Message) -> tuple[Part, ...]:
    """The parts of a message beside its results, without empty texts and cache marks."""
    return tuple(part for part in message.parts if type(part) is not Result and part != "" and not is_mark(part))


def count_messages_between_results(messages: Sequence[Message]) -> int:
    """How many messages hold words beside a result and are followed by another result of the same step. O(parts)."""
    places = [at for at, later in enumerate(messages) if len(later.parts) > 1 and Result in map(type, later.parts)]
    return sum(_is_followed_by_results(messages, at) and bool(_find_words(messages[at])) for at in places)


def _is_followed_by_results(messages: Sequence[Message], place: int) -> bool:
    """Whether a message and the next one both hold results of the same step."""
    return messages[place].has_results and place + 1 < len(messages) and messages[place + 1].has_results
