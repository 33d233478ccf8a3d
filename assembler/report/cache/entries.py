"""Splits a request's bytes into the entries that a prefix cache may serve.

A provider's cache serves a request up to the first difference. The unit here is an entry of the request's conversation
list (`messages`, `input`, `contents`).
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Any, cast

import attrs

from assembler.dialects import DIALECTS
from assembler.dialects.writing.emit import emit_layout
from assembler.errors import ConversationError
from assembler.pipeline.planned import Planned
from assembler.regions.layout import Layout

OPENING = -1
"""The result of `first_changed` if the requests differ before their first message, in the system text or the tools."""


@attrs.frozen
class RequestBytes:
    """A request in two parts: everything but the conversation list as one text, and the list's entries."""

    opening: bytes
    entries: tuple[bytes, ...]


def read_request_bytes(request: Mapping[str, Any], history: str = "messages") -> RequestBytes | None:
    """The bytes of a request; None if it has no list under `history`, as a prompt. O(characters)."""
    if not isinstance(request.get(history), list):
        return None
    entries = cast("list[object]", request[history])
    opening = {name: value for name, value in request.items() if name != history}
    return RequestBytes(_spell_bytes(opening), tuple(_spell_bytes(entry) for entry in entries))


def request_bytes_of(plan: Planned, layout: Layout | None = None) -> RequestBytes:
    """The bytes of a plan's request; for a rendered prompt, those of its messages in the plain dialect."""
    emission = plan.emission if layout is None else emit_layout(plan.settings.dialect, layout)
    found = read_request_bytes(emission.request, plan.settings.dialect.api.history)
    if found is None:
        found = read_request_bytes(DIALECTS["plain"].emit(plan.layout if layout is None else layout).request)
    if found is None:
        raise AssertionError("the plain spelling has a list of messages")
    return found


def prefix_hash(plan: Planned) -> str:
    """The SHA-256 of everything before the newest turn, in hexadecimal: system text, tools, older entries.

    An entry that the newest turn shares with an older one, as when an API merges two user messages, belongs to the
    newest. Raises the dialect's errors. O(characters of the request).
    """
    whole = request_bytes_of(plan)
    prefix = whole.entries[: len(whole.entries) - _count_newest_entries(plan)]
    # JSON has no raw line breaks, so different lists of entries never join to the same bytes.
    return hashlib.sha256(b"\n".join([whole.opening, *prefix])).hexdigest()


def first_changed(now: RequestBytes, before: RequestBytes) -> int | None:
    """The first entry of `now` that differs from `before`, for `Context.first_changed`. O(entries)."""
    if now.opening != before.opening:
        return OPENING
    for index, (entry, earlier) in enumerate(zip(now.entries, before.entries, strict=False)):
        if entry != earlier:
            return index
    return len(now.entries) if len(now.entries) < len(before.entries) else None


def _count_newest_entries(plan: Planned) -> int:
    """The number of entries of the newest turn alone: 0 if there is none, or if it is empty."""
    newest, _ = plan.view.newest_turn()
    later = sum(1 for index, _ in plan.kept_messages if index >= newest)
    if not later:
        return 0
    layout = plan.layout
    alone = attrs.evolve(layout, system=None, head=(), messages=layout.messages[len(layout.messages) - later :])
    try:
        return len(request_bytes_of(plan, alone).entries)
    except ConversationError:
        return 0


def _spell_bytes(value: object) -> bytes:
    """Compact JSON in the order that is sent. ASCII, so that lone surrogates cause no error."""
    return json.dumps(value, separators=(",", ":"), default=_write_value).encode()


def _write_value(value: object) -> str:
    return base64.b64encode(value).decode() if isinstance(value, bytes | bytearray) else repr(value)
