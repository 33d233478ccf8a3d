"""Groups the edits of a message with many parts.

A message is written, checked and priced as a whole. If each of its n parts were edited on its own, that would cost
O(n²).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import TypeAlias

from assembler.conversation.messages import Message, Part
from assembler.conversation.messages.edit import edited

AT_ONCE = 16
"""The most edits of one message. If it has more places to edit, each edit takes a sixteenth of them."""

Place: TypeAlias = tuple[int, int]
"""The index of a message, and the place of a part in it."""


def together(places: Iterable[Place]) -> Iterator[tuple[int, list[int]]]:
    """The places in order, one by one; a sixteenth at a time for a message with more than `AT_ONCE` of them."""
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
    """A copy of `message` with other parts at some places, made by `edited`."""
    return edited(message, [parts.get(place, part) for place, part in enumerate(message.parts)])
