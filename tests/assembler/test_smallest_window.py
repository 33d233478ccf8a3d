"""The smallest window that an error names works, and one token less does not; None means that none does."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, ContextLengthError, Policy, Refuse, TrimOldest, Truncate
from budgets import Budget, BudgetError, Limit
from tests.scaled import scaled


def words(text: str) -> int:
    return len(text.split())


@attrs.frozen
class Drawn:
    """A draft of so many words, and what its windows have in common."""

    limits: dict[str, Limit]
    ladder: tuple[Policy, ...] = (Refuse(),)
    instruction: int = 3
    documents: tuple[int, ...] = ()
    messages: tuple[int, ...] = (200,)
    more: dict[str, Any] = attrs.field(factory=dict[str, Any])

    @property
    def kept_free(self) -> int:
        return sum(self.more.get(name, 0) for name in ("safety_margin", "max_output_tokens"))

    def at(self, window: int) -> Assembler[Any]:
        budget = Budget(window, counter=words, limits=self.limits, **self.more)
        made = Assembler(budget, on_overflow=self.ladder).add_instruction("w " * self.instruction)
        for number, length in enumerate(self.documents):
            made.add_knowledge("d " * length, type="rag", score=number / 9)
        for place, length in enumerate(self.messages):
            made.add_message({"role": "assistant" if place % 2 else "user", "content": "m " * length})
        return made

    def builds(self, window: int) -> bool:
        try:
            self.at(window).build()
        except (ContextLengthError, BudgetError):
            return False
        return True


def smallest_from(drawn: Drawn, window: int) -> int | None:
    with pytest.raises(ContextLengthError) as refusal:
        drawn.at(window).build()
    named: int | None = refusal.value.smallest_window
    return named


@pytest.mark.parametrize(
    ("limit", "more"),
    [
        (Limit(cap=20, floor=0.1), {}),
        (Limit(cap=20, floor=0.1), {"safety_margin": 20, "max_output_tokens": 5}),
        (Limit(cap=20, floor=0.1), {"max_input_tokens": 400}),
        (Limit(cap=0, floor=0.004), {}),
    ],
)
def test_a_window_is_found_below_the_one_at_which_a_floor_exceeds_its_cap(limit: Limit, more: dict[str, Any]) -> None:
    """The search doubles the window, and from some window on the floor is above its cap."""
    drawn = Drawn({"instruction": Limit(cap=0.3), "knowledge": limit}, instruction=54, messages=(3,), more=more)
    window = smallest_from(drawn, 87)
    assert window is not None
    assert window == 180 + drawn.kept_free
    assert drawn.builds(window)
    assert not drawn.builds(window - 1)


def test_no_window_is_named_if_a_floor_exceeds_its_cap_before_anything_fits() -> None:
    limits = {"instruction": Limit(cap=0.3), "knowledge": Limit(cap=20, floor=0.1)}
    drawn = Drawn(limits, instruction=64, messages=(3,))
    assert smallest_from(drawn, 87) is None
    assert not any(map(drawn.builds, range(87, 400)))


FLOORS = st.sampled_from([0, 5, 20, 0.05, 0.1, 0.3])
CAPS = st.sampled_from([None, 10, 30, 60, 0.5, 0.9])
LIMITS = st.tuples(FLOORS, CAPS, st.integers(0, 1)).map(lambda drawn: _limit(*drawn)).filter(bool)


def _limit(floor: float, cap: float | None, priority: int) -> Limit | None:
    try:
        return Limit(floor=floor, cap=cap, priority=priority)
    except BudgetError:
        return None


@scaled(0.5)
@given(
    limits=st.dictionaries(st.sampled_from(["instruction", "knowledge", "conversation"]), LIMITS, min_size=1),
    ladder=st.sampled_from([(Refuse(),), (TrimOldest(),), (Truncate(6), TrimOldest(low_water=0.5))]),
    instruction=st.integers(0, 40),
    documents=st.lists(st.integers(1, 30), max_size=3).map(tuple),
    messages=st.lists(st.integers(1, 40), min_size=1, max_size=5).filter(lambda drawn: len(drawn) % 2).map(tuple),
    more=st.sampled_from([{}, {"max_input_tokens": 120}, {"safety_margin": 7, "max_output_tokens": 9}]),
    window=st.integers(20, 60),
)
def test_the_named_window_works_and_one_token_less_does_not(window: int, **drawn: Any) -> None:
    draft = Drawn(**drawn)
    try:
        draft.at(window).build()
    except BudgetError:
        return
    except ContextLengthError as error:
        named = error.smallest_window
        if named is None:
            assert not any(map(draft.builds, [*range(window, window + 100), *range(window + 100, 2_000, 83)]))
        else:
            assert draft.builds(named)
            assert not draft.builds(named - 1)
