"""The bodies of old tool results give way; the pair stays."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from functools import partial
from itertools import islice
from typing import cast

import attrs

from assembler.conversation.messages import Call, Message, Result
from assembler.conversation.messages.edit import with_part
from assembler.policies.checks import a_text
from assembler.policies.passage import Change
from assembler.policies.shown import Passage
from assembler.validation import as_int, at_least_zero, iterates
from budgets import BudgetError

CLEARED = "[cleared]"
"""What a cleared result says."""

NO_ARGUMENTS = "{}"


def _names(names: Collection[str]) -> frozenset[str]:
    given = (names,) if isinstance(names, str) else names
    if not iterates(given):
        raise BudgetError(f"ClearToolResults: exclude is a set of tools' names, got {type(names).__name__}")
    return frozenset(name for name in given if isinstance(cast(object, name), str))


@attrs.frozen
class ClearToolResults:
    """Replaces the bodies of tool results, oldest first, by `placeholder`, and the arguments of their calls by `{}`.

    The `keep` newest results stay, and those of the tools named in `exclude`. A body that would save nothing is left.
    """

    keep: int = attrs.field(default=3, converter=as_int, validator=at_least_zero)
    placeholder: str = attrs.field(default=CLEARED, validator=a_text)
    exclude: frozenset[str] = attrs.field(default=frozenset(), converter=_names)

    def rewrites(self, passage: Passage, /) -> Iterator[Change]:
        """One change a result, oldest first, and one for its call. O(messages that stay)."""
        protected = self._newest(passage)
        names: dict[str | None, str] = {}
        asked_in: dict[str | None, int] = {}
        for index, message in passage:
            for place, part in enumerate(message.parts):
                if isinstance(part, Call):
                    names[part.id], asked_in[part.id] = part.name, index
                elif isinstance(part, Result):
                    name = part.name or names.get(part.call_id, "")
                    if (index, place) not in protected and name not in self.exclude:
                        yield from self._cleared(passage, index, place, part, asked_in.get(part.call_id))

    def _newest(self, passage: Passage) -> frozenset[tuple[int, int]]:
        places = (
            (index, place)
            for index, message in passage.newest_first()
            for place, part in reversed([*enumerate(message.parts)])
            if isinstance(part, Result)
        )
        return frozenset(islice(places, min(self.keep, sys.maxsize)))

    def _cleared(self, passage: Passage, index: int, place: int, result: Result, asker: int | None) -> Iterator[Change]:
        if result.parts != (self.placeholder,):
            message = passage.current(index)
            cleared = passage.once((index, place), message, partial(self._without_body, message, place))
            yield Change({index: cleared}, "tool result cleared")
        if asker is not None and result.call_id is not None:
            yield from self._without_arguments(passage, asker, result.call_id)

    def _without_body(self, message: Message, place: int) -> Message:
        body = attrs.evolve(cast(Result, message.parts[place]), parts=(self.placeholder,), given=None)
        return with_part(message, place, body)

    def _without_arguments(self, passage: Passage, index: int, call_id: str) -> Iterator[Change]:
        message = passage.current(index)
        for place, part in enumerate(message.parts):
            if isinstance(part, Call) and part.id == call_id and part.arguments != NO_ARGUMENTS:
                emptied = passage.once((index, place), message, partial(_asking_nothing, message, place))
                yield Change({index: emptied}, "arguments of the call cleared")


def _asking_nothing(message: Message, place: int) -> Message:
    return with_part(message, place, attrs.evolve(cast(Call, message.parts[place]), arguments=NO_ARGUMENTS, given={}))
