"""A message of the assistant's at the end, which older Claude models go on with."""

from __future__ import annotations

import re

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
