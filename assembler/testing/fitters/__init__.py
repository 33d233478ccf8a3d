"""A check for any function that trims a history: the laws it should keep, and the smallest case where it does not."""

from __future__ import annotations

from assembler.testing.fitters.checking import check_fitter
from assembler.testing.fitters.invariants import (
    ESSENTIAL,
    MAXIMAL,
    MONOTONE,
    NEWEST_TURN_STAYS,
    SUFFIX,
    Invariant,
)
from assembler.testing.fitters.trial import Trial
from assembler.testing.fitters.verdict import FitterError, Verdict

__all__ = [
    "ESSENTIAL",
    "MAXIMAL",
    "MONOTONE",
    "NEWEST_TURN_STAYS",
    "SUFFIX",
    "FitterError",
    "Invariant",
    "Trial",
    "Verdict",
    "check_fitter",
]
