"""Carries the sizes that callers declare for their media over to a request that is read back to be counted.

An API that merges messages is counted by its request, and no API takes these sizes. So a file behind a URL, whose
`pages` the caller declared, would have no price there, although its message has one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from assembler.conversation.messages import Media, Message, Opaque, Result
from assembler.pricing.media.reading import GIVEN
from assembler.pricing.opaque import is_measured
from assembler.regions.layout import Layout

_Medium: TypeAlias = Media | Opaque
_HOLDING = (Media, Opaque, Result)


def has_sizes(originals: Sequence[Message]) -> bool:
    """Whether the caller declared the size of any medium. O(parts)."""
    return any(_given(medium) for medium in _media(originals))


def with_sizes(sent: Layout, originals: Sequence[Message]) -> Layout:
    """The request as it is sent, with the sizes that the messages `originals` declare for its media.

    Media are matched by their order, so nothing is changed if one of them was not sent. O(parts).
    """
    known = _media(originals)
    if [medium.kind for medium in known] != [medium.kind for medium in _media(sent.messages)]:
        return sent
    waiting = iter(known)
    return attrs.evolve(sent, messages=[_sized(message, waiting) for message in sent.messages])


def _media(messages: Sequence[Message]) -> list[_Medium]:
    """Every image, document, audio and video, including those in results."""
    holding = [part for message in messages for part in message.parts if type(part) in _HOLDING]
    if not holding:
        return []
    inner = [held for part in holding for held in (part.parts if isinstance(part, Result) else (part,))]
    return [part for part in inner if isinstance(part, Media | Opaque) and is_measured(part)]


def _given(medium: _Medium) -> dict[str, Any]:
    return {key: medium.raw[key] for key in GIVEN if key in medium.raw}


def _sized(message: Message, waiting: Any) -> Message:
    if not _media([message]):
        return message
    parts: list[Any] = []
    for part in message.parts:
        if isinstance(part, Result):
            parts.append(attrs.evolve(part, parts=tuple(_with_size(held, waiting) for held in part.parts)))
        else:
            parts.append(_with_size(part, waiting))
    return attrs.evolve(message, parts=tuple(parts))


def _with_size(part: Any, waiting: Any) -> Any:
    if not is_measured(part):
        return part
    raw: Mapping[str, Any] = {**part.raw, **_given(next(waiting))}
    return attrs.evolve(part, raw=raw)
