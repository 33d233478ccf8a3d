"""Makes a broken history valid, and says what it changed. Never called by a build: only by whoever asks for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, cast

import attrs

from assembler.errors import ConversationError, MarkupError, MessageTypeError
from assembler.given import wrong
from assembler.messages import Call, Message, Result, read_message
from assembler.messages.dicts import private_copy
from assembler.turns import Open, answers

NO_RESULT = "no result was recorded"
"""What an added result says."""


@attrs.frozen
class Repair:
    """One thing that `repair` did: `index` is the place in the history that was given."""

    index: int
    did: Literal["dropped", "added", "edited"]
    why: str


def repair(messages: Iterable[object]) -> tuple[list[object], list[Repair]]:
    """A history that the law of pairs allows, and every change, in order; an empty list where nothing was wrong.

    Dropped: what is no message, a result without its call, a second answer, a message whose call ids repeat. Edited
    (in a copy): a message that holds such a result beside other parts. Added: a result reading `NO_RESULT` for a call
    that has none, in the spelling of the call. Kept messages are the very objects that came in. Raises
    `MessageTypeError` for what is no list of messages. O(messages).
    """
    given: object = messages
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise MessageTypeError(wrong("conversation", "a list of messages", messages) + "; pass [message]")
    mending = _Mending()
    for index, raw in enumerate(messages):
        mending.hear(raw, index)
    mending.close(mending.heard)
    return mending.kept, mending.changes


@attrs.define
class _Mending:
    """The history so far, and the calls that still wait: local to one repair."""

    kept: list[object] = attrs.Factory(list[object])
    changes: list[Repair] = attrs.Factory(list[Repair])
    waiting: Open = ()
    asked_in: str = ""
    heard: int = 0

    def hear(self, raw: object, index: int) -> None:
        self.heard = index + 1
        try:
            message = read_message(raw, index)
        except (ConversationError, MarkupError) as error:
            self.changes.append(Repair(index, "dropped", f"cannot be read: {type(error).__name__}"))
            return
        if any(type(part) is Result for part in message.parts):
            self._answer(raw, message, index)
            return
        self.close(index)
        calls = tuple(part for part in message.parts if type(part) is Call)
        ids = [call.id for call in calls if call.id is not None]
        if calls and (message.role != "assistant" or len(set(ids)) < len(ids)):
            self.changes.append(Repair(index, "dropped", "its call ids repeat, or its role cannot call"))
            return
        self.kept.append(raw)
        self.waiting, self.asked_in = calls, message.shape

    def _answer(self, raw: object, message: Message, index: int) -> None:
        wrong: list[int] = []
        for place, part in enumerate(message.parts):
            if type(part) is not Result:
                continue
            call = next((call for call in self.waiting if answers(part, call)), None)
            if call is None:
                wrong.append(place)
            else:
                self.waiting = tuple(other for other in self.waiting if other is not call)
        if not wrong:
            self.kept.append(raw)
        elif len(wrong) == len(message.parts):
            self.changes.append(Repair(index, "dropped", "answers no open call"))
        else:
            self.kept.append(_without(message, wrong))
            self.changes.append(Repair(index, "edited", "a result in it answers no open call"))

    def close(self, index: int) -> None:
        """Answer what still waits before the message at `index`."""
        for call in self.waiting:
            self.kept.append(_no_result(call, self.asked_in))
            self.changes.append(Repair(index, "added", "a call had no result"))
        self.waiting = ()


def _without(message: Message, places: list[int]) -> dict[str, Any]:
    """A copy of a message without the parts at `places`: its content list runs alongside its parts."""
    fields = cast("dict[str, Any]", private_copy(message.seen))
    key = "parts" if message.shape == "gemini" else "content"
    fields[key] = [item for place, item in enumerate(fields[key]) if place not in places]
    return fields


def _no_result(call: Call, shape: str) -> dict[str, Any]:
    if shape == "anthropic":
        block = {"type": "tool_result", "tool_use_id": call.id, "content": NO_RESULT, "is_error": True}
        return {"role": "user", "content": [block]}
    if shape == "bedrock":
        answer = {"toolUseId": call.id, "content": [{"text": NO_RESULT}], "status": "error"}
        return {"role": "user", "content": [{"toolResult": answer}]}
    if shape == "gemini":
        response = {"name": call.name, "response": {"error": NO_RESULT}}
        return {
            "role": "user",
            "parts": [{"function_response": response if call.id is None else {"id": call.id, **response}}],
        }
    if call.id is None:
        return {"role": "function", "name": call.name, "content": NO_RESULT}
    return {"role": "tool", "tool_call_id": call.id, "content": NO_RESULT}
