"""Adjusts the counts of parts so that they add up to the count of their whole.

Joined texts cost more or less than each alone, and estimates are rounded for each text, so the counts of parts do not
add up. The difference goes to the largest parts; none falls below 0, and no bound below its tokens.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from budgets.count import Count, Tokens


def settle(amounts: list[Tokens], whole: Tokens) -> None:
    """Change the largest amounts so that all add up to `whole`, which must be 0 or more. In place."""
    missing = whole - sum(amounts)
    for place in sorted(range(len(amounts)), key=amounts.__getitem__, reverse=True):
        if not missing:
            return
        taken = max(missing, -amounts[place])
        amounts[place] += taken
        missing -= taken


def apportion(whole: Count, parts: Sequence[Count]) -> tuple[Count, ...]:
    """The parts, adjusted so that tokens and bounds add up to those of `whole`. Each gets the grade of `whole`."""
    tokens, slacks = _list_amounts(parts)
    settle(tokens, whole.tokens)
    settle(slacks, whole.upper - whole.tokens)
    return tuple([Count(n, whole.grade, n + slack) for n, slack in zip(tokens, slacks, strict=True)])


def split_framing(whole: Count, parts: Sequence[Count]) -> tuple[tuple[Count, ...], Count]:
    """The parts, and what the whole costs beyond them. Together they add up to the whole.

    If the parts alone cost more than the whole, or have more slack, they are reduced and the framing costs nothing.
    """
    tokens, slacks = _list_amounts(parts)
    slack = whole.upper - whole.tokens
    beyond, loose = max(whole.tokens - sum(tokens), 0), max(slack - sum(slacks), 0)
    settle(tokens, whole.tokens - beyond)
    settle(slacks, slack - loose)
    each = [
        part if part.tokens == n and part.upper == n + spare else Count(n, part.grade, n + spare)
        for part, n, spare in zip(parts, tokens, slacks, strict=True)
    ]
    return tuple(each), Count(beyond, whole.grade, beyond + loose)


def bound_together(parts: Sequence[Count], bound: Callable[[Tokens], Tokens]) -> tuple[Count, ...]:
    """The parts of one text, with bounds that add up to the text's, however it is split.

    `bound` returns the bound of a text whose parts have bounds that add up to so many tokens. It grows at least as fast
    as they do.
    """
    reached = map(bound, itertools.accumulate((part.upper for part in parts), initial=0))
    return tuple(
        Count(part.tokens, part.grade, after - before)
        for part, (before, after) in zip(parts, itertools.pairwise(reached), strict=True)
    )


def _list_amounts(parts: Sequence[Count]) -> tuple[list[Tokens], list[Tokens]]:
    return [part.tokens for part in parts], [part.upper - part.tokens for part in parts]


def scale_down(amounts: Sequence[Tokens], whole: Tokens) -> list[Tokens]:
    """The amounts scaled down to add up to `whole`. What rounding leaves goes to the largest amount."""
    given = sum(amounts)
    shares = [amount * whole // given for amount in amounts] if given else list(amounts)
    if shares:
        shares[amounts.index(max(amounts))] += whole - sum(shares)
    return shares
