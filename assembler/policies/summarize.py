"""`Summarize`: replaces old turns with a summary that the caller's own function writes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, TypeAlias

import attrs

from assembler.conversation.history import HistoryView
from assembler.conversation.messages import Message, user_message
from assembler.conversation.messages.read import still_says
from assembler.conversation.policy_memory import Keepsake, Keepsakes
from assembler.conversation.summary_request import UnansweredError, Wanted
from assembler.errors import MarkupError, SummaryError
from assembler.policies.argument_checks import a_summarizer
from assembler.policies.policy_views import PricedTurns
from assembler.policies.traits import Traits
from assembler.pricing.ledger import Cut
from assembler.text.checked import checked_text
from assembler.validation import as_int, at_least_one
from budgets import Tokens
from budgets.counters.awaited import is_async

Summarizer: TypeAlias = Callable[[list[Any], str | None, Tokens], str | Awaitable[str]]
"""`(dropped_messages, previous_summary, max_tokens) -> summary`. The messages are the caller's own, oldest first, in a
new list."""

HEADING = "Summary of the conversation so far:\n"
"""The first line of the user message that carries a summary."""


@attrs.frozen
class Written(Keepsake):
    """A summary, and the user message that carries it in place of the summarised ones."""

    text: str = attrs.field(repr=False)
    message: Message


@attrs.frozen
class Refusal(Keepsake):
    """Why a stretch of the history has no summary, and the most tokens that one could have had."""

    tokens_left: Tokens
    reason: str
    failure: SummaryError | None = attrs.field(default=None, eq=False)

    def settles(self, start: int, stop: int, tokens_left: Tokens) -> bool:
        """Whether asking again is pointless: for no more messages than then, and with no more tokens."""
        return start == self.start and stop <= self.stop and tokens_left <= self.tokens_left


@attrs.frozen
class Answer(Keepsake):
    """The summarizer's answer for the messages from `after` on. The next cut counts it."""

    after: int
    spare: Tokens
    text: str | SummaryError = attrs.field(repr=False)

    def judged(self, ledger: PricedTurns) -> Written | Refusal:
        """The summary if it is within `spare` tokens and costs less than what it replaces, else a refusal."""
        if isinstance(self.text, SummaryError):
            return Refusal(self.after, self.stop, self.spare, str(self.text), self.text)
        written = Written(self.start, self.stop, self.text, user_message(HEADING + self.text))
        bare = ledger.kept(Cut(self.stop, "", user_message(HEADING))).upper
        left, whole = ledger.kept(_cut_at(written)).upper, ledger.kept(Cut(ledger.first, "")).upper
        if left - bare > self.spare or left >= whole:
            reason = f"a summary was refused: it would leave {left} of {whole} tokens"
            return Refusal(self.after, self.stop, self.spare, reason)
        return written


@attrs.frozen
class Summarize:
    """Replaces all but the `keep_turns` newest turns with a user message that holds the summary of `summarizer`.

    A summary stays as long as the newer turns fit with it. After that, the summarizer is called with those turns and
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
        """Keep the newest turns and a summary of the others. If no new summary helps, keep the last one, or everything.

        Raises `UnansweredError` if the summarizer must be asked first. Once it has answered, call this again.
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
        """The cut if it needs no new summary, else the request for one. Remembers nothing."""
        before = self.remembered(ledger)
        if before is not None:
            cut = _cut_at(before)
            if ledger.kept(cut).upper <= tokens_left:
                return cut
        first = ledger.newest_turns(self.keep_turns)
        if first <= (ledger.first if before is None else before.stop):
            return _keep_last_summary(ledger, before, "too few turns to summarise")
        bare = ledger.kept(self.bare(ledger)).upper
        if tokens_left <= bare:
            return _keep_last_summary(
                ledger, before, f"no tokens left for a summary: {bare} of {tokens_left} are taken"
            )
        asked = SummaryRequest(self, ledger, tokens_left - bare, before, first)
        refusal = ledger.keepsakes.find(self, Refusal)
        if refusal is not None and refusal.settles(asked.start, first, asked.spare):
            return attrs.evolve(_keep_last_summary(ledger, before, refusal.reason), failure=refusal.failure)
        return asked

    def bare(self, ledger: PricedTurns) -> Cut:
        """The newest turns with an empty summary."""
        return Cut(ledger.newest_turns(self.keep_turns), "the shortest possible summary", user_message(HEADING))

    @property
    def traits(self) -> Traits:
        """Declares that it asks a model, with stand-ins that keep the current summary."""
        return Traits(
            unasked=StandingSummary(self),
            briefest=BriefestSummary(self),
            awaited=is_async(self.summarizer),
            memory=Summaries(self),
        )

    def remembered(self, ledger: PricedTurns) -> Written | None:
        """The last summary of this history, or None."""
        written = ledger.keepsakes.find(self, Written)
        if written is not None and written.start == ledger.first and written.stop < ledger.length:
            return written
        return None


@attrs.frozen
class Summaries:
    """What a `Summarize` remembers, as JSON: the current summary, and why there is no newer one."""

    policy: Summarize

    def as_json(self, keepsakes: Keepsakes) -> Iterator[tuple[Keepsake, dict[str, Any]]]:
        """The text of the summary, and the numbers of the last refusal."""
        written, refusal = keepsakes.find(self.policy, Written), keepsakes.find(self.policy, Refusal)
        if written is not None:
            yield written, {"text": written.text}
        if refusal is not None:
            failure = refusal.failure
            raised = None if failure is None else {"says": str(failure), "raised": failure.raised}
            yield refusal, {"max_tokens": refusal.tokens_left, "reason": refusal.reason, "failure": raised}

    def remembered(self, start: int, stop: int, what: Mapping[str, Any]) -> tuple[object, Keepsake]:
        """Read a summary or a refusal back from JSON."""
        if "text" in what:
            text = checked_text(what["text"], field="summary")
            return self.policy, Written(start, stop, text, user_message(HEADING + text))
        raised: Mapping[str, Any] | None = what["failure"]
        failure = None if raised is None else SummaryError(str(raised["says"]), raised=raised["raised"])
        return self.policy, Refusal(start, stop, int(what["max_tokens"]), str(what["reason"]), failure)


@attrs.frozen(eq=False)
class SummaryRequest:
    """A request for a summary of at most `spare` tokens that replaces all messages before `first`."""

    policy: Summarize
    ledger: PricedTurns
    spare: Tokens
    before: Written | None
    first: int

    @property
    def start(self) -> int:
        """The first message that the last summary does not cover."""
        return self.ledger.first if self.before is None else self.before.stop

    @property
    def wanted(self) -> Wanted:
        """The question for the summarizer. Its messages are read now, so that an edit made meanwhile is noticed."""
        ledger, dropped = self.ledger, tuple(self.ledger.objects(self.start, self.first))
        read = tuple(map(ledger.reading, range(self.start, self.first)))
        question = SummaryQuestion(self.policy, ledger.keepsakes, ledger.first, self.before, read, dropped, self.spare)
        return Wanted(dropped, question.previous, self.spare, question)

    def unanswered(self, reason: str) -> Cut:
        """The cut until there is an answer: it keeps the last summary."""
        return attrs.evolve(_keep_last_summary(self.ledger, self.before, reason), wanted=self.wanted)


@attrs.frozen(eq=False)
class SummaryQuestion:
    """What a summarizer is asked, and where its answer goes.

    It holds no ledger: decisions are remembered with the prices, and hold the question.
    """

    policy: Summarize
    keepsakes: Keepsakes
    """Those of the history that was asked about, when it was."""
    head: int
    """The first message that may be summarised."""
    before: Written | None
    read: tuple[Message, ...]
    """The messages that the last summary does not cover, as they were read."""
    dropped: tuple[object, ...]
    spare: Tokens

    @property
    def previous(self) -> str | None:
        """The text of the last summary."""
        return None if self.before is None else self.before.text

    @property
    def awaited(self) -> bool:
        """Whether the summarizer is async."""
        return self.policy.traits.awaited

    def ask(self) -> object:
        """Call the summarizer."""
        assert self.policy.summarizer is not None  # without one, `cut` never raises the question
        return self.policy.summarizer(list(self.dropped), self.previous, self.spare)

    def settle(self, answer: object) -> None:
        """Remember the answer; the next cut counts it."""
        self._keep_answer(answer if isinstance(answer, SummaryError) else _read_text(answer), self.keepsakes)

    def settle_in(self, view: HistoryView, text: str) -> bool:
        """Remember the text with this history, if it is about it."""
        about = self.is_about(view)
        if about:
            self._keep_answer(_read_text(text), view.readings.keepsakes)
        return about

    def is_about(self, view: HistoryView) -> bool:
        """Whether `view` holds the messages to summarise, or equal ones, after the same last summary."""
        start, stop = self._span
        if view.length <= stop or view.readings.keepsakes.find(self.policy, Written) != self.before:
            return False
        pairs = zip(self.read, view.messages(start, stop), strict=True)
        return all(now is then or still_says(then, now.raw) for then, now in pairs)

    @property
    def _span(self) -> tuple[int, int]:
        start = self.head if self.before is None else self.before.stop
        return start, start + len(self.read)

    def _keep_answer(self, text: str | SummaryError, keepsakes: Keepsakes) -> None:
        start, stop = self._span
        keepsakes.keep(self.policy, Answer(self.head, stop, start, self.spare, text))


def _read_text(answer: object) -> str | SummaryError:
    """The text that a summarizer returned, or the error if it is no text, a blank one, or one that cannot be sent."""
    try:
        text = checked_text(answer, field="summary") if isinstance(answer, str) else ""
    except MarkupError as error:
        return SummaryError(f"the summarizer returned a text that cannot be sent: {error}")
    return text if text.strip() else SummaryError("the summarizer returned no text")


@attrs.frozen
class _StandIn:
    """A policy that replaces a `Summarize` when no model may be asked."""

    policy: Summarize

    @property
    def traits(self) -> Traits:
        """Declares that it replaces a policy that asks a model, and is its own stand-in."""
        return Traits(unasked=self)

    def cut(self, ledger: PricedTurns, tokens_left: Tokens, /) -> Cut:
        raise NotImplementedError


class StandingSummary(_StandIn):
    """Keeps the last summary and asks for no new one."""

    def cut(self, ledger: PricedTurns, tokens_left: Tokens, /) -> Cut:
        """Keep the last summary and the turns after it, or all turns if there is none. Remembers nothing."""
        found, reason = self.policy.settled(ledger, tokens_left), "the summarizer is not asked for a what-if"
        if isinstance(found, Cut):
            return _keep_last_summary(ledger, self.policy.remembered(ledger), reason)
        return found.unanswered(reason)


class BriefestSummary(_StandIn):
    """Uses an empty summary when the summarizer would be asked, since no real one is smaller."""

    def cut(self, ledger: PricedTurns, tokens_left: Tokens, /) -> Cut:
        """Keep the least that a summary could leave. Remembers nothing."""
        before, bare = self.policy.remembered(ledger), self.policy.bare(ledger)
        more = bare.first_kept > (ledger.first if before is None else before.stop)
        if more and ledger.kept(bare).upper < tokens_left:
            return bare
        return _keep_last_summary(ledger, before, "the summarizer would not be asked")


def _cut_at(written: Written) -> Cut:
    return Cut(written.stop, f"messages {written.start}-{written.stop - 1} summarised", written.message)


def _keep_last_summary(ledger: PricedTurns, before: Written | None, reason: str) -> Cut:
    """The cut if no new summary was made: the last summary replaces the same messages as before."""
    return Cut(ledger.first, reason) if before is None else Cut(before.stop, reason, before.message)
