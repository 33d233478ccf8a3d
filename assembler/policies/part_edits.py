"""Edits of single parts, one at a time or several together: how often a message with many parts is written anew.

A message is written, checked and priced as a whole. Were each part of one an edit of its own, n parts would cost O(n²).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import TypeAlias

from assembler.conversation.messages import Message, Part
from assembler.conversation.messages.edit import edited

AT_ONCE = 16
"""Times that one message is edited at most: of more parts, a sixteenth of them together."""

Place: TypeAlias = tuple[int, int]
"""The index of a message, and the place of a part in it."""


def together(places: Iterable[Place]) -> Iterator[tuple[int, list[int]]]:
    """The places in their order, each alone; of a message with more than `AT_ONCE` of them, a sixteenth at a time."""
    listed = list(places)
    of_message: dict[int, list[int]] = {}
    for index, place in listed:
        of_message.setdefault(index, []).append(place)
    numbers = {index: count() for index in of_message}
    for index, _ in listed:
        number, its = next(numbers[index]), of_message[index]
        size = -(-len(its) // AT_ONCE)
        if number % size == 0:
            yield index, its[number : number + size]


def with_parts(message: Message, parts: Mapping[int, Part]) -> Message:
    """`message` with other parts at some places, as `edited` makes it."""
    return edited(message, [parts.get(place, part) for place, part in enumerate(message.parts)])
