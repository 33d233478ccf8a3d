"""The bodies of old tool results give way; the pair stays."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import attrs

from assembler.messages import Call, Message, Part, Result
from assembler.messages.edit import edited
from assembler.passage import Change, Passage
from assembler.policies.checks import at_least_zero

CLEARED = "[cleared]"
"""What a cleared result says."""

NO_ARGUMENTS = "{}"


def _names(names: Collection[str]) -> frozenset[str]:
    return frozenset((names,) if isinstance(names, str) else names)


@attrs.frozen
class ClearToolResults:
    """Replaces the bodies of tool results, oldest first, by `placeholder`, and the arguments of their calls by `{}`.

    The `keep` newest results stay, and those of the tools named in `exclude`. A body that would save nothing is left.
    """

    keep: int = attrs.field(default=3, validator=at_least_zero)
    placeholder: str = CLEARED
    exclude: frozenset[str] = attrs.field(default=frozenset(), converter=_names)

    def rewrites(self, passage: Passage, /) -> Iterator[Change]:
        """One change a result, oldest first. O(messages that stay)."""
        protected = self._newest(passage)
        names: dict[str | None, str] = {}
        asked_in: dict[str | None, int] = {}
        for index, message in passage:
            for part in message.parts:
                if isinstance(part, Call):
                    names[part.id], asked_in[part.id] = part.name, index
                elif isinstance(part, Result):
                    name = part.name or names.get(part.call_id, "")
                    if index not in protected and name not in self.exclude:
                        yield from self._cleared(passage, index, message, part, asked_in.get(part.call_id))

    def _newest(self, passage: Passage) -> frozenset[int]:
        newest: list[int] = []
        for index, message in passage.newest_first():
            if len(newest) >= self.keep:
                break
            newest += [index for part in message.parts if isinstance(part, Result)]
        return frozenset(newest)

    def _cleared(
        self, passage: Passage, index: int, message: Message, result: Result, asker: int | None
    ) -> Iterator[Change]:
        if result.parts == (self.placeholder,):
            return
        yield Change({index: passage.once(index, lambda: self._without_bodies(message))}, "tool result cleared")
        if asker is not None and result.call_id is not None:
            yield from self._without_arguments(passage, asker, result.call_id)

    def _without_bodies(self, message: Message) -> Message:
        return edited(message, [self._body(part) for part in message.parts])

    def _body(self, part: Part) -> Part:
        return attrs.evolve(part, parts=(self.placeholder,), given=None) if isinstance(part, Result) else part

    def _without_arguments(self, passage: Passage, index: int, call_id: str) -> Iterator[Change]:
        message = passage.current(index)
        calls = [part for part in message.parts if isinstance(part, Call) and part.id == call_id]
        if calls and calls[0].arguments != NO_ARGUMENTS:
            emptied = [
                attrs.evolve(part, arguments=NO_ARGUMENTS, given={}) if part is calls[0] else part
                for part in message.parts
            ]
            yield Change({index: edited(message, emptied)}, "arguments of the call cleared")
