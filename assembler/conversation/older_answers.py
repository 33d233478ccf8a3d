"""Writes answers without an id for Chat, in the form that their calls have.

Chat takes an answer of the role `function` after its older `function_call` alone, and no other answer there. It is sent
any other call with an id, and its answer with the role `tool`.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from assembler.conversation.messages import Call, Media, Message, Result, read_message
from assembler.conversation.messages.dicts import CALL_NAME
from assembler.conversation.messages.parts import FOREIGN
from assembler.text.fields import fields_in

_FARTHEST_CALL = 256
"""How many messages before an answer without an id its call is looked for."""
_ANSWERS = ("function", "tool")


def shape_like_its_call(answer: Message, before: Iterable[object]) -> Message:
    """The answer in Chat's older form only if its call is sent in that form, and then with the name of the call.

    An answer of the role `function` goes as it came if its name is legal and it holds no picture. `before` are the
    messages before it, the newest first. Any other message is returned as it is. O(answers between).
    """
    result = answer.parts[0] if len(answer.parts) == 1 else None
    if type(result) is not Result or result.call_id is not None:
        return answer
    called = _find_older_call(before)
    if called is None:
        return attrs.evolve(answer, shape=FOREIGN) if answer.shape == "openai" else answer
    named = result.name is not None and CALL_NAME.fullmatch(result.name) is not None
    if answer.shape == "openai" and named and not any(isinstance(part, Media) for part in result.parts):
        return answer
    return attrs.evolve(answer, shape=FOREIGN, parts=(attrs.evolve(result, function=called.name),))


def _find_older_call(before: Iterable[object]) -> Call | None:
    """The call of the message that is answered, if Chat is sent it as `function_call`."""
    for _, raw in zip(range(_FARTHEST_CALL), before, strict=False):
        if fields_in(raw).get("role") in _ANSWERS:
            continue
        message = read_message(raw, 0)
        calls = [part for part in message.parts if type(part) is Call]
        if calls:
            is_older = message.shape == "openai" and bool(fields_in(message.seen).get("function_call"))
            return calls[-1] if is_older else None
    return None
