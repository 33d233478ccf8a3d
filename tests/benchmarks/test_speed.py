"""The script of the speed table says which figures got worse."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.speed import Figure, keep, last_figures


def test_the_last_figure_of_each_name_is_found_over_several_runs(tmp_path: Path) -> None:
    history = tmp_path / "history.jsonl"
    assert last_figures(history) == {}
    keep(history, [Figure("a", 2.0, "x"), Figure("b", 5.0, "ms")], 7)
    keep(history, [Figure("a", 1.5, "x")], 7)
    assert last_figures(history) == {"a": 1.5, "b": 5.0}


@pytest.mark.parametrize(
    ("figure", "last", "worse", "misses"),
    [
        (Figure("a", 1.2, "x", 1.5), 1.1, False, False),
        (Figure("a", 1.2, "x", 1.5), 1.0, True, False),
        (Figure("a", 1.6, "x", 1.5), None, False, True),
        (Figure("a", 20.0, "MB/s", 20.0, least=True), 30.0, True, False),
        (Figure("a", 19.0, "MB/s", 20.0, least=True), 19.0, False, True),
    ],
)
def test_a_figure_is_worse_than_its_last_in_the_direction_that_counts(
    figure: Figure, last: float | None, worse: bool, misses: bool
) -> None:
    assert figure.worse_than(last) is worse
    assert figure.misses() is misses
