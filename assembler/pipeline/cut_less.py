"""Cuts less where policies cut more than is needed, for APIs that merge neighbouring messages.

Policies go by the sum of the messages' prices, which is a few tokens a step more than such an API bills.
"""

from __future__ import annotations

from assembler.pipeline.ladder import Trimmed
from assembler.pipeline.planned import Planned
from assembler.pipeline.trimming import trim
from assembler.policies.traits import asks, find_trimmer
from budgets import Tokens

_ROUNDS = 8
"""How often to ask for a smaller plan. Once or twice is enough."""


def cut_less(plan: Planned, tokens_left: Tokens) -> Planned:
    """The plan that cuts less, if one fits as it is sent; else the given plan, which fits.

    Asks for more than can fit, then for less by what is over. Not for policies whose cut must not depend on how often
    they are asked: those with a low-water mark, and those that ask a model.
    """
    ledger, settings, pricer = plan.ledger, plan.settings, plan.settings.merging_pricer
    rungs = settings.active_rungs
    if pricer is None or find_trimmer(rungs) is not None:
        return plan
    if any(rung.traits.low_water is not None or asks(rung) for rung in rungs):
        return plan
    least = plan.trimmed.count(ledger).upper
    asked = tokens_left + pricer.spares() * 2 * len(plan.kept_messages)
    if least + _find_least_undone(plan.trimmed) > asked:
        return plan
    for _ in range(_ROUNDS):
        wider = plan.leaving(trim(ledger, settings, asked), ledger)
        if (most := wider.trimmed.count(ledger).upper) <= least:
            break
        if wider.fits(tokens_left):
            wider.unsettled = True
            return wider
        asked = min(asked, most) - (wider.by_rule.upper - wider.fixed.upper - tokens_left)
    return plan


def _find_least_undone(trimmed: Trimmed) -> Tokens:
    """What the last change saved, which is the first to be left out; 0 if that is unknown."""
    helped = [decision for decision in trimmed.decisions if decision.saved]
    is_one_change = bool(helped) and [times for _, times in helped[-1].done] == [1]
    return helped[-1].saved if is_one_change else 0
