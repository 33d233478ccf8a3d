"""At which windows the outcome changes. Knows integers and turns; builds nothing."""

from __future__ import annotations

import math

import attrs

from assembler.messages import spoken
from assembler.pins import pinned_messages
from assembler.planned import Planned
from assembler.policies import Refuse, TrimOldest
from budgets import Tokens


@attrs.frozen
class Step:
    """From this `context_window` up to the next step's, the same turns stay.

    `first_kept` is the first message from which all stay, `left_out` how many messages do not, `tokens` what the
    request costs at most.
    """

    context_window: Tokens
    first_kept: int
    left_out: int
    tokens: Tokens


def steps_of(plan: Planned) -> tuple[Step, ...]:
    """Every window at which more turns stay, smallest first; below the first there is no request. One pass over the
    turns, whose prices are known or found once.

    For plans whose policy is `TrimOldest()` or `Refuse()`: what stays is then a suffix of turns (and the pinned ones).
    For other policies the last step alone, where nothing gives way: what they rewrite depends on more than the window.
    None where the regions that do not give way depend on it too, through limits or a strategy that chooses, or where
    only the count of the whole decides. Ask `plan.what_if(context_window=…)` there.
    """
    if not _regions_stay(plan):
        return ()
    pins = pinned_messages(plan.sight, plan.terms.policies, plan.ledger.memory)
    ledger, budget = attrs.evolve(plan.ledger, pins=pins), plan.terms.budget
    beside = 0 if budget is None else budget.kept_free
    policy = _trimmer(plan)
    pinned = {start: (ledger.turn_upper(start, stop), stop - start) for start, stop in ledger.pinned_turns()}
    note = ledger.price(spoken(policy.note)).upper if policy is not None and policy.note else 0
    used = plan.fixed.upper + sum(tokens for tokens, _ in pinned.values())
    turns = list(ledger.newest_first())
    steps: list[Step] = []
    for place, turn in enumerate(turns, 1):
        used += 0 if turn.start in pinned else turn.tokens
        if place < len(turns) and (policy is None or place < policy.keep_turns):
            continue
        staying = sum(messages for start, (_, messages) in pinned.items() if start < turn.start)
        left_out = turn.start - ledger.first - staying
        tokens = used + (note if left_out else 0)
        while steps and steps[-1].tokens >= tokens:
            steps.pop()  # more stays at no greater price
        steps.append(Step(tokens + beside, turn.start, left_out, tokens))
    found = steps or [Step(plan.fixed.upper + beside, ledger.first, 0, plan.fixed.upper)]
    return tuple(step for step in found if step.tokens <= _most(plan))


def settled_by_turns(plan: Planned) -> bool:
    """Whether the prices of the turns alone say what every window keeps: `steps_of` is then the whole story."""
    policies = plan.terms.willing_policies
    only_refuses = len(policies) == 1 and isinstance(policies[0], Refuse)
    return _regions_stay(plan) and (only_refuses or _trimmer(plan) is not None)


def _regions_stay(plan: Planned) -> bool:
    budget = plan.terms.budget
    chooses = getattr(plan.terms.strategy, "choose", None) is not None
    return not (chooses or plan.terms.whole is not None or (budget is not None and budget.limits))


def _most(plan: Planned) -> float:
    """What the provider's own cap on the input leaves, however large the window is."""
    budget = plan.terms.budget
    if budget is None or budget.max_input_tokens is None:
        return math.inf
    return budget.max_input_tokens - budget.overhead - budget.safety_margin


def _trimmer(plan: Planned) -> TrimOldest | None:
    policies = plan.terms.willing_policies
    if len(policies) == 1 and isinstance(policies[0], TrimOldest) and policies[0].low_water is None:
        return policies[0]
    return None


class Steps:
    """The steps of a plan, found when they are asked for. Pickles as the steps: a plan holds texts, they do not."""

    __slots__ = ("_found", "_plan")

    def __init__(self, plan: Planned | None, found: tuple[Step, ...] | None = None) -> None:
        self._plan, self._found = plan, found

    @property
    def plan(self) -> Planned | None:
        """Whose steps they are; None once pickled."""
        return self._plan

    def __call__(self) -> tuple[Step, ...]:
        """The steps."""
        if self._found is None and self._plan is not None:
            self._found = steps_of(self._plan)
        return self._found or ()

    def __reduce__(self) -> tuple[object, ...]:
        return Steps, (None, self())
