"""Runs of blanks that make tiktoken panic are counted exactly."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from budgets import tiktoken_counter
from budgets.counters.blank_runs import BLOCK, LINE_BREAKS_APART, LINE_BREAKS_AS_BLANKS, cut_at_blank_runs, may_overflow
from tests.budgets.drawn_texts import BLANKS, adversarial
from tests.budgets.raw_engines import NAMES, engine, tokens_of
from tests.scaled import scaled

BEARABLE = 999_998
"""The longest run that tiktoken 0.14.0 counts, measured 2026-11."""

AROUND = ["|", "x|x", ";\n|/x", "\n|\nx", "x | 1"]
"""What stands before and behind a run of blanks."""
TELLING = [
    ("cl100k_base", " ", "x|x"),
    ("o200k_base", " ", ";\n|/x"),
    ("o200k_base", "\t", "x | 1"),
    ("r50k_base", " ", "\n|\nx"),
    ("r50k_base", "\t", "|"),
]
"""Each encoding and each surrounding once: a long run takes a third of a second."""

blank_runs = st.text(st.sampled_from(BLANKS), min_size=2, max_size=9)
runny = st.lists(st.one_of(adversarial, blank_runs, st.sampled_from(["\n", "/", "x", " ;"])), max_size=6).map("".join)


def small(runs: str) -> str:
    """The same pattern with runs of three in the place of BLOCK, so that every text has some."""
    assert str(BLOCK) in runs
    return runs.replace(str(BLOCK), "3")


def bare(name: str, text: str) -> int:
    return tokens_of(name, text) if text else 0


def one_piece(name: str, run: str) -> int:
    return len(engine(name)._encode_single_piece(run)) if run else 0


@scaled(0.3)
@given(text=runny)
@example("a;\n   b")
@example("   ")
@example("a   /b")
@example("\n    \n   x")
@pytest.mark.parametrize("name", NAMES)
def test_a_text_cut_at_its_runs_costs_what_it_costs_whole(name: str, text: str) -> None:
    runs = small(LINE_BREAKS_AS_BLANKS if name == "r50k_base" else LINE_BREAKS_APART)
    parts = list(cut_at_blank_runs(text, runs))
    assert "".join(ordinary + run for ordinary, run in parts) == text
    assert sum(bare(name, ordinary) + one_piece(name, run) for ordinary, run in parts) == tokens_of(name, text)


@pytest.mark.parametrize("name", NAMES)
def test_cutting_off_a_whole_run_would_change_the_count(name: str) -> None:
    """The mutant: the last blank of a run is split off, and before a digit it is a piece of its own."""
    assert one_piece(name, "    ") + bare(name, "1") != bare(name, "    1")


@pytest.mark.parametrize("length", [BLOCK - 1, BLOCK, 2 * BLOCK - 1, 2 * BLOCK, 2 * BLOCK + 1])
@pytest.mark.parametrize("offset", [0, 1, BLOCK // 2, BLOCK - 1])
def test_no_run_of_two_blocks_is_overlooked(length: int, offset: int) -> None:
    found = may_overflow("x" * offset + " " * length + "x" * 10)
    assert found or length < 2 * BLOCK
    assert not may_overflow("x" * offset + " " * (BLOCK - 1) + "x" * BLOCK)


@pytest.mark.parametrize(
    ("name", "blank", "around"),
    [
        case if case in TELLING else pytest.param(*case, marks=pytest.mark.slow)
        for case in itertools.product(["cl100k_base", "o200k_base", "r50k_base"], [" ", "\t"], AROUND)
    ],
)
def test_a_run_that_tiktoken_can_count_is_counted_as_tiktoken_counts(name: str, blank: str, around: str) -> None:
    text = around.replace("|", blank * 300_000)
    assert tiktoken_counter(name)(text) == tokens_of(name, text)


@pytest.mark.parametrize(
    "name", ["o200k_base", *(pytest.param(n, marks=pytest.mark.slow) for n in ("cl100k_base", "r50k_base"))]
)
def test_a_run_too_long_for_tiktoken_costs_its_pieces(name: str) -> None:
    count, run = tiktoken_counter(name), " " * (BEARABLE + 2)
    assert count(run) == one_piece(name, run)
    assert count(run + "x") == one_piece(name, run[:-1]) + tokens_of(name, " x")


def test_tiktoken_alone_panics_on_the_run() -> None:
    """When this fails, the engine was repaired and `blank_runs` may be removed."""
    with pytest.raises(ValueError, match="Regex error"):
        tokens_of("o200k_base", " " * (BEARABLE + 2))


def test_a_run_between_line_breaks_is_left_to_the_engine() -> None:
    text = "a\n" + " " * 300_000 + "\nb"
    assert list(cut_at_blank_runs(text, LINE_BREAKS_APART)) == [(text, "")]
