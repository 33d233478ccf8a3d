"""Inside the current turn, the oldest steps give way."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from assembler.messages import Call, Message, Result
from assembler.passage import Change, Passage
from assembler.policies.checks import at_least_zero


@attrs.frozen
class TrimSteps:
    """Drops the oldest complete steps of the newest turn, call and results together; the `keep` newest stay.

    For one question followed by very many calls, which `TrimOldest` cannot shrink. The user's message, and whatever the
    assistant said without calling, stay; so does a step whose results came with words of the user.
    """

    keep: int = attrs.field(default=2, validator=at_least_zero)

    def rewrites(self, passage: Passage, /) -> Iterator[Change]:
        """One change a step, oldest first. O(messages of the newest turn)."""
        steps = complete_steps(passage)
        said = {index for index, message in passage if index >= passage.newest and _says_something(message)}
        for step in steps[: max(len(steps) - self.keep, 0)]:
            if said.isdisjoint(step):
                yield Change(dict.fromkeys(step), f"step of {len(step)} messages dropped")


def complete_steps(passage: Passage) -> list[list[int]]:
    """The steps of the newest turn whose calls are all answered: the indexes of each, oldest first."""
    steps: list[list[int]] = []
    open_calls = 0
    for index, message in passage:
        if index < passage.newest:
            continue
        calls = _number(message, Call)
        if calls:
            steps.append([index])
            open_calls = calls
        elif open_calls and steps:
            steps[-1].append(index)
            open_calls -= _number(message, Result)
    return steps[:-1] if open_calls > 0 else steps


def _says_something(message: Message) -> bool:
    return message.role == "user" and any(not isinstance(part, Result) and part != "" for part in message.parts)


def _number(message: Message, kind: type) -> int:
    return sum(1 for part in message.parts if type(part) is kind)
