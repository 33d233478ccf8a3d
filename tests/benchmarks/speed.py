"""Every figure of speed in one run, beside its target and what the last run came to.

    python -m tests.benchmarks.speed [--rounds 7] [--rows session,cache,…] [--peers] [--history FILE]

Figures are medians of the rounds, and ratios within this run wherever one can be had: the yardstick is tiktoken with
its published split pattern over every text once, in CPU seconds. A line for each run is added to `history.jsonl` beside
this file, which is committed: the commit, the figures, and the load of the machine, since a shared one makes every
figure worse. A figure that is a tenth worse than its last is marked. `--peers` adds langchain-core where installed.
Renders of a chat template are counted by `template.py`, and how every function grows by `growth.py`.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs

from assembler import TrimOldest
from budgets import fastest_counter
from budgets.counters.tiktoken import _load_engine
from budgets.vocabularies import PUBLISHED
from tests.benchmarks import claude, session, startup
from tests.benchmarks.engines import megabyte

HERE = Path(__file__).parent
HISTORY = HERE / "history.jsonl"
WORSE = 1.1
"""So many times the last figure is worth a look: below that a busy machine explains it."""


@attrs.frozen
class Figure:
    """One row: what was measured, in which unit, and what it should be at most (or at least)."""

    name: str
    value: float
    unit: str
    target: float | None = None
    least: bool = False

    def misses(self) -> bool:
        """Whether it is on the wrong side of its target."""
        return self.target is not None and (self.value < self.target if self.least else self.value > self.target)

    def worse_than(self, last: float | None) -> bool:
        """Whether it is much worse than the last time."""
        if last is None or min(last, self.value) <= 0:
            return False
        return (last / self.value if self.least else self.value / last) > WORSE


def yardstick() -> Callable[[str], int]:
    """tiktoken as its makers publish it."""
    encode = _load_engine("o200k_base", PUBLISHED["o200k_base"].pattern).encode_ordinary
    return lambda text: len(encode(text))


def agent_session(rounds: int) -> Iterator[Figure]:
    arrivals, count = session.session(), yardstick()
    every = [text for messages in arrivals for text in session.texts(messages)]
    policy, cpu = TrimOldest(low_water=0.5), session.cpu
    ways: dict[str, tuple[Callable[[], object], float]] = {
        "build and request": (lambda: session.replay(arrivals, policy, lambda _, __: None), 1.5),
        "and report.to_dict()": (
            lambda: session.replay(arrivals, policy, lambda seen, _: seen.report.to_dict()),
            2.0,
        ),
        f"build and request, {fastest_counter().name}": (
            lambda: session.replay(arrivals, policy, lambda _, __: None, fastest_counter),
            0.8,
        ),
    }
    ratios: dict[str, list[float]] = {name: [] for name in ways}
    for round_ in range(rounds + 1):
        once = cpu(lambda: [count(text) for text in every])
        for name, (live, _) in ways.items():
            ratio = cpu(live) / once
            if round_:  # the first loads the engines
                ratios[name].append(ratio)
    for name, (_, target) in ways.items():
        yield Figure(f"agent session: {name}", statistics.median(ratios[name]), "x tokenising", target)


def prefix_cache(_: int) -> Iterator[Figure]:
    arrivals = session.session()
    ours = session.judged(arrivals, TrimOldest(low_water=0.6, pins=session.beginning(arrivals, session.BEGINNING)))
    greedy = session.judged(arrivals, TrimOldest())
    yield Figure("outside the prefix cache, of keeping what fits", ours.outside / greedy.outside, "x", 0.10)
    yield Figure("window filled meanwhile", statistics.mean(ours.fills), "of it", 0.70, least=True)


def large_history(rounds: int) -> Iterator[Figure]:
    sys.path.insert(0, str(HERE))
    huge, count = importlib.import_module("huge"), yardstick()
    messages = huge.history(huge.MESSAGES)
    half_of_them = messages[: huge.MESSAGES // 2]
    kept = [message["content"] for message in huge.cold(messages).messages]
    ratios: list[float] = []
    grown: list[float] = []
    for _ in range(rounds):
        once = huge.cpu(lambda: [count(text) for text in kept])
        whole, half = (huge.cpu(lambda given=given: huge.cold(given)) for given in (messages, half_of_them))
        ratios.append(whole / once)
        grown.append(whole / half)
    yield Figure("100,000 messages, cold", statistics.median(ratios), "x tokenising", 1.3)
    yield Figure("cold, twice the history", statistics.median(grown), "x", 2.2)
    few, many = (
        huge.appended(huge.assembler_for(None, huge.SMALL).add_messages(messages[:n])) for n in (1_000, 100_000)
    )
    yield Figure("one message more after 100,000, of after 1,000", many / few, "x", 1.3)


def start(rounds: int) -> Iterator[Figure]:
    codes = {
        "from assembler import Assembler": ("from assembler import Assembler", 60.0),
        "first exact count": ("import budgets; budgets.tiktoken_counter()('hello')", 250.0),
    }
    taken: dict[str, list[float]] = {name: [] for name in codes}
    for _ in range(rounds):
        bare = startup.seconds("pass")
        for name, (code, _target) in codes.items():
            taken[name].append(1e3 * (startup.seconds(code) - bare))
    for name, (_, target) in codes.items():
        yield Figure(f"start: {name}", statistics.median(taken[name]), "ms over bare", target)


def vocabularies(rounds: int) -> Iterator[Figure]:
    texts = [megabyte()]
    name = "claude-4.7" if "claude-4.7" in claude.GENERATIONS else next(iter(claude.GENERATIONS))
    lines, count = claude.lines_of(name), claude.claude_counter(name)
    yield Figure("Claude, seen before", claude.speed(count, texts, rounds, lambda: None), "MB/s", 20.0, least=True)
    yield Figure("Claude, cold", claude.speed(count, texts, rounds, lines.forget), "MB/s", 2.0, least=True)
    ours, theirs = session.tiktoken_counter(), yardstick()
    ratio = claude.speed(ours, texts, rounds, lambda: None) / claude.speed(theirs, texts, rounds, lambda: None)
    yield Figure("tiktoken_counter, of tiktoken as published", ratio, "x", 1.0, least=True)


def batches(rounds: int) -> Iterator[Figure]:
    sys.path.insert(0, str(HERE))
    batch = importlib.import_module("batch")
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder, "in.jsonl")
        batch.write_rows(rows, 2_000)
        rows.with_name("spec.yaml").write_text(batch.SPEC)
        loop = [sys.executable, "-c", batch.LOOP, str(rows), str(rows.with_name("loop.jsonl"))]
        ratios: list[float] = []
        for number in range(rounds + 1):
            plain = batch.timed(loop)[1]
            ratio = plain / batch.timed(batch.command(rows, rows.with_name(f"out{number}.jsonl"), 1))[1]
            if number:  # the first writes the bytecode, which an installed package has
                ratios.append(ratio)
    yield Figure("batch, rows per CPU second, of a plain loop", statistics.median(ratios), "x", 0.95, least=True)


def near_duplicates(_: int) -> Iterator[Figure]:
    sys.path.insert(0, str(HERE))
    ratio, _seconds, megabytes = importlib.import_module("rag").duplicates(10_000)
    yield Figure("dedup of 10,000 x 1,536, of the bare product", ratio[1], "x", 1.0)
    yield Figure("dedup, memory beside the vectors", megabytes[1], "MB", 100.0)


ROWS: dict[str, Callable[[int], Iterator[Figure]]] = {
    "session": agent_session,
    "cache": prefix_cache,
    "large": large_history,
    "start": start,
    "vocabularies": vocabularies,
    "batch": batches,
    "dedup": near_duplicates,
}


def last_figures(history: Path) -> dict[str, float]:
    """The newest figure of each name."""
    lines = history.read_text().splitlines() if history.exists() else []
    return dict(itertools.chain.from_iterable(json.loads(line)["figures"].items() for line in lines))


def commit() -> str:
    """The commit that is measured, with a mark where files differ from it."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=10"]
    return subprocess.run(command, capture_output=True, text=True, cwd=HERE, check=False).stdout.strip() or "unknown"


def keep(history: Path, figures: list[Figure], rounds: int) -> None:
    """Add this run to the history."""
    run: dict[str, Any] = {
        "commit": commit(),
        "python": platform.python_version(),
        "rounds": rounds,
        "load": [round(load, 1) for load in os.getloadavg()],
        "processors": os.cpu_count(),
        "figures": {figure.name: round(figure.value, 4) for figure in figures},
    }
    with history.open("a") as lines:
        lines.write(json.dumps(run) + "\n")


def main() -> int:
    """Print the table; 1 if a figure is much worse than its last."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rows", default=",".join(ROWS))
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--history", type=Path, default=HISTORY)
    chosen = parser.parse_args()
    last, figures, lost = last_figures(chosen.history), list[Figure](), 0
    print(f"{'':<62}{'now':>9} {'unit':<14}{'target':>9}{'last':>9}")
    for figure in itertools.chain.from_iterable(ROWS[row](chosen.rounds) for row in chosen.rows.split(",")):
        figures.append(figure)
        before = last.get(figure.name)
        target = "" if figure.target is None else f"{'>=' if figure.least else '<='} {figure.target:g}"
        marks = ("  misses" if figure.misses() else "") + ("  WORSE" if figure.worse_than(before) else "")
        lost += figure.worse_than(before)
        shown = "" if before is None else f"{before:.3f}"
        print(f"{figure.name:<62}{figure.value:9.3f} {figure.unit:<14}{target:>9}{shown:>9}{marks}", flush=True)
    keep(chosen.history, figures, chosen.rounds)
    if chosen.peers:
        arrivals, count = session.session(), yardstick()
        every = [text for messages in arrivals for text in session.texts(messages)]
        ours = session.judged(arrivals, TrimOldest(low_water=0.6, pins=session.beginning(arrivals, session.BEGINNING)))
        session.peers(arrivals, session.cpu(lambda: [count(text) for text in every]), ours)
    return int(lost > 0)


if __name__ == "__main__":
    sys.exit(main())
