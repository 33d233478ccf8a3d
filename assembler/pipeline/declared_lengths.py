"""Finds files whose length cannot be seen, and reads a history as if their length were declared."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import attrs

from assembler.conversation.history import HistoryView
from assembler.conversation.messages import Media, Message, Opaque, Part, Result
from assembler.pipeline.planned import Planned
from assembler.pricing.opaque import missing_length


def unseen_lengths(plan: Planned) -> Mapping[int, str]:
    """The messages of a plan with a file that is bounded by the longest one, and the key that gives its length."""
    return {index: key for index, message in plan.kept_messages for key in _find_missing_lengths(message.parts)[:1]}


def _find_missing_lengths(parts: Iterable[Part]) -> list[str]:
    leaves = [inner for part in parts for inner in (part.parts if isinstance(part, Result) else (part,))]
    return [key for key in map(missing_length, leaves) if key is not None]


def view_with_lengths(view: HistoryView, indexes: Collection[int], length: int) -> HistoryView:
    """The history as if the callers had declared `length` pages or seconds for each such file in these messages."""
    readings = view.readings.known_until(view.length, view.raws(0, view.length))
    readings.prices = []
    for index in indexes:
        readings.messages[index] = _declare_lengths(view.message(index), length)
    return HistoryView(readings, view.length)


def _declare_lengths(message: Message, length: int) -> Message:
    return attrs.evolve(message, parts=tuple(_declare_length(part, length) for part in message.parts), shallow=False)


def _declare_length(part: Part, length: int) -> Part:
    if isinstance(part, Result):
        declared: Any = tuple(_declare_length(inner, length) for inner in part.parts)
        return attrs.evolve(part, parts=declared)
    key = missing_length(part)
    if key is None or not isinstance(part, Media | Opaque):
        return part
    return attrs.evolve(part, raw={**part.raw, key: length})
