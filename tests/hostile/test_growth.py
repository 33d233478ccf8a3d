"""Every public function has a row in the table of growth, and the measure recognises quadratic growth."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from budgets import AssemblyError

BENCHMARKS = str(Path(__file__).parents[1] / "benchmarks")


@pytest.fixture(scope="module")
def public() -> Any:
    sys.path.insert(0, BENCHMARKS)
    try:
        return importlib.import_module("public")
    finally:
        sys.path.remove(BENCHMARKS)


@pytest.fixture(scope="module")
def growth(public: Any) -> Any:
    sys.path.insert(0, BENCHMARKS)
    try:
        return importlib.import_module("growth")
    finally:
        sys.path.remove(BENCHMARKS)


def test_every_public_name_is_measured_or_said_to_do_no_work_of_its_own(public: Any) -> None:
    names = set(public.public_names())
    known = public.ROWS.keys() | public.HOLDS | public.ELSEWHERE.keys()
    assert sorted(names - known) == []
    assert sorted(public.ROWS.keys() - names) == []
    assert not public.ROWS.keys() & (public.HOLDS | public.ELSEWHERE.keys())


def test_one_case_of_every_name_runs(public: Any) -> None:
    for cases in public.ROWS.values():
        with contextlib.suppress(AssemblyError, AssertionError):
            next(iter(cases.values()))(3)()


def square(n: int) -> Callable[[], object]:
    return lambda: sum(1 for _ in range(n) for _ in range(n))


def sorting(n: int) -> Callable[[], object]:
    return lambda: sorted(range(n, 0, -1), key=lambda k: k * 7919 % n)


def test_the_measure_distinguishes_quadratic_growth_from_a_sort(growth: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = {"now": 0}

    def counted(work: Callable[[], object]) -> float:
        """Line events instead of seconds: the same on any machine."""
        steps["now"] = 0

        def trace(*_: object) -> Any:
            steps["now"] += 1
            return trace

        sys.settrace(trace)
        try:
            work()
        finally:
            sys.settrace(None)
        return steps["now"] / 100_000

    monkeypatch.setattr(growth, "seconds", counted)
    assert growth.growth(square)[1] > growth.LIMIT
    assert growth.growth(sorting)[1] <= growth.LIMIT
