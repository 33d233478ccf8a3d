"""Every argument of every public door, given extreme numbers and arrays: a use, or the library's own error."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assembler.report.page import Line, Ticks, chart_svg
from assembler.session import Call, calls_of, session_svg, smoothed
from budgets import AssemblyError
from tests.hostile.test_arguments import DATA, DOORS
from tests.hostile.test_dos import deep

EXTREMES: dict[str, Any] = {
    "beyond doubles": 10**400,
    "below doubles": -(10**400),
    "infinity": math.inf,
    "minus infinity": -math.inf,
    "the largest double": 1.7e308,
    "the least double": 5e-324,
    "minus zero": -0.0,
    "an array": np.array([1, 2]),
    "an empty array": np.array([]),
    "an array without dimensions": np.array(5),
    "a table": np.array([[1.5, np.nan]]),
    "an array of texts": np.array(["a"]),
    "numpy's NaN": np.float64("nan"),
    "numpy's least": np.int64(-(2**63)),
    "numpy's truth": np.bool_(True),
    "a decimal NaN": Decimal("NaN"),
    "a fraction": Fraction(1, 3),
    "a complex number": 1j,
    "deep lists": deep(3_000),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("door", DATA["doors"])
def test_an_extreme_is_used_or_refused_by_an_error_of_the_librarys(
    door: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    untyped: list[str] = []
    for argument in DATA["doors"][door]:
        documented = DATA["documented"].get(f"{door}.{argument}", "")
        for label, extreme in EXTREMES.items():
            try:
                DOORS[door](**{argument: extreme})
            except AssemblyError as error:
                assert len(str(error)) <= 1_100
            except Exception as error:
                if type(error).__name__ not in documented:
                    untyped.append(f"{argument}, {label}: {error!r:.100}")
    assert untyped == []


CHARTS: dict[str, Any] = {
    "the values of a line": lambda odd: chart_svg("t", [Line("n", odd)]),
    "a value of a line": lambda odd: chart_svg("t", [Line("n", [odd])]),
    "the note of a line": lambda odd: chart_svg("t", [Line("n", [1.0], odd)]),
    "a tick": lambda odd: chart_svg("t", [Ticks("n", [odd], 5)]),
    "the calls of ticks": lambda odd: chart_svg("t", [Ticks("n", [1], odd)]),
    "a title": lambda odd: chart_svg(odd, []),
    "the panels": lambda odd: chart_svg("t", odd),
    "what goes across": lambda odd: chart_svg("t", [], across=odd),
    "a value to smooth": lambda odd: smoothed([odd, odd]),
    "the values to smooth": smoothed,
    "a window to smooth over": lambda odd: smoothed([1.0], odd),
    "how full a call is": lambda odd: session_svg([Call(odd, 1, False, 0.5)]),
    "what is served of a call": lambda odd: session_svg([Call(0.5, 1, False, odd)]),
    "the calls of a session": session_svg,
    "the contexts of a session": lambda odd: list(calls_of(odd)),
    "a context of a session": lambda odd: list(calls_of([odd])),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("label", EXTREMES)
@pytest.mark.parametrize("place", CHARTS)
def test_a_chart_draws_an_extreme_or_refuses_it(place: str, label: str) -> None:
    try:
        drawn = CHARTS[place](EXTREMES[label])
    except AssemblyError:
        return
    assert "nan" not in str(drawn)
    assert "inf" not in str(drawn)
