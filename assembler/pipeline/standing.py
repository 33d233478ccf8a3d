"""A decision stands while what it keeps still fits: the next build goes on from it and asks no policy again.

That holds where everything fits, and for policies that keep the newest turns that fit or what was left at a low-water
mark. What the decision hangs on is compared with what was read: a caller may change a message in place. One that stays
is compared by every build. So is one that went, as far as the decision hangs on it: a message that was too long may
have become short, and an old one may have got a mark that pins it.

Of the messages that went, a build that goes on looks at `GLANCE`, the next build at the next ones, and a build that
decides anew at all of them. So the change of one that went is noticed at once in a history that dropped no more than
that, and after as many builds as it takes to look through the others elsewhere.
"""

from __future__ import annotations

import attrs

from assembler.conversation.history import Sight
from assembler.conversation.messages.pin import pinned_among
from assembler.pipeline.decisions import decided_by
from assembler.pipeline.draft import Draft
from assembler.pipeline.ladder import Kept
from assembler.pipeline.measure import Measured
from assembler.pipeline.planned import Planned
from assembler.pipeline.settings import Settings
from assembler.pipeline.steps import settled_by_turns
from assembler.policies.traits import stands
from assembler.pricing.ledger import Ledger
from assembler.pricing.prices import Prices
from budgets import AssemblyError, Count, Tokens
from budgets.count import total

GLANCE = 128
"""Messages that went and are compared by a build that goes on: 15 microseconds. Without a bound an appended build of a
history of 100,000 messages would look at them all."""


@attrs.define(eq=False)
class Standing:
    """What a later build needs to go on from a decision. Never changed: a build that goes on leaves a new one."""

    measured: Measured
    fixed: Count
    head: int
    first: int
    what: Kept
    conversation: Count
    """What the turns that stay cost, up to `length`."""
    room: Tokens | None
    """The most that they may cost; None without a budget."""
    length: int
    front: int
    hangs_on: int
    """The messages before `front` and from `hangs_on` on are compared by every build."""
    glance: int
    """The message between them that the next build looks at first."""


def remember(plan: Planned) -> None:
    """Leave the decision for the next build to go on from, if it can stand."""
    last = decided_by(plan.settings, plan.ledger)
    last.standing = _standing(plan)


def _standing(plan: Planned) -> Standing | None:
    settings, ledger = plan.settings, plan.ledger
    budget, everything = settings.budget, not plan.what.decisions
    if not settings.adds_up or plan.refused is not None or plan.measured.choice is not None:
        return None
    if budget is not None and (budget.limits or not (everything or _holds(plan))):
        return None
    if ledger.first >= plan.sight.length:
        return None  # no turn has begun: the next message may be a greeting, which costs nothing, or the first turn
    head = plan.sight.head
    front = min(max(head, ledger.first) + 1, plan.sight.length)
    return Standing(
        plan.measured,
        plan.fixed,
        head,
        ledger.first,
        plan.what,
        plan.conversation,
        None if budget is None else budget.input_limit - plan.fixed.upper,
        plan.sight.length,
        front,
        max(front, ledger.first if everything else one_turn_more(plan)),
        front,
    )


def _holds(plan: Planned) -> bool:
    """Whether nothing but an overflow changes what the policies keep, and no message is pinned."""
    return stands(plan.settings.willing) and not plan.ledger.pins and not plan.settings.pins


def standing_plan(draft: Draft, settings: Settings) -> Planned | None:
    """The plan that keeps what was kept and what came since; None where it must be decided anew. O(what stays)."""
    history = draft.history
    readings = history.readings
    prices = Prices.known(readings.prices, settings.pricer)
    if prices is None or prices.decisions is None:
        return None
    last = prices.decisions.known(settings)
    known = None if last is None else last.standing
    if last is None or known is None or known.measured.regions is not draft.regions or known.length > history.length:
        return None
    sight = Sight(readings, history.length)
    prices.stretch(sight.length)
    ledger = Ledger(sight, settings.pricer, prices, known.first)
    try:
        if not _unchanged(sight, known) or sight.compacted(settings.dialect.api.shape) is not None:
            return None
        conversation = known.conversation
        if sight.length > known.length:
            conversation = total(map(ledger.message, range(known.length, sight.length)), conversation)
    except AssemblyError:  # the whole decision says what is wrong, and with what
        return None
    if known.room is not None and conversation.upper > known.room:
        return None
    plan = Planned(draft, settings, sight, known.measured, known.fixed, ledger, known.what, carried=conversation)
    try:
        if sight.length > known.length or known.what.changed:
            plan.check()
    except AssemblyError:
        return None
    last.standing = _later(known, sight.length, conversation)
    return plan


def _later(known: Standing, length: int, conversation: Count) -> Standing:
    return Standing(
        known.measured,
        known.fixed,
        known.head,
        known.first,
        known.what,
        conversation,
        known.room,
        length,
        known.front,
        known.hangs_on,
        known.glance + GLANCE if known.glance + GLANCE < known.hangs_on else known.front,
    )


def _unchanged(sight: Sight, known: Standing) -> bool:
    """Whether all that is looked at says what it said, and no new message is pinned."""
    start = known.glance
    readings, length = sight.readings, sight.length
    if readings.head(length) != known.head or not _says_still(sight, 0, known.front):
        return False
    if not _says_still(sight, known.hangs_on, length):
        return False
    if length > known.length and pinned_among(readings.raws(known.length, length)):
        return False
    if start >= known.hangs_on:
        return True
    stop = min(start + GLANCE, known.hangs_on)
    if not _says_still(sight, start, stop):
        return False
    return None not in readings.messages[start:stop] or not pinned_among(readings.raws(start, stop))


def _says_still(sight: Sight, start: int, stop: int) -> bool:
    return sight.readings.says_still(start, stop) or sight.first_changed(start, stop) is None


def first_changed(plan: Planned) -> int | None:
    """The first message that a new decision hangs on and that its owner changed or marked after it was read, or None.

    Where the newest turns stay that fit, and no other rule says what stays, that is the front of the history, what
    stays, and one turn more, whose price shows that it does not fit: O(what stays), and a look at each message for a
    mark. Any other policy may have read anything: O(messages that were read).
    """
    sight = plan.sight
    if not (plan.what.decisions and _newest_that_fit(plan)):
        return sight.first_stale()
    front = min(max(sight.head, plan.ledger.first) + 1, sight.length)
    for start, stop in ((0, front), (one_turn_more(plan), sight.length)):
        changed = sight.first_changed(start, stop)
        if changed is not None:
            return changed
    return sight.remarked


def _newest_that_fit(plan: Planned) -> bool:
    return not plan.ledger.pins and not plan.settings.pins and settled_by_turns(plan)


def one_turn_more(plan: Planned) -> int:
    """Where the newest of the turns begins that went."""
    return plan.ledger.turn_start(plan.first - 1) if plan.first > plan.ledger.first else plan.first
