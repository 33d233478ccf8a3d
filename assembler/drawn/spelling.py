"""The contract of a spelling: it writes a drawn conversation as a request of one API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import attrs

from assembler.drawn.conversations import Conversation, Definition
from budgets.later import FromFolders

Request: TypeAlias = dict[str, Any]


@attrs.frozen
class Spelling:
    """Writes requests of one API: `request` makes a new request each time, with the history under `history`."""

    name: str
    history: str
    request: Callable[[Conversation], Request]
    tool: Callable[[Definition], Request]
    fewest_answers: int = 0
    """The least number of parts of an answer: 1 if the API refuses two user messages without an answer between."""


SPELLINGS: Mapping[str, Spelling] = FromFolders("assembler.dialects", "drawn", "SPELLING")
"""Every spelling, by the name of its dialect: `drawn.py` in the dialect's folder, which shares no code with it."""


def text_or_parts(texts: tuple[str, ...], kind: str = "text") -> str | list[Request]:
    """Return one text as a text, and several as typed parts."""
    return texts[0] if len(texts) == 1 else [{"type": kind, "text": text} for text in texts]
