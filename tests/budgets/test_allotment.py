"""Regions share a budget: floors first, then shares and the rest by priority; nothing is lost or exceeded."""

from __future__ import annotations

from typing import TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from budgets import Limit
from budgets.allotment import allotments
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
def test_no_region_gets_more_than_it_asks_for_or_its_cap_and_all_get_at_most_the_room(case: Case) -> None:
    room, asked, chosen = case
    given_out = allotments(room, asked, chosen)
    assert sum(given_out.values()) <= room
    for region in REGIONS:
        assert 0 <= given_out[region] <= min(asked[region], caps(chosen, room)[region])


@given(cases())
def test_floors_are_kept_and_what_nobody_needs_is_all_that_is_left(case: Case) -> None:
    room, asked, chosen = case
    given_out = allotments(room, asked, chosen)
    for region, limit in chosen.items():
        assert given_out[region] >= min(asked[region], limit.floor)
    left = room - sum(given_out.values())
    wanting = [r for r in REGIONS if given_out[r] < min(asked[r], caps(chosen, room)[r])]
    assert left == 0 or not wanting


@given(ROOM, demands)
def test_without_limits_the_conversation_gets_what_the_fixed_regions_leave(room: int, asked: dict[str, int]) -> None:
    given_out = allotments(room, asked, {})
    fixed = asked["instruction"] + asked["capability"] + asked["knowledge"]
    assert given_out["conversation"] == min(asked["conversation"], max(0, room - fixed))


def test_priority_goes_before_order_and_a_share_before_the_rest() -> None:
    asked = {"knowledge": 100, "conversation": 100}
    assert allotments(100, asked, {"conversation": Limit(priority=1)})["conversation"] == 100
    shared = allotments(100, asked, {"conversation": Limit(share=0.7)})
    assert (shared["conversation"], shared["knowledge"]) == (70, 30)
    flowing = allotments(100, {"knowledge": 20, "conversation": 100}, {"knowledge": Limit(floor=60)})
    assert (flowing["knowledge"], flowing["conversation"]) == (20, 80)
