"""A limit is a number of tokens or a share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from budgets import BudgetError, Limit


@pytest.mark.parametrize(
    "limit",
    [
        {},
        {"cap": 0},
        {"cap": 1.0, "floor": 1},
        {"cap": 500, "floor": 500},
        {"cap": 0.4, "floor": 0.4},
        {"cap": 0.1, "floor": 5_000},
        {"floor": 0.5, "share": 1.0, "priority": -3},
        {"cap": 2**63},
    ],
)
def test_tokens_and_shares_are_accepted(limit: dict[str, Any]) -> None:
    made = Limit(**limit)
    assert {name: getattr(made, name) for name in limit} == limit


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        ("cap", -1, "-1"),
        ("cap", True, "True"),
        ("cap", 0.0, "0.0"),
        ("cap", -0.5, "-0.5"),
        ("cap", 1.5, "1.5"),
        ("cap", float("nan"), "nan"),
        ("cap", float("inf"), "inf"),
        ("cap", "500", "a str"),
        ("floor", None, "a NoneType"),
        ("floor", -1, "-1"),
        ("floor", False, "False"),
        ("floor", 1.0000001, "1.0000001"),
        ("share", 1, "1"),
        ("share", True, "True"),
        ("share", 0.0, "0.0"),
        ("share", "half", "a str"),
        ("priority", 1.0, "1.0"),
        ("priority", True, "True"),
        ("priority", None, "a NoneType"),
    ],
)
def test_any_other_value_is_refused_as_a_limit_by_name(field: str, value: Any, shown: str) -> None:
    with pytest.raises(BudgetError, match=f"^{field} is {shown}: (a share|a whole number|whole tokens)") as caught:
        Limit(**{field: value})
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(("cap", "floor"), [(499, 500), (0, 1), (0.4, 0.5)])
def test_a_floor_above_its_cap_is_refused(cap: float, floor: float) -> None:
    with pytest.raises(BudgetError, match=f"floor {floor} is above cap {cap}"):
        Limit(cap=cap, floor=floor)


def test_numpy_numbers_become_pythons() -> None:
    limit = Limit(cap=np.float64(0.5), floor=np.int64(3), priority=np.int8(2))  # type: ignore[arg-type]
    assert [type(limit.cap), type(limit.floor), type(limit.priority)] == [float, int, int]
    assert hash(limit) == hash(Limit(cap=0.5, floor=3, priority=2))
