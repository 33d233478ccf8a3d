"""Whether anything public grows faster than n·log n over what an attacker may send; fails where it does.

    python tests/benchmarks/growth.py [--only NAME]

Each case of `public.py` is doubled until it takes `LEAST` seconds of CPU, and then measured at that size and at four
times it, the least of three rounds each. In that step n·log n grows by less than five, and a square by sixteen: more
than `LIMIT` in each of three trials is a failure, if the next step grows so too. The step in which an input outgrows
the processor's cache is larger than others. What the library refuses is measured like what it takes.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time

from public import ROWS, SQUARES, Case, Work

from budgets import AssemblyError

LEAST = 0.02
LARGEST = 1 << 17
PREPARED = 1.0
"""CPU seconds that it may take to make an input: what works on the largest such in less than `LEAST` is quick."""
STEP = 4
LIMIT = 8.5
TRIALS, ROUNDS = 3, 3


def seconds(work: Work) -> float:
    """CPU seconds of one run. An error of the library's is an answer."""
    gc.collect()
    gc.disable()
    try:
        begun = time.process_time()
        try:
            work()
        except (AssemblyError, AssertionError):
            pass
        return time.process_time() - begun
    finally:
        gc.enable()


def least(case: Case, n: int) -> float:
    """The least of some rounds, each over a new input, so that no round uses what an earlier one cached.

    0 for an input that the library refuses while it is prepared, such as a message of more values than it reads.
    """
    try:
        return min(seconds(case(n)) for _ in range(ROUNDS))
    except AssemblyError:
        return 0.0


def first_size(case: Case) -> tuple[int, float]:
    """The first size, doubled from 32, that takes long enough to be measured; or the largest that can be made."""
    n, taken, begun = 32, seconds(case(32)), time.process_time()
    while taken < LEAST and n < LARGEST and time.process_time() - begun < PREPARED:
        n *= 2
        begun = time.process_time()
        try:
            taken = seconds(case(n))
        except AssemblyError:
            return n // 2, taken
    return n, taken


def growth(case: Case) -> tuple[int, float]:
    """The size that was measured, and by how much the time grew in a step of four."""
    n, taken = first_size(case)
    if taken < LEAST:
        return n, 1.0
    grown = step(case, n)
    return n, grown if grown <= LIMIT else min(grown, step(case, STEP * n))


def step(case: Case, n: int) -> float:
    """By how much the time grows from `n` to four times it."""
    grown = STEP**3
    for _ in range(TRIALS):
        grown = min(grown, least(case, STEP * n) / max(least(case, n), 1e-9))
        if grown <= LIMIT:
            break
    return grown


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--only", default="", help="a part of the names of the cases to run")
    only = asked.parse_args().only
    failed = 0
    gc.freeze()  # the library itself is never garbage: a collection between two measures passes over it
    for name, cases in ROWS.items():
        for label, case in cases.items():
            place = f"{name}: {label}"
            if only not in place:
                continue
            n, grown = growth(case)
            square = next((reason for part, reason in SQUARES.items() if part in place), None)
            bad = grown > LIMIT and square is None
            failed += bad
            if bad or only or grown > LIMIT:
                text = "FAILED" if bad else f"a square, known: {square}" if grown > LIMIT else "ok"
                print(f"{place}: from {n} to {STEP * n} times {grown:.1f}: {text}", flush=True)
    print(f"{sum(map(len, ROWS.values()))} cases of {len(ROWS)} names, {failed} grow faster than n log n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
