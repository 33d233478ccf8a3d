"""Decides which usage numbers of a framework are the bill of one request."""

from __future__ import annotations

import attrs

from assembler.context import Context
from assembler.pricing.calibration import LEAST, CalibratedCounter, calibrate, input_tokens
from assembler.pricing.overflow import Overflow
from budgets import Count, Grade, TokenCountError


def bill_of(context: Context, usage: object, uncounted: Count) -> CalibratedCounter | None:
    """Return the bill of a context; None if there is no usage, or if it is implausible for this request.

    A number below an exact count, or below `LEAST` of another count, lacks something, such as cached tokens. A provider
    that runs its own tools includes what they read: a number above the count's bound is then not the request's alone.
    """
    if usage is None:
        return None
    try:
        bill = calibrate(context, input_tokens(usage, context.dialect) - uncounted.tokens)
    except TokenCountError:
        return None
    runs_tools = any(tool.api is not None for tool in context.inside.measured.regions.tools)
    most = bill.ours.upper if runs_tools else bill.billed
    least = bill.ours.tokens * (1 if bill.ours.grade is Grade.EXACT else LEAST)
    return bill if least <= bill.billed <= most else None


def subtract_uncounted(overflow: Overflow, uncounted: int) -> Overflow:
    """Subtract tokens that were in the refused request but not in the context."""
    used, limit = (None if tokens is None else max(tokens - uncounted, 1) for tokens in (overflow.used, overflow.limit))
    return attrs.evolve(overflow, used=used, limit=limit)
