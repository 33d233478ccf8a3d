"""Advises what to do about regions over their limits: what to shorten by how much, or which limits to change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from assembler.pipeline.overflow import TooLarge, Trial
from assembler.pipeline.planned import Planned
from assembler.pipeline.share_budget import conversation_cap, has_a_piece_for_each
from assembler.pipeline.shortenable import holds_files
from assembler.policies.traits import stand_in
from budgets import Budget, Limit, Tokens
from budgets.allotment import tokens_of
from budgets.numbers import in_tokens

_WIDE = 1_000
"""How many times as large a window is that holds all regions, also what a selection leaves out of them."""


def advise_limits(overflow: TooLarge, region: str, trial: Trial) -> str:
    """Which region is over its limit, what to shorten by how much until all of it fits, and which limits to change."""
    needed = _price_region(overflow, region)
    opening = f"The {region} needs {in_tokens(needed)} and its limits leave it {max(0, needed - overflow.excess)}"
    (_, less), *others = shortened = [*_find_what_to_shorten(overflow, region, trial)]
    wider = wider_limits(region, trial)
    if any(tokens > _price_region(overflow, name) for name, tokens in shortened):  # they do not hold so many
        return f"{opening}." if wider is None else f"{opening}: {wider}."
    files = region == "conversation" and holds_files(overflow.plan, overflow.plan.ledger.newest_turns(1))
    opening += f": shorten it {'or send smaller files, ' if files else ''}by {in_tokens(less)}"
    opening += "".join(f", and the {other} by {in_tokens(tokens)}" for other, tokens in others)
    return f"{opening}." if wider is None else f"{opening}, or {wider}."


def _find_what_to_shorten(overflow: TooLarge, region: str, trial: Trial) -> Iterator[tuple[str, Tokens]]:
    """What to shorten by how many tokens: `region`, the others over their limits, and the turns if they must be.

    Once the fixed regions are within their limits, the turns may still lack tokens. A limit that binds the turns alone
    gives them no more if another region is shorter.
    """
    if region == "conversation":
        yield region, overflow.excess
        return
    less = {name: needed - left for name, needed, left in overflow.over} | {region: overflow.excess}
    turns, budget = _price_least_turns(overflow, trial), trial.settings.by_rule.budget or trial.budget
    limit, cap = budget.input_limit, conversation_cap(budget)
    fixed = overflow.plan.fixed.upper - sum(less.values()) - _price_dropped_documents(overflow, less, budget)
    lacking = min(turns, cap) - (limit - fixed)
    if 0 < lacking < _price_region(overflow, region) - less[region]:
        less[region] += lacking
        fixed -= lacking
    yield from less.items()
    if turns > (left := min(cap, limit - fixed)):
        yield "turns that stay", turns - left


def _price_least_turns(overflow: TooLarge, trial: Trial) -> Tokens:
    """What the turns cost at least under the policies, by our rule, found by leaving them no tokens."""
    wide = _WIDE * (overflow.plan.fixed.upper + trial.budget.context_window)
    limits = {"conversation": Limit(cap=0)}
    budget = attrs.evolve(trial.budget, context_window=wide, max_input_tokens=None, limits=limits)
    by_rule = attrs.evolve(trial, settings=attrs.evolve(trial.settings, calibration=None))
    least = by_rule.under(tuple(map(stand_in, trial.settings.rungs)), budget)
    if isinstance(least, Planned):
        return 0
    return (overflow if least is None else least).of_turns


def _price_dropped_documents(overflow: TooLarge, less: Mapping[str, Tokens], budget: Budget) -> Tokens:
    """What the documents cost that are left out so that the turns fit; 0 if the caller's selection decides that."""
    measured, limit = overflow.plan.measured, budget.limits.get("knowledge", Limit())
    if "knowledge" in less or not measured.regions.documents or not has_a_piece_for_each(measured):
        return 0
    if limit.select is not None:
        return 0
    return max(0, measured.knowledge.upper - tokens_of(limit.floor, budget.input_limit))


def wider_limits(region: str, trial: Trial) -> str | None:
    """Which limits to change so that it fits; None if that is not enough."""
    limits = trial.budget.limits
    every = {name: attrs.evolve(limit, floor=0, share=None, priority=0) for name, limit in limits.items()}
    others = {**every, region: limits[region]} if region in limits else every
    lower_others = "lower the floors, shares and priorities of the others"
    lower_all = "lower all floors, shares and priorities"
    changes = [
        ("raise its cap", _remove_cap(region, limits)),
        (lower_others, others),
        (f"raise its cap and {lower_others}", _remove_cap(region, others)),
        (lower_all, every),
        (f"raise its cap and {lower_all}", _remove_cap(region, every)),
    ]
    tried = [limits]
    for words, changed in changes:
        if changed not in tried and _fits_under(trial, changed):
            return words
        tried.append(changed)
    return None


def _remove_cap(region: str, limits: Mapping[str, Limit]) -> Mapping[str, Limit]:
    return {name: attrs.evolve(limit, cap=None) if name == region else limit for name, limit in limits.items()}


def _fits_under(trial: Trial, limits: Mapping[str, Limit]) -> bool:
    budget = attrs.evolve(trial.budget, limits=limits)
    return isinstance(trial.under(tuple(map(stand_in, trial.settings.rungs)), budget), Planned)


def _price_region(overflow: TooLarge, region: str) -> Tokens:
    measured = overflow.plan.measured
    regions = {"instruction": measured.instruction, "capability": measured.capability, "knowledge": measured.knowledge}
    return regions[region].upper if region in regions else overflow.of_turns
