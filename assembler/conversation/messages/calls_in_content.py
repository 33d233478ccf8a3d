"""Reads the calls that stand as items of Responses in the content of a message of the model.

LangChain, for one, keeps an answer's items in the content of one message, usually with a copy of each call beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from assembler.conversation.messages.kinds import ARGUMENTS
from assembler.conversation.messages.message import Call, Message, Opaque, Part
from assembler.conversation.messages.parts import Raw, call_of
from assembler.text.fields import fields_in, items_of


def with_calls(parts: tuple[Part, ...], beside: Iterable[Call], index: int) -> tuple[Part, ...]:
    """The parts of a message of the model, with each item that is a call of a caller's tool as a call. O(parts).

    An item stays opaque if its call is among those `beside` the content, or if its output stands in the content too.
    Raises `ConversationError` for a call that cannot be read.
    """
    if Opaque not in map(type, parts):
        return parts
    settled = {part.id for part in (*parts, *beside) if isinstance(part, Call)}
    settled |= {part.raw.get("call_id") for part in parts if type(part) is Opaque and part.kind.endswith("_output")}

    def read(part: Part) -> Part:
        if type(part) is not Opaque or part.kind not in ARGUMENTS:
            return part
        call_id = call_id_in(part.raw)
        if call_id is None or call_id in settled:
            return part
        return call_of(part.raw.get("name"), part.raw.get(ARGUMENTS[part.kind]), id=call_id, index=index)

    return tuple(map(read, parts))


def call_id_in(item: Raw) -> str | None:
    """The id that the output of a call names, or None if the item has none."""
    named: object = item.get("call_id") or item.get("id")
    return named if isinstance(named, str) else None


def call_items(message: Message) -> Mapping[str | None, Raw]:
    """The items in the content of a message that were read as its calls, by the id of the call. O(parts)."""
    listed = items_of(fields_in(message.seen).get("content")) if message.role == "assistant" else ()
    items = [cast("Mapping[str, Any]", item) for item in listed if fields_in(item).get("type") in ARGUMENTS]
    if not items:
        return {}
    ids = message.call_ids - _ids_beside(message)
    return {call_id: item for item in items if (call_id := call_id_in(item)) in ids}


def _ids_beside(message: Message) -> frozenset[object]:
    return frozenset(fields_in(call).get("id") for call in items_of(fields_in(message.seen).get("tool_calls")))
