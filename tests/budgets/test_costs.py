"""Counts and costs add up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgets import Count, Grade, RegionCosts
from budgets.count import total

tokens = st.integers(0, 10**9)
costs = st.builds(RegionCosts, tokens, tokens, tokens, tokens, tokens)


@given(a=costs, b=costs)
def test_costs_add_region_by_region(a: RegionCosts, b: RegionCosts) -> None:
    assert (a + b).to_dict() == {region: a.to_dict()[region] + b.to_dict()[region] for region in a.to_dict()}
    assert (a + b).total == a.total + b.total == sum((a + b).to_dict().values())
    assert a + RegionCosts() == a


def test_costs_read_as_one_line() -> None:
    costs = RegionCosts(instruction=310, capability=900, knowledge=6_500, conversation=1_400, framing=10)
    assert str(costs) == "instruction 310, capability 900, knowledge 6500, conversation 1400, framing 10"
    assert list(costs.to_dict()) == ["instruction", "capability", "knowledge", "conversation", "framing"]


counts = st.builds(lambda t, g, m: Count(t, g, upper=t + m), tokens, st.sampled_from(Grade), tokens)


@given(parts=st.lists(counts, max_size=6))
def test_a_sum_has_the_grade_of_its_worst_part(parts: list[Count]) -> None:
    whole = total(parts)
    assert whole.tokens == sum(part.tokens for part in parts)
    assert whole.upper == sum(part.upper for part in parts) >= whole.tokens
    assert whole.grade == max((part.grade for part in parts), default=Grade.EXACT)


@pytest.mark.parametrize("number", [0, 1, 2**63])
def test_an_exact_count_is_its_own_upper_bound(number: int) -> None:
    assert Count(number) == Count(number, Grade.EXACT, upper=number)
    assert str(Count(number).grade) == "exact"
