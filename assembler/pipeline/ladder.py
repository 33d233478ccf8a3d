"""Asks the policies of a ladder in order, each only as far as needed.

The result is a `Trimmed`: which turns stay, which messages in them were rewritten or dropped, and which policy did
what. For a ladder with a low-water mark the history is replayed: whenever a message makes it outgrow the tokens left,
the ladder cuts it down to the mark, and nothing is touched in between.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import attrs

from assembler.conversation.messages import Message
from assembler.conversation.summary_request import Wanted
from assembler.policies.contract import read_changes, refuse_unlawful, verify_cut
from assembler.policies.passage import Change, PassageView
from assembler.policies.traits import CuttingRung, KeepsChosen, KeepsNewest, Label, RewritingRung, Rung, asks, label_of
from assembler.pricing.ledger import Cut, Ledger
from budgets import AssemblyError, Count, Tokens
from budgets.count import Difference
from budgets.value import Value

_MOST_ACTS_NAMED = 3
"""How many of the things that a policy did in a turn are named."""


@attrs.frozen(eq=False, repr=False)
class RungDecision(Value):
    """What one policy did, and how many tokens that saved; 0 if it could not help."""

    policy: str
    saved: Tokens
    done: tuple[tuple[str, int], ...] = ()
    """What it did, in words, and how often; 0 if a number makes no sense."""

    @property
    def reason(self) -> str:
        """What it did, for people."""
        return (
            ", ".join(f"{times} × {what}" if times else what for what, times in self.done)
            or "nothing left to drop or shorten"
        )

    @property
    def cut(self) -> bool:
        """Whether it dropped whole turns, which is not counted message by message."""
        return bool(self.saved) and not any(times for _, times in self.done)

    def __str__(self) -> str:
        return f"{self.policy}: {self.reason}"

    @property
    def in_words(self) -> str:
        """What it did, without numbers: for turns in which the number of its changes is unknown."""
        return f"{self.policy}: {', '.join(what for what, _ in self.done) or self.reason}"

    def in_turn(self, times: int) -> str:
        """What it did in one turn, in which it is unknown how often it did each of several things."""
        acts = " or ".join(what for what, _ in self.done[:_MOST_ACTS_NAMED])
        if len(self.done) > _MOST_ACTS_NAMED:
            acts = f"{acts} or other changes"
        return f"{self.policy}: {times} × {acts}" if acts else self.policy

    def again(self, later: RungDecision) -> RungDecision:
        """This decision merged with a later one of the same policy: numbers add up, the rest is the later one's."""
        times = {what: number for what, number in self.done if number}
        for what, number in later.done:
            times[what] = times.get(what, 0) + number
        return RungDecision(self.policy, self.saved + later.saved, tuple(times.items()))


@attrs.frozen(eq=False, repr=False)
class RungChanges(Value):
    """The changes that one policy made at one time: enough to repeat them, without text."""

    length: int
    """The length of the history."""
    place: int
    """The place of the policy among the willing ones."""
    first_kept: int
    """The first message that stayed then. A policy that counts messages counts from there."""
    indexes: tuple[tuple[int, ...], ...]
    """The messages of each change, in the order of the changes."""


_UNCHANGED: Mapping[int, Message | None] = {}
_NO_SAVINGS: Mapping[int, Difference] = {}


@attrs.frozen(eq=False, repr=False)
class LastChange(Value):
    """What came last of all that the policies did, and would be undone first if there were more tokens."""

    saved: Tokens = 0
    """How many tokens it saved; 0 if that is unknown."""
    messages: int = 0
    """How many messages it dropped or changed."""


_UNCHANGED_YET = LastChange()


@attrs.frozen(eq=False)
class Trimmed:
    """What stays of a conversation: every turn from `cut` on, pinned turns before it, changed as `changed` says."""

    cut: Cut
    changed: Mapping[int, Message | None] = _UNCHANGED
    savings: Mapping[int, Difference] = _NO_SAVINGS
    """What `changed` saves in each turn, by the index where the turn begins. Negative."""
    decisions: tuple[RungDecision, ...] = ()
    """One for each policy that was asked, in the order of the ladder. None if everything fits."""
    failures: tuple[AssemblyError, ...] = ()
    """Failures of policies that did not stop the build."""
    wanted: Wanted | None = None
    """The summary that a policy asked for and did not get."""
    made: tuple[RungChanges, ...] = ()
    """The steps that led to `changed`, oldest first."""
    length: int = 0
    """The length of the history when `savings` was computed. A later message may join a changed one."""
    last_change: LastChange = _UNCHANGED_YET
    passing: bool = False
    """Whether the next build must decide anew, because the replay of a longer history may decide something else."""

    @functools.cached_property
    def why_gone(self) -> str:
        """What the policies did that helped. Those that dropped turns come first."""
        helped = [decision for decision in self.decisions if decision.saved]
        listed = sorted(helped or self.decisions, key=lambda decision: not decision.cut)
        return "; ".join(dict.fromkeys(decision.in_words for decision in listed))

    def why_shortened(self, times: Mapping[Label, int] | None = None) -> str:
        """What the rewriting policies did: in all turns, or in one turn if `times` says how often each acted there."""
        labelled = label_decisions(self.decisions)
        helped = [(label, decision) for label, decision in labelled if decision.saved and not decision.cut]
        if times is None:
            return "; ".join(dict.fromkeys(decision.in_words for _, decision in helped))
        return "; ".join(decision.in_turn(times[label]) for label, decision in helped if label in times)

    @functools.cached_property
    def idle(self) -> tuple[RungDecision, ...]:
        """The policies that could not help."""
        return tuple(decision for decision in self.decisions if not decision.saved)

    def grown_to(self, ledger: Ledger) -> Trimmed:
        """The same decision for a longer history. A result that joins a changed list of results is priced in that list.

        O(1), or O(neighbours) if the last messages were changed.
        """
        if not self.changed or ledger.length <= self.length:
            return self
        since, passage = self.length, _view_passage(ledger, None, self.cut.first_kept, self.changed)
        if not passage.joins_changes(since):
            return self
        start = ledger.turn_start(since)  # also that of the changed messages, since only items of one turn are joined
        joined = self.savings[start] + passage.price_joining(since)
        return attrs.evolve(self, savings={**self.savings, start: joined}, length=ledger.length)

    def count(self, ledger: Ledger) -> Count:
        """What it costs. Call `grown_to` first if the history has grown."""
        return (ledger.with_savings(self.savings) if self.savings else ledger).kept(self.cut)


Known: TypeAlias = tuple[int, Trimmed]
"""A length of the history, and what stayed of it then."""

AsSent: TypeAlias = Callable[[Trimmed], Count]
"""What stays costs as it is sent. A policy that asks a model goes by this where the API merges messages: by the sum of
the prices it would ask while its last answer still fits."""


def label_decisions(decisions: Sequence[RungDecision]) -> Iterator[tuple[Label, RungDecision]]:
    """Each decision with the label of the policy that made it."""
    for place, decision in enumerate(decisions):
        yield (decision.policy, sum(before.policy == decision.policy for before in decisions[:place])), decision


def _note_decision(decisions: tuple[RungDecision, ...], new: RungDecision, label: Label) -> tuple[RungDecision, ...]:
    """The decisions with a new one. Each policy has one entry, however often it was asked."""
    known = [*label_decisions(decisions)]
    if label not in [each for each, _ in known]:
        return (*decisions, new)
    return tuple(old.again(new) if each == label else old for each, old in known)


def keep_all(ledger: Ledger) -> Trimmed:
    """The decision that every turn stays."""
    return Trimmed(Cut(ledger.first, ""))


def trim_by_rungs(
    ledger: Ledger,
    rungs: Sequence[Rung],
    tokens_left: Tokens,
    start: Trimmed | None = None,
    as_sent: AsSent | None = None,
    begin: int = 0,
) -> Trimmed:
    """Ask the policies in order, from the place `begin` on, until the conversation costs at most `tokens_left`."""
    kept = keep_all(ledger) if start is None else attrs.evolve(start.grown_to(ledger), failures=(), wanted=None)
    for place, rung in enumerate(rungs[begin:], begin):
        if fits(kept, ledger, tokens_left, as_sent):
            break
        used, label = kept.count(ledger).upper, label_of(rungs, place)
        if isinstance(rung, RewritingRung):
            kept = _ask_to_rewrite(ledger, rung, kept, used - tokens_left, place, label)
        else:
            kept = _ask_to_cut(ledger, rung, kept, tokens_left, used, label, as_sent)
    return kept


def fits(kept: Trimmed, ledger: Ledger, tokens_left: Tokens, as_sent: AsSent | None) -> bool:
    """Whether what stays costs at most `tokens_left`: by the sum of the prices, or as it is sent."""
    return kept.count(ledger).upper <= tokens_left or (as_sent is not None and as_sent(kept).upper <= tokens_left)


def show_as_sent(ledger: Ledger, rung: CuttingRung, kept: Trimmed, as_sent: AsSent | None) -> Ledger:
    """The ledger for a policy. For one that asks a model it counts what a cut keeps as it is sent, if that differs."""
    if as_sent is None or not asks(rung):
        return ledger
    return ledger.counting_as_sent(lambda cut: as_sent(attrs.evolve(kept, cut=cut)))


_MOST_ASKED_IN_A_ROW = 32
"""How many messages in a row a replay asks about while no policy makes the conversation small enough."""


@attrs.frozen(eq=False, repr=False)
class Replayed(Value):
    """How far a replay has come: what the ladder kept of the first `stop` messages, when it was last asked."""

    first: int
    """The first message that could stay."""
    stop: int
    kept: Trimmed
    failures: int = 0
    """How many questions in a row, before the one at `stop`, left more than there are tokens left."""
    failing_since: int = 0
    """The length of the history at the first of them."""

    def leads_to(self, ledger: Ledger) -> bool:
        """Whether the replay of this history comes to this point. A longer greeting moves the first message."""
        return self.first == ledger.first and self.stop <= ledger.length

    def after_failure(self) -> Replayed:
        """The same point, with the question at `stop` among the failures."""
        return attrs.evolve(self, failures=self.failures + 1, failing_since=self.failing_since or self.stop)

    @property
    def next_question(self) -> int:
        """The length at which to ask next after a failure.

        A question reads all that stays, and nothing was sent since the first failure. So after many failures there is
        one question for each eighth of the messages since then: O(log messages) questions.
        """
        gap = 1 if self.failures < _MOST_ASKED_IN_A_ROW else (self.stop - self.failing_since) // 8
        return self.stop + max(1, gap)


def replay_ladder(
    ledger: Ledger, rungs: Sequence[Rung], tokens_left: Tokens, low: Tokens, known: Replayed | None
) -> tuple[Replayed, Trimmed]:
    """How far the replay comes, and what stays of the whole history. The replay starts at `known`."""
    reached = known or Replayed(ledger.first, ledger.first, keep_all(ledger))
    line = ledger.timeline()
    while reached.stop < ledger.length:
        stop, kept = reached.stop, reached.kept
        joins = _view_passage(ledger, None, kept.cut.first_kept, kept.changed).joins_changes(stop)
        spare = tokens_left - kept.count(ledger.until(stop)).upper
        question: int | None
        if spare < 0:
            asked = reached.after_failure()
            question = asked.next_question
            if question > ledger.length:  # the replay of a longer history does not ask here
                return reached, attrs.evolve(cut_to_mark(ledger, rungs, low, kept.grown_to(ledger)), passing=True)
        else:
            asked = Replayed(reached.first, stop, kept)
            question = stop + 1 if joins else line.grown_by(kept.cut.first_kept, stop, spare)
            if question is None:  # all later messages fit
                break
        then = ledger.until(question)
        kept = kept.grown_to(then)
        if not joins or kept.count(then).upper > tokens_left:
            kept = cut_to_mark(then, rungs, low, kept)
        reached = attrs.evolve(asked, stop=question, kept=kept)
    return reached, reached.kept


def cut_to_mark(ledger: Ledger, rungs: Sequence[Rung], low: Tokens, kept: Trimmed) -> Trimmed:
    """Cut down to the mark: from `kept`, or from the whole history if a policy chooses anew each time."""
    anew = any(isinstance(rung.traits.keeps, KeepsChosen) for rung in rungs)
    return trim_by_rungs(ledger, rungs, low, None if anew else kept)


def _ask_to_cut(
    ledger: Ledger,
    rung: CuttingRung,
    kept: Trimmed,
    tokens_left: Tokens,
    used: Tokens,
    label: Label,
    as_sent: AsSent | None,
) -> Trimmed:
    seen = ledger.with_savings(kept.savings) if kept.savings else ledger
    summary = None if asks(rung) or _is_own_note(rung, kept.cut.summary) else kept.cut.summary
    for_summary = 0 if summary is None else seen.price(summary).upper
    shown = show_as_sent(seen, rung, kept, as_sent)
    cut = verify_cut(rung.policy, rung.policy.cut(shown, max(tokens_left - for_summary, 0)), ledger)
    if cut.first_kept < kept.cut.first_kept:
        cut = attrs.evolve(cut, first_kept=kept.cut.first_kept)
    if cut.summary is None or summary is not None:  # only a policy that knows of the summary may replace it
        cut = attrs.evolve(cut, summary=kept.cut.summary)
    saved = used - seen.kept(cut).upper
    decisions = _note_decision(kept.decisions, RungDecision(rung.name, max(saved, 0), ((cut.reason, 0),)), label)
    failures = kept.failures if cut.failure is None else (*kept.failures, cut.failure)
    cut, wanted = attrs.evolve(cut, wanted=None) if cut.wanted else cut, kept.wanted or cut.wanted
    cut, last = (cut, _find_last_dropped(seen, rung, cut)) if saved > 0 else (kept.cut, kept.last_change)
    return Trimmed(cut, kept.changed, kept.savings, decisions, failures, wanted, kept.made, kept.length, last)


def _find_last_dropped(ledger: Ledger, rung: CuttingRung, cut: Cut) -> LastChange:
    """The turn that a cut dropped last, if the policy drops the oldest turns one by one; else all that it dropped."""
    start, stop = ledger.turn_span(cut.first_kept - 1)
    if (
        cut.summary is None
        and isinstance(rung.traits.keeps, KeepsNewest)
        and (start, stop) not in ledger.pinned_turns()
    ):
        return LastChange(ledger.turn_upper(start, stop), stop - start)
    return LastChange(0, cut.first_kept - ledger.first)


def _is_own_note(rung: CuttingRung, summary: Message | None) -> bool:
    """Whether this is the policy's own note, for which it leaves tokens itself."""
    return summary is not None and rung.traits.note is not None and summary.parts == (rung.traits.note,)


def _ask_to_rewrite(
    ledger: Ledger, rung: RewritingRung, kept: Trimmed, excess: Tokens, place: int, label: Label
) -> Trimmed:
    """Take changes of the policy until they save `excess`."""
    changed, savings = dict(kept.changed), dict(kept.savings)
    saved, reasons, indexes, last = 0, dict[str, int](), list[tuple[int, ...]](), kept.last_change
    for change, gains in find_useful_changes(ledger, rung, kept.cut.first_kept, changed):
        last = LastChange(sum(gained.saved for gained in gains.values()), len(change.messages))
        saved += last.saved
        take_change(ledger, change, gains, changed, savings)
        indexes.append(tuple(change.messages))
        reasons[change.reason] = reasons.get(change.reason, 0) + 1
        if saved >= excess:
            break
    decision = RungDecision(rung.name, saved, tuple(reasons.items()))
    made = kept.made
    if indexes:
        made = (*made, RungChanges(ledger.length, place, kept.cut.first_kept, tuple(indexes)))
    decisions = _note_decision(kept.decisions, decision, label)
    return Trimmed(
        kept.cut, changed, savings, decisions, kept.failures, kept.wanted, made, ledger.length, last, kept.passing
    )


def find_useful_changes(
    ledger: Ledger, rung: RewritingRung, first: int, changed: Mapping[int, Message | None]
) -> Iterator[tuple[Change, Mapping[int, Difference]]]:
    """The changes of a policy that are allowed and save tokens, with the savings of each.

    The policy sees each change as soon as it is taken. Turns from `first` on stay, and pinned ones before it.
    """
    pinned = frozenset(ledger.pins)
    passage = _view_passage(ledger, rung.policy, first, changed)
    for change in read_changes(rung.policy, passage):
        if not pinned.isdisjoint(change.messages):
            continue
        gains = passage.gains(change)
        if sum(gained.saved for gained in gains.values()) > 0:
            refuse_unlawful(rung.policy, passage, change)
            yield change, gains


def _view_passage(ledger: Ledger, policy: object, first: int, changed: Mapping[int, Message | None]) -> PassageView:
    """What a rewriting policy sees: pinned turns, and all turns from `first` on."""
    stretches = [*ledger.pinned_turns(first), (first, ledger.length)]
    return PassageView(ledger, changed, policy, stretches, ledger.newest_turns(1))


def take_change(
    ledger: Ledger,
    change: Change,
    gains: Mapping[int, Difference],
    changed: dict[int, Message | None],
    savings: dict[int, Difference],
) -> None:
    """Add a change to `changed`, and its gains to `savings`."""
    changed.update(change.messages)
    for index, gained in gains.items():
        start = ledger.turn_start(index)
        savings[start] = savings.get(start, Difference()) + gained
