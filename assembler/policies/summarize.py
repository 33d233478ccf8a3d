"""Old turns give way to a summary that the caller's own function writes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, TypeAlias

import attrs

from assembler.conversation.history import Sight
from assembler.conversation.messages import Message, spoken
from assembler.conversation.policy_memory import Keepsake, Keepsakes
from assembler.conversation.wanted import UnansweredError, Wanted
from assembler.errors import SummaryError
from assembler.policies.checks import a_summarizer
from assembler.policies.shown import PricedTurns
from assembler.policies.traits import Traits
from assembler.pricing.ledger import Cut
from assembler.text.checked import checked_text
from assembler.validation import as_int, at_least_one
from budgets import Tokens
from budgets.counters.awaited import is_async

Summarizer: TypeAlias = Callable[[list[Any], str | None, Tokens], str | Awaitable[str]]
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

    tokens_left: Tokens
    reason: str
    failure: SummaryError | None = attrs.field(default=None, eq=False)

    def settles(self, start: int, stop: int, tokens_left: Tokens) -> bool:
        """Whether asking would only repeat it: no more would go than then, and no more could be said."""
        return start == self.start and stop <= self.stop and tokens_left <= self.tokens_left


@attrs.frozen
class Answer(Keepsake):
    """The summarizer's answer for the messages from `after` on, not counted yet: the next cut counts it."""

    after: int
    spare: Tokens
    text: str | SummaryError = attrs.field(repr=False)

    def judged(self, ledger: PricedTurns) -> Written | Refusal:
        """The summary, where it costs no more than it may and less than what it stands for."""
        if isinstance(self.text, SummaryError):
            return Refusal(self.after, self.stop, self.spare, str(self.text), self.text)
        written = Written(self.start, self.stop, self.text, spoken(HEADING + self.text))
        said = ledger.price(written.message).upper - ledger.price(spoken(HEADING)).upper
        left, whole = ledger.kept(_cut_at(written)).upper, ledger.kept(Cut(ledger.first, "")).upper
        if said > self.spare or left >= whole:
            reason = f"a summary was refused: it would leave {left} of {whole} tokens"
            return Refusal(self.after, self.stop, self.spare, reason)
        return written


@attrs.frozen
class Summarize:
    """Replaces all but the `keep_turns` newest turns by one user message: `HEADING` and what `summarizer` wrote.

    A summary stays as long as the newer turns fit beside it. After that, the summarizer is called with those turns and
    the previous summary. A summary is refused if it costs as much as the turns that it replaces, or more than there are
    tokens left for. If the summarizer raises or returns no text, `context.warnings` holds a `SummaryError` and the next
    policy is asked. Pinned turns are never summarised.

    The summarizer is called once for each summary. After a failure it is called again only when more turns have to go,
    or when it may write more. Summaries and failures are kept with the history, not in this policy.

    `build()` calls the summarizer. `await abuild()` awaits an async one, and runs any other in a thread.
    `Summarize(None)` calls no function: the current summary stays, the next policy drops what is still too much, and
    `context.wanted` says what to write. Pass the text to `assembler.add_summary(wanted, text)` when it is ready.
    """

    summarizer: Summarizer | None = attrs.field(repr=False, validator=a_summarizer)
    keep_turns: int = attrs.field(default=4, converter=as_int, validator=at_least_one)

    def cut(self, ledger: PricedTurns, tokens_left: Tokens, /) -> Cut:
        """The summary and the turns that stay beside it; where no new one helps, the one before, or everything.

        Raises `UnansweredError` where the summarizer must be asked first: the same call answers once that is settled.
        """
        answer = ledger.keepsakes.find(self, Answer)
        if answer is not None and answer.start == ledger.first and answer.stop < ledger.length:
            judged = answer.judged(ledger)
            ledger.keepsakes.forget(self, Answer)
            ledger.keepsakes.keep(self, judged)
        found = self.settled(ledger, tokens_left)
        if isinstance(found, Cut):
            return found
        if self.summarizer is None:
            return found.unanswered("a summary is wanted")
        raise UnansweredError(found.wanted)

    def settled(self, ledger: PricedTurns, tokens_left: Tokens) -> Cut | SummaryRequest:
        """What is kept without asking, or what would be asked. Remembers nothing."""
        before = self.remembered(ledger)
        if before is not None:
            cut = _cut_at(before)
            if ledger.kept(cut).upper <= tokens_left:
                return cut
        first = ledger.newest_turns(self.keep_turns)
        if first <= (ledger.first if before is None else before.stop):
            return _unchanged(ledger, before, "too few turns to summarise")
        bare = ledger.kept(self.bare(ledger)).upper
        if tokens_left <= bare:
            return _unchanged(ledger, before, f"no tokens left for a summary: {bare} of {tokens_left} are taken")
        asked = SummaryRequest(self, ledger, tokens_left, tokens_left - bare, before, first)
        refusal = ledger.keepsakes.find(self, Refusal)
        if refusal is not None and refusal.settles(asked.start, first, asked.spare):
            return attrs.evolve(_unchanged(ledger, before, refusal.reason), failure=refusal.failure)
        return asked

    def bare(self, ledger: PricedTurns) -> Cut:
        """The turns that stay beside a summary of no words."""
        return Cut(ledger.newest_turns(self.keep_turns), "the briefest summary there could be", spoken(HEADING))

    @property
    def traits(self) -> Traits:
        """It asks a model; where it may not, the summary that stands stays, and no new one is written."""
        return Traits(
            unasked=StandingSummary(self),
            briefest=BriefestSummary(self),
            awaited=is_async(self.summarizer),
            memory=Summaries(self),
        )

    def remembered(self, ledger: PricedTurns) -> Written | None:
        """What was written last of this history."""
        written = ledger.keepsakes.find(self, Written)
        if written is not None and written.start == ledger.first and written.stop < ledger.length:
            return written
        return None


@attrs.frozen
class Summaries:
    """What a `Summarize` remembers, as JSON: the summary that stands, and why there is no newer one."""

    policy: Summarize

    def as_json(self, keepsakes: Keepsakes) -> Iterator[tuple[Keepsake, dict[str, Any]]]:
        """The text of a summary, or the numbers of a refusal."""
        written, refusal = keepsakes.find(self.policy, Written), keepsakes.find(self.policy, Refusal)
        if written is not None:
            yield written, {"text": written.text}
        if refusal is not None:
            failure = refusal.failure
            raised = None if failure is None else {"says": str(failure), "raised": failure.raised}
            yield refusal, {"max_tokens": refusal.tokens_left, "reason": refusal.reason, "failure": raised}

    def remembered(self, start: int, stop: int, what: Mapping[str, Any]) -> tuple[object, Keepsake]:
        """A summary or a refusal."""
        if "text" in what:
            text = checked_text(what["text"], field="summary")
            return self.policy, Written(start, stop, text, spoken(HEADING + text))
        raised: Mapping[str, Any] | None = what["failure"]
        failure = None if raised is None else SummaryError(str(raised["says"]), raised=raised["raised"])
        return self.policy, Refusal(start, stop, int(what["max_tokens"]), str(what["reason"]), failure)


@attrs.frozen(eq=False)
class SummaryRequest:
    """A summary of at most `spare` tokens that is to stand for all before `first`, and what it stands on."""

    policy: Summarize
    ledger: PricedTurns
    tokens_left: Tokens
    spare: Tokens
    before: Written | None
    first: int

    @property
    def start(self) -> int:
        """The first message that the summary before does not stand for."""
        return self.ledger.first if self.before is None else self.before.stop

    @property
    def wanted(self) -> Wanted:
        """The question for the summarizer."""
        dropped = tuple(self.ledger.objects(self.start, self.first))
        return Wanted(dropped, None if self.before is None else self.before.text, self.spare, self)

    @property
    def awaited(self) -> bool:
        """Whether the summarizer is async."""
        return self.policy.traits.awaited

    def unanswered(self, reason: str) -> Cut:
        """What stays until there is an answer."""
        return attrs.evolve(_unchanged(self.ledger, self.before, reason), wanted=self.wanted)

    def ask(self) -> object:
        """What the summarizer answers."""
        assert self.policy.summarizer is not None  # one that may not ask wants an answer of somebody else
        wanted = self.wanted
        return self.policy.summarizer(list(wanted.dropped), wanted.previous, wanted.max_tokens)

    def settle(self, answer: object) -> None:
        """Remember the answer; the next cut counts it."""
        if not isinstance(answer, str | SummaryError) or not str(answer).strip():
            answer = SummaryError("the summarizer returned no text")
        self.ledger.keepsakes.keep(self.policy, Answer(self.ledger.first, self.first, self.start, self.spare, answer))

    def speaks_of(self, sight: Sight) -> bool:
        """Whether these messages are still the ones that it would stand for, after the same summary."""
        if sight.length <= self.first or sight.readings.keepsakes.find(self.policy, Written) != self.before:
            return False
        now = sight.messages(self.ledger.first, self.first)
        return all(one == self.ledger.reading(index) for index, one in enumerate(now, self.ledger.first))


@attrs.frozen
class _StandIn:
    """The policy that replaces a `Summarize` where no model may be asked."""

    policy: Summarize

    @property
    def traits(self) -> Traits:
        """It is used like the policy that it replaces."""
        return Traits(unasked=self)

    def cut(self, ledger: PricedTurns, tokens_left: Tokens, /) -> Cut:
        raise NotImplementedError


class StandingSummary(_StandIn):
    """The summary that stands, and no new one."""

    def cut(self, ledger: PricedTurns, tokens_left: Tokens, /) -> Cut:
        """The turns beside the summary that was written last; all of them where there is none. Remembers nothing."""
        found, reason = self.policy.settled(ledger, tokens_left), "the summarizer is not asked for a what-if"
        if isinstance(found, Cut):
            return _unchanged(ledger, self.policy.remembered(ledger), reason)
        return found.unanswered(reason)


class BriefestSummary(_StandIn):
    """A summary of no words, wherever the summarizer would be asked for one: no real one is smaller."""

    def cut(self, ledger: PricedTurns, tokens_left: Tokens, /) -> Cut:
        """The least that asking could leave. Remembers nothing."""
        before, bare = self.policy.remembered(ledger), self.policy.bare(ledger)
        more = bare.first_kept > (ledger.first if before is None else before.stop)
        if more and ledger.kept(bare).upper < tokens_left:
            return bare
        return _unchanged(ledger, before, "the summarizer would not be asked")


def _cut_at(written: Written) -> Cut:
    return Cut(written.stop, f"messages {written.start}-{written.stop - 1} summarised", written.message)


def _unchanged(ledger: PricedTurns, before: Written | None, reason: str) -> Cut:
    """What stays if no new summary was made: the last one, in place of the same messages."""
    return Cut(ledger.first, reason) if before is None else Cut(before.stop, reason, before.message)
