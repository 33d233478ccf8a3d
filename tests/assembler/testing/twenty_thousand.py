"""Checks `TrimOldest` against every law in 20,000 examples: too long for the suite, run by `make test-fitters`."""

from __future__ import annotations

from assembler.testing import ESSENTIAL, MAXIMAL, MONOTONE, NEWEST_TURN_STAYS, SUFFIX, check_fitter
from tests.assembler.testing.trimmers import characters, trim_oldest

EXAMPLES = 20_000
LAWS = (*ESSENTIAL, NEWEST_TURN_STAYS, SUFFIX, MAXIMAL, MONOTONE)

if __name__ == "__main__":
    verdict = check_fitter(trim_oldest, count=characters, invariants=LAWS, max_examples=EXAMPLES)
    assert verdict.examples >= EXAMPLES
    print(f"TrimOldest, {len(LAWS)} laws: {verdict}")
