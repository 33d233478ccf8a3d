"""Divides a budget among the regions when some have limits."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from budgets.count import Tokens
from budgets.errors import BudgetError
from budgets.limit import REGIONS, Amount, Limit
from budgets.numbers import part_of

_NO_LIMIT = Limit()


def allotments(
    available: Tokens, input_limit: Tokens, demands: Mapping[str, Tokens], limits: Mapping[str, Limit]
) -> dict[str, Tokens]:
    """What each region may cost: at most its demand, and beyond the floors at most `available` tokens. O(regions).

    Three rounds: every region gets its floor, then, by priority, its share, then, by priority, up to its cap. Shares
    are of `input_limit`, of which the format of the request has taken all but what is `available`. Tokens that a region
    does not demand go to the next. Regions of equal priority are served in their fixed order, so that without limits
    the conversation gets what the fixed regions leave.
    """
    of = {region: limits.get(region, _NO_LIMIT) for region in REGIONS}
    given = {region: min(demands.get(region, 0), tokens_of(of[region].floor, input_limit)) for region in REGIONS}
    left = available - sum(given.values())
    order = sorted(REGIONS, key=lambda region: -of[region].priority)
    for ceiling in (_count_share, _count_cap):
        for region in order:
            more = min(demands.get(region, 0), ceiling(of[region], input_limit)) - given[region]
            granted = max(0, min(left, more))
            given[region] += granted
            left -= granted
    return given


def most_for(
    region: str,
    available: Tokens,
    input_limit: Tokens,
    demands: Mapping[str, Tokens],
    fixed: Sequence[str],
    limits: Mapping[str, Limit],
) -> Tokens:
    """The most that a region may demand so that it and the `fixed` regions get all they demand; 0 if nothing does.

    O(regions · log `available`).
    """

    def holds(demand: Tokens) -> bool:
        asked = {**demands, region: demand}
        given = allotments(available, input_limit, asked, limits)
        return all(given[each] >= asked.get(each, 0) for each in (region, *fixed))

    return bisect_left(range(1, available + 1), True, key=lambda demand: not holds(demand))


_LARGEST_SHARE = 1 - 1e-9
"""Floors of 0.1, 0.2 and 0.7 are a whole window, but as doubles they add up to slightly less than 1."""


def check_floors(available: Tokens, reserved: Tokens, limits: Mapping[str, Limit], most: Tokens | None = None) -> None:
    """Raise `BudgetError` for floors that do not fit into `available`, with the smallest window that works.

    `reserved` is the rest of the window. `most` is what is available in any larger one, None for no such limit.
    """
    for region, limit in limits.items():
        if limit.cap is not None and tokens_of(limit.floor, available) > tokens_of(limit.cap, available):
            raise BudgetError(
                f"limits[{region!r}]: its floor of {tokens_of(limit.floor, available)} tokens is above its cap of "
                f"{tokens_of(limit.cap, available)}: lower the floor or raise the cap"
            )
    needed = sum(tokens_of(limit.floor, available) for limit in limits.values())
    if needed > available:
        whole = sum(limit.floor for limit in limits.values() if isinstance(limit.floor, int))
        shares = sum(limit.floor for limit in limits.values() if isinstance(limit.floor, float))
        if shares > _LARGEST_SHARE:
            asked = f"{shares:.0%} of what is free" + (f" and {whole} tokens" if whole else "")
            raise BudgetError(f"the floors ask for {asked}: no window holds that; lower the floors")
        least = _find_least_available(whole, limits)
        asked = f"the floors ask for {needed} tokens but only {available} are free"
        if most is not None and least > most:
            raise BudgetError(f"{asked}: no window helps, as max_input_tokens leaves {most}; lower the floors")
        if (within_caps := most_available(limits)) is not None and least > within_caps:
            raise BudgetError(
                f"{asked}: no window helps, as a floor that grows with it exceeds its cap; lower the floors"
            )
        raise BudgetError(f"{asked}: the smallest context_window that works is {least + reserved}")


def most_available(limits: Mapping[str, Limit]) -> Tokens | None:
    """The most tokens at which no floor exceeds its cap, or None if there is no such limit. Floors may be shares."""
    most = [
        _find_most_in_share(limit.floor, limit.cap)
        for limit in limits.values()
        if isinstance(limit.floor, float) and limit.floor and isinstance(limit.cap, int)
    ]
    return min(most, default=None)


def _find_most_in_share(share: float, cap: Tokens) -> Tokens:
    from fractions import Fraction  # most floors fit

    available = int((cap + 1) / Fraction(share)) + 1  # doubles are off by at most 1
    while part_of(share, available) > cap:
        available -= 1
    return available


def _find_least_available(whole: Tokens, limits: Mapping[str, Limit]) -> Tokens:
    """The fewest tokens into which the floors fit. Shares are of that number, each rounded down."""
    from fractions import Fraction  # most floors fit

    shares = [Fraction(limit.floor) for limit in limits.values() if isinstance(limit.floor, float)]
    available = max(whole, int((whole - len(shares)) / (1 - sum(shares))))
    while sum(tokens_of(limit.floor, available) for limit in limits.values()) > available:
        available += 1
    return available


def tokens_of(amount: Amount, input_limit: Tokens) -> Tokens:
    """The tokens of a cap or a floor: a share is a part of the input limit, rounded down."""
    return part_of(amount, input_limit) if isinstance(amount, float) else amount


def _count_share(limit: Limit, input_limit: Tokens) -> Tokens:
    return 0 if limit.share is None else min(part_of(limit.share, input_limit), _count_cap(limit, input_limit))


def _count_cap(limit: Limit, input_limit: Tokens) -> Tokens:
    return input_limit if limit.cap is None else tokens_of(limit.cap, input_limit)
