"""Fitting where messages go out merged: sums say where to look, and the request as it is sent decides at the edge.

A dialect that sends neighbouring messages as one turn bills them for less than the sum of their prices, a few tokens a
turn. The sum is a bound, so that what fits by the sum fits. What does not is counted as it is sent before it goes.
"""

from __future__ import annotations

import attrs

from assembler.pipeline.ladder import Decision, Kept, whole
from assembler.pipeline.planned import Planned
from assembler.policies.traits import trimming
from assembler.pricing.ledger import Cut
from budgets import Tokens

_NEAR = 4
_FEW = 64
"""A whole that is over its room by more than one part in four and 64 tokens is not counted as it is sent: merging never
saves so much, and a long history would be spelled for nothing."""


def everything_fits(plan: Planned, room: Tokens) -> bool:
    """Whether everything fits into `room` as it is sent. O(the history), or less where it is far too long."""
    return room >= 0 and plan.ledger.fits(room + room // _NEAR + _FEW) and fits(plan, room)


def fits(plan: Planned, room: Tokens) -> bool:
    """Whether the plan's turns cost at most `room` as they are sent. O(what stays)."""
    return plan.by_rule.upper <= plan.fixed.upper + room


def widened(plan: Planned, room: Tokens, start: Kept | None) -> Planned:
    """The plan with as many turns more as fit as they are sent, where the policy keeps the newest that fit."""
    trimmer, ledger = trimming(plan.settings.willing), plan.ledger
    oldest = ledger.first if start is None else start.cut.first_kept
    while trimmer is not None and oldest < plan.first:
        wider = attrs.evolve(plan, what=_from(plan, max(ledger.turn_start(plan.first - 1), oldest)))
        if not fits(wider, room):
            break
        plan = wider
    return plan


def _from(plan: Planned, first: int) -> Kept:
    if first <= plan.ledger.first:
        return whole(plan.ledger)
    cut = plan.what.cut
    decisions = (Decision(plan.settings.willing[0].name, 0, ((cut.reason, 0),)),)
    return Kept(Cut(first, cut.reason, cut.summary), decisions=decisions)
