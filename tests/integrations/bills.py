"""Runs against a provider whose bill nobody can count: a prompt of its own, and a vocabulary with shorter words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from assembler import Assembler, TrimOldest, count_request
from budgets import Budget
from tests.integrations.provider import Body, Provider, providing
from tests.integrations.referee import judged

TURNS, FEW = 60, 12
LIMIT, ANSWER = 2_000, 200


def hidden(counted: int) -> int:
    """What is billed where so many tokens are counted."""
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
    """Sixty turns of which no call is over its bill, where as many without a word of it are."""
    untold = billed(run, model, dialect, FEW, tells=False)
    assert untold.over
    told = billed(run, model, dialect, TURNS, tells=True)
    assert (told.over, told.invalid) == ([], [])
    assert told.calls >= 2 * TURNS
    assert told.most > 0.8 * LIMIT
