"""Runs the tests that reach a mutant, in a process of its own, until one fails.

The tests are collected once. Which of them reach which line is measured in a fork, and kept: only tests of files that
are new or were edited are measured again, and a line that stands elsewhere by now is found again. Each mutant is
another fork: it puts the changed code into the function that is loaded, and runs tests of those lines for so many
seconds of processor time at most. Those go first whose file imports the mutant's module or has its name, for they are
about it; then the quickest.
"""

from __future__ import annotations

import difflib
import gc
import importlib
import json
import os
import resource
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import attrs
import pytest
from coverage import Coverage

from tests.mutation.mutants import ROOT, Mutant, changeable

TESTS = ["tests/assembler/policies", "tests/assembler/cache", *(
    f"tests/{name}.py"
    for name in (
        "budgets/test_allotment", "budgets/test_count_algebra", "budgets/test_limit", "budgets/test_budget",
        "hostile/test_peers", "hostile/test_faults", "hostile/test_extremes",
        "assembler/dialects/test_chat_template", "assembler/dialects/test_chat_template_work",
        "assembler/dialects/test_hosted", "assembler/dialects/test_nova", "assembler/dialects/test_own_merging",
        "assembler/dialects/test_template_choices", "assembler/rag/test_choosing", "assembler/rag/test_cited_sources",
        "assembler/rag/test_native_sources", "assembler/rag/test_nothing_more_fits", "assembler/rag/test_whole_window",
    )
)]  # fmt: skip
LEFT_OUT = ("test_cli", "test_names", "test_start_up")
"""Tests of the house itself; the rest of tests/assembler/test_*.py is run."""

KILLED, SURVIVED, TIMED_OUT, UNTESTED = "killed", "survived", "timed out", "untested"
WATCHED = 3
"""About how many times as long a test takes while it is measured which lines it runs."""
MOST_WALL = 900
"""Seconds after which a mutant is ended that is not done."""
MOST_QUIET = 60
"""Seconds without any work after which one is ended that waits for what never comes."""


def tests() -> list[str]:
    """The test files that are run against mutants."""
    own = sorted((ROOT / "tests" / "assembler").glob("test_*.py"))
    return [*TESTS, *(str(path.relative_to(ROOT)) for path in own if not path.name.startswith(LEFT_OUT))]


@attrs.frozen
class Reached:
    """What the tests do without a mutant."""

    lines: dict[str, dict[int, list[str]]]
    """By file and line: the tests that run the line."""
    seconds: dict[str, float]
    sources: dict[str, str] = attrs.field(factory=dict)
    """What each file that may be changed, and each file of tests, said when it was measured."""
    _masks: dict[str, dict[str, int]] = attrs.field(init=False)
    """By file and test: a bit for each line that it runs."""

    def __attrs_post_init__(self) -> None:
        for path, by_line in self.lines.items():
            masks = self._masks.setdefault(path, {})
            for bit, tests in enumerate(by_line.values()):
                for test in tests:
                    masks[test] = masks.get(test, 0) | 1 << bit

    @_masks.default
    def _none(self) -> dict[str, dict[str, int]]:
        return {}

    @classmethod
    def read(cls, kept: Path) -> Reached:
        """What was measured before; nothing where nothing was."""
        if not kept.exists():
            return cls({}, {})
        read = json.loads(kept.read_text())
        lines = {path: {int(line): tests for line, tests in of.items()} for path, of in read["lines"].items()}
        return cls(lines, read["seconds"], read["sources"])

    def still_true(self, sources: dict[str, str]) -> Reached:
        """What of it holds for files that say this now: of the tests whose files are the same, the lines as they are.

        A line that was edited since is run by no test that is known.
        """
        same = {path for path, text in sources.items() if self.sources.get(path) == text}
        seconds = {test: took for test, took in self.seconds.items() if test.partition("::")[0] in same}
        lines = {
            path: {line: [test for test in tests if test in seconds] for line, tests in by_line.items()}
            for path in self.lines.keys() & sources.keys()
            for by_line in [_carried(self.lines[path], self.sources[path], sources[path])]
        }
        return Reached(lines, seconds, sources)

    def tests_of(self, mutant: Mutant, most: float, about: Iterable[str] = ()) -> list[str]:
        """Tests of the mutant's lines, as many as run in so many seconds: first those that are `about` its module.

        Those are preferred that run a line of the module, then of any other, that no quicker one does: a line that
        every build runs is reached by thousands, and what it is for shows in few. Half of what is left then goes to
        those that run most of the module: properties, which hold whole builds to an answer by hand. Lines that no known
        test runs were edited since, or run while the module is loaded: there the tests of the function are taken, else
        those about the module, else all that run it.
        """
        path, own = str(mutant.path.relative_to(ROOT)), set(about)
        function = [line for *_, line in mutant.code[0].co_lines() if line is not None]
        found = self._running(path, mutant.lines) or self._running(path, function)
        found = found or own & self.seconds.keys() or set(self._masks.get(path, ()))
        ordered = sorted(found, key=lambda test: (test not in own, self.seconds[test], test))
        masks = self._masks.get(path, {})
        broadest = sorted(ordered, key=lambda test: -masks.get(test, 0).bit_count())
        chosen = self._within(most, [*self._covering(ordered, [path]), *self._covering(ordered, self._masks)], [])
        left = most - sum(map(self.seconds.__getitem__, chosen))
        chosen = self._within(left / 2, broadest, chosen)
        left = most - sum(map(self.seconds.__getitem__, chosen))
        return sorted(self._within(left, ordered, chosen), key=ordered.index)

    def _running(self, path: str, lines: Iterable[int]) -> set[str]:
        by_line = self.lines.get(path, {})
        return {test for line in lines for test in by_line.get(line, ())}

    def _within(self, left: float, more: Iterable[str], chosen: list[str]) -> list[str]:
        """Those chosen, and as many more as run in the seconds that are left; one in any case."""
        chosen = [*chosen]
        known = set(chosen)
        for test in more:
            if test not in known and (self.seconds[test] <= left or not chosen):
                left -= self.seconds[test]
                chosen.append(test)
                known.add(test)
        return chosen

    def _covering(self, ordered: list[str], paths: Iterable[str]) -> list[str]:
        """Those that run a line of some files that none before them does."""
        covering: list[str] = []
        seen = dict.fromkeys(paths, 0)
        for test in ordered:
            ran = {path: mask for path in seen if (mask := self._masks.get(path, {}).get(test, 0)) & ~seen[path]}
            if ran:
                covering.append(test)
                seen.update({path: seen[path] | mask for path, mask in ran.items()})
        return covering


class Trial:
    """The pytest plugin that tries mutants instead of running the tests once."""

    def __init__(
        self, mutants: Iterable[Mutant], kept: Path, most: float, report: Callable[[Mutant, str], None]
    ) -> None:
        self._mutants, self._kept, self._most, self._report = mutants, kept, most, report
        self._failed = ""
        self._items: dict[str, pytest.Item] = {}
        self._seconds: dict[str, float] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Take the place of pytest's own loop."""
        self._items = {item.nodeid: item for item in session.items}
        files = {*changeable(), *(item.path for item in session.items)}
        sources = {str(path.relative_to(ROOT)): path.read_text() for path in files}
        known = Reached.read(self._kept).still_true(sources)
        left = [test for test in self._items if test not in known.seconds]
        if left:
            self._kept.parent.mkdir(parents=True, exist_ok=True)
            _in_fork(lambda: self._measure(left, known), cpu=3600)
        reached = Reached.read(self._kept)
        self._seconds = reached.seconds
        functions, about = _loaded(), _importers(session.items)
        gc.freeze()  # a test that collects garbage would else walk over all that is known of the lines, in every fork
        for mutant in self._mutants:
            own = [*about.get(_module_name(mutant.path), ()), *_named_after(mutant.path, session.items)]
            chosen = reached.tests_of(mutant, WATCHED * self._most, own)
            self._report(mutant, self._verdict(mutant, chosen, functions) if chosen else UNTESTED)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember which test failed."""
        if report.failed:
            self._failed = report.nodeid

    def _verdict(self, mutant: Mutant, chosen: list[str], functions: dict[tuple[str, str, int], Any]) -> str:
        old, new = mutant.code
        found = functions[str(mutant.path), old.co_qualname, old.co_firstlineno]

        def run() -> int:
            for function in found:
                function.__code__ = new
            start = time.process_time()
            for test in chosen:
                _leave(2 * self._seconds[test])
                self._run(test)
                if self._failed:
                    return 1
                if time.process_time() - start > self._most:
                    break
            return 0

        code = _in_fork(run, cpu=int(2 * self._most) + 20)
        return {0: SURVIVED, 1: KILLED}.get(code, TIMED_OUT)

    def _run(self, test: str) -> None:
        item = self._items[test]
        item.ihook.pytest_runtest_protocol(item=item, nextitem=None)

    def _measure(self, left: list[str], known: Reached) -> int:
        """Run tests once, add them to what is known; one that fails without a mutant is not run against any."""
        # Only what may be changed is watched, and no more is kept.
        watched = Coverage(data_file=None, config_file=False, include=[str(path) for path in changeable()])
        seconds = dict(known.seconds)
        watched.start()
        for test in left:
            watched.switch_context(test)
            start, self._failed = time.process_time(), ""
            self._run(test)
            if not self._failed:
                seconds[test] = time.process_time() - start
        watched.stop()
        data, lines = watched.get_data(), defaultdict[str, dict[int, list[str]]](dict, known.lines)
        for file in data.measured_files():
            by_line = lines[str(Path(file).relative_to(ROOT))]
            for line, contexts in data.contexts_by_lineno(file).items():
                by_line[line] = [*by_line.get(line, ()), *(test for test in contexts if test in seconds)]
        written = self._kept.with_suffix(".part")
        written.write_text(json.dumps({"lines": lines, "seconds": seconds, "sources": known.sources}))
        written.rename(self._kept)
        return 0


def _carried(by_line: dict[int, list[str]], before: str, now: str) -> dict[int, list[str]]:
    """The saved results of lines, by their present places."""
    alike = difflib.SequenceMatcher(None, before.splitlines(), now.splitlines(), autojunk=False).get_matching_blocks()
    moved = {block.a + at: block.b + at for block in alike for at in range(1, block.size + 1)}
    return {moved[line]: tests for line, tests in by_line.items() if line in moved}


def _module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _named_after(path: Path, items: list[pytest.Item]) -> list[str]:
    """The tests whose file has the module's name in its own."""
    return [item.nodeid for item in items if path.stem in item.path.stem]


def _importers(items: Iterable[pytest.Item]) -> dict[str, list[str]]:
    """By module of the library: the tests in files that import it, or a name that it defines."""
    found = defaultdict[str, list[str]](list)
    by_file = {module: _imported(module) for module in {getattr(item, "module", None) for item in items}}
    for item in items:
        for name in by_file[getattr(item, "module", None)]:
            found[name].append(item.nodeid)
    return found


def _imported(tests: ModuleType | None) -> set[str]:
    held = () if tests is None else vars(tests).values()
    modules = {each.__name__ if isinstance(each, ModuleType) else getattr(each, "__module__", None) for each in held}
    return {name for name in modules if isinstance(name, str)}


def _loaded() -> dict[tuple[str, str, int], list[FunctionType]]:
    """Every function of the library that is alive, by file, qualified name and line."""
    for path in changeable():
        importlib.import_module(_module_name(path))
    found = defaultdict[tuple[str, str, int], list[FunctionType]](list)
    for function in [each for each in gc.get_objects() if isinstance(each, FunctionType)]:
        code = function.__code__
        found[code.co_filename, code.co_qualname, code.co_firstlineno].append(function)
    return found


def _in_fork(run: Callable[[], int], cpu: int) -> int:
    """The exit code of a fork of this process; a negative one where it had to be ended."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 5))
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        try:
            os._exit(run())
        except BaseException as error:
            print(repr(error)[:300], file=sys.__stderr__)
            os._exit(1)
    end = time.monotonic() + (MOST_WALL if cpu < 3600 else 36_000)
    worked, quiet = 0, time.monotonic()
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if (now := _worked(child)) is None or now != worked:
            worked, quiet = now or 0, time.monotonic()
        if time.monotonic() > min(end, quiet + MOST_QUIET):
            os.kill(child, signal.SIGKILL)
        time.sleep(0.02)


def _leave(seconds: float) -> None:
    """End this process once it has taken so much processor time more, and a few seconds: a mutant may never return."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (min(int(time.process_time() + seconds) + 4, hard), hard))


def _worked(process: int) -> int | None:
    """Ticks of processor time of a process; None if the system does not say."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return int(fields[11]) + int(fields[12])
