"""A plan is tried at another window: what fits there is what a build makes there, and nothing where a build refuses."""

from __future__ import annotations

import pytest

from assembler import Assembler, ContextLengthError, TrimOldest
from assembler.dialects import plain
from assembler.pipeline.what_if import refit, try_window
from budgets import Budget

SAID = [("user", "q" * 8), ("assistant", "a" * 8), ("user", "n" * 8)]


def assembler_at(window: int, overhead: int = 0) -> Assembler:
    budget = Budget(window, counter=len, overhead=overhead)
    return Assembler(budget, dialect=plain, on_overflow=TrimOldest()).add_messages(SAID)


@pytest.mark.parametrize(("window", "kept"), [(24, [0, 1, 2]), (23, [2]), (8, [2]), (7, None), (1, None)])
def test_a_window_keeps_what_a_build_keeps_there(window: int, kept: list[int] | None) -> None:
    plan = assembler_at(16).plan().inside
    tried = try_window(plan, window)
    assert (None if tried is None else list(tried.kept)) == kept
    if kept is None:
        with pytest.raises(ContextLengthError):
            refit(plan, window)
    else:
        assert list(refit(plan, window).kept) == kept == list(assembler_at(window).plan().kept)


def test_a_window_that_a_budget_cannot_have_fits_nothing() -> None:
    plan = assembler_at(30, overhead=6).plan().inside
    assert try_window(plan, 6) is None
    assert try_window(plan, 14) is not None
