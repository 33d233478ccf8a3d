"""What stays and what goes.

A dialect that sends neighbouring messages as one turn bills them for less than the sum of their prices, a few tokens a
turn. The sum is a bound, so that what fits by the sum fits. What does not is counted as it is sent before it goes.
"""

from __future__ import annotations

from typing import cast

import attrs

from assembler.conversation.history import Sight
from assembler.conversation.pins import pinned_messages
from assembler.conversation.wanted import UnansweredError, Wanted
from assembler.dialects import Opening
from assembler.errors import ConversationError, UnsupportedContentError
from assembler.pipeline.draft import Draft
from assembler.pipeline.ladder import Decision, Kept, whole
from assembler.pipeline.measure import measure
from assembler.pipeline.overflow import TooLarge, Trial
from assembler.pipeline.planned import Planned
from assembler.pipeline.relief import kept_from, relieved
from assembler.pipeline.settings import Session, Settings
from assembler.pipeline.standing import first_changed, remember, standing_plan
from assembler.policies.traits import trimming
from assembler.pricing.ledger import Cut, Ledger
from assembler.pricing.pricer import WholePricer
from budgets import Budget, BudgetError, ContextLengthError, Count, Tokens

_ROUNDS = 8
"""Readings before a message that changes while it is read is given up. One is enough for a message edited in place."""


_NEAR = 4
_FEW = 64
"""A whole that is over its room by more than one part in four and 64 tokens is not counted as it is sent: merging never
saves so much, and a long history would be spelled for nothing."""


def fit(draft: Draft, settings: Settings) -> Planned:
    """The plan of a draft. O(what stays and one turn more), for policies that look no further back.

    What the plan hangs on is compared with what was read of it, and so is everything before an error is raised: a
    message that its owner has changed since is read anew.
    Raises `ContextLengthError` if no policy makes it fit, `ConversationError` if what stays is no valid conversation
    and no later message makes it one, `PlanError` if a policy cuts where no turn begins, `TokenCountError` if the
    counter fails, and `UnansweredError` where a policy wants an answer first: see `assembler.pipeline.answers`.
    """
    settings = settings.asking(draft.regions)
    try:
        return _fitted(draft, settings)
    except TooLarge as overflow:
        raise _instructed(draft, settings, overflow) from overflow.__cause__


def _instructed(draft: Draft, settings: Settings, overflow: TooLarge) -> ContextLengthError:
    """The error with what there is to do about it. Tries the same decision under other settings, on one reading."""
    from assembler.pipeline.advice import instructed  # for errors alone

    sight = draft.history.sight()
    return instructed(
        overflow, Trial(settings, lambda other: _decided(draft, sight, other), settings.budget or overflow.budget)
    )


def _fitted(draft: Draft, settings: Settings) -> Planned:
    plan = standing_plan(draft, settings)
    if plan is not None:
        return plan
    sight = draft.history.sight()
    changed: int | None = None
    for _ in range(_ROUNDS):
        try:
            plan = _decided(draft, sight, settings)
            changed = first_changed(plan)
            if changed is None:
                plan.check()
                remember(plan)
                return plan
        except Exception:  # a policy of the caller's own raises whatever it likes
            changed = sight.first_stale()
            if changed is None:
                raise
        sight = draft.history.forget(changed)
    raise ConversationError(
        "message never reads the same twice; pass a dict, or an object whose fields stay", index=changed
    )


def refitted(plan: Planned, context_window: Tokens) -> Planned:
    """The plan of the same draft for another window. Raises what `fit` raises.

    Counts no text again, asks no summarizer, and changes nothing that a build remembers.
    """
    return fit(plan.draft, _settings_at(plan, context_window))


def tried(plan: Planned, context_window: Tokens) -> Planned | None:
    """The same; None where the window is too small. Says nothing of what would do, and so is as cheap as a build."""
    try:
        return _fitted(plan.draft, _settings_at(plan, context_window))
    except (TooLarge, BudgetError):  # too small for a request, or for what is kept free
        return None


def without_asking(draft: Draft, settings: Settings, wanted: Wanted) -> Planned:
    """The plan with what stands in for policies that ask. Where it does not fit without an answer, what is left."""
    settings = settings.asking(draft.regions)
    try:
        plan = _fitted(draft, settings.unasking)
    except TooLarge as overflow:
        plan = overflow.plan
    return attrs.evolve(plan, settings=settings, what=attrs.evolve(plan.what, wanted=wanted))


def least(draft: Draft, settings: Settings) -> Planned:
    """The plan; without the answer where one is wanted first, and the least that is left where nothing fits."""
    try:
        return _fitted(draft, settings)
    except TooLarge as overflow:
        return overflow.plan
    except UnansweredError as unanswered:
        wanted = unanswered.wanted
    return without_asking(draft, settings, wanted)


def _settings_at(plan: Planned, context_window: Tokens) -> Settings:
    if plan.settings.budget is None:
        raise BudgetError("what_if needs a budget to change; pass one to Assembler")
    budget = attrs.evolve(plan.settings.budget, context_window=context_window)
    return attrs.evolve(plan.settings.unasking, budget=budget, session=Session())


def _decided(draft: Draft, sight: Sight, settings: Settings) -> Planned:
    try:
        return _counted(draft, sight, settings)
    except UnsupportedContentError:
        raise
    except ConversationError as refused:
        if settings.adds_up:
            raise
        # The request must be spelled to be counted, and it cannot be yet: its parts say how full it is.
        plan = _by_parts(_everything(draft, sight, settings.by_rule))
        return attrs.evolve(plan, settings=settings, refused=plan.refused or refused)


def _counted(draft: Draft, sight: Sight, settings: Settings) -> Planned:
    if settings.calibration is None:
        return _by_rule(_everything(draft, sight, settings))
    from assembler.pipeline.anchored import anchored  # for anchored assemblers alone

    everything = _everything(draft, sight, settings.by_rule)
    return anchored(
        settings,
        settings.calibration,
        lambda first: _from(everything, first),
        lambda start: _by_rule(everything, start),
    )


def _everything(draft: Draft, sight: Sight, settings: Settings) -> Planned:
    measured, fixed = measure(draft, sight, settings)
    floor, refused = _floor(sight, settings)
    ledger = Ledger.of(sight, settings.pricer, floor)
    return Planned(draft, settings, sight, measured, fixed, ledger, whole(ledger), refused=refused)


def _by_rule(everything: Planned, start: Kept | None = None) -> Planned:
    """What the policies leave of everything, or of `start`, which stays while it fits."""
    pricer = everything.settings.whole
    return _by_parts(everything, start) if pricer is None else _sealed(everything, pricer, start)


def _by_parts(everything: Planned, start: Kept | None = None) -> Planned:
    """The same, by the sum of the parts."""
    settings, fixed, ledger = everything.settings, everything.fixed, everything.ledger
    if settings.budget is None:
        ledger.since(ledger.first)  # a part that has no price is met here, not when somebody reads the count
        return everything
    room = settings.budget.input_limit - fixed.upper
    if settings.budget.limits:
        everything, room = _shared(everything, settings.budget)
    merging = settings.merging is not None
    if start is None and (_everything_fits(everything, room) if merging else room >= 0 and ledger.fits(room)):
        return everything
    ledger = _with_pins(everything)
    plan = attrs.evolve(everything, ledger=ledger, what=relieved(ledger, settings, max(room, 0), start))
    if merging:
        return _as_sent(_widened(plan, room, start), room, start)
    if (least := plan.what.count(ledger)).upper > room:
        raise _overflow(plan, settings.budget, least, room)
    return plan


def _as_sent(plan: Planned, room: Tokens, start: Kept | None) -> Planned:
    """The plan, or one for less room, so that it fits as it is sent: a sum may lie a token or two under that."""
    asked, settings = max(room, 0), plan.settings
    for _ in range(_ROUNDS):
        over = plan.by_rule.upper - plan.fixed.upper - room
        if over <= 0:
            return plan
        asked -= over
        if asked < 0:
            break
        plan = attrs.evolve(plan, what=relieved(plan.ledger, settings, asked, start))
    raise _overflow(plan, cast(Budget, settings.budget), (plan.by_rule - plan.fixed).alone(), room)


def _from(everything: Planned, first: int) -> Planned | None:
    """The plan that keeps all turns from `first` on and the pinned ones; None where no turn begins there."""
    settings, ledger = everything.settings, everything.ledger
    if settings.budget is not None and settings.budget.limits:
        try:
            everything, _ = _shared(everything, settings.budget)
        except ContextLengthError:
            return None
    if first <= ledger.first or ledger.length == ledger.first:
        kept = whole(ledger)
    elif first >= ledger.length or not ledger.begins_turn(first):
        return None
    else:
        ledger = _with_pins(everything)
        kept = kept_from(settings, first)
    plan = attrs.evolve(everything, ledger=ledger, what=kept)
    return plan if settings.whole is None else attrs.evolve(plan, sealed=settings.whole.whole(plan.layout))


def _shared(plan: Planned, budget: Budget) -> tuple[Planned, Tokens]:
    """The plan with what the limits leave of the fixed regions, and the room that they leave for the turns.

    Found once for these regions and this demand: the smaller regions are a value of their own, priced once too.
    """
    from assembler.pipeline.share import conversation_cap, shared  # for budgets with limits alone

    found = shared(plan.draft, plan.measured, plan.ledger, budget)
    if found.broken is not None:
        region, needed, left = found.broken
        least = plan.ledger.since(plan.ledger.newest_turns(1))
        required, costs = plan.fixed.upper + least.upper, plan.measured.costs(least)
        available = required - needed + left
        raise TooLarge(plan, budget, required=required, available=available, costs=costs, region=region)
    if found.regions is plan.draft.regions:
        return plan, min(conversation_cap(budget), budget.input_limit - plan.fixed.upper)
    draft = attrs.evolve(plan.draft, regions=plan.draft.regions.memory.once(found.regions))
    measured, fixed = measure(draft, plan.sight, plan.settings)
    rendered = attrs.evolve(measured.rendered, omitted=(*measured.rendered.omitted, *found.omitted))
    measured = attrs.evolve(measured, rendered=rendered)
    smaller = attrs.evolve(plan, measured=measured, fixed=fixed)  # the draft stays what was gathered
    return smaller, min(conversation_cap(budget), budget.input_limit - fixed.upper)


def _with_pins(plan: Planned) -> Ledger:
    """The ledger with what no policy may rewrite: pinned messages, and a question that carries knowledge."""
    pins = pinned_messages(plan.sight, plan.settings.pins)
    if (asked := plan.measured.asked) is not None:
        pins = tuple(sorted({*pins, asked.index}))
    if (summary := plan.sight.compacted(plan.settings.dialect.api.shape)) is not None:
        pins = tuple(sorted({*pins, summary}))
    return attrs.evolve(plan.ledger, pins=pins) if pins else plan.ledger


def _sealed(everything: Planned, pricer: WholePricer, start: Kept | None) -> Planned:
    """The plan where only the count of the whole decides."""
    from assembler.pipeline.seal import sealed  # for dialects that are counted whole alone

    settings = everything.settings
    if settings.budget is None:
        return attrs.evolve(everything, sealed=pricer.whole(everything.layout))
    limit = settings.budget.input_limit
    if settings.budget.limits:  # who gets how much goes by the estimates; that all of it fits, by the whole
        everything, room = _shared(everything, settings.budget)
        limit = min(limit, everything.fixed.upper + room)
    plan = attrs.evolve(everything, ledger=_with_pins(everything))
    plan, count = sealed(plan, pricer, limit, start, lambda room: relieved(plan.ledger, settings, room, start))
    if count.upper > limit:
        raise _overflow(plan, settings.budget, (count - plan.fixed).alone(), limit - plan.fixed.upper)
    return plan


def _overflow(plan: Planned, budget: Budget, kept: Count, room: Tokens) -> TooLarge:
    """What `kept` does not fit into: the limit of the input, or the cap of the conversation where that leaves less."""
    available, costs = min(plan.fixed.upper + room, budget.input_limit), plan.measured.costs(kept)
    region = "conversation" if available < budget.input_limit else None
    required = plan.fixed.upper + kept.upper
    overflow = TooLarge(plan, budget, required=required, available=available, costs=costs, region=region)
    overflow.__cause__ = next(iter(plan.warnings), None)
    return overflow


def _floor(sight: Sight, settings: Settings) -> tuple[int, ConversationError | None]:
    """The first message that the dialect lets stay: a greeting cannot open a conversation that the user must open.

    Before a server's summary nothing stays: it stands for that.

    With the error for a conversation that is nothing else yet.
    """
    if (floor := sight.floor(settings.dialect.api.shape)) > sight.head:
        return floor, None
    start, stop = (sight.head, sight.head) if settings.dialect.opening is Opening.ANY else sight.greeting()
    if start == stop or stop < sight.length:
        return stop, None
    needed = f"{settings.dialect.name} needs a user message; add one to the conversation"
    return stop, ConversationError(needed, index=start)


def _everything_fits(plan: Planned, room: Tokens) -> bool:
    """Whether everything fits into `room` as it is sent. O(the history), or less where it is far too long."""
    return room >= 0 and plan.ledger.fits(room + room // _NEAR + _FEW) and _fits_as_sent(plan, room)


def _fits_as_sent(plan: Planned, room: Tokens) -> bool:
    """Whether the plan's turns cost at most `room` as they are sent. O(what stays)."""
    return plan.by_rule.upper <= plan.fixed.upper + room


def _widened(plan: Planned, room: Tokens, start: Kept | None) -> Planned:
    """The plan with as many turns more as fit as they are sent, where the policy keeps the newest that fit."""
    trimmer, ledger = trimming(plan.settings.willing), plan.ledger
    oldest = ledger.first if start is None else start.cut.first_kept
    while trimmer is not None and oldest < plan.first:
        wider = attrs.evolve(plan, what=_all_from(plan, max(ledger.turn_start(plan.first - 1), oldest)))
        if not _fits_as_sent(wider, room):
            break
        plan = wider
    return plan


def _all_from(plan: Planned, first: int) -> Kept:
    if first <= plan.ledger.first:
        return whole(plan.ledger)
    cut = plan.what.cut
    decisions = (Decision(plan.settings.willing[0].name, 0, ((cut.reason, 0),)),)
    return Kept(Cut(first, cut.reason, cut.summary), decisions=decisions)
