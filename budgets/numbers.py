"""Numbers at the door: whole, not negative, and really numbers."""

from __future__ import annotations

import math
import operator
from typing import SupportsIndex

from budgets.count import Tokens
from budgets.errors import BudgetError

LARGEST = 10**640
"""The bound of every number here, in the digits that every interpreter prints, however it is configured:
`sys.int_info.str_digits_check_threshold`. A longer one would raise a ValueError in whatever text shows it."""


def index_of(value: object) -> int | None:
    """`value` as an int where it is a whole number below `LARGEST`, numpy's included; None for all else, bools too."""
    # numpy is recognised by name, so that it need not be imported.
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_") or not isinstance(value, SupportsIndex):
        return None
    try:
        number = operator.index(value)
    except Exception:  # a numpy array of more than one number has __index__ too
        return None
    return number if -LARGEST < number < LARGEST else None


def whole(value: object, name: str) -> int:
    """`value` as an int. Raises BudgetError for a bool, a float, a text, None."""
    number = index_of(value)
    if number is None:
        raise BudgetError(f"{name} is {shown(value)}: a whole number is expected")
    return number


def whole_tokens(value: object, name: str) -> Tokens:
    """`value` as an int >= 0. Raises BudgetError for anything else."""
    number = index_of(value)
    if number is None or number < 0:
        raise BudgetError(
            f"{name} is {shown(value) if number is None else number}: whole tokens, 0 or more, are expected"
        )
    return number


def share(value: object, name: str) -> float:
    """`value` as a float in (0, 1]. Raises BudgetError for anything else, an int 1 too: it could mean one token."""
    if not isinstance(value, float) or math.isnan(value) or not 0 < value <= 1:
        raise BudgetError(f"{name} is {shown(value)}: a share is a float above 0 and at most 1, 0.4 for 40 %")
    return float(value)


def shown(value: object) -> str:
    """Numbers as they are; of everything else the type alone, since it could be a text."""
    if isinstance(value, int) and not -LARGEST < value < LARGEST:
        return f"an integer of {value.bit_length()} bits"
    return str(value) if isinstance(value, int | float) else f"a {type(value).__name__}"
