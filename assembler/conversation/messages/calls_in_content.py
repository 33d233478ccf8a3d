"""Reads the calls that stand as items of Responses in the content of a message of the model.

LangChain, for one, keeps an answer's items in the content of one message, usually with a copy of each call beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from assembler.conversation.messages.kinds import CALLS, id_in
from assembler.conversation.messages.message import Call, Message, Opaque, Part
from assembler.conversation.messages.parts import Raw
from assembler.conversation.messages.responses_items import read_item
from assembler.text.fields import fields_in, items_of


def with_calls(parts: tuple[Part, ...], other_calls: Iterable[Call], index: int) -> tuple[Part, ...]:
    """The parts of a message of the model, with each item that is a call for the caller to answer as a call. O(parts).

    An item stays opaque if its call is one of `other_calls`, those outside the content, or if its output stands in the
    content too.
    Raises `ConversationError` for a call that cannot be read.
    """
    if Opaque not in map(type, parts):
        return parts
    settled = {part.id for part in (*parts, *other_calls) if isinstance(part, Call)}
    settled |= {id_in(part.raw) for part in parts if type(part) is Opaque and part.kind.endswith("_output")}

    def read(part: Part) -> Part:
        if type(part) is not Opaque or part.kind not in CALLS:
            return part
        call_id = id_in(part.raw)
        if call_id is None or call_id in settled:
            return part
        call = read_item(part, index)
        return call if type(call) is Call else part

    return tuple(map(read, parts))


def call_items(message: Message) -> Mapping[str | None, Raw]:
    """The items in the content of a message that were read as its calls, by the id of the call. O(parts)."""
    listed = items_of(fields_in(message.seen).get("content")) if message.role == "assistant" else ()
    items = [cast("Mapping[str, Any]", item) for item in listed if fields_in(item).get("type") in CALLS]
    if not items:
        return {}
    ids = message.call_ids - _find_ids_of_other_calls(message)
    return {call_id: item for item in reversed(items) if (call_id := id_in(item)) in ids}


def _find_ids_of_other_calls(message: Message) -> frozenset[object]:
    return frozenset(fields_in(call).get("id") for call in items_of(fields_in(message.seen).get("tool_calls")))
