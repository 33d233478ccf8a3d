"""Advises what to do about a request that does not fit. Every step it suggests was tried first."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import attrs

from assembler.conversation.messages import user_message
from assembler.errors import ConversationError
from assembler.pipeline.declared_lengths import unseen_lengths
from assembler.pipeline.limit_advice import advise_limits, wider_limits
from assembler.pipeline.overflow import Decide, Smallest, TooLarge, Trial, could_work_with_summary, find_smallest_window
from assembler.pipeline.planned import Planned
from assembler.pipeline.shortenable import holds_files, words_to_shorten
from assembler.policies import Policy, TrimOldest, TrimSteps, Truncate
from assembler.policies.traits import CuttingRung, Rung, Traits, rung_of, stand_in
from assembler.pricing.media.facts import LARGEST
from budgets import ContextLengthError, Limit, RegionCosts, Tokens
from budgets.numbers import in_tokens

_LENGTHS_TRIED = 5
"""How many limits on the length of a text to try. The last is a 340th of the tokens left, for a turn of some hundred
long texts."""


def add_advice(overflow: TooLarge, trial: Trial) -> ContextLengthError:
    """The error for the caller: the smallest window that works, what the request costs there, and what to do next."""
    found = find_smallest_window(overflow, trial)
    overflow = _reduce_to_smallest_choice(overflow, found, trial)
    required, costs, available = overflow.required, overflow.costs, overflow.available
    bound = overflow.region is not None
    if found is not None and (bound or found.plan.count.upper > available):
        required, costs = found.plan.count.upper, found.plan.costs
    if bound:  # a larger window may let in more, but the region still lacks this many tokens under its limit
        available = min(trial.budget.input_limit, required - overflow.excess)
    return ContextLengthError(
        required=required,
        costs=costs,
        budget=trial.budget,
        smallest_window=None if found is None or found.asking else found.window,
        advice=" ".join(filter(None, _write_advice(overflow, trial, found))),
        available=available,
        region=overflow.region,
    )


def _reduce_to_smallest_choice(overflow: TooLarge, found: Smallest | None, trial: Trial) -> TooLarge:
    """The overflow of the smallest request that the strategy can make; a chunk may cost less than no chunk.

    The strategy makes it when the smallest window, or shorter texts, leave it enough tokens.
    """
    if found is None or found.plan.measured.choice is None or overflow.region is not None:
        return overflow
    plan, lacking = found.plan, found.window - trial.budget.context_window + overflow.lacking - overflow.excess
    if lacking >= overflow.lacking:
        return overflow
    smaller = overflow.available < plan.count.upper < overflow.required
    return TooLarge(
        plan if smaller else overflow.plan,
        trial.budget,
        required=plan.count.upper if smaller else overflow.required,
        available=overflow.available,
        costs=plan.costs if smaller else overflow.costs,
        changed=overflow.available + lacking,
        remark=overflow.advice,
    )


def _write_advice(overflow: TooLarge, trial: Trial, found: Smallest | None) -> Iterator[str]:
    unseen = unseen_lengths(overflow.plan)
    if unseen and trial.declaring is not None:
        first = list(_advise_lengths(unseen, trial.declaring, overflow, trial))
    else:
        first = [_advise_next_step(overflow, trial)]
    yield from first
    yield overflow.advice
    names_a_way = overflow.advice or not all(_only_describes(step, overflow) for step in first)
    yield _advise_window(found, trial, "Or choose" if names_a_way else "Choose")


def _advise_lengths(
    unseen: Mapping[int, str],
    declaring: Callable[[Collection[int], int], Decide],
    overflow: TooLarge,
    trial: Trial,
) -> Iterator[str]:
    """Which messages hold a file of unknown length, which is priced as the longest one, and how long it may be.

    Shortening texts cannot make up for that price. So other advice is found as if the shortest length were declared.
    """

    def declared(length: int) -> Trial:
        return attrs.evolve(trial, decide=declaring(unseen, length))

    rungs = tuple(map(stand_in, trial.settings.rungs))
    still = declared(1).under(rungs)
    cure = next(_find_cures(overflow, trial), None) or _advise_pins(overflow, trial)
    if not isinstance(still, Planned) and cure is not None:
        yield cure
        return
    index, key = next(iter(unseen.items()))
    opening = f"conversation[{index}] holds a file whose length cannot be seen, and counts as the longest one"
    others = "" if len(unseen) == 1 else ", as do others"
    cause = f'{opening}{others}: add {{"{key}": …}} to its part'
    if isinstance(still, Planned):
        most = _find_longest(lambda length: isinstance(declared(length).under(rungs), Planned))
        yield f"{cause}{'' if most is None else f'; it fits up to {most}'}."
        region = overflow.region
        wider = None if region is None else wider_limits(region, trial)
        yield cure or ("" if wider is None else f"Or for the {region}, {wider}.")
        return
    yield f"{cause}."
    if still is not None:
        yield f"Even with 1 there it does not fit. {_advise_next_step(still, declared(1))}"


def _find_longest(fits: Callable[[int], bool]) -> int | None:
    """The largest length that fits, if 1 does; None if every length does. O(log length) plans."""
    high = 2
    while fits(high):
        high *= 2
        if high > LARGEST:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _advise_window(found: Smallest | None, trial: Trial, choose: str) -> str:
    if found is not None and found.asking:
        return (
            f"A context_window of {found.window} works without a new summary; with one, a smaller window may "
            "work, but only the summarizer can tell."
        )
    if found is not None:
        return f"{choose} a context_window of {found.window}."
    budget = trial.budget
    capped = [] if budget.max_input_tokens is None else [f"max_input_tokens is {budget.max_input_tokens}"]
    capped += ["the limits leave no more"] if budget.limits else []
    bill = trial.settings.calibration
    capped += [] if bill is None or bill.most is None else [f"a refusal of the provider leaves {bill.most}"]
    why = " and ".join(capped) or "the content grows with the window"
    if could_work_with_summary(trial):
        return f"A larger context_window helps only with a new summary that is short enough: {why}."
    return f"A larger context_window does not help: {why}."


def _advise_next_step(overflow: TooLarge, trial: Trial) -> str:
    plan, excess = overflow.plan, overflow.lacking
    if overflow.region is not None:
        return advise_limits(overflow, overflow.region, trial)
    # A template may add tokens beyond its parts. Without turns, all the required tokens belong to the fixed regions.
    alone = plan.fixed.upper if plan.ledger.first < plan.ledger.length else overflow.required
    if alone > overflow.available:
        expected = plan.fixed.tokens
        if (held := _count_held(plan)) >= excess:
            return (
                f"Dropping turns cannot help: the fixed regions alone need {alone}, of which the server holds {held}. "
                "Call hold(None), and send the whole conversation: its old turns can be dropped."
            )
        estimated = alone == plan.fixed.upper and expected <= overflow.available
        bound = f" at most, {expected} expected" if estimated else ""
        alone_need = f"the fixed regions alone need {alone}{bound}. Shorten {_list_regions(plan.costs)}"
        if 0 < plan.fixed.upper - plan.measured.prices.framing.upper < excess:  # they cannot give so many tokens
            return f"Dropping turns is not enough: {alone_need}{_advise_amount(overflow, trial)}."
        return f"Dropping turns cannot help: {alone_need} by {in_tokens(excess)}{_advise_documents(overflow, trial)}."
    cure = next(_find_cures(overflow, trial), None)
    if cure is not None:
        return cure
    pinned = _advise_pins(overflow, trial)
    if pinned is not None:
        return pinned
    return _advise_shortening(overflow, trial)


def _count_held(plan: Planned) -> Tokens:
    """The tokens that the server adds to the request, which no shorter text makes fewer."""
    held = plan.draft.regions.held
    return 0 if held is None else held.upper


def _advise_amount(overflow: TooLarge, trial: Trial) -> str:
    """By how much to shorten the fixed regions once all turns are gone that may go, or them and the newest turn."""
    plan, excess, end = overflow.plan, overflow.lacking, ""
    least = trial.under((*map(stand_in, trial.settings.rungs), rung_of(TrimOldest())))
    if isinstance(least, TooLarge) and least.lacking < excess:
        excess, end = least.lacking, ", and let TrimOldest() drop the older turns"
    fixed = plan.fixed.upper - plan.measured.prices.framing.upper
    others = "" if excess <= fixed else " and the newest turn"
    return f"{others} by {in_tokens(excess)}{end}"


def _list_regions(costs: RegionCosts) -> str:
    """The fixed regions that are not empty, as a phrase."""
    regions = {"instruction": costs.instruction, "tools": costs.capability, "knowledge": costs.knowledge}
    *others, last = [f"the {name}" for name, tokens in regions.items() if tokens] or ["what is sent"]
    return f"{', '.join(others)} or {last}" if others else last


def _advise_documents(overflow: TooLarge, trial: Trial) -> str:
    """A limit on knowledge that makes the request fit and keeps some documents; "" if there is none."""
    left = overflow.plan.measured.knowledge.upper - overflow.lacking
    if left <= 0 or "knowledge" in trial.budget.limits:
        return ""
    capped = attrs.evolve(trial.budget, limits={**trial.budget.limits, "knowledge": Limit(cap=left)})
    tried = trial.under(tuple(map(stand_in, trial.settings.rungs)), capped)
    if not isinstance(tried, Planned) or not tried.costs.knowledge:
        return ""
    return (
        f", or let documents go: Budget(…, limits={{'knowledge': Limit(cap={left:_})}}) keeps those that fit, "
        "and strategy=CitedSources() the best of them"
    )


def _advise_shortening(overflow: TooLarge, trial: Trial) -> str:
    """By how much to shorten the newest turn once all droppable turns are gone, and the `Truncate` that does it."""
    rungs, dropped = tuple(map(stand_in, trial.settings.rungs)), list[Policy]()
    excess, cut, end, plan = overflow.lacking, "", "at the end of on_overflow", overflow.plan
    least = trial.under((*rungs, rung_of(TrimOldest()))) if _may_drop_more(plan) else None
    if isinstance(least, TooLarge) and least.lacking < excess:
        dropped = [TrimOldest()]
        excess, cut, end = least.lacking, "end on_overflow with TrimOldest(), and ", "after it"
    left = overflow.available - plan.fixed.upper
    done = next(
        (most for most in _list_limits_to_try(left) if _fits_with(trial, rungs, [*dropped, Truncate(most)])), None
    )
    cure = "" if done is None else f", or put Truncate({done:_}) {end}"
    since = plan.ledger.newest_turns(1) if _is_larger_than_left(overflow) else 0
    less = words_to_shorten(plan, since, excess)
    if less is None and not cure and (since or plan.settings.whole_pricer is None):  # a template may write a text twice
        smaller = f": {cut}send fewer or smaller files, by {in_tokens(excess)}" if holds_files(plan, since) else ""
        return f"{_describe_newest(overflow)}{smaller}."
    return f"{_describe_newest(overflow)}: {cut}shorten its messages by {in_tokens(less or excess)}{cure}."


def _list_limits_to_try(left: Tokens) -> Iterator[Tokens]:
    """Limits on the cost of a text to try: three quarters of the tokens left for the turn, then a quarter of that, …"""
    return (most for most in (3 * left // 4**power for power in range(1, _LENGTHS_TRIED + 1)) if most > 0)


def _only_describes(step: str, overflow: TooLarge) -> bool:
    """Whether the step says what is too large, but not how to make it smaller."""
    ledger = overflow.plan.ledger
    return ledger.first < ledger.length and step == f"{_describe_newest(overflow)}."


def _describe_newest(overflow: TooLarge) -> str:
    if not _is_larger_than_left(overflow):
        return "What cannot be dropped is too large"
    needed, left = _price_newest_turn(overflow.plan), _find_tokens_left_for_turns(overflow)
    return f"The newest turn alone needs {needed} and {left} are left for it"


def _is_larger_than_left(overflow: TooLarge) -> bool:
    """Whether the newest turn costs more than is left for it. If a template or a bill adds to the parts, it may not."""
    return _price_newest_turn(overflow.plan) > _find_tokens_left_for_turns(overflow)


def _price_newest_turn(plan: Planned) -> Tokens:
    return next(iter(plan.ledger.with_savings(plan.trimmed.savings).newest_first())).tokens


def _find_tokens_left_for_turns(overflow: TooLarge) -> Tokens:
    return overflow.available - overflow.plan.fixed.upper


def _find_cures(overflow: TooLarge, trial: Trial) -> Iterator[str]:
    """Ladders with one or two more policies that make it fit, least loss first. None of them writes new text."""
    plan, rungs = overflow.plan, tuple(map(stand_in, trial.settings.rungs))
    cut = not _may_drop_more(plan)
    if not cut and _fits_with(trial, rungs, [TrimOldest()]):
        how = "pass on_overflow=" if _can_be_replaced(plan, trial.settings.rungs) else "end on_overflow with "
        yield f"Dropping old turns would help: {how}TrimOldest()."
    for end, words in ((TrimSteps(), "TrimSteps()"), (TrimSteps(keep=0), "TrimSteps(keep=0)")):
        if _fits_with(trial, rungs, [end] if cut else [TrimOldest(), end]):
            yield f"{_describe_newest(overflow)}: end on_overflow with {'' if cut else 'TrimOldest(), '}{words}."


def _can_be_replaced(plan: Planned, rungs: tuple[Rung, ...]) -> bool:
    """Whether the only policy drops whole turns, dropped none, and declares nothing that its replacement would lose."""
    if len(rungs) != 1 or not isinstance(rungs[0], CuttingRung) or plan.ledger.pins:
        return False
    return plan.trimmed.cut.first_kept == plan.ledger.first and attrs.evolve(rungs[0].traits, keeps=None) == Traits()


def _fits_with(trial: Trial, rungs: tuple[Rung, ...], more: Sequence[object]) -> bool:
    return isinstance(trial.under((*rungs, *map(rung_of, more))), Planned)


def _advise_pins(overflow: TooLarge, trial: Trial) -> str | None:
    """Advice to pin fewer turns; None unless the newest turn would fit without the pinned ones."""
    plan = overflow.plan
    begins, bill = plan.ledger.newest_turns(1), trial.settings.calibration
    pinned = sum(plan.ledger.turn_upper(start, stop) for start, stop in plan.ledger.pinned_turns(begins))
    unpinned = plan.fixed.upper + _price_newest_with_note(plan, begins)
    if not pinned or (unpinned if bill is None else bill.bound(unpinned)) > overflow.available:
        return None
    named = ", ".join(str(index) for index in plan.ledger.pins if index < begins)
    drops = "" if _drops_turns(overflow, begins) else ", and end on_overflow with TrimOldest()"
    return f"The turns of the pinned messages {named} need {pinned} besides the newest turn: pin fewer of them{drops}."


def _may_drop_more(plan: Planned) -> bool:
    """Whether a turn before the newest stays that is not pinned."""
    first, pinned = plan.trimmed.cut.first_kept, dict(plan.ledger.pinned_turns())
    while first in pinned:
        first = pinned[first]
    return first < plan.ledger.newest_turns(1)


def _drops_turns(overflow: TooLarge, begins: int) -> bool:
    """Whether a policy drops all turns before `begins`, as far as they are not pinned."""
    ledger, most = overflow.plan.ledger, max(_find_tokens_left_for_turns(overflow), 0)
    cutting = (rung for rung in map(stand_in, overflow.plan.settings.rungs) if isinstance(rung, CuttingRung))
    return any(rung.policy.cut(ledger, most).first_kept >= begins for rung in cutting)


def _price_newest_with_note(plan: Planned, begins: int) -> Tokens:
    """What the newest turn would cost alone, with the note that replaces the dropped turns. A template is rendered."""
    ledger, written = plan.ledger, [rung.traits.note for rung in plan.settings.rungs]
    notes = [user_message(note) for note in written if note is not None]
    most = max(notes, key=lambda note: ledger.price(note).upper, default=None)
    if plan.settings.whole_pricer is not None:
        turn = [message for index, message in plan.sent if index >= begins]
        layout = attrs.evolve(plan.layout, messages=turn if most is None else [most, *turn])
        with contextlib.suppress(ConversationError):  # it cannot be rendered yet
            return plan.settings.whole_pricer.count_whole(layout).upper - plan.fixed.upper
    return ledger.since(begins).upper + (0 if most is None else ledger.price(most).upper)
