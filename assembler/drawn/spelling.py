"""The contract of a spelling: it writes a drawn conversation as a request of one API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, cast

import attrs

from assembler.drawn.conversations import Conversation, Definition
from budgets.lazy_names import FromFolders

Request: TypeAlias = dict[str, Any]
Medium: TypeAlias = Literal["image", "image at an address", "document"]


_RESULTS = ("tool_result", "toolResult", "function_response")


def parts_of(message: Request) -> list[Request]:
    """The message itself, and every object in its lists."""
    listed: list[list[Any]] = [value for value in message.values() if isinstance(value, list)]
    return [message, *(cast("Request", part) for parts in listed for part in parts if isinstance(part, dict))]


def asks_as_usual(message: Request) -> bool:
    """Whether a message has the role of the user and holds no results, in the words of the APIs of 2026."""
    if message.get("role") != "user":
        return False
    return not any(kind in part or part.get("type") == kind for part in parts_of(message) for kind in _RESULTS)


@attrs.frozen
class Spelling:
    """Writes requests of one API: `request` makes a new request each time, with the history under `history`."""

    name: str
    history: str
    request: Callable[[Conversation], Request]
    tool: Callable[[Definition], Request]
    fewest_answers: int = 0
    """The least number of parts of an answer: 1 if the API refuses two user messages without an answer between."""
    models: tuple[str | None, ...] = ("a-model-of-nobody",)
    """Models to price requests for, the usual one first. None stands for no model."""
    options: Mapping[str, Any] = attrs.field(factory=lambda: {"model": "m"})
    """Keys of a call beside its regions."""
    media: frozenset[Medium] = frozenset()
    """What the API takes in a message of the user's. An image at an address is a kind of its own."""
    asks: Callable[[Request], bool] = asks_as_usual
    """Whether an entry of the history is what the user says, without results."""
    ids: frozenset[str] = frozenset({"id", "tool_call_id", "tool_use_id", "toolUseId", "call_id"})
    """The keys of calls and results that hold call ids."""


IMAGES_AND_PAPERS = frozenset[Medium](("image", "document"))
WITH_ADDRESSES = IMAGES_AND_PAPERS | frozenset[Medium](("image at an address",))
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
"""An answer's schema, for `Spelling.options`."""

SPELLINGS: Mapping[str, Spelling] = FromFolders("assembler.dialects", "drawn", "SPELLING")
"""Every spelling, by the name of its dialect: `drawn.py` in the dialect's folder, which shares no code with it."""


def text_or_parts(texts: tuple[str, ...], kind: str = "text") -> str | list[Request]:
    """One text as a text, and several as typed parts."""
    return texts[0] if len(texts) == 1 else [{"type": kind, "text": text} for text in texts]
