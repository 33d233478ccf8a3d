"""Runs against a provider with hidden tokens: a prompt of its own, and a vocabulary with shorter words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import attrs
import pytest

from assembler import Assembler, TrimOldest, count_request
from budgets import Budget
from tests.integrations.provider import Body, Provider, providing
from tests.integrations.referee import judged

TURNS, FEW = 60, 12
LIMIT, ANSWER = 2_000, 200


def hidden(counted: int) -> int:
    """The bill of a request of so many tokens."""
    return (6 * counted + 4) // 5 + 150


def base(model: str, dialect: Any) -> Assembler:
    budget = Budget.for_model(model, context_window=LIMIT + ANSWER, max_output_tokens=ANSWER)
    return Assembler(budget, dialect=dialect, on_overflow=TrimOldest()).add_instruction("Be brief.")


@attrs.frozen
class Billed:
    """What was billed in a run, call by call."""

    calls: int
    over: list[int]
    """The calls above the limit."""
    most: int
    invalid: list[str]


def billed(run: Callable[[Provider, int], object], model: str, dialect: Any, turns: int, *, tells: bool) -> Billed:
    """One run. Where the provider does not tell its bill, an adapter has nothing to count from."""

    def counts(body: Body) -> int:
        return hidden(count_request(body, dialect=dialect, model=model).tokens)

    with providing(thinks=False, counts=counts, tells=tells) as provider:
        run(provider, turns)
    over = [place for place, bill in enumerate(provider.billed) if bill > LIMIT]
    return Billed(len(provider.billed), over, max(provider.billed), judged(provider, LIMIT, verbatim=False).invalid)


def assert_fits_the_bills_that_it_is_told(run: Callable[[Provider, int], object], model: str, dialect: Any) -> None:
    """Sixty turns in which no billed call exceeds the limit, though calls without the bills do."""
    untold = billed(run, model, dialect, FEW, tells=False)
    assert untold.over
    outcome = billed(run, model, dialect, TURNS, tells=True)
    assert (outcome.over, outcome.invalid) == ([], [])
    assert outcome.calls >= 2 * TURNS
    assert outcome.most > 0.8 * LIMIT


def assert_makes_a_refused_call_again(run: Callable[[Provider, int], object], model: str, dialect: Any) -> None:
    """A few turns against a provider without bills that accepts less than the budget: each refused call is repeated."""

    def counts(body: Body) -> int:
        return hidden(count_request(body, dialect=dialect, model=model).tokens)

    with providing(thinks=False, counts=counts, tells=False, takes=LIMIT) as provider:
        run(provider, FEW)
    assert max(provider.billed) <= LIMIT
    assert judged(provider, LIMIT, verbatim=False).invalid == []
    assert 0 < len(provider.refused) <= MOST_REFUSED
    assert len(provider.billed) >= 2 * FEW


AssertFits: TypeAlias = "Callable[[Callable[[Provider, int], object], str, Any], None]"

MOST_REFUSED = 2
"""One call of each conversation; some runs hold two."""

either_way = pytest.mark.parametrize(
    "assert_fits",
    [assert_fits_the_bills_that_it_is_told, assert_makes_a_refused_call_again],
    ids=["billed", "refused"],
)
"""A test of both: the provider bills more than can be counted, or it refuses."""
