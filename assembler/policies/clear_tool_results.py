"""`ClearToolResults`: empties old tool results, but keeps each call with its result."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import cast

import attrs

from assembler.conversation.messages import Call, Message, Part, Result
from assembler.policies.argument_checks import a_text
from assembler.policies.part_edits import Place, together, with_parts
from assembler.policies.passage import Change
from assembler.policies.policy_views import Passage
from assembler.validation import as_int, at_least_zero, iterates
from budgets import BudgetError

CLEARED = "[cleared]"
"""The text of a cleared result."""

NO_ARGUMENTS = "{}"


def _read_names(names: Collection[str]) -> frozenset[str]:
    given = (names,) if isinstance(names, str) else names
    if not iterates(given):
        raise BudgetError(f"ClearToolResults: exclude is a set of tools' names, got {type(names).__name__}")
    return frozenset(name for name in given if isinstance(cast(object, name), str))


@attrs.frozen
class ClearToolResults:
    """Replaces the texts of tool results, oldest first, with `placeholder`, and the arguments of their calls with `{}`.

    The `keep` newest results stay, and so do those of the tools in `exclude`. A body is kept if clearing saves nothing.
    """

    keep: int = attrs.field(default=3, converter=as_int, validator=at_least_zero)
    placeholder: str = attrs.field(default=CLEARED, validator=a_text)
    exclude: frozenset[str] = attrs.field(default=frozenset(), converter=_read_names)

    def rewrites(self, passage: Passage, /) -> Iterator[Change]:
        """One change for each result, oldest first, and one for its call. A message with more than 16 of them gets
        several in one change. O(messages that stay).
        """
        for index, places in together(self._find_places_to_clear(passage)):
            message = passage.current(index)
            clearable = places
            if len(places) > 1:
                clearable = [place for place in places if self._saves_tokens(message.parts[place], passage)]
            if not clearable:
                continue
            cleared = passage.once((index, *clearable), message, partial(self._clear_parts, message, clearable))
            yield Change({index: cleared}, _describe(message.parts[clearable[0]], len(clearable)))

    def _find_places_to_clear(self, passage: Passage) -> Iterator[Place]:
        """The results to clear, oldest first, each before its call."""
        protected = self._find_newest_results(passage)
        names: dict[str | None, str] = {}
        asked_at: dict[str | None, Place] = {}
        for index, message in passage:
            for place, part in enumerate(message.parts):
                if isinstance(part, Call):
                    names[part.id], asked_at[part.id] = part.name, (index, place)
                elif isinstance(part, Result):
                    name = part.name or names.get(part.call_id)
                    if (index, place) in protected or name in self.exclude:
                        continue
                    if part.parts != (self.placeholder,):
                        yield index, place
                    if part.call_id is not None and part.call_id in asked_at:
                        yield from _find_arguments(passage, asked_at[part.call_id])

    def _find_newest_results(self, passage: Passage) -> frozenset[tuple[int, int]]:
        places = (
            (index, place)
            for index, message in passage.newest_first()
            for place, part in reversed([*enumerate(message.parts)])
            if isinstance(part, Result)
        )
        return frozenset(islice(places, min(self.keep, sys.maxsize)))

    def _saves_tokens(self, part: Part, passage: Passage) -> bool:
        """Whether clearing a part saves tokens, by the count of its texts."""
        if isinstance(part, Call):
            return passage.count(part.arguments) > passage.count(NO_ARGUMENTS)
        texts = [inner for inner in cast(Result, part).parts if isinstance(inner, str)]
        is_text = len(texts) == len(cast(Result, part).parts)
        return not is_text or passage.count("\n".join(texts)) > passage.count(self.placeholder)

    def _clear_parts(self, message: Message, places: Sequence[int]) -> Message:
        return with_parts(message, {place: self._empty_part(message.parts[place]) for place in places})

    def _empty_part(self, part: Part) -> Part:
        if isinstance(part, Call):
            return attrs.evolve(part, arguments=NO_ARGUMENTS, given={})
        return attrs.evolve(cast(Result, part), parts=(self.placeholder,), given=None)


def _find_arguments(passage: Passage, place: Place) -> Iterator[Place]:
    """The place of a call if it has arguments."""
    call = passage.current(place[0]).parts[place[1]]
    if cast(Call, call).arguments != NO_ARGUMENTS:
        yield place


def _describe(part: Part, times: int) -> str:
    if isinstance(part, Call):
        return "arguments of the call cleared" if times == 1 else f"arguments of {times} calls cleared"
    return "tool result cleared" if times == 1 else f"{times} tool results cleared"
