"""Finds the sizes of the window at which more turns stay."""

from __future__ import annotations

import math
from collections.abc import Iterator

import attrs

from assembler.conversation.messages import user_message
from assembler.conversation.pins import pinned_messages
from assembler.errors import UnsupportedContentError
from assembler.pipeline.ladder import Trimmed, keep_all
from assembler.pipeline.planned import Planned
from assembler.pipeline.trimming import trim
from assembler.policies.traits import CuttingRung, KeepsAll, asks, find_trimmer
from assembler.pricing.ledger import Ledger, TurnCost
from budgets import Tokens
from budgets.value import Value

MOST_TURNS_ASKED = 256
"""The most turns for which policies are asked about each step, since each question reads all that stays."""


@attrs.frozen(eq=False, repr=False)
class WindowStep(Value):
    """The same turns stay from this `context_window` up to that of the next step.

    All messages from `first_kept` on stay; `left_out` messages do not. The request costs at most `tokens`.
    """

    context_window: Tokens
    first_kept: int
    left_out: int
    tokens: Tokens


def steps_of(plan: Planned) -> tuple[WindowStep, ...]:
    """Every window at which more turns stay, smallest first. Below the first no request fits. One pass over the turns.

    This needs policies that only drop whole turns. A policy that does not declare `KeepsNewest` is asked about each
    step, if the history has at most `MOST_TURNS_ASKED` turns. For all others only the last step is returned, at which
    everything stays. There are no steps if the fixed regions depend on the window too (limits, a strategy that
    chooses), or if only a count of the whole decides. Use `plan.what_if(context_window=…)` then.
    """
    if not _keeps_regions(plan):
        return ()
    pins = pinned_messages(plan.view, plan.settings.pins)
    plan = attrs.evolve(plan, ledger=attrs.evolve(plan.ledger.under(plan.settings.pricer), pins=pins))
    found = _ask_for_steps(plan) if _must_ask(plan) else _count_steps(plan)
    return tuple(step for step in found if step.tokens <= _find_most_tokens(plan))


def _must_ask(plan: Planned) -> bool:
    """Whether the policies must and can be asked what they cut: none has a low-water mark or asks a model."""
    rungs = plan.settings.active_rungs
    if find_trimmer(rungs) is not None or any(place == MOST_TURNS_ASKED for place, _ in enumerate(plan.ledger.turns())):
        return False
    return all(isinstance(rung, CuttingRung) and rung.traits.low_water is None and not asks(rung) for rung in rungs)


def _count_steps(plan: Planned) -> list[WindowStep]:
    """The steps of a policy that keeps the newest turns that fit, from the prices of the turns."""
    ledger, budget = plan.ledger, plan.settings.budget
    kept_free = 0 if budget is None else budget.kept_free
    rung, keeps = find_trimmer(plan.settings.active_rungs) or (None, None)
    pinned = {start: (ledger.turn_upper(start, stop), stop - start) for start, stop in ledger.pinned_turns()}
    text = None if rung is None else rung.traits.note
    note = 0 if text is None else ledger.price(user_message(text)).upper
    used = plan.fixed.upper + sum(tokens for tokens, _ in pinned.values())
    steps: list[WindowStep] = []
    for place, turn in enumerate(_list_priced_turns(ledger), 1):
        used += 0 if turn.start in pinned else turn.tokens
        if turn.start > ledger.first and (keeps is None or place < keeps.at_least):
            continue
        staying = sum(messages for start, (_, messages) in pinned.items() if start < turn.start)
        left_out = turn.start - ledger.first - staying
        tokens = used + (note if left_out else 0)
        while steps and steps[-1].tokens >= tokens:
            steps.pop()  # more turns stay at no higher price
        steps.append(WindowStep(tokens + kept_free, turn.start, left_out, tokens))
    if ledger.first < ledger.length:
        return steps
    return [WindowStep(plan.fixed.upper + kept_free, ledger.first, 0, plan.fixed.upper)]


def _list_priced_turns(ledger: Ledger) -> Iterator[TurnCost]:
    """The turns, newest first, up to one with a part without a price: it stays in no window."""
    try:
        yield from ledger.newest_first()
    except UnsupportedContentError:
        return


def _ask_for_steps(plan: Planned) -> list[WindowStep]:
    """The steps of policies that must be asked. Searches from the largest window down.

    Assumes that policies never keep less if more tokens are left. O(steps · log tokens) questions.
    """
    ledger = plan.ledger
    try:
        most = keep_all(ledger)
        tokens_left = most.count(ledger).upper
    except UnsupportedContentError:  # of a turn that was dropped: it stays in no window
        most = plan.trimmed
        tokens_left = most.count(ledger).upper
    steps = [_make_step(plan, most, tokens_left, tokens_left)]
    while tokens_left > 0:
        kept = trim(ledger, plan.settings, tokens_left - 1)
        tokens = kept.count(ledger).upper
        if tokens >= tokens_left:
            break
        tokens_left = _find_fewest_tokens(plan, kept, tokens, tokens_left - 1)
        steps.append(_make_step(plan, kept, tokens_left, tokens))
    return steps[::-1]


def _make_step(plan: Planned, kept: Trimmed, tokens_left: Tokens, tokens: Tokens) -> WindowStep:
    """The step from which on this stays: it takes `tokens_left` for the turns, which then cost `tokens`."""
    fixed, budget, first = plan.fixed.upper, plan.settings.budget, kept.cut.first_kept
    kept_free = 0 if budget is None else budget.kept_free
    pinned = sum(stop - start for start, stop in plan.ledger.pinned_turns(first))
    return WindowStep(fixed + kept_free + tokens_left, first, first - plan.ledger.first - pinned, fixed + tokens)


def _find_fewest_tokens(plan: Planned, kept: Trimmed, low: Tokens, high: Tokens) -> Tokens:
    """The fewest tokens from `low` to `high` at which the policies still keep this. Usually `low`, its cost."""
    if _keeps_same(plan, low, kept):
        return low
    while low < high:
        middle = (low + high) // 2
        if _keeps_same(plan, middle, kept):
            high = middle
        else:
            low = middle + 1
    return high


def _keeps_same(plan: Planned, tokens_left: Tokens, kept: Trimmed) -> bool:
    return trim(plan.ledger, plan.settings, tokens_left).cut.first_kept == kept.cut.first_kept


def settled_by_turns(plan: Planned) -> bool:
    """Whether the prices of the turns alone determine what each window keeps."""
    rungs = plan.settings.active_rungs
    only_refuses = len(rungs) == 1 and isinstance(rungs[0].traits.keeps, KeepsAll)
    return _keeps_regions(plan) and (only_refuses or find_trimmer(rungs) is not None)


def _keeps_regions(plan: Planned) -> bool:
    budget = plan.settings.budget
    limited = budget is not None and bool(budget.limits)
    return plan.settings.chooser is None and plan.settings.adds_up and not limited


def _find_most_tokens(plan: Planned) -> float:
    """The most that a request may cost in any window, by the provider's cap on the input."""
    budget = plan.settings.budget
    if budget is None or budget.max_input_tokens is None:
        return math.inf
    return budget.max_input_tokens - budget.overhead - budget.safety_margin


class Steps:
    """The steps of a plan, computed on first use. Pickles as the steps alone, because a plan holds texts."""

    __slots__ = ("_found", "_plan")

    def __init__(self, plan: Planned | None, found: tuple[WindowStep, ...] | None = None) -> None:
        self._plan, self._found = plan, found

    @property
    def plan(self) -> Planned | None:
        """The plan; None after unpickling."""
        return self._plan

    def __call__(self) -> tuple[WindowStep, ...]:
        """The steps."""
        if self._found is None and self._plan is not None:
            self._found = steps_of(self._plan)
        return self._found or ()

    def __reduce__(self) -> tuple[object, ...]:
        return Steps, (None, self())
