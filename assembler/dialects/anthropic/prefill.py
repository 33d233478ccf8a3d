"""A message of the assistant's at the end: older Claude models go on with it, and all with a turn that was paused."""

from __future__ import annotations

import re
from collections.abc import Sequence

from assembler.conversation.messages import Message, Opaque
from assembler.dialects.blocks.writer import Block
from assembler.dialects.writing.notes import Notes

_VERSION = re.compile(r"(?<!\d)\d{1,2}(?!\d)")
"""A number of a version in a model's name, not of a date."""

_REFUSED_FROM = [4, 6]
"""Claude 4.6 and later refuse such a message: llxprt-code#3695, copilot-api#261."""


def takes_prefill(model: str) -> bool:
    """Whether a model goes on with a message of the assistant's. True for a name that is not Claude's."""
    _, claude, version = model.lower().partition("claude")
    return not claude or [int(number) for number in _VERSION.findall(version)[:2]] < _REFUSED_FROM


def is_paused(messages: Sequence[Message]) -> bool:
    """Whether the last message is an answer that the server paused: it ends with a call of a server's tool.

    `pause_turn`: "You may provide the response back as-is in a subsequent request to let the model continue" (anthropic
    2.14.0, types/message).
    """
    last = messages[-1] if messages else None
    if last is None or last.role != "assistant" or not last.parts:
        return False
    part = last.parts[-1]
    return isinstance(part, Opaque) and part.kind in ("server_tool_use", "mcp_tool_use")


def rstrip_prefill(message: Block, notes: Notes) -> None:
    """`messages: final assistant content cannot end with trailing whitespace`: forgecode#1872."""
    if message["role"] != "assistant":
        return
    content = message["content"]
    holder, key = (message, "content") if isinstance(content, str) else (content[-1], "text")
    text: object = holder.get(key)
    if isinstance(text, str) and text != text.rstrip():
        holder[key] = text.rstrip()
        notes["trailing whitespace of the assistant's prefill left out"] += 1
