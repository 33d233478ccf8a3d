"""Digests of a history's first messages, to check later whether the content is the same, in whatever objects."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from typing import Any, cast

import attrs

from assembler.conversation.history import HistoryView
from assembler.errors import ConversationError


def digests(view: HistoryView, stops: Collection[int]) -> dict[int, str]:
    """SHA-256 of the messages before each of `stops`, which must not exceed the length. One pass, O(characters).

    Hashes content, not form: a message that was stored as JSON and loaded again has the same digest. The order of keys
    in an object does not matter.
    """
    found, running = dict[int, str](), hashlib.sha256()
    for index in range(max(stops, default=-1) + 1):
        if index in stops:
            found[index] = running.hexdigest()
        if index < view.length:
            running.update(_write_message(view, index))
    return found


def _write_message(view: HistoryView, index: int) -> bytes:
    try:
        message = view.message(index)
    except ConversationError:  # a policy may drop a message that was never read
        return b"unread"
    fields = [message.role, message.name, message.pinned, list(message.parts)]
    text = json.dumps(fields, separators=(",", ":"), sort_keys=True, default=_make_plain)
    return f"{len(text)}:{text}".encode()


def _make_plain(value: object) -> Any:
    """A part, or a value in one, in a form that JSON can express."""
    if isinstance(value, bytes | bytearray):
        return {"bytes": hashlib.sha256(value).hexdigest()}
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, object]", value))
    kind: Any = type(value)
    if attrs.has(kind):
        fields = {field.name: getattr(value, field.name) for field in attrs.fields(kind)}
        fields.pop("function", None)  # follows from the call
        if fields.get("given") is not None:
            fields |= {"arguments": None, "parts": None}  # the same as text, in the order of the keys
        return [type(value).__name__, fields]
    if isinstance(value, tuple | list | set | frozenset):
        return list(cast("Collection[object]", value))
    return value if isinstance(value, str | int | float | bool) or value is None else type(value).__qualname__
