"""The error of a strategy that chooses is about the smallest request that it can make, not about the one it made."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from assembler import Assembler
from assembler.dialects import plain
from assembler.policies import Refuse
from assembler.pricing.pricer import Piece
from assembler.strategies import Needs, Rendered
from budgets import Budget, ContextLengthError, RegionCosts


@attrs.frozen
class Sized:
    """Lays out so many characters from so many tokens left on, and a longer line that says it found nothing before."""

    found: int
    least: int
    nothing: int
    needs = Needs.QUESTION

    def render(self, regions: Any) -> Rendered:
        return Rendered((Piece("knowledge", "nothing", "n" * self.nothing),))

    def choose(self, regions: Any, space: Any) -> Rendered:
        if space.left(Rendered()) < self.least:
            return self.render(regions)
        return Rendered((Piece("knowledge", "found", "f" * self.found),))


def assembler_at(window: int, strategy: Sized, question: int = 10) -> Assembler:
    made = Assembler(Budget(window, counter=len), dialect=plain, on_overflow=Refuse(), strategy=strategy)
    return made.add_message(("user", "q" * question))


def test_what_is_found_may_cost_less_than_the_line_that_nothing_was() -> None:
    strategy = Sized(found=7, least=8, nothing=12)
    with pytest.raises(ContextLengthError) as raised:
        assembler_at(15, strategy).build()
    error = raised.value
    assert (error.required, error.available, error.excess, error.smallest_window) == (17, 15, 2, 18)
    assert error.costs == RegionCosts(0, 0, 7, 10)
    assert assembler_at(18, strategy).build().count.tokens == 17
    with pytest.raises(ContextLengthError):
        assembler_at(17, strategy).build()
    assert error.advice == (
        "The newest turn alone needs 10 and 8 are left for it: shorten its messages by 3 tokens. "
        "Or choose a context_window of 18."
    )
    assert assembler_at(15, strategy, 7).build().count.tokens == 14
    with pytest.raises(ContextLengthError):
        assembler_at(15, strategy, 8).build()


@pytest.mark.parametrize(
    ("found", "required", "less"),
    [(4, 22, 3), (5, 22, 3), (6, 16, 3), (10, 20, 5), (11, 21, 6), (12, 22, 7), (13, 23, 7)],
)
def test_by_how_much_to_shorten_is_what_a_choice_lacks(found: int, required: int, less: int) -> None:
    """A request that would fit already, or that costs no less, is not the one that the error is about."""
    strategy = Sized(found=found, least=8, nothing=12)
    with pytest.raises(ContextLengthError) as raised:
        assembler_at(15, strategy).build()
    assert raised.value.required == required
    assert f"shorten its messages by {less} tokens" in raised.value.advice
    if found < 13:
        assert assembler_at(15, strategy, 10 - less).build()
        with pytest.raises(ContextLengthError):
            assembler_at(15, strategy, 10 - less + 1).build()
