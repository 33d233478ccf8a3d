"""What every dialect does first with a request: find its messages, read them, and set the other keys apart."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, cast

from assembler.conversation.messages import Message, read_message
from assembler.errors import ConversationError


def listed_messages(request: Mapping[str, Any], expected: str) -> list[object]:
    """The entries under `messages`. Raises `ConversationError`, which names what was `expected`, for anything else."""
    listed = request.get("messages")
    if not isinstance(listed, list | tuple):
        raise ConversationError(f"request has no list of messages; expected {expected}")
    return [*cast("list[object]", listed)]


def read_messages(listed: Iterable[object]) -> list[Message]:
    """Each entry as a message. Raises `ConversationError` naming the place."""
    return [read_message(raw, index) for index, raw in enumerate(listed)]


def options_in(request: Mapping[str, Any], owned: Collection[str]) -> dict[str, Any]:
    """The keys of a request that belong to no region."""
    return {key: value for key, value in request.items() if key not in owned}
