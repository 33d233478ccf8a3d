"""Keeps a decision while it still fits, so that the next build asks no policy.

This is possible if everything fits, and for policies that keep the newest turns that fit or hold a low-water mark. A
caller may change a message in place, so each build compares the messages on which the decision depends with what was
read of them: all that stay, and the dropped ones that matter. A long message may have become short, and an old one may
have been pinned.

Each build checks `GLANCE` of the dropped messages, the next build the next ones. So a change to a dropped message is
noticed at once if no more were dropped than that, and otherwise after a few builds. The same holds if the build must
decide again because the conversation has outgrown the tokens left: it starts from the last decision. What a policy
remembers, such as a summary, speaks for dropped messages in the request: each build checks all of those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from assembler.conversation.history import HistoryView, Span
from assembler.conversation.messages.read import pinned_among
from assembler.conversation.pins import pinned_messages
from assembler.conversation.turns import OpenCalls
from assembler.pipeline.found_once import keep
from assembler.pipeline.ladder import Trimmed
from assembler.pipeline.measure import Measured
from assembler.pipeline.planned import Planned
from assembler.pipeline.window_steps import settled_by_turns
from assembler.policies.traits import cuts_only_on_overflow
from assembler.pricing.ledger import Ledger
from budgets import AssemblyError, Budget, Count, Tokens
from budgets.count import total

if TYPE_CHECKING:
    from assembler.pipeline.gather import Gathered

GLANCE = 32
"""How many dropped messages a build checks: about as many as stay. Without a bound, a build with one new message would
check all of a history of 100,000."""


@attrs.define(eq=False)
class LastDecision:
    """What a later build needs to keep a decision. Never changed: each build that keeps it makes a new one."""

    before_limits: Measured
    """The fixed regions as gathered. `measured` is what limits left of them."""
    measured: Measured
    trimmed: Trimmed
    head: int
    first: int
    pins: tuple[int, ...]
    tokens_left: Tokens | None
    """The most that the turns may cost; None without a budget."""
    apart: tuple[Span, ...]
    """Pinned turns before the cut, and what a summary replaces. Every build checks them."""
    front: int
    """Every build checks the messages before this one: a change there may move where turns begin."""
    checked_from: int
    """Every build checks the messages from here on: they stay, or prove that no more fit."""
    length: int
    conversation: Count
    """The cost of the turns that stay, up to `length`."""
    open_calls: OpenCalls
    """The calls without a result at `length`."""
    glance: int
    """The first message between `front` and `checked_from` that the next build checks."""

    def checked_until(self) -> int:
        """The first dropped message that the build after the next one checks."""
        further = self.glance + GLANCE
        return further if further < self.checked_from else self.front

    def later(
        self, length: int, trimmed: Trimmed, conversation: Count, open_calls: OpenCalls, pins: tuple[int, ...]
    ) -> LastDecision:
        """The same decision for a longer history. Not by `attrs.evolve`, which is slower: each build makes one."""
        return LastDecision(
            self.before_limits,
            self.measured,
            trimmed,
            self.head,
            self.first,
            pins,
            self.tokens_left,
            self.apart,
            self.front,
            self.checked_from,
            length,
            conversation,
            open_calls,
            self.checked_until(),
        )


def last_decision_of(plan: Planned, before_limits: Measured, last: LastDecision | None) -> LastDecision | None:
    """What the next build needs to keep this decision; None if it must decide again. `last` is the one before."""
    settings, ledger, trimmed = plan.settings, plan.ledger, plan.trimmed
    budget, all_fits = settings.budget, not trimmed.decisions
    if not settings.adds_up or plan.refused is not None or plan.measured.host is not None:
        return None
    if plan.unsettled or trimmed.passing:
        return None
    if budget is not None and not (all_fits or cuts_only_on_overflow(settings.active_rungs)):
        return None
    tokens_left = None if budget is None else _find_tokens_left(plan, budget, before_limits)
    if budget is not None and tokens_left is None:
        return None
    if settings.merging_pricer is not None and not all_fits and not plan.can_be_sent:
        return None  # counted by the sum of its parts: more may fit once it can be sent
    if ledger.first >= plan.view.length:
        return None  # no turn yet: the next message may be a greeting, which costs nothing, or the first turn
    front, keepsakes = min(max(plan.view.head, ledger.first) + 1, plan.view.length), plan.view.readings.keepsakes
    return LastDecision(
        before_limits,
        plan.measured,
        trimmed,
        plan.view.head,
        ledger.first,
        ledger.pins,
        tokens_left,
        ledger.pinned_turns(plan.first) + (keepsakes.spans(plan.view.length) if keepsakes.entries else ()),
        front,
        max(front, newest_dropped_turn(plan)),
        plan.view.length,
        plan.conversation,
        plan.open_calls,
        front if last is None else max(front, last.checked_until()),
    )


def _find_tokens_left(plan: Planned, budget: Budget, before_limits: Measured) -> Tokens | None:
    """The most that the turns may cost; None if the limits may give them another share later."""
    tokens_left = budget.input_limit - plan.fixed.upper
    if not budget.limits:
        return tokens_left
    from assembler.pipeline.share_budget import asks_for_all, conversation_cap, sends_used_tools  # for limits alone

    nothing_gave_way = not plan.trimmed.decisions and plan.measured is before_limits
    if sends_used_tools(budget) or not (nothing_gave_way or asks_for_all(before_limits, plan.ledger, budget)):
        return None
    return min(conversation_cap(budget), tokens_left)


def still_holds(known: LastDecision, view: HistoryView) -> bool:
    """Whether the messages that this build checks are unchanged."""
    readings, length, start = view.readings, view.length, known.glance
    if known.length > length or readings.head(length) != known.head:
        return False
    stop = min(start + GLANCE, known.checked_from)
    to_check = ((known.checked_from, length), (0, known.front), (start, stop), *known.apart)
    if not readings.dicts_are_unchanged(*to_check) and any(view.compare_each(*span) is not None for span in to_check):
        return False
    marked = pinned_among(readings.raws(start, stop))  # they may not have been read, but pins show without reading
    return not marked or {start + index for index in marked}.issubset(known.pins)


def continue_decision(gathered: Gathered) -> Planned | None:
    """The plan that keeps the last decision and the new messages; None if that does not fit or no decision holds.

    O(new messages).
    """
    settings, view, known = gathered.settings, gathered.view, gathered.last
    prices, memory = gathered.prices, gathered.memory
    if known is None or prices is None or memory is None:
        return None
    start, length, pins = known.length, view.length, known.pins
    conversation, open_calls, trimmed = known.conversation, known.open_calls, known.trimmed
    all_fits = not trimmed.decisions
    ledger = Ledger(view, settings.pricer, prices, known.first, pins)
    if length > start:
        try:
            open_calls = view.readings.open_calls_after(start, length)
            forgetting = prices.forgetting is not None
            if (forgetting and ledger.has_forgotten(start)) or view.compacted(settings.dialect.api.shape) is not None:
                return None  # what stays costs less now, and dropped turns may fit again
            conversation = total(ledger.between(start, length), conversation)
            if forgetting:
                conversation += ledger.reasoning(start, length)
            if trimmed.changed and (joined := trimmed.grown_to(ledger)) is not trimmed:
                trimmed, conversation = joined, joined.count(ledger)
        except AssemblyError:  # deciding from scratch raises the full error
            return None
        if known.tokens_left is not None and conversation.upper > known.tokens_left:
            return None
        if not all_fits and (settings.pins or pinned_among(view.readings.raws(start, length))):
            pins = pinned_messages(view, settings.pins, start)
            ledger = attrs.evolve(ledger, pins=pins)
    plan = Planned(gathered.draft, settings, view, known.measured, ledger, trimmed, last_length=start)
    # A changed list of results that was priced anew is graded anew too, by what stays: so the plan does it.
    found: dict[str, object] = {"conversation": conversation} if trimmed is known.trimmed else {}
    if memory.session_memory is not None:
        found["session_memory"] = memory.session_memory
    if not known.trimmed.changed:
        found["open_calls"] = open_calls
    keep(plan, **found)
    # As sent, messages may cost more than one by one: the API's own words separate some, and results that are sent side
    # by side cost more.
    if known.tokens_left is not None and plan.merges and not plan.fits(known.tokens_left):
        return None
    memory.last_decision = known.later(length, trimmed, plan.conversation, open_calls, pins)
    return plan


def first_changed(plan: Planned, last: LastDecision | None) -> int | None:
    """The first message that was changed or pinned after it was read, of those on which a new decision depends.

    A decision that started from the last one depends on what that depended on, and on the new messages. One that keeps
    the newest turns that fit depends on the front of the history, on what stays, and on the one turn more that does not
    fit; what lies between is compared too if it is no more than `GLANCE`. Both cost O(messages that stay), the second
    also a look at each message for a pin.

    Any other policy may have read any message, and a policy may remember something, such as a summary. Then all that
    was read is compared: O(messages that were read).
    """
    view = plan.view
    if view.readings.keepsakes.entries:
        return view.first_stale()
    if last is not None and last.trimmed.cut.first_kept <= plan.first:
        to_check = [(0, last.front), *last.apart, (last.checked_from, view.length)]
    elif plan.trimmed.decisions and _keeps_newest_that_fit(plan):
        front = min(max(view.head, plan.ledger.first) + 1, view.length)
        newest = newest_dropped_turn(plan)
        to_check = [(0, front if newest - front > GLANCE else newest), (newest, view.length)]
    else:
        return view.first_stale()
    changed = (view.first_changed(start, stop) for start, stop in to_check)
    return next((found for found in changed if found is not None), view.pin_changed)


def _keeps_newest_that_fit(plan: Planned) -> bool:
    return not plan.ledger.pins and not plan.settings.pins and settled_by_turns(plan)


def newest_dropped_turn(plan: Planned) -> int:
    """The index where the newest dropped turn begins."""
    ledger, start = plan.ledger, plan.first
    pinned = {begin for begin, _ in ledger.pinned_turns(start)}
    while start > ledger.first:
        start = ledger.turn_start(start - 1)
        if start not in pinned:
            break
    return start
