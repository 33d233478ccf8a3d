"""Plans a draft again: for another window, or without the summary that a policy asks for."""

from __future__ import annotations

import attrs

from assembler.conversation.summary_request import UnansweredError, Wanted
from assembler.pipeline.build import make_plan, plan_without_advice
from assembler.pipeline.draft import Draft
from assembler.pipeline.overflow import TooLarge
from assembler.pipeline.planned import Planned
from assembler.pipeline.settings import Settings
from budgets import BudgetError, Tokens


def refit(plan: Planned, context_window: Tokens) -> Planned:
    """The plan of the same draft for another window. Raises what `make_plan` raises.

    Counts no text twice, calls no summarizer, and changes nothing that builds remember.
    """
    return make_plan(plan.draft, _change_window(plan, context_window))


def try_window(plan: Planned, context_window: Tokens) -> Planned | None:
    """The plan for another window; None if that is too small. As fast as a build, since no other window is tried."""
    try:
        return plan_without_advice(plan.draft, _change_window(plan, context_window))
    except (TooLarge, BudgetError):  # too small for a request, or for the tokens kept free
        return None


def plan_without_asking(draft: Draft, settings: Settings, wanted: Wanted) -> Planned:
    """The plan with the stand-ins of policies that ask a model; the smallest plan if that does not fit."""
    settings = settings.priced_for(draft.regions)
    plan = plan_in(_catch_overflow(draft, settings.without_asking_models))
    return attrs.evolve(plan, settings=settings, trimmed=attrs.evolve(plan.trimmed, wanted=wanted))


def plan_least(draft: Draft, settings: Settings) -> Planned:
    """The plan, with stand-ins for policies that ask a model; the smallest plan if nothing fits."""
    try:
        return plan_in(_catch_overflow(draft, settings))
    except UnansweredError as unanswered:
        wanted = unanswered.wanted
    return plan_without_asking(draft, settings, wanted)


def plan_or_too_large(draft: Draft, settings: Settings) -> Planned | TooLarge:
    """The plan, with stand-ins for policies that ask a model; the overflow if nothing fits."""
    try:
        return _catch_overflow(draft, settings)
    except UnansweredError:
        return _catch_overflow(draft, settings.priced_for(draft.regions).without_asking_models)


def plan_in(found: Planned | TooLarge) -> Planned:
    """The plan that fits, or the smallest plan."""
    return found.plan if isinstance(found, TooLarge) else found


def _catch_overflow(draft: Draft, settings: Settings) -> Planned | TooLarge:
    try:
        return plan_without_advice(draft, settings)
    except TooLarge as overflow:
        return overflow


def _change_window(plan: Planned, context_window: Tokens) -> Settings:
    if plan.settings.budget is None:
        raise BudgetError("what_if needs a budget to change; pass one to Assembler")
    budget = attrs.evolve(plan.settings.budget, context_window=context_window)
    return attrs.evolve(plan.settings.without_asking_models, budget=budget)
