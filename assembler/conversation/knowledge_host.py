"""Finds the message that carries the knowledge, and writes the knowledge around its text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from assembler.conversation.history import HistoryView
from assembler.conversation.messages import Media, Message, Opaque, Result, read_message
from assembler.conversation.messages.edit import with_part
from assembler.conversation.messages.message import as_blocks
from assembler.conversation.messages.parts import read_part
from assembler.text.fields import fields_in
from budgets.value import Value


@attrs.frozen(eq=False, repr=False)
class Host(Value):
    """A message of the history, and the text in it around which knowledge can be put."""

    index: int
    message: Message
    text: str = attrs.field(repr=False)
    place: int | None = None
    """The part of the message, a result, that holds the text; None if the message is a question of one text."""
    merged_with: tuple[Message, ...] = ()
    """The messages before it with which it is sent merged, such as results of one step. Its price depends on them."""

    @property
    def takes_blocks(self) -> bool:
        """Whether blocks can be written beside its text. A result that came as an item of Responses is one text."""
        return self.place is None or "content" in fields_in(self.message.seen)

    def with_text(self, text: str, *blocks: Mapping[str, Any]) -> Message:
        """The message with `text` in place of its own, after `blocks` of its API. Everything else in it stays."""
        if self.place is None:
            return _write_question(self.message, [*blocks, text] if blocks else text)
        result = self.message.parts[self.place]
        assert isinstance(result, Result)
        return with_part(self.message, self.place, attrs.evolve(result, parts=(*map(_read_block, blocks), text)))


def newest_question(view: HistoryView) -> Host | None:
    """The question of the newest turn; None if there is none, or if it is not a single text."""
    index, _ = view.newest_turn()
    if index == view.length:
        return None
    message = view.message(index)
    if message.role != "user" or len(message.parts) != 1 or not isinstance(message.parts[0], str):
        return None
    return Host(index, message, message.parts[0])


def newest_result(view: HistoryView) -> Host | None:
    """The last tool result of the last message; None if there is none, or if it is more than one text.

    A result that is an object, as Gemini's are, cannot be a host.
    """
    index = view.length - 1
    if index < view.head:
        return None
    message = view.message(index)
    place = next((at for at in range(len(message.parts) - 1, -1, -1) if isinstance(message.parts[at], Result)), None)
    if place is None:
        return None
    result = message.parts[place]
    assert isinstance(result, Result)
    text = result.parts[0] if result.parts else ""
    if len(result.parts) > 1 or result.given is not None or not isinstance(text, str):
        return None
    return Host(index, message, text, place)


def _read_block(block: Mapping[str, Any]) -> Media | Opaque:
    part, _ = read_part(block, index=0)
    assert isinstance(part, Media | Opaque)
    return part


def _write_question(question: Message, content: str | list[str | Mapping[str, Any]]) -> Message:
    fields = {"role": "user", "content": content if isinstance(content, str) else as_blocks(content)}
    message = read_message(fields if question.name is None else {**fields, "name": question.name}, 0)
    return attrs.evolve(message, pinned=question.pinned)
