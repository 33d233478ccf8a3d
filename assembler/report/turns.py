"""The rows of a report's turns. A report of a decision that stands continues from the last one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter

import attrs

from assembler.conversation.history import Span
from assembler.conversation.messages import Call, Result
from assembler.pipeline.ladder import Trimmed
from assembler.pipeline.planned import Planned
from assembler.policies.traits import Label, label_of
from assembler.pricing.ledger import Ledger
from assembler.report.rows import Row, span_name
from assembler.text.invisible import Invisible, invisible_texts
from budgets import AssemblyError, Tokens


@attrs.define(eq=False)
class TurnFacts:
    """Facts of a turn that do not depend on the rest of the request."""

    start: int
    stop: int
    called: Mapping[str, None]
    """The names of the tools that it calls."""
    invisible: Sequence[Invisible]
    """The invisible characters in its tool results."""
    row: Row | None = None
    """Its row if it has ended and stays unchanged; None before a report needed it."""


@attrs.define(eq=False)
class Turns:
    """Turns that stay, with their rows and those of what was dropped before each. Never changed."""

    trimmed: Trimmed
    stop: int
    """The index after the last of them; where turns may begin, if there is none."""
    facts: Sequence[TurnFacts] = ()
    rows: Sequence[Row] = ()
    tokens: Tokens = 0
    """What the rows add up to."""
    called: Mapping[str, None] = attrs.Factory(dict[str, None])
    """The names of the tools that they call, in the order of their first calls."""
    invisible: Sequence[Invisible] = ()

    def and_then(self, plan: Planned, facts: Sequence[TurnFacts]) -> Turns:
        """These turns and the next ones that stay."""
        if not facts:
            return self
        rows, called, invisible = _make_rows(plan, self.stop, facts), {**self.called}, [*self.invisible]
        for turn in facts:
            called.update(turn.called)
            invisible += turn.invisible
        tokens = sum(map(TOKENS, rows), self.tokens)
        return Turns(
            self.trimmed,
            facts[-1].stop,
            [*self.facts, *facts],
            [*self.rows, *rows],
            tokens,
            called,
            invisible,
        )


TOKENS = attrgetter("after")


@attrs.frozen(eq=False)
class TurnRows:
    """What the last report said of the turns that had ended, and what it read of the one that had not."""

    ended: Turns
    newest: Sequence[TurnFacts]
    """At most one."""


def turns_of(plan: Planned) -> Turns:
    """The turns that stay: O(new messages) while the decision stands, else O(turns). Each message is read once.

    It is stored with the decisions, and so forgotten when a message changes. Every thread would compute the same.
    """
    last, length = plan.session_memory.turn_rows, plan.view.length
    if last is not None and last.ended.trimmed is plan.trimmed and plan.last_length and last.ended.stop < length:
        known, read, turns = last.ended, last.newest, plan.turns_since(last.ended.stop)
    else:
        known, turns = Turns(plan.trimmed, plan.view.head), plan.turns
        read = () if last is None else (*last.ended.facts, *last.newest)
    facts = _find_facts(plan, turns, {turn.start: turn for turn in read})
    ended = len(facts) - (bool(turns) and turns[-1][1] == length)
    known, newest = known.and_then(plan, facts[:ended]), facts[ended:]
    plan.session_memory.turn_rows = TurnRows(known, newest)
    return known.and_then(plan, newest)


def _find_facts(plan: Planned, turns: Sequence[Span], known: Mapping[int, TurnFacts]) -> list[TurnFacts]:
    """The facts of each turn. What is known of a turn continues: it may have grown since."""
    facts: list[TurnFacts] = []
    for start, stop in turns:
        turn = known.get(start)
        if turn is None or turn.stop > stop:  # the longer one is a fork's
            turn = TurnFacts(start, start, {}, ())
        facts.append(turn if turn.stop == stop else _extend_facts(plan, turn, stop))
    return facts


def _extend_facts(plan: Planned, turn: TurnFacts, stop: int) -> TurnFacts:
    """The facts of a turn that has grown. O(its new messages)."""
    called = {**turn.called}
    results: list[tuple[str, str, str]] = []
    for index, message in enumerate(plan.view.messages(turn.stop, stop), turn.stop):
        for part in message.parts:
            if type(part) is Call:
                called[part.name] = None
            elif type(part) is Result:
                # An ASCII text has no invisible characters.
                texts = [text for text in part.parts if isinstance(text, str) and not text.isascii()]
                results += [("conversation", f"message {index}", text) for text in texts]
    return TurnFacts(turn.start, stop, called, [*turn.invisible, *invisible_texts(results)])


def _make_rows(plan: Planned, at: int, turns: Sequence[TurnFacts]) -> list[Row]:
    """A row for each of these turns, and one before it for what was dropped since `at` or the turn before."""
    rows: list[Row] = []
    first, length, savings = plan.first, plan.view.length, plan.trimmed.savings
    times, forgets = _count_changes(plan) if plan.trimmed.made else {}, plan.ledger.prices.forgetting is not None
    for facts in turns:
        start, stop = facts.start, facts.stop
        if at < start:
            rows.append(_make_dropped_row(plan, at, start))
        row, lasts = facts.row, not (forgets and plan.ledger.reasoning(start, stop).upper)
        if row is None or not lasts or start in savings or stop <= first or stop == length:
            row = _make_turn_row(plan, start, stop, times.get(start, {}))
            if lasts and not row.reason:
                # A turn that has ended and was not shortened has the same row in every report, unless it holds
                # reasoning that is billed only until the next question.
                facts.row = row
        rows.append(row)
        at = stop
    return rows


def _make_dropped_row(plan: Planned, start: int, stop: int) -> Row:
    why = plan.trimmed.why_gone if plan.trimmed.decisions else why_before(plan)
    before = _price_dropped(_price_as_they_are(plan), start, stop)
    return Row("conversation", span_name(start, stop), before, 0, "dropped", why, stop - start)


def _price_as_they_are(plan: Planned) -> Ledger:
    """The prices of the messages as they are now: builds do not check all dropped messages for changes."""
    if plan.last_length or plan.first <= plan.view.head:
        return plan.ledger.under(plan.settings.pricer)
    return Ledger.of(plan.draft.history.current(), plan.settings.pricer)


def _count_changes(plan: Planned) -> dict[int, dict[Label, int]]:
    """Count the changes of each policy in each turn, by the turn's first message. O(changes)."""
    times: dict[int, dict[Label, int]] = {}
    rungs = plan.settings.active_rungs
    for made in plan.trimmed.made:
        for indexes in made.indexes:
            for start in {plan.ledger.turn_start(index) for index in indexes}:
                of_turn, label = times.setdefault(start, {}), label_of(rungs, made.place)
                of_turn[label] = of_turn.get(label, 0) + 1
    return times


def _make_turn_row(plan: Planned, start: int, stop: int, times: Mapping[Label, int]) -> Row:
    before = plan.ledger.turn(start, stop).tokens
    saved = plan.trimmed.savings.get(start)
    reasons = ["newest turn"] if stop == plan.view.length else []
    if stop <= plan.first:
        reasons.append("pinned")
    if saved is None:
        return Row("conversation", span_name(start, stop), before, before, "kept", "; ".join(reasons), stop - start)
    reasons.append(plan.trimmed.why_shortened(times))
    after = before + saved.tokens
    by_rule = plan.ledger.under(plan.settings.pricer)
    shown = before if by_rule is plan.ledger else _price_dropped(by_rule, start, stop)
    return Row("conversation", span_name(start, stop), shown, after, "shortened", "; ".join(reasons), stop - start)


def _price_dropped(ledger: Ledger, start: int, stop: int) -> Tokens | None:
    """What the dropped turns would have cost; None if one of their messages is invalid."""
    try:
        return ledger.dropped_tokens(start, stop)
    except AssemblyError:
        return None


def why_before(plan: Planned) -> str:
    """Why the messages before the first one that may be sent are not sent."""
    if plan.view.floor(plan.settings.dialect.api.shape) > plan.view.head:
        return "the server's own summary replaces it"
    return f"{plan.settings.dialect.name} must begin with a user message"
