"""Prints how many mutants the tests killed, package by package: `python -m tests.mutation --sample 150 --seed 1`.

A mutant that survives is killed by a new test, or named in `equivalents.json` with the reason why no test can tell it
from the original. A score from a sample comes with its 95 % interval (Wilson 1927, "Probable Inference").
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from tests.mutation.mutants import ROOMS, ROOT, Mutant, drawn
from tests.mutation.running import KILLED, SURVIVED, TIMED_OUT, UNTESTED, Trial, tests

KEPT = ROOT / ".mutation"
EQUIVALENTS = Path(__file__).with_name("equivalents.json")
LEAST = 0.95


def wilson(killed: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share of which a sample is known."""
    if not of:
        return 0.0, 1.0
    z, share = 1.959964, killed / of
    middle, spread = share + z * z / (2 * of), z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return (middle - spread) / (1 + z * z / of), (middle + spread) / (1 + z * z / of)


def main() -> int:
    """Try the mutants that the journal lacks, print the score; 1 where a package falls short."""
    asked = _asked()
    asked.kept.mkdir(parents=True, exist_ok=True)
    journal = asked.kept / "journal.jsonl"
    done: dict[str, str] = dict(map(json.loads, journal.read_text().splitlines())) if journal.exists() else {}
    chosen = [mutant for room in asked.rooms for mutant in drawn(room, asked.sample, asked.seed)]
    again = (SURVIVED, UNTESTED) if asked.again else ()
    left = [mutant for mutant in chosen if mutant.name not in done or done[mutant.name] in again]

    def report(mutant: Mutant, verdict: str) -> None:
        done[mutant.name] = verdict
        with journal.open("a") as written:
            written.write(json.dumps([mutant.name, verdict]) + "\n")

    if left:
        options = ["-o", "addopts=", "-m", "not slow", "-p", "no:terminal", "-p", "no:cacheprovider"]
        options += ["--timeout=0", "--hypothesis-profile=mutation"]
        if pytest.main([*options, *tests()], plugins=[Trial(left, asked.kept / "reached.json", asked.most, report)]):
            return 2
    short = _score(chosen, done)
    return short if asked.sample else short or _rotten(chosen, done)  # of a sample, another of the name may be alive


def _score(chosen: list[Mutant], done: dict[str, str]) -> int:
    equivalent: dict[str, str] = json.loads(EQUIVALENTS.read_text())
    scores, alive = defaultdict[str, Counter[str]](Counter), list[str]()
    for mutant in chosen:
        verdict = done[mutant.name]
        if verdict in (SURVIVED, UNTESTED) and _place_apart(mutant) in equivalent:
            verdict = "equivalent"
        elif verdict in (SURVIVED, UNTESTED):
            alive.append(f"{verdict}: {mutant.name}")
        scores[mutant.room][verdict] += 1
    short = False
    for room, score in scores.items():
        dead = score[KILLED] + score[TIMED_OUT]
        of = dead + score[SURVIVED] + score[UNTESTED]
        low, high = wilson(dead, of)
        short = short or dead < LEAST * of
        print(f"{room:10} {dead / max(of, 1):6.1%} of {of} ({low:.1%} to {high:.1%}), {dict(score)}")
    print("".join(f"{line}\n" for line in sorted(alive)), end="")
    return 1 if short else 0


def _rotten(chosen: list[Mutant], done: dict[str, str]) -> int:
    """1 where a name is of equivalent mutants and none of that name is left alive. Two may have one name."""
    alive = {_place_apart(mutant) for mutant in chosen if done[mutant.name] in (SURVIVED, UNTESTED)}
    dead = {_place_apart(mutant) for mutant in chosen} - alive
    rotten = sorted(dead & json.loads(EQUIVALENTS.read_text()).keys())
    print("".join(f"named equivalent, but killed: {name}\n" for name in rotten), end="")
    return 1 if rotten else 0


def _place_apart(mutant: Mutant) -> str:
    """The name without the line, which any edit above it moves."""
    return mutant.name.rpartition(" (line ")[0]


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rooms", nargs="*", default=list(ROOMS))
    parser.add_argument("--sample", type=int, help="mutants a package; all of them where it is not given")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=float, default=20.0, help="seconds of tests for each mutant")
    parser.add_argument("--again", action="store_true", help="try those again that no test has seen yet")
    parser.add_argument("--kept", type=Path, default=KEPT)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
