"""Old turns give way to a summary that the caller's own function writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import attrs

from assembler.ledger import Cut, Ledger
from assembler.messages import Message, spoken
from assembler.policies.checks import a_function, at_least_one
from assembler.policies.traits import Traits
from budgets import Tokens

Summarizer: TypeAlias = Callable[[Sequence[object], str | None, Tokens], str]
"""`(dropped_messages, previous_summary, max_tokens) -> summary`: the caller's messages, oldest first."""

HEADING = "Summary of the conversation so far:\n"
"""What stands before a summary, in the user message that carries it."""


@attrs.frozen
class Written:
    """A summary, and the stretch of the history that it stands for."""

    start: int
    stop: int
    text: str = attrs.field(repr=False)
    message: Message


@attrs.frozen
class Refusal:
    """Why a stretch of the history has no summary, and how many tokens one might have had."""

    start: int
    stop: int
    room: Tokens
    reason: str

    def settles(self, start: int, stop: int, room: Tokens) -> bool:
        """Whether asking would only repeat it: no more would go than then, and no more could be said."""
        return start == self.start and stop <= self.stop and room <= self.room


@attrs.frozen
class Summarize:
    """Replaces all but the `keep_turns` newest turns by one user message: `HEADING` and what `summarizer` wrote.

    A summary is kept for as long as the rest fits beside it; then the turns since are dropped too, and the summarizer
    gets them with the summary before. It is refused where it would cost as much as what it stands for, or more than
    there is room for; a summarizer that raises, or returns no text, is reported, and the next policy is asked. Pinned
    turns are never summarised. One call of the summarizer for each new summary, and one for each failure: both are
    remembered with the history, not in this policy, and where it failed it is asked again only when more turns would
    have to go, or more could be said.
    """

    summarizer: Summarizer = attrs.field(repr=False, validator=a_function)
    keep_turns: int = attrs.field(default=4, validator=at_least_one)

    def cut(self, ledger: Ledger, room: Tokens, /) -> Cut:
        """The summary and the turns that stay beside it; where no new one helps, the one before, or everything."""
        before = self.remembered(ledger)
        if before is not None:
            cut = _cut(before)
            if ledger.kept(cut).upper <= room:
                return cut
        first = ledger.newest_turns(self.keep_turns)
        if first <= (ledger.first if before is None else before.stop):
            return _unchanged(ledger, before, "too few turns to summarise")
        return self._summarised(ledger, room, first, before)

    def bare(self, ledger: Ledger) -> Cut:
        """The turns that stay beside a summary of no words."""
        return Cut(ledger.newest_turns(self.keep_turns), "the briefest summary there could be", spoken(HEADING))

    @property
    def traits(self) -> Traits:
        """It asks a model; where it may not, the summary that stands stays, and no new one is written."""
        return Traits(unasked=StandingSummary(self), briefest=BriefestSummary(self))

    def remembered(self, ledger: Ledger) -> Written | None:
        """What was written last of this history."""
        written = ledger.memory.get(self)
        known = isinstance(written, Written) and written.start == ledger.first and written.stop < ledger.length
        return written if known else None

    def _summarised(self, ledger: Ledger, room: Tokens, first: int, before: Written | None) -> Cut:
        bare = ledger.kept(self.bare(ledger)).upper
        if room <= bare:
            return _unchanged(ledger, before, f"no room for a summary: {bare} of {room} tokens are taken")
        start, spare = ledger.first if before is None else before.stop, room - bare
        refusal: Refusal | None = ledger.memory.get((Refusal, self))
        if refusal is not None and refusal.settles(start, first, spare):
            return _unchanged(ledger, before, refusal.reason)
        written = self._written(ledger, room, spare, before, first)
        if isinstance(written, Written):
            ledger.memory[self] = written
            return _cut(written)
        ledger.memory[(Refusal, self)] = Refusal(start, first, spare, written)
        return _unchanged(ledger, before, written)

    def _written(
        self, ledger: Ledger, room: Tokens, spare: Tokens, before: Written | None, first: int
    ) -> Written | str:
        """A summary of at most `spare` tokens that stands for all before `first`, or why there is none."""
        dropped = ledger.objects(ledger.first if before is None else before.stop, first)
        try:
            text: object = self.summarizer(dropped, None if before is None else before.text, spare)
        except Exception as error:  # whatever the caller's function raises, the ladder goes on and says so
            return f"the summarizer raised {type(error).__name__}"
        if not isinstance(text, str) or not text.strip():
            return "the summarizer returned no text"
        written = Written(ledger.first, first, text, spoken(HEADING + text))
        left, whole = ledger.kept(_cut(written)).upper, ledger.since(ledger.first).upper
        if left > room or left >= whole:
            return f"a summary was refused: it would leave {left} of {whole} tokens"
        return written


@attrs.frozen
class StandingSummary:
    """The summary that stands, and no new one."""

    policy: Summarize

    @property
    def traits(self) -> Traits:
        """What stands in for one that asks is used like it."""
        return Traits(unasked=self)

    def cut(self, ledger: Ledger, room: Tokens, /) -> Cut:
        """The turns beside the summary that was written last; all of them where there is none. Remembers nothing."""
        return _unchanged(ledger, self.policy.remembered(ledger), "the summarizer is not asked for a what-if")


@attrs.frozen
class BriefestSummary:
    """A summary of no words, wherever the summarizer would be asked for one: no real one is smaller."""

    policy: Summarize

    @property
    def traits(self) -> Traits:
        """What stands in for one that asks is used like it."""
        return Traits(unasked=self)

    def cut(self, ledger: Ledger, room: Tokens, /) -> Cut:
        """The least that asking could leave. Remembers nothing."""
        before, bare = self.policy.remembered(ledger), self.policy.bare(ledger)
        more = bare.first_kept > (ledger.first if before is None else before.stop)
        if more and ledger.kept(bare).upper < room:
            return bare
        return _unchanged(ledger, before, "the summarizer would not be asked")


def _cut(written: Written) -> Cut:
    return Cut(written.stop, f"messages {written.start}-{written.stop - 1} summarised", written.message)


def _unchanged(ledger: Ledger, before: Written | None, reason: str) -> Cut:
    """What stays where no new summary was made: the one before still stands for what it stood for."""
    return Cut(ledger.first, reason) if before is None else Cut(before.stop, reason, before.message)
