"""Runs the stages of a build: gather → choose → measure → fit → emit → tell. Each takes values and returns one.

Each stage reuses what the last build found; `gather` checks that it still holds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeVar

from assembler.conversation.history import HistoryView
from assembler.errors import ConversationError
from assembler.pipeline.choose import choose
from assembler.pipeline.draft import Draft
from assembler.pipeline.emit import emit
from assembler.pipeline.fit import ChangedError, decide_plan, fit
from assembler.pipeline.gather import Gathered, gather
from assembler.pipeline.measure import Measured, measure
from assembler.pipeline.overflow import Decide, TooLarge, Trial
from assembler.pipeline.planned import Planned
from assembler.pipeline.settings import Settings
from assembler.pricing.ledger import Ledger
from budgets import ContextLengthError, RegionCosts, Tokens

Returned = TypeVar("Returned")

STAGES = ("gather", "choose", "measure", "fit", "emit", "tell")

_ROUNDS = 8
"""How often to read a history again whose messages change. Once is enough for a message that was edited in place."""


def build(draft: Draft, settings: Settings, tell: Callable[[Planned], Returned]) -> Returned:
    """Run all stages, `tell` last. Raises what `make_plan` and `emit` raise."""
    plan = make_plan(draft, settings)
    emit(plan)
    return tell(plan)


def make_plan(draft: Draft, settings: Settings) -> Planned:
    """The plan of a draft. Raises what `fit` raises, but a `ContextLengthError` with advice in place of `TooLarge`."""
    try:
        return plan_without_advice(draft, settings)
    except TooLarge as overflow:
        raise _find_advice(draft, settings, overflow) from overflow.__cause__


def plan_without_advice(draft: Draft, settings: Settings) -> Planned:
    """The plan of a draft. Raises what `fit` raises.

    If the owner changed a message after it was read, the message is read again and the plan is made again, also
    before an error is raised.
    """
    gathered = gather(draft, settings)
    changed: int | None = None
    for _ in range(_ROUNDS):
        try:
            chosen = choose(gathered)
            measured = measure(gathered, chosen)
            return fit(gathered, measured)
        except Exception as error:  # a caller's own policy may raise anything
            changed = error.index if isinstance(error, ChangedError) else gathered.view.first_stale()
            if changed is None:
                raise
        gathered = gathered.without(changed)
    raise ConversationError(
        "message never reads the same twice; pass a dict, or an object whose fields do not change", index=changed
    )


def measure_now(draft: Draft, settings: Settings) -> tuple[Gathered, Measured]:
    """Run the first three stages on the messages as they are now. O(messages that were read)."""
    gathered = Gathered(draft, settings.priced_for(draft.regions), draft.history.current())
    return gathered, measure(gathered, choose(gathered))


def tokens_left_now(draft: Draft, settings: Settings) -> Tokens | None:
    """The tokens by our rules that the fixed regions leave for the conversation; None without a budget."""
    budget = settings.by_rule.budget
    return None if budget is None else budget.available(used=measure_now(draft, settings)[1].fixed.upper)


def costs_now(draft: Draft, settings: Settings) -> RegionCosts:
    """The cost of everything gathered, by region, before any cut. O(messages that were not priced before)."""
    gathered, measured = measure_now(draft, settings)
    ledger = Ledger.of(gathered.view, gathered.settings.pricer)
    return measured.costs(ledger.since(ledger.first))


def _find_advice(draft: Draft, settings: Settings, overflow: TooLarge) -> ContextLengthError:
    """The error with advice, which is found by planning the same messages under other settings."""
    from assembler.pipeline.advice import add_advice  # for errors alone, like the next
    from assembler.pipeline.declared_lengths import view_with_lengths

    settings, view = settings.priced_for(draft.regions), draft.history.view()

    def decide(other: Settings, view: HistoryView = view) -> Planned:
        gathered = Gathered(draft, other, view)
        return decide_plan(gathered, measure(gathered, choose(gathered)))

    def declaring(indexes: Collection[int], length: int) -> Decide:
        declared = view_with_lengths(view, indexes, length)
        return lambda other: decide(other, declared)

    return add_advice(overflow, Trial(settings, decide, overflow.budget, declaring))
