"""Results that neighbouring messages carry, priced as the one turn or list that the model is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from assembler.conversation.messages import Message


def answered_at_once(messages: Sequence[Message], together: Callable[[Message, Message], bool]) -> Sequence[Message]:
    """The messages, each run of neighbours that are billed `together` in one, which is priced and never sent. O(n)."""
    runs: list[list[Message]] = []
    for message in messages:
        if runs and together(message, runs[-1][-1]):
            runs[-1].append(message)
        else:
            runs.append([message])
    return messages if len(runs) == len(messages) else [_one(run) for run in runs]


def _one(run: Sequence[Message]) -> Message:
    if len(run) == 1:
        return run[0]
    return attrs.evolve(run[0], parts=tuple(part for message in run for part in message.parts))
