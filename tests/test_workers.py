"""A run in workers reports what pytest's own loop reports."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

TESTS = """
import os, sys
import pytest

@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return tmp_path_factory.mktemp("shared")

@pytest.mark.parametrize("number", range(40))
def test_many(number, shared, tmp_path, capfd):
    os.system(f"echo {number}")
    assert capfd.readouterr().out == f"{number}\\n"
    assert number != 33, "thirty-three"

def test_skipped():
    pytest.skip("not here")

@pytest.mark.xfail
def test_known():
    assert False

@pytest.fixture
def broken():
    raise ValueError("no such thing")

def test_without_its_fixture(broken):
    pass
"""


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "tests.workers", "-p", "no:cacheprovider", *options]
    path = {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=path, capture_output=True, text=True, check=False)


def lines_of(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The reported line of each test and the totals, without the time."""
    return sorted(re.findall(r"^(?:FAILED|ERROR|SKIPPED|XFAIL) .*|^=*.* passed.*(?= in )", done.stdout, re.MULTILINE))


def test_every_test_ends_in_workers_as_it_does_alone(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS)
    alone, beside = (run(tmp_path, "-q", "-rA", "--workers", number) for number in ("1", "3"))
    assert (lines_of(beside), beside.returncode) == (lines_of(alone), 1)
    assert "1 failed, 39 passed, 1 skipped, 1 xfailed, 1 error" in lines_of(beside)


def test_a_worker_that_dies_fails_the_run_and_names_its_test(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(f"{TESTS}\ndef test_dies():\n    os._exit(0)\n")
    done = run(tmp_path, "-q", "-k", "dies or known", "--workers", "2")
    assert done.returncode == 1
    assert "FAILED test_some.py::test_dies - the process that ran this test ended" in done.stdout
