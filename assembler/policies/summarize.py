"""Old turns give way to a summary that the caller's own function writes."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

import attrs

from assembler.conversation.keepsake import Keepsake
from assembler.conversation.messages import Message, spoken
from assembler.errors import SummaryError
from assembler.policies.checks import a_plain_function
from assembler.policies.traits import Traits
from assembler.pricing.ledger import Cut, Ledger
from assembler.validation import at_least_one
from budgets import Tokens

Summarizer: TypeAlias = Callable[[list[Any], str | None, Tokens], str]
"""`(dropped_messages, previous_summary, max_tokens) -> summary`: the caller's own messages, oldest first, in a
list of its own."""

HEADING = "Summary of the conversation so far:\n"
"""What stands before a summary, in the user message that carries it."""


@attrs.frozen
class Written(Keepsake):
    """A summary of the messages that it stands for."""

    text: str = attrs.field(repr=False)
    message: Message


@attrs.frozen
class Refusal(Keepsake):
    """Why a stretch of the history has no summary, and how many tokens one might have had."""

    room: Tokens
    reason: str
    failure: SummaryError | None = attrs.field(default=None, eq=False)

    def settles(self, start: int, stop: int, room: Tokens) -> bool:
        """Whether asking would only repeat it: no more would go than then, and no more could be said."""
        return start == self.start and stop <= self.stop and room <= self.room


@attrs.frozen
class Summarize:
    """Replaces all but the `keep_turns` newest turns by one user message: `HEADING` and what `summarizer` wrote.

    A summary is kept for as long as the rest fits beside it; then the turns since are dropped too, and the summarizer
    gets them with the summary before. It is refused where it would cost as much as what it stands for, or more than
    there is room for; a summarizer that raises, or returns no text, is a `SummaryError` in `context.warnings`, and the
    next policy is asked. Pinned turns are never summarised. One call of the summarizer for each new summary, and one
    for each failure: both are remembered with the history, not in this policy, and where it failed it is asked again
    only when more turns would have to go, or more could be said.
    """

    summarizer: Summarizer = attrs.field(repr=False, validator=a_plain_function)
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
        written = ledger.keepsakes.get(self)
        if isinstance(written, Written) and written.start == ledger.first and written.stop < ledger.length:
            return written
        return None

    def _summarised(self, ledger: Ledger, room: Tokens, first: int, before: Written | None) -> Cut:
        bare = ledger.kept(self.bare(ledger)).upper
        if room <= bare:
            return _unchanged(ledger, before, f"no room for a summary: {bare} of {room} tokens are taken")
        start, spare = ledger.first if before is None else before.stop, room - bare
        refusal = ledger.keepsakes.get((Refusal, self))
        if isinstance(refusal, Refusal) and refusal.settles(start, first, spare):
            return _refused(ledger, before, refusal)
        written = self._written(ledger, room, spare, before, first)
        if isinstance(written, Written):
            ledger.keepsakes[self] = written
            return _cut(written)
        ledger.keepsakes[(Refusal, self)] = written
        return _refused(ledger, before, written)

    def _written(
        self, ledger: Ledger, room: Tokens, spare: Tokens, before: Written | None, first: int
    ) -> Written | Refusal:
        """A summary of at most `spare` tokens that stands for all before `first`, or why there is none."""
        start = ledger.first if before is None else before.stop
        try:
            text = self._asked(ledger.objects(start, first), None if before is None else before.text, spare)
        except SummaryError as failure:
            return Refusal(start, first, spare, str(failure), failure)
        written = Written(ledger.first, first, text, spoken(HEADING + text))
        left, whole = ledger.kept(_cut(written)).upper, ledger.since(ledger.first).upper
        if left > room or left >= whole:
            return Refusal(start, first, spare, f"a summary was refused: it would leave {left} of {whole} tokens")
        return written

    def _asked(self, dropped: list[Any], before: str | None, spare: Tokens) -> str:
        """What the summarizer writes. Raises `SummaryError` for whatever else it does."""
        try:
            text: object = self.summarizer(dropped, before, spare)
        except Exception as error:  # whatever the caller's function raises, the ladder goes on and says so
            kind = type(error).__name__
            raise SummaryError(f"the summarizer raised {kind}", raised=kind) from None
        if isinstance(text, Coroutine):
            text.close()  # nobody will await it
            raise SummaryError("the summarizer returned a coroutine, which build() cannot await yet")
        if not isinstance(text, str) or not text.strip():
            raise SummaryError("the summarizer returned no text")
        return text


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


def _refused(ledger: Ledger, before: Written | None, refusal: Refusal) -> Cut:
    return attrs.evolve(_unchanged(ledger, before, refusal.reason), failure=refusal.failure)


def _unchanged(ledger: Ledger, before: Written | None, reason: str) -> Cut:
    """What stays where no new summary was made: the one before still stands for what it stood for."""
    return Cut(ledger.first, reason) if before is None else Cut(before.stop, reason, before.message)
