"""Decides which API a part is of: by its kind, by the message around it, or by the dialect that the caller chose."""

from __future__ import annotations

from typing import cast

import attrs

from assembler.conversation.messages.extra_fields import OF_ANSWERS
from assembler.conversation.messages.message import Media, Message, Opaque, Part, Result
from assembler.conversation.messages.parts import FOREIGN, NEUTRAL
from assembler.conversation.messages.shapes import SHAPES
from assembler.text.fields import fields_in, items_of

SYSTEM = "system"
"""In place of the shape of a message that becomes the system text, and for calls that are not the model's."""


def is_native_part(part: Opaque, shape: str, target: str) -> bool:
    """Whether a part of a message in this shape is sent unchanged to the API `target`.

    True if the part is of that API. For an unknown kind the shape of the message decides; if several APIs share that
    shape, the caller's choice of the dialect does.
    """
    if shape == SYSTEM:
        return part.api == target and part.kind in (SHAPES[target].system_parts or ())
    if part.api != NEUTRAL:
        return part.api == target
    return _may_belong_to(target) and shape in (NEUTRAL, FOREIGN, target, *SHAPES[target].accepts)


def _may_belong_to(api: str) -> bool:
    """Whether a part of an unknown kind, which has a `type`, may be of this API."""
    return SHAPES[api].named_by == "type"


def assign_unknown_parts(message: Message, home: str) -> Message:
    """Assign each unknown part and field of a message to one API, or to none.

    It belongs to the API of the shape `home` if that may have it, else to the API of the message's shape. A part that
    neither may have belongs to none, so no API gets it unchanged. A message in a shared shape gets the shape `home` if
    it has an unknown field. Returns the same message if nothing is unknown. O(parts).
    """
    parts = tuple(_claim_part(part, message.shape, home) for part in message.parts)
    shape = home if message.shape == NEUTRAL and _has_own_fields(message) else message.shape
    same = shape == message.shape and all(new is old for new, old in zip(parts, message.parts, strict=True))
    return message if same else attrs.evolve(message, parts=parts, shape=shape)


def _has_own_fields(message: Message) -> bool:
    """Whether a message, or a text in it, has an unknown field."""
    if not set(message.extra_fields).issubset(OF_ANSWERS):
        return True
    items = items_of(fields_in(message.seen).get("content"))
    return any(fields.keys() - _OF_A_TEXT for item in items if (fields := fields_in(item)).get("type") == "text")


_OF_A_TEXT = frozenset(["type", "text"])


def _claim_part(part: Part, shape: str, home: str) -> Part:
    match part:
        case Opaque(api=api) if api == NEUTRAL:
            return attrs.evolve(part, api=_find_owner(part, shape, home))
        case Result() if Opaque in map(type, part.parts):
            inner = tuple(cast("str | Media | Opaque", _claim_part(held, shape, home)) for held in part.parts)
            return attrs.evolve(part, parts=inner)
        case _:
            return part


def _find_owner(part: Opaque, shape: str, home: str) -> str:
    if is_native_part(part, shape, home):
        return home
    return shape if _may_belong_to(shape) else FOREIGN
