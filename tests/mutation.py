"""Says how many mutants the suite killed, package by package: `make mutation`.

A mutant that survives is killed by a test, or named in `mutation.equivalents.json` with the reason why no test can
tell it from the original. What is named there and was killed all the same is an error: the list may not rot.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
EQUIVALENTS = Path(__file__).with_name("mutation.equivalents.json")
KILLED = {1: "killed", 3: "killed", -24: "timeout", 24: "timeout", 152: "timeout", 255: "timeout", 36: "timeout"}
"""Exit codes of mutmut 3.8: a mutant that no test ends is killed as well."""
SURVIVED, UNTESTED = (0, None), (5, 33)
LEAST = 0.95

ROOMS = {
    "pipeline": ("fit", "planned", "choose", "measure", "share", "ladder", "ledger", "timeline", "contract", "passage"),
    "pricing": ("pricing", "prices", "count", "allotment", "calibration", "anchored", "seal", "most_turns"),
    "policies": ("policies",),
    "repair": ("repair",),
}


def verdicts() -> Iterator[tuple[str, str, int | None]]:
    """Room, name and exit code of every mutant that was made."""
    for meta in sorted((ROOT / "mutants").rglob("*.py.meta")):
        module = meta.relative_to(ROOT / "mutants").with_suffix("").with_suffix("")
        room = next((room for room, names in ROOMS.items() if {*module.parts} & {*names}), "pricing")
        for name, code in json.loads(meta.read_text())["exit_code_by_key"].items():
            yield room, name, code


def main() -> int:
    """Print the score by room and the survivors; 1 where a room falls short or the list of equivalents is wrong."""
    equivalent: dict[str, str] = json.loads(EQUIVALENTS.read_text())
    scores, survivors = defaultdict[str, Counter[str]](Counter), list[str]()
    rotten = set(equivalent)
    for room, name, code in verdicts():
        told = KILLED.get(code if code is not None else 0)
        if told is None and name in equivalent:
            told = "equivalent"
            rotten.discard(name)
        elif told is None:
            told = "untested" if code in UNTESTED else "survived"
            survivors.append(name)
        scores[room][told] += 1
    short = False
    for room, score in scores.items():
        dead = score["killed"] + score["timeout"]
        alive = score["survived"] + score["untested"]
        share = dead / (dead + alive) if dead + alive else 1.0
        short = short or share < LEAST
        print(f"{room:10} {share:6.1%} of {dead + alive} mutants, {dict(score)}")
    print("".join(f"alive: {name}\n" for name in survivors), end="")
    print("".join(f"named equivalent, but killed or gone: {name}\n" for name in sorted(rotten)), end="")
    return 1 if short or rotten else 0


if __name__ == "__main__":
    sys.exit(main())
