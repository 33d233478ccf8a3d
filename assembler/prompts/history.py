"""Writes a conversation as a transcript, and reads it back.

The source system writes turns as `User: …` and `AI: …`. A turn ends at the next line that begins with a speaker, so it
may have several lines. In the transcript of a list of messages, the labels belong to the template and the contents are
values. Only those labels are read back, so no message can forge a turn. In a history that is one string, every line
with a label begins a turn.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, cast

import attrs

from assembler.errors import PromptError
from assembler.prompts.marked_text import TEMPLATE, VALUE, Marked
from assembler.prompts.traced_text import Traced, foreign, join_traced, owned

SPEAKERS = {"User": "user", "AI": "assistant", "Human": "user", "Assistant": "assistant"}
"""The exact beginnings of lines, and their roles. The source system writes the first two."""
DEVELOPER_SPEAKERS = {**SPEAKERS, "System": "system"}
"""The labels in the template's own text. No value may speak for the system."""
LABELS = {"user": "User", "assistant": "AI", "system": "System"}
ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "system": "system"}
"""Roles of a message list, in lower case."""


@attrs.frozen
class Turn:
    """A role, and its text."""

    role: str
    content: str = attrs.field(repr=False)


class Turns(list[Any]):
    """A message list for a template: a plain list that prints as a transcript with the template's labels."""

    turns: tuple[Turn, ...]

    def transcript(self) -> Traced:
        """The lines of the conversation, with the contents marked as values."""
        pieces: list[Traced] = []
        for turn in self.turns:
            pieces += [owned("\n")] if pieces else []
            pieces += [owned(f"{LABELS[turn.role]}: "), foreign(turn.content)]
        return join_traced(pieces)


def turns_of(messages: Sequence[object], *, template: str) -> Turns | None:
    """Read a list of dicts with `role` and `content`, or of (speaker, text) pairs. None for any other list.

    Raises PromptError for a role that is neither the user's, the assistant's nor the system's.
    """
    read = [_pair(message) for message in messages]
    pairs = [pair for pair in read if pair is not None]
    if len(pairs) != len(read):
        return None
    for index, (role, _) in enumerate(pairs):
        if role.lower() not in ROLES:
            raise PromptError(
                f"template {template!r}: message {index} of 'history' has an unknown role: "
                f"use one of {', '.join(ROLES)}",
                name=template,
            )
    found = Turns(messages)
    found.turns = tuple(Turn(ROLES[role.lower()], content) for role, content in pairs)
    return found


def _pair(message: object) -> tuple[str, str] | None:
    if isinstance(message, dict):
        entries = cast("dict[object, object]", message)
        role, content = entries.get("role"), entries.get("content")
    elif isinstance(message, list | tuple) and len(cast("Sequence[object]", message)) == 2:
        role, content = cast("Sequence[object]", message)
    else:
        return None
    text = _join_text_parts(content)
    return (role, text) if isinstance(role, str) and text is not None else None


def _join_text_parts(content: object) -> str | None:
    """The text of a message's content, which may be a list of text parts. None for any other content."""
    if not isinstance(content, list | tuple) or not content:
        return content if isinstance(content, str) else None
    parts = cast("Sequence[object]", content)
    found = [text for part in parts if (text := _find_part_text(part)) is not None]
    return "\n".join(found) if len(found) == len(parts) else None


def _find_part_text(part: object) -> str | None:
    entries = cast("dict[object, object]", part) if isinstance(part, dict) else {}
    text = entries.get("text") if entries.get("type") == "text" else None
    return text if isinstance(text, str) else None


def is_message(value: object) -> bool:
    """Whether a value is a message as an API has it, whatever its content."""
    return isinstance(value, dict) and isinstance(cast("dict[object, object]", value).get("role"), str)


def expand_history(block: Marked) -> list[tuple[str, Marked]]:
    """The (role, content) pairs of a `<history>` block, without empty turns. O(characters).

    Reads transcripts, and JSON lists of `{"role", "content"}`. If the template itself writes labels, only these count.
    Text before the first label is the user's: text without a known speaker gets no higher role.
    """
    block = block.strip()
    if (messages := _read_json_messages(block)) is not None:
        return messages
    opened = list(_find_labels(block))
    if any(label.owned for label in opened):
        opened = [label for label in opened if label.owned]
    else:
        opened = [label for label in opened if label.role != "system"]
    edges = [label.start for label in opened] + [len(block.text)]
    turns = [("user", block.cut(0, edges[0]))]
    turns += [(label.role, block.cut(label.stop, stop)) for label, stop in zip(opened, edges[1:], strict=True)]
    return [(role, content) for role, content in turns if content.text.strip()]


@attrs.frozen
class _Label:
    """A speaker at the beginning of a line: its start, the start of its text, and whether the template wrote it."""

    start: int
    stop: int
    role: str
    owned: bool


def _find_labels(block: Marked) -> Iterable[_Label]:
    start = 0
    while True:
        for speaker, role in DEVELOPER_SPEAKERS.items():
            stop = start + len(speaker) + 1
            if block.text.startswith(f"{speaker}:", start) and not block.text[stop : stop + 1].strip(" \t\r\n"):
                yield _Label(start, stop, role, block.is_owned(start, stop))
        newline = block.text.find("\n", start)
        if newline == -1:
            return
        start = newline + 1


def _read_json_messages(block: Marked) -> list[tuple[str, Marked]] | None:
    if not block.text.startswith("["):
        return None
    try:
        parsed = json.loads(block.text)
    except (ValueError, RecursionError):
        return None
    pairs = [None if isinstance(item, list) else _pair(item) for item in cast("list[object]", parsed)]
    mark = VALUE if VALUE in block.mask else TEMPLATE
    speakers = SPEAKERS if mark == VALUE else DEVELOPER_SPEAKERS
    messages = [pair for pair in pairs if pair is not None and pair[0] in speakers.values()]
    if not messages or len(messages) < len(pairs):
        return None
    return [(role, Marked(text, bytes((mark,)) * len(text))) for role, text in messages if text.strip()]
