"""Results that neighbouring messages carry, priced as the one turn or list that the model is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from assembler.conversation.messages import Message
from assembler.text.runs import runs


def answered_at_once(messages: Sequence[Message], together: Callable[[Message, Message], bool]) -> Sequence[Message]:
    """The messages, each run of neighbours that are billed `together` in one, which is priced and never sent. O(n)."""
    found = runs(messages, together)
    return messages if len(found) == len(messages) else [_one(run) for run in found]


def _one(run: Sequence[Message]) -> Message:
    if len(run) == 1:
        return run[0]
    return attrs.evolve(run[0], parts=tuple(part for message in run for part in message.parts))
