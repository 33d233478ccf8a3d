"""Which of the numbers that a framework tells are a bill of one request, and what a refusal says of it."""

from __future__ import annotations

import attrs

from assembler.context import Context
from assembler.pricing.calibration import LEAST, CalibratedCounter, calibrate, input_tokens
from assembler.pricing.overflow import Overflow
from budgets import Count, Grade, TokenCountError


def bill_of(context: Context, usage: object, beside: Count) -> CalibratedCounter | None:
    """The bill of a context; None where nothing is said, or what is said cannot be what this one request costs.

    Less than an exact count, or than `LEAST` of another, lacks something, such as cached tokens. A provider that runs
    tools of its own also bills what they read, in the same number: a bill above the count's bound is then not of the
    request alone.
    """
    if usage is None:
        return None
    try:
        bill = calibrate(context, input_tokens(usage, context.dialect) - beside.tokens)
    except TokenCountError:
        return None
    runs_tools = any(tool.api is not None for tool in context.inside.measured.regions.tools)
    most = bill.ours.upper if runs_tools else bill.billed
    least = bill.ours.tokens * (1 if bill.ours.grade is Grade.EXACT else LEAST)
    return bill if least <= bill.billed <= most else None


def without(overflow: Overflow, beside: int) -> Overflow:
    """What a refusal says of a context beside which the request held so many tokens more."""
    used, limit = (None if said is None else max(said - beside, 1) for said in (overflow.used, overflow.limit))
    return attrs.evolve(overflow, used=used, limit=limit)
