"""What stays and what goes. Knows turns, tokens and policies; knows no text."""

from __future__ import annotations

from assembler.dialects import Opening
from assembler.draft import Draft
from assembler.errors import ConversationError, PlanError
from assembler.history import Sight
from assembler.ledger import Ledger
from assembler.measure import Measured, measure
from assembler.plan import Decision, Plan
from assembler.policies import OverflowPolicy, Refuse
from assembler.terms import Terms
from budgets import Budget, ContextLengthError, Count, Tokens


def fit(draft: Draft, terms: Terms) -> Plan:
    """The plan of a draft. O(what stays and one turn more), for policies that look no further back.

    A message that stays is compared with what was read of it; one that its owner has changed since is read anew.
    Raises `ContextLengthError` if no policy makes it fit, `ConversationError` if what stays is no valid conversation,
    `PlanError` if a policy cuts where no turn begins, `TokenCountError` if the counter fails.
    """
    sight = draft.history.sight()
    while True:
        plan = _decided(draft, sight, terms)
        changed = _first_changed(sight, plan.first)
        if changed is None:
            sight.check(plan.first)
            return plan
        sight = draft.history.forget_from(_unit_start(sight, changed))


def _first_changed(sight: Sight, first: int) -> int | None:
    in_head = sight.first_changed(0, sight.head)
    return sight.first_changed(first, sight.length) if in_head is None else in_head


def _unit_start(sight: Sight, index: int) -> int:
    return sight.readings.turn_start(index, sight.head) if index >= sight.head else 0


def _decided(draft: Draft, sight: Sight, terms: Terms) -> Plan:
    measured, fixed = measure(draft, sight, terms)
    ledger = Ledger.of(sight, terms.pricer, draft.history.lock, _floor(sight, terms))
    whole = Plan(draft, terms, sight, measured, fixed, ledger, ledger.first)
    if terms.budget is None:
        ledger.since(ledger.first)  # a part that has no price is met here, not when somebody reads the count
        return whole
    room = terms.budget.input_limit - fixed.upper
    if room >= 0 and ledger.fits(room):
        return whole
    least: Count | None = None
    for policy in terms.policies:
        decision = _asked(policy, ledger, max(room, 0))
        kept = ledger.since(decision.first)
        if kept.upper <= room:
            return Plan(draft, terms, sight, measured, fixed, ledger, decision.first, decision)
        least = kept if least is None or kept.upper < least.upper else least
    raise _overflow(measured, fixed, least or Count(0), ledger, terms, terms.budget)


def _floor(sight: Sight, terms: Terms) -> int:
    """The first message that the dialect lets stay: a greeting cannot open a conversation that the user must open."""
    start, stop = (sight.head, sight.head) if terms.dialect.opening is Opening.ANY else sight.greeting()
    if start < stop == sight.length:
        raise ConversationError(f"{terms.dialect.name} needs a user message; add one to the conversation", index=start)
    return stop


def _asked(policy: OverflowPolicy, ledger: Ledger, room: Tokens) -> Decision:
    """A policy's cut, verified: whoever wrote the policy, no cut parts a call from its result or drops the question."""
    cut = policy.cut(ledger, room)
    name, first = type(policy).__name__, cut.first_kept
    if ledger.length == ledger.first and first == ledger.first:
        return Decision(name, first, cut.reason)
    if not ledger.first <= first < ledger.length:
        raise PlanError(name, f"keeps from message {first}; it must keep from {ledger.first} to {ledger.length - 1}")
    if not ledger.begins_turn(first):
        raise PlanError(name, f"keeps from message {first}, where no turn begins; cut at TurnCost.start")
    return Decision(name, first, cut.reason)


def _overflow(
    measured: Measured, fixed: Count, kept: Count, ledger: Ledger, terms: Terms, budget: Budget
) -> ContextLengthError:
    required = fixed.upper + kept.upper
    return ContextLengthError(
        required=required,
        costs=measured.costs(kept),
        budget=budget,
        # The window must hold the request and all that is kept free of it; a cap on the input stays what it is.
        smallest_window=required
        + budget.max_output_tokens
        + budget.reasoning_tokens
        + budget.overhead
        + budget.safety_margin,
        advice=_advice(fixed, ledger, terms, budget),
    )


def _advice(fixed: Count, ledger: Ledger, terms: Terms, budget: Budget) -> str:
    """The next step. Never the policy that the caller already uses."""
    if fixed.upper > budget.input_limit:
        return (
            f"Dropping turns cannot help: the fixed regions alone need {fixed.upper}. "
            "Shorten the instruction, the tools or the knowledge, or choose a larger window."
        )
    newest = next((turn.tokens for turn in ledger.newest_first()), 0)
    if fixed.upper + newest > budget.input_limit:
        return (
            f"The newest turn alone needs {newest} and {budget.input_limit - fixed.upper} are left for it: "
            "shorten its messages, or choose a larger window."
        )
    if all(isinstance(policy, Refuse) for policy in terms.policies):
        return "Dropping old turns would help: pass on_overflow=TrimOldest()."
    return "Fewer protected turns would help: lower keep_turns, or choose a larger window."
