"""Decides what stays of a conversation and what goes.

A dialect that sends neighbouring messages as one turn is billed a few tokens a turn less than the sum of their prices.
So the sum is an upper bound: what fits by the sum fits. Otherwise the request is counted as it is sent before anything
is dropped.
"""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import TYPE_CHECKING, cast

import attrs

from assembler.conversation.pins import find_undroppable
from assembler.conversation.policy_memory import read_remembered
from assembler.conversation.turns import is_head, opens_turn
from assembler.errors import ConversationError, UnsupportedContentError
from assembler.pipeline.choose import floor_of, host_of
from assembler.pipeline.cut_less import cut_less
from assembler.pipeline.gather import Gathered
from assembler.pipeline.ladder import Known, Trimmed, keep_all
from assembler.pipeline.last_decision import continue_decision, first_changed, last_decision_of
from assembler.pipeline.measure import Measured, measure
from assembler.pipeline.overflow import TooLarge
from assembler.pipeline.planned import Planned
from assembler.pipeline.trimming import repeat_recipe, trim
from assembler.policies.traits import asks, find_trimmer
from assembler.pricing.ledger import Ledger
from assembler.pricing.pricer import WholePricer
from budgets import Budget, ContextLengthError, Count, Tokens
from budgets.count import Difference

if TYPE_CHECKING:
    from assembler.pipeline.recipe import Recipe
    from assembler.pipeline.share_budget import Shared

_ROUNDS = 8
"""How often to cut further when a plan does not fit as it is sent. Once or twice is enough."""


_ROUNDS_OF_LIMITS = 3
"""How often documents and tools give way at most. Twice is enough, unless floors keep them from it."""


def fit(gathered: Gathered, measured: Measured) -> Planned:
    """The plan of a draft: the last decision if it still holds, else a new one. O(new messages) or, for policies that
    look no further back, O(messages that stay and one more turn).

    Raises `TooLarge` if no policy makes it fit, `ConversationError` if what stays is invalid and no later message can
    make it valid, `PlanError` if a policy cuts inside a turn, `TokenCountError` if the counter fails, `ChangedError` if
    the owner changed a message after it was read, and `UnansweredError` if a policy needs a summary first (see
    `assembler.pipeline.summarizing`).
    """
    last = gathered.last
    if last is not None and measured is last.before_limits and (plan := continue_decision(gathered)) is not None:
        return plan
    plan = decide_plan(gathered, measured)
    if plan.view.readings.keepsakes.entries:
        read_remembered(plan.view)
    changed = first_changed(plan, last)
    if changed is not None:
        raise ChangedError(changed)
    plan.check()
    plan.memory.last_decision = last_decision_of(plan, measured, last)
    plan.memory.session_memory = plan.session_memory
    return plan


class ChangedError(Exception):
    """A message was changed by its owner after it was read. Never leaves this package."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


def decide_plan(gathered: Gathered, measured: Measured) -> Planned:
    """The plan that the policies make. Does not check whether messages changed after they were read."""
    try:
        return _plan_by_rule_or_bill(gathered, measured)
    except UnsupportedContentError:
        raise
    except ConversationError:
        if gathered.settings.adds_up:
            raise
        # The request must be spelled to be counted, and it cannot be spelled yet. The sum of its parts has to do.
        return attrs.evolve(_plan_by_sum(_plan_uncut(gathered, measured)), settings=gathered.settings)


def _plan_by_rule_or_bill(gathered: Gathered, measured: Measured) -> Planned:
    uncut = _plan_uncut(gathered, measured)
    if gathered.settings.calibration is None:
        return _plan_by_rule(uncut)
    from assembler.pipeline.anchored import plan_anchored  # for anchored assemblers alone

    return plan_anchored(
        gathered.settings,
        gathered.settings.calibration,
        lambda recipe: _continue_from(uncut, recipe),
        lambda start: _plan_by_rule(uncut, start),
    )


def _plan_uncut(gathered: Gathered, measured: Measured) -> Planned:
    settings, view = gathered.settings.by_rule, gathered.view
    floor, refused = floor_of(view, settings)
    ledger, length = Ledger.of(view, settings.pricer, floor), 0 if gathered.last is None else gathered.last.length
    kept = keep_all(ledger)
    return Planned(gathered.draft, settings, view, measured, ledger, kept, refused=refused, last_length=length)


def _plan_by_rule(uncut: Planned, start: Known | None = None) -> Planned:
    """The plan by our own prices. `start` is kept if it fits; without it, everything is.

    If the smallest conversation does not fit under the budget's limits, documents and tools give way: more of them
    while it is still too large, since estimates of the rest are rounded up again.
    """
    try:
        return _plan_within_limits(uncut, start, 0)
    except TooLarge as overflow:
        last, reserved = overflow, overflow.required - overflow.plan.fixed.upper
    for _ in range(_ROUNDS_OF_LIMITS):
        if not _may_make_way(uncut, last):
            break
        try:
            return attrs.evolve(_plan_within_limits(uncut, start, reserved), unsettled=True)
        except TooLarge as overflow:
            last, reserved = overflow, reserved + overflow.excess
    try:
        raise last
    finally:
        del last  # it holds this frame, which would hold it, and the conversation, until the collector runs


def _may_make_way(uncut: Planned, overflow: TooLarge) -> bool:
    """Whether documents or tools may give up tokens so that the smallest conversation fits."""
    limits, regions = overflow.budget.limits, uncut.draft.regions
    if not limits or overflow.region is not None:
        return False
    from assembler.pipeline.share_budget import has_a_piece_for_each  # for budgets with limits alone

    capability = limits.get("capability")
    selected = capability is not None and capability.select is not None and bool(regions.tools)
    return selected or (bool(regions.documents) and has_a_piece_for_each(uncut.measured))


def _plan_within_limits(uncut: Planned, start: Known | None, reserved: Tokens) -> Planned:
    """The plan under the budget's limits, with `reserved` tokens guaranteed to the turns."""
    pricer = uncut.settings.whole_pricer
    if pricer is not None:
        return _plan_by_whole(uncut, pricer, start, reserved)
    try:
        return _plan_by_sum(uncut, start, reserved)
    except UnsupportedContentError:
        if uncut.settings.budget is None:
            raise
        return _plan_without_unpriced(uncut, start, reserved)


def _plan_without_unpriced(uncut: Planned, start: Known | None, reserved: Tokens) -> Planned:
    """The plan, if the policies drop each message without a price even though it is counted as nothing.

    Raises `UnsupportedContentError` for one that stays.
    """
    strict, settings = uncut.ledger, uncut.settings.with_unpriced_as_free
    ledger = Ledger.of(uncut.view, settings.pricer, strict.first)
    try:
        plan = _plan_by_sum(attrs.evolve(uncut, settings=settings, ledger=ledger), start, reserved)
    except TooLarge as overflow:
        _refuse_unpriced(overflow.plan, strict)
        raise
    _refuse_unpriced(plan, strict)
    return attrs.evolve(plan, settings=uncut.settings)


def _refuse_unpriced(plan: Planned, strict: Ledger) -> None:
    """Raise `UnsupportedContentError` for a message without a price that stays."""
    for index, message in plan.kept_messages:
        if index in plan.trimmed.changed:
            strict.price(message)
        else:
            strict.message(index)


def _plan_by_sum(uncut: Planned, start: Known | None = None, reserved: Tokens = 0) -> Planned:
    """The plan by the sum of the parts."""
    settings, fixed, ledger = uncut.settings, uncut.fixed, uncut.ledger
    if settings.budget is None:
        ledger.since(ledger.first)  # raise now for a part without a price, not when the caller reads the count
        return uncut
    tokens_left = settings.budget.input_limit - fixed.upper
    if settings.budget.limits:
        uncut, tokens_left = _share_out(uncut, settings.budget, reserved)
    if start is None and _all_turns_fit(uncut, tokens_left):
        return uncut
    ledger = _add_pins(uncut)
    choice = uncut.measured.choice
    asked = tokens_left if choice is None else tokens_left + choice.saved  # knowledge was given what merging saves
    as_sent = None
    if uncut.merges and any(map(asks, settings.active_rungs)):
        as_sent = partial(_count_as_sent, uncut, ledger, asked - tokens_left)
    plan = uncut.leaving(trim(ledger, settings, max(asked, 0), start, as_sent), ledger)
    if plan.merges:
        fitted = _cut_until_sent_fits(_add_turns_that_fit(plan, tokens_left, start), tokens_left, asked, start)
        return cut_less(fitted, tokens_left, max(asked, 0), as_sent) if start is None else fitted
    if (least := plan.trimmed.count(ledger)).upper > tokens_left:
        raise _make_overflow(plan, settings.budget, least, tokens_left)
    return plan


def _count_as_sent(uncut: Planned, ledger: Ledger, spared: Tokens, kept: Trimmed) -> Count:
    """What stays costs as it is sent, and the `spared` tokens that were given to knowledge."""
    plan = uncut.leaving(kept, ledger)
    return (plan.by_rule - plan.fixed + Difference(spared, upper=spared)).alone()


def _cut_until_sent_fits(plan: Planned, tokens_left: Tokens, asked: Tokens, start: Known | None) -> Planned:
    """The plan, cut further until it fits as it is sent: that may cost a token or two more than the sum."""
    asked, settings = max(asked, 0), plan.settings
    for _ in range(_ROUNDS):
        over = plan.by_rule.upper - plan.fixed.upper - tokens_left
        if over <= 0:
            return plan
        kept = plan.trimmed.count(plan.ledger).upper
        if kept > asked:  # the policies can do no more
            break
        asked = kept - over  # for more, the policies cut the same
        if asked < 0:
            break
        plan = plan.leaving(trim(plan.ledger, settings, asked, start), plan.ledger)
        plan.unsettled = True
    raise _make_overflow(plan, cast(Budget, settings.budget), (plan.by_rule - plan.fixed).alone(), tokens_left)


def _continue_from(uncut: Planned, recipe: Recipe) -> Planned | None:
    """The plan that keeps what an earlier request kept, and the messages since.

    None if those messages are gone, other policies decide now, it exceeds the cap of the conversation, or a template
    refuses it.
    """
    settings = uncut.settings
    if settings.budget is not None and settings.budget.limits:
        try:
            uncut, _ = _share_out(uncut, settings.budget)
        except ContextLengthError:
            return None
    ledger = _add_pins(uncut) if recipe.decisions else uncut.ledger
    kept = repeat_recipe(ledger, settings, recipe)
    if kept is None or _is_over_its_cap(kept.count(ledger), settings.budget):
        return None
    plan = uncut.leaving(kept, ledger)
    pricer = settings.whole_pricer
    if pricer is None:
        return plan
    return attrs.evolve(plan, sealed=pricer.count_whole(plan.layout)) if plan.can_be_sent else None


def _is_over_its_cap(conversation: Count, budget: Budget | None) -> bool:
    """Whether the turns cost more than the budget's cap on the conversation. Limits are checked by our own prices."""
    limit = None if budget is None else budget.limits.get("conversation")
    if budget is None or limit is None or limit.cap is None:
        return False
    from assembler.pipeline.share_budget import conversation_cap  # for budgets with limits alone

    return conversation.upper > conversation_cap(budget)


def _share_out(plan: Planned, budget: Budget, reserved: Tokens = 0) -> tuple[Planned, Tokens]:
    """The plan with the fixed regions reduced to their limits, and the tokens left for the turns.

    Documents and selected tools give way until the turns have the `reserved` tokens.
    """
    from assembler.pipeline.share_budget import conversation_cap, share_out  # for budgets with limits alone

    server = plan.settings.dialect.api.search
    found = share_out(plan.draft, plan.measured, plan.ledger, budget, plan.view, server, reserved)
    smaller = plan if found.regions is plan.draft.regions else _reduce_regions(plan, found)
    if found.over:
        region, needed, left = found.over[0]
        least = plan.ledger.since(plan.ledger.newest_turns(1))
        required, costs = smaller.fixed.upper + least.upper, smaller.measured.costs(least)
        available = required - needed + left
        raise TooLarge(
            smaller, budget, required=required, available=available, costs=costs, region=region, over=found.over
        )
    return smaller, min(conversation_cap(budget), budget.input_limit - smaller.fixed.upper)


def _reduce_regions(plan: Planned, shared: Shared) -> Planned:
    """The plan with the fixed regions that are left. They are remembered, so that they are priced once."""
    draft = attrs.evolve(plan.draft, regions=plan.draft.regions.memory.once(shared.regions))
    measured = measure(Gathered(draft, plan.settings, plan.view), plan.measured.choice)
    rendered = attrs.evolve(measured.rendered, omitted=(*measured.rendered.omitted, *shared.omitted))
    return attrs.evolve(plan, measured=attrs.evolve(measured, rendered=rendered))  # the draft stays what was gathered


def _add_pins(plan: Planned) -> Ledger:
    """The ledger with the messages that no policy may drop: pins, the host of knowledge, results a server waits for."""
    view = plan.view
    pins = find_undroppable(view, plan.settings.pins, plan.settings.dialect.api.shape, plan.last_length)
    if plan.measured.host is None:
        return attrs.evolve(plan.ledger, pins=pins)

    def with_host(length: int) -> tuple[int, ...]:
        """The host moves: a shorter history had its own, which a replay must leave as the build left it then."""
        host = host_of(view.until(length), plan.settings)
        stayed = {pin for pin in pins if pin < length}
        return tuple(sorted(stayed if host is None else stayed | {host.index}))

    return attrs.evolve(plan.ledger, pins=with_host(view.length), pins_until=with_host)


def _plan_by_whole(uncut: Planned, pricer: WholePricer, start: Known | None, reserved: Tokens) -> Planned:
    """The plan if only the count of the whole request decides. Policies with a low-water mark continue from `start`."""
    from assembler.pipeline.fit_by_whole import fit_by_whole  # for dialects that are counted whole alone

    settings = uncut.settings
    if settings.budget is None:
        return attrs.evolve(uncut, sealed=pricer.count_whole(uncut.layout))
    limit = settings.budget.input_limit
    if settings.budget.limits:  # estimates share out the limits; the count of the whole decides whether it fits
        uncut, tokens_left = _share_out(uncut, settings.budget, reserved)
        limit = min(limit, uncut.fixed.upper + tokens_left)
    plan = attrs.evolve(uncut, ledger=_add_pins(uncut))
    plan, count = fit_by_whole(plan, pricer, limit, start)
    if count.upper > limit:
        raise _make_overflow(plan, settings.budget, (count - plan.fixed).alone(), limit - plan.fixed.upper)
    return plan


def _make_overflow(plan: Planned, budget: Budget, kept: Count, tokens_left: Tokens) -> TooLarge:
    """The error for turns that cost `kept`, over the input limit or, if that is lower, over the conversation's cap."""
    available, costs = min(plan.fixed.upper + tokens_left, budget.input_limit), plan.measured.costs(kept)
    region = "conversation" if available < budget.input_limit else None
    required = plan.fixed.upper + kept.upper
    overflow = TooLarge(plan, budget, required=required, available=available, costs=costs, region=region)
    # The copy drops the summarizer's own exception, whose text would otherwise appear in every traceback.
    overflow.__cause__ = copy(next(iter(plan.trimmed.failures), None))
    return overflow


def _all_turns_fit(plan: Planned, tokens_left: Tokens) -> bool:
    """Whether all turns fit into `tokens_left` as they are sent. O(history), less if it is far too long.

    Spelling a long history is slow, so it is counted as it is sent only if it might fit.
    """
    ledger = plan.ledger
    fits = tokens_left >= 0 and ledger.fits(tokens_left)
    if fits and plan.settings.merging_pricer is None:
        return not ledger.overpriced or plan.fits(tokens_left)
    may_fit = plan.merges and (fits or (tokens_left >= 0 and ledger.may_fit(tokens_left)))
    return (may_fit or _begins_with_late_head(ledger)) and plan.fits(tokens_left)


def _begins_with_late_head(ledger: Ledger) -> bool:
    """Whether the turns begin with messages that may not be sent, and a system message after them. With those, the
    fixed part may cost less: a host adds no text of its own to a request that begins with a system message.
    """
    index, length, thoughts = ledger.first, ledger.length, ledger.prices.thoughts
    while index < length and not opens_turn(ledger.reading(index)):
        if ledger.lasting(index).upper and index not in thoughts:
            break
        index += 1
    return ledger.first < index < length and is_head(ledger.reading(index))


def _add_turns_that_fit(plan: Planned, tokens_left: Tokens, start: Known | None) -> Planned:
    """Add older turns while the request fits as it is sent, if the policy keeps the newest turns that fit.

    A request that begins with a blank message may cost more than one with a turn more, whose words the blank joins:
    some APIs accept no blank message alone, and get a text in its place.
    """
    trimmer, ledger = find_trimmer(plan.settings.active_rungs), plan.ledger
    oldest = ledger.first if start is None else start[1].cut.first_kept
    first = plan.first
    while trimmer is not None and oldest < first:
        first = max(ledger.turn_start(first - 1), oldest)
        wider = plan.leaving(_keep_from(plan, first), ledger)
        if wider.fits(tokens_left):
            plan = wider
        elif not ledger.reading(first).is_blank:
            break
    return plan


def _keep_from(plan: Planned, first: int) -> Trimmed:
    if first <= plan.ledger.first:
        return keep_all(plan.ledger)
    return attrs.evolve(plan.trimmed, cut=attrs.evolve(plan.trimmed.cut, first_kept=first))
