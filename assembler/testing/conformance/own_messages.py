"""Checks that messages in an API's own form can be edited and answered, as policies and `repair` do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, cast

import attrs

from assembler.assembler import Assembler
from assembler.conversation.messages import Call, Message, Part, Result, edited, read_message
from assembler.conversation.messages.edit import failed_answer
from assembler.dialects import Dialect
from assembler.testing.conformance.checking import Checked
from assembler.testing.conformance.dialect_histories import TOOL, with_longer
from assembler.text.fields import items_of
from budgets import AssemblyError

_EDITED = "an edited message of its API reads back as what was written"
_ANSWERED = "a call in a message of its API can be answered"
_WRITTEN = "other words"
_STEPS = {
    "str": "write the new text",
    "Call": "write its new arguments, json.loads(call.arguments): given is None",
    "Result": "write the texts in its new parts: given is None",
}
"""What `edit` must do with a part."""


@attrs.define(eq=False)
class OwnMessages(Checked):
    """A dialect under check, by the messages of its own requests that `set_messages` reads one by one."""

    dialect: Dialect

    def check(self) -> None:
        """Check all messages of an ordinary conversation."""
        for message in self._read_own_messages():
            for place, part in enumerate(message.parts):
                if (other := _change_part(part)) is not None:
                    self.reads_back(message, place, other)
                if isinstance(part, Call):
                    self.answers(message, part)

    def _read_own_messages(self) -> Iterator[Message]:
        """The messages that are in the API's own shape."""
        asked = Assembler(dialect=self.dialect).set_tools([TOOL]).set_messages(with_longer(None))
        try:
            listed = items_of(asked.build().request().get(self.dialect.api.history))
        except AssemblyError:  # what it refuses is found by the other checks
            return
        for place, entry in enumerate(listed):
            try:
                message = read_message(entry, place)
            except AssemblyError:  # `parse` alone reads them
                continue
            if self.dialect.api.shape and message.shape == self.dialect.api.shape:
                yield message

    def reads_back(self, message: Message, place: int, other: Part) -> None:
        """Check that an edited message reads back with the other part in this place, and is otherwise the same."""
        kind = type(other).__name__
        parts = [*message.parts[:place], other, *message.parts[place + 1 :]]
        try:
            changed = edited(message, parts)
            read = read_message(changed.seen, place)
        except Exception as error:
            raise self.broken(_EDITED, f"another {kind} raised {type(error).__name__}; {_STEPS[kind]}") from error
        contents = _list_contents(read.parts)
        same = [*contents[:place], *contents[place + 1 :]] == _list_contents(
            [*message.parts[:place], *message.parts[place + 1 :]]
        )
        if not same or contents != _list_contents(changed.parts) or _WRITTEN not in str(contents[place]):
            raise self.broken(_EDITED, f"another {kind} is lost or changes another part; {_STEPS[kind]}")

    def answers(self, message: Message, call: Call) -> None:
        """Check that an answer with an error's text reads back as the result of the call."""
        try:
            read = read_message(failed_answer(call, message, _WRITTEN), 0)
        except Exception as error:
            raise self.broken(_ANSWERED, f"the answer raised {type(error).__name__}") from error
        results = [part for part in read.parts if isinstance(part, Result)]
        if [result.call_id for result in results] != [call.id] or _WRITTEN not in "".join(_list_texts(results[0])):
            raise self.broken(_ANSWERED, "the answer is not read as one result; write the id of the call, and the text")


def _change_part(part: Part) -> Part | None:
    """A part with other words, or None for one that is never rewritten."""
    if isinstance(part, str):
        return _WRITTEN
    if isinstance(part, Call):
        return attrs.evolve(part, arguments=json.dumps({"corner": _WRITTEN}), given=None)
    return attrs.evolve(part, parts=(_WRITTEN,), given=None) if isinstance(part, Result) else None


def _list_contents(parts: Sequence[Part]) -> list[Any]:
    """What the parts say, however their JSON is spaced."""
    return [_read_content(part) for part in parts]


def _read_content(part: Part) -> object:
    if isinstance(part, Call):
        return part.id, part.name, cast("object", json.loads(part.arguments))
    return (part.call_id, _list_texts(part)) if isinstance(part, Result) else part


def _list_texts(result: Result) -> list[str]:
    return [part for part in result.parts if isinstance(part, str)]
