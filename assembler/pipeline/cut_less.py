"""Cuts less where policies cut more than is needed, for APIs that merge neighbouring messages.

Policies go by the sum of the messages' prices, which is a few tokens a step more than such an API bills.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

import attrs

from assembler.pipeline.ladder import AsSent, Trimmed, trim_by_rungs
from assembler.pipeline.planned import Planned
from assembler.pipeline.trimming import trim
from assembler.policies.traits import asks, find_trimmer
from budgets import Tokens

_ROUNDS = 8
"""How often to ask for a smaller plan. Once or twice is enough."""


def cut_less(plan: Planned, tokens_left: Tokens, asked_before: Tokens, as_sent: AsSent | None) -> Planned:
    """The plan that cuts least of those that fit as they are sent. The given plan fits.

    Undoes what the policies did last, as long as the request still fits: asks them for more tokens than are left, by
    what merging spares. Each answer that does not fit bounds the next question. Not for policies whose cut must not
    depend on how often they are asked: those with a low-water mark, and those that ask a model, which went by
    `as_sent`. What these and the policies before them did for `asked_before` tokens stays.
    """
    ledger, settings, pricer = plan.ledger, plan.settings, plan.settings.merging_pricer
    rungs = settings.active_rungs
    if pricer is None or find_trimmer(rungs) is not None or asks(rungs[-1]):
        return plan
    if any(rung.traits.low_water is not None for rung in rungs) or (as_sent is not None and plan.unsettled):
        return plan
    ask = partial(trim, ledger, settings) if as_sent is None else _ask_those_after(plan, asked_before, as_sent)
    answered, too_much = tokens_left, sys.maxsize
    for _ in range(_ROUNDS):
        likely, most = _find_what_to_ask(plan, tokens_left, pricer.spares())
        undone = plan.trimmed.count(ledger).upper + plan.trimmed.last_change.saved
        if undone > most or undone >= too_much:  # without its last change it cannot fit
            break
        asked = min(likely if max(undone, answered + 1) <= likely else most, too_much - 1)
        if asked <= answered:
            break
        wider = plan.leaving(ask(asked), ledger)
        if wider.trimmed.count(ledger).upper <= plan.trimmed.count(ledger).upper:
            answered = asked
        elif wider.fits(tokens_left):
            plan, answered = wider, asked
            plan.unsettled = True
        else:
            too_much = wider.trimmed.count(ledger).upper
    return plan


def _ask_those_after(plan: Planned, asked_before: Tokens, as_sent: AsSent) -> Callable[[Tokens], Trimmed]:
    """Asks the policies after the last one that asks a model, which has answered: its answer is remembered."""
    ledger, rungs, last = plan.ledger, plan.settings.active_rungs, plan.trimmed
    begin = max(place for place, rung in enumerate(rungs) if asks(rung)) + 1
    start = trim_by_rungs(ledger, rungs[:begin], asked_before, as_sent=as_sent)

    def ask(tokens_left: Tokens) -> Trimmed:
        trimmed = trim_by_rungs(ledger, rungs, tokens_left, start, begin=begin)
        return attrs.evolve(trimmed, failures=last.failures, wanted=last.wanted)

    return ask


def _find_what_to_ask(plan: Planned, tokens_left: Tokens, spares: Tokens) -> tuple[Tokens, Tokens]:
    """What the policies may probably leave, by the sum of the prices, and at most, so that it fits as it is sent.

    Merging probably spares as much as in this plan. Without the last change it may spare `spares` more for each message
    that changes, and for one that it joins.
    """
    sent, summed = plan.by_rule.upper - plan.fixed.upper, plan.trimmed.count(plan.ledger).upper
    likely = tokens_left + max(summed - sent, 0)
    return likely, likely + spares * (plan.trimmed.last_change.messages + 1)
