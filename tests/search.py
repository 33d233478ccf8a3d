"""Runs every property of the suite on new examples, round after round: `python -m tests.search --cases 1000000`.

A round gives every property the same time, from a seed of its own: first a few examples that show how long one takes,
from then on as many as take ten seconds. Every property that ends writes one line into the journal: its name, the seed,
how many cases it drew, in how many seconds, whether it held. A search that is stopped goes on where it was, and what it
found is repeated by the seed, the name and the number.

The same module is the pytest plugin that counts the cases (`-p tests.search`).
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[1]
JOURNAL = ROOT / ".search" / "journal.jsonl"
TARGET = "ASSEMBLER_SEARCH_JOURNAL"
NUMBERS = "ASSEMBLER_SEARCH_NUMBERS"
FIRST = 20
"""Examples of a property that the journal does not know yet."""
SLICE = 10.0
"""Seconds that a property of later rounds has."""
FEWEST, MOST = 20, 20_000
"""Examples of a property in one of the later rounds."""
SKIPPED = ("sdks", "integrations", "peers", "templates", "batch", "page", "benchmarks")
"""Folders under tests/ whose tests need an environment of their own."""


# ── the plugin: one line a property

_drawn: Counter[str] = Counter()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the properties alone."""
    laws = [item for item in items if _handle(item) is not None or _machine(item) is not None]
    config.hook.pytest_deselected(items=[item for item in items if item not in laws])
    items[:] = laws


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Count every example that the property is called with."""
    handle = _handle(item)
    if handle is not None:
        handle.inner_test = _counted(handle.inner_test, item.nodeid)
        number = _numbers().get(item.nodeid, FIRST)
        test: Any = getattr(item, "function")  # noqa: B009 - only a function has it
        test._hypothesis_internal_use_settings = settings(max_examples=number)


@functools.cache
def _numbers() -> dict[str, int]:
    """How many examples each property of this run draws, by its name."""
    return json.loads(os.environ.get(NUMBERS, "{}"))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Write the line of a property that ended."""
    journal = os.environ.get(TARGET)
    if journal is None or (report.when != "call" and report.passed):
        return
    line = {"law": report.nodeid, "seed": int(os.environ["ASSEMBLER_SEARCH_SEED"]), "held": not report.failed}
    with Path(journal).open("a") as written:
        written.write(json.dumps({**line, "cases": _drawn[report.nodeid], "seconds": report.duration}) + "\n")


def _handle(item: pytest.Item) -> Any:
    return getattr(getattr(item, "obj", None), "hypothesis", None)


def _machine(item: pytest.Item) -> Any:
    return getattr(getattr(item, "parent", None), "settings", None)


def _counted(test: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(test)
    def drawn(*arguments: Any, **named: Any) -> Any:
        _drawn[name] += 1
        return test(*arguments, **named)

    return drawn


# ── the command


@attrs.frozen
class Line:
    """One property in one round."""

    law: str
    seed: int
    held: bool
    cases: int
    seconds: float = 0.0


def read(journal: Path) -> list[Line]:
    """What has been searched so far; a line that was torn by an end of the process is left out."""
    if not journal.exists():
        return []
    return [Line(**line) for line in map(_parsed, journal.read_text().splitlines()) if line is not None]


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        return json.loads(line)
    except ValueError:
        return None


def files() -> list[str]:
    """The test files that hold properties and run in the ordinary environment."""
    tests = ROOT / "tests"
    found = (path for path in sorted(tests.rglob("test_*.py")) if path.relative_to(tests).parts[0] not in SKIPPED)
    return [str(path.relative_to(ROOT)) for path in found if "hypothesis" in path.read_text()]


def rounds(done: Iterable[Line], first_seed: int) -> Iterator[tuple[int, str]]:
    """Which seed and file come next, without end: those of the journal are left out."""
    searched = {(line.seed, line.law.partition("::")[0]) for line in done}
    every, seed = files(), first_seed
    while True:
        yield from ((seed, file) for file in every if (seed, file) not in searched)
        seed += 1


def numbers(done: Iterable[Line], file: str) -> dict[str, int]:
    """How many examples fill the slice of each property of a file that was searched before."""
    known = [line for line in done if line.law.partition("::")[0] == file and line.cases]
    cases, seconds = Counter[str](), defaultdict[str, float](float)
    for line in known:
        cases[line.law] += line.cases
        seconds[line.law] += line.seconds
    return {law: min(max(round(SLICE * cases[law] / max(seconds[law], 0.01)), FEWEST), MOST) for law in cases}


def search_file(seed: int, file: str, journal: Path, examples: dict[str, int]) -> list[Line]:
    """Run the properties of one file in a process of its own; their lines are whole once it has ended."""
    own = journal.with_name(f"{os.getpid()}-{seed}-{file.replace('/', '-')}.part")
    environment = {**os.environ, TARGET: str(own), NUMBERS: json.dumps(examples)}
    environment |= {"ASSEMBLER_SEARCH_SEED": str(seed), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pytest", file, "-p", "tests.search", "--hypothesis-profile=round"]
    command += [f"--hypothesis-seed={seed}", "--timeout=1200", "-q", "-m", "", "-p", "no:cacheprovider"]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    lines = read(own)
    own.unlink(missing_ok=True)
    if not all(line.held for line in lines):
        with journal.with_name("found.txt").open("a") as found:
            found.write(f"── seed {seed}: {' '.join(command)}\n{ended.stdout}\n")
    return lines or [Line(f"{file}::no property", seed, ended.returncode in (0, 5), 0)]


def main() -> int:
    """Search until so many cases were drawn or the time is up; 1 where a property was broken."""
    asked = _asked()
    asked.journal.parent.mkdir(parents=True, exist_ok=True)
    done, end = read(asked.journal), time.monotonic() + 60 * asked.minutes
    left, turn = rounds(list(done), asked.seed), threading.Lock()

    def search_on(_worker: int) -> None:
        while sum(line.cases for line in done) < asked.cases and time.monotonic() < end:
            with turn:
                seed, file = next(left)
            new = search_file(seed, file, asked.journal, numbers(list(done), file))
            done.extend(new)
            with asked.journal.open("a") as journal:
                journal.writelines(json.dumps(attrs.asdict(line)) + "\n" for line in new)
            broken = [line.law for line in new if not line.held]
            print(
                f"{sum(line.cases for line in done):>9,}  seed {seed}  {file}  {' '.join(broken) or 'held'}", flush=True
            )

    with ThreadPoolExecutor(asked.workers) as pool:
        list(pool.map(search_on, range(asked.workers)))
    return _told(done)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--minutes", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1, help="the seed of the first round")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--journal", type=Path, default=JOURNAL)
    return parser.parse_args()


def _told(done: list[Line]) -> int:
    laws = {line.law for line in done if line.cases}
    broken = sorted({f"{line.law} (seed {line.seed})" for line in done if not line.held})
    print(f"{sum(line.cases for line in done):,} cases of {len(laws)} properties, {len(broken)} broken")
    print("".join(f"  {law}\n" for law in broken), end="")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
