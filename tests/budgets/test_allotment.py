"""Regions share a budget: floors first, then shares and the rest by priority; the sum is exact."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgets import Budget, BudgetError, Limit
from budgets.allotment import allotments, most_available
from budgets.limit import REGIONS

demands = st.fixed_dictionaries({region: st.integers(0, 100) for region in REGIONS})
ROOM = st.integers(0, 250)


@st.composite
def limits(draw: st.DrawFn) -> dict[str, Limit]:
    chosen: dict[str, Limit] = {}
    floors = 0
    for region in draw(st.sets(st.sampled_from(REGIONS))):
        cap = draw(st.none() | st.integers(0, 120))
        floor = draw(st.integers(0, min(60, cap if cap is not None else 60)))
        floors += floor
        share = draw(st.none() | st.sampled_from([0.1, 0.5, 1.0]))
        chosen[region] = Limit(cap=cap, floor=floor, share=share, priority=draw(st.integers(-1, 1)))
    return chosen


def caps(chosen: dict[str, Limit], room: int) -> dict[str, int]:
    return {r: room if r not in chosen or chosen[r].cap is None else int(chosen[r].cap or 0) for r in REGIONS}


Case: TypeAlias = tuple[int, dict[str, int], dict[str, Limit]]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Tokens that hold all floors, what each region asks for, and the limits."""
    chosen = draw(limits())
    return max(draw(ROOM), sum(int(limit.floor) for limit in chosen.values())), draw(demands), chosen


@given(cases())
def test_no_region_gets_more_than_it_asks_for_or_its_cap_and_all_together_get_at_most_the_limit(case: Case) -> None:
    room, asked, chosen = case
    given_out = allotments(room, room, asked, chosen)
    assert sum(given_out.values()) <= room
    for region in REGIONS:
        assert 0 <= given_out[region] <= min(asked[region], caps(chosen, room)[region])


@given(cases())
def test_floors_are_kept_and_only_tokens_that_no_region_needs_are_left(case: Case) -> None:
    room, asked, chosen = case
    given_out = allotments(room, room, asked, chosen)
    for region, limit in chosen.items():
        assert given_out[region] >= min(asked[region], limit.floor)
    left = room - sum(given_out.values())
    wanting = [r for r in REGIONS if given_out[r] < min(asked[r], caps(chosen, room)[r])]
    assert left == 0 or not wanting


@given(ROOM, demands)
def test_without_limits_the_conversation_gets_what_the_fixed_regions_leave(room: int, asked: dict[str, int]) -> None:
    given_out = allotments(room, room, asked, {})
    fixed = asked["instruction"] + asked["capability"] + asked["knowledge"]
    assert given_out["conversation"] == min(asked["conversation"], max(0, room - fixed))


def test_priority_goes_before_order_and_a_share_before_the_rest() -> None:
    asked = {"knowledge": 100, "conversation": 100}
    assert allotments(100, 100, asked, {"conversation": Limit(priority=1)})["conversation"] == 100
    shared = allotments(100, 100, asked, {"conversation": Limit(share=0.7)})
    assert (shared["conversation"], shared["knowledge"]) == (70, 30)
    flowing = allotments(100, 100, {"knowledge": 20, "conversation": 100}, {"knowledge": Limit(floor=60)})
    assert (flowing["knowledge"], flowing["conversation"]) == (20, 80)


@pytest.mark.parametrize("share", [0.1, 0.25, 0.3, 0.5, 0.7, 1.0])
@pytest.mark.parametrize("cap", [0, 1, 7, 100])
def test_the_most_tokens_are_the_last_at_which_a_share_is_within_its_cap(share: float, cap: int) -> None:
    within = [tokens for tokens in range(2_000) if Fraction(str(share)) * tokens < cap + 1]
    assert most_available({"knowledge": Limit(floor=share, cap=cap), "conversation": Limit(floor=9)}) == within[-1]


def test_a_region_that_asks_for_nothing_gets_nothing_though_it_has_a_floor() -> None:
    assert allotments(100, 100, {}, {"knowledge": Limit(floor=10)}) == dict.fromkeys(REGIONS, 0)


def test_the_smallest_window_holds_the_floors_and_the_answer() -> None:
    with pytest.raises(BudgetError, match=r"only 100 are free: the smallest context_window that works is 170$"):
        Budget(150, max_output_tokens=50, counter=len, limits={"knowledge": Limit(floor=120)})


FLOORS = st.one_of(st.integers(0, 300), st.sampled_from([0.1, 0.25, 0.5, 0.9]))


def floor_of(amount: float, available: int) -> int:
    """Tokens of a floor in fractions; a share is the decimal that its owner wrote."""
    return math.floor(Fraction(str(amount)) * available) if isinstance(amount, float) else amount


@given(st.integers(1, 900), st.integers(0, 50), st.dictionaries(st.sampled_from(REGIONS), FLOORS))
def test_floors_that_do_not_fit_are_refused_with_the_smallest_window_that_works(
    window: int, reserve: int, floors: dict[str, float]
) -> None:
    limits = {region: Limit(floor=floor) for region, floor in floors.items()}

    def fits(available: int) -> bool:
        return sum(floor_of(floor, available) for floor in floors.values()) <= available

    def made(context_window: int) -> Budget:
        return Budget(context_window, max_output_tokens=reserve, counter=len, limits=limits)

    window += reserve
    if fits(window - reserve):
        made(window)
    elif sum(Fraction(str(floor)) for floor in floors.values() if isinstance(floor, float)) >= 1:
        shares = sum(floor for floor in floors.values() if isinstance(floor, float))
        whole = sum(floor for floor in floors.values() if isinstance(floor, int))
        tokens = f" and {whole} tokens" if whole else ""
        words = f"the floors ask for {100 * shares:.0f}% of what is free{tokens}: no window holds that; lower the"
        with pytest.raises(BudgetError, match=words):
            made(window)
    else:
        needed = sum(floor_of(floor, window - reserve) for floor in floors.values())
        words = f"the floors ask for {needed} tokens but only {window - reserve} are free"
        with pytest.raises(BudgetError, match=words) as refused:
            made(window)
        smallest = int(re.findall(r"\d+", str(refused.value))[-1])
        made(smallest)
        assert not fits(smallest - 1 - reserve)


@pytest.mark.parametrize(
    ("limit", "floor", "cap"),
    [
        (Limit(floor=0.5, cap=499), 500, 499),
        (Limit(floor=0.5, cap=500), 0, None),
        (Limit(floor=301, cap=0.3), 301, 300),
        (Limit(floor=300, cap=0.3), 0, None),
        (Limit(floor=300), 0, None),
    ],
)
def test_a_floor_above_a_cap_of_the_other_kind_is_refused_in_tokens(limit: Limit, floor: int, cap: int | None) -> None:
    limits = {"knowledge": limit}
    if cap is None:
        assert Budget(1_200, max_output_tokens=200, counter=len, limits=limits).input_limit == 1_000
    else:
        words = rf"limits\['knowledge'\]: its floor of {floor} tokens is above its cap of {cap}:"
        with pytest.raises(BudgetError, match=words):
            Budget(1_200, max_output_tokens=200, counter=len, limits=limits)


@pytest.mark.parametrize(
    ("limits", "more", "why"),
    [
        ({"knowledge": Limit(floor=150)}, {"max_input_tokens": 149}, "max_input_tokens leaves 149"),
        ({"knowledge": Limit(floor=150)}, {"max_input_tokens": 160, "overhead": 11}, "max_input_tokens leaves 149"),
        ({"knowledge": Limit(floor=0.5, cap=60), "capability": Limit(floor=70)}, {}, "exceeds its cap"),
    ],
)
def test_no_window_is_named_for_floors_that_fit_into_none(
    limits: dict[str, Limit], more: dict[str, Any], why: str
) -> None:
    """One was named that `max_input_tokens` or the cap of another floor refused."""
    with pytest.raises(BudgetError, match=f"no window helps, as .*{why}; lower the floors$"):
        Budget(100, counter=len, limits=limits, **more)
    for window in range(101, 500):
        with pytest.raises(BudgetError):
            Budget(window, counter=len, limits=limits, **more)


def test_floors_that_fit_just_below_the_most_input_are_named_a_window() -> None:
    limits = {"knowledge": Limit(floor=150)}
    with pytest.raises(BudgetError, match=r"the smallest context_window that works is 161$"):
        Budget(100, counter=len, limits=limits, max_input_tokens=161, overhead=11)
    assert Budget(161, counter=len, limits=limits, max_input_tokens=161, overhead=11).input_limit == 150


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("share", "whole", "smallest"),
    [(0.9, 10_000_000, 99_999_991), (0.5, 10_000_000, 19_999_999), (1 - 1e-9, 5, None)],
)
def test_the_smallest_window_is_found_without_a_look_at_each(share: float, whole: int, smallest: int | None) -> None:
    limits = {"knowledge": Limit(floor=share), "conversation": Limit(floor=whole)}
    with pytest.raises(BudgetError, match="the smallest context_window that works is") as refused:
        Budget(1_000, counter=len, limits=limits)
    found = int(re.findall(r"\d+", str(refused.value))[-1])
    assert smallest in (None, found)
    assert Budget(found, counter=len, limits=limits).input_limit == found
    with pytest.raises(BudgetError, match=f"only {found - 1} are free"):
        Budget(found - 1, counter=len, limits=limits)
