"""Illegal arguments of policies are refused by policy and name, and the memory of a score is bounded."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from assembler import Assembler, PlanError, register_reader
from assembler.policies import (
    ClearReasoning,
    ClearToolResults,
    KeepRelevant,
    Summarize,
    Traits,
    TrimOldest,
    TrimSteps,
    Truncate,
)
from assembler.policies.contract import verify_cut
from assembler.policies.relevance import BM25, Cosine
from assembler.pricing.ledger import Cut
from budgets import Budget, BudgetError, Limit

from .build import assembler_of


class Awaited:
    """A callable object that returns an awaitable."""

    async def __call__(self, question: str, texts: Any) -> list[float]:
        return [0.0 for _ in texts]


async def awaited(question: str, texts: Any) -> list[float]:
    return [0.0 for _ in texts]


@pytest.mark.parametrize("score", [Awaited(), awaited])
def test_a_score_that_must_be_awaited_is_refused_by_its_policy_and_field(score: Any) -> None:
    with pytest.raises(BudgetError, match="KeepRelevant: score is async"):
        KeepRelevant(score=score)


def test_a_score_that_is_not_a_function_is_refused_by_its_policy_and_field() -> None:
    with pytest.raises(BudgetError, match="KeepRelevant: score is a function, got int"):
        KeepRelevant(score=7)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cut", "expected"),
    [(7, "cuts with int;"), (Cut(True, "r"), "a Cut of bool and str;"), (Cut(0, None), "a Cut of int and NoneType;")],
)
def test_the_error_for_a_wrong_cut_shows_the_types_that_the_policy_returned(cut: Any, expected: str) -> None:
    ledger = Assembler(Budget(100, counter=len)).add_messages([{"role": "user", "content": "a"}]).build().inside.ledger
    with pytest.raises(PlanError, match=expected):
        verify_cut(object(), cut, ledger)


def test_a_score_forgets_its_vectors_once_their_texts_outgrow_four_million_characters() -> None:
    asked: list[int] = []

    def embed(texts: Any) -> list[list[float]]:
        asked.append(len(texts))
        return [[1.0] for _ in texts]

    score, quarter = Cosine(embed), 2**20
    for letter in "bcd":
        score("", [letter * quarter])
    score("", ["b" * quarter, "e" * quarter])  # four quarters are remembered
    assert asked == [2, 1, 1, 1]
    score("", ["f"])  # and one character more is not
    score("", ["b" * quarter])
    assert asked == [2, 1, 1, 1, 1, 2]


def test_the_note_names_the_messages_that_a_summary_replaces() -> None:
    history = [{"role": "user", "content": f"{turn}" + "x" * 39} for turn in range(5)]
    context = assembler_of(history, 120, Summarize(lambda *_: "s", 1)).build()
    assert "messages 0-3 summarised" in str(context.report)


async def later(*_: Any) -> Any:
    return True


class Later:
    async def __call__(self, *_: Any) -> Any:
        return True


class Note:
    """A message class of a user."""


TAKES: dict[str, Callable[[Any], object]] = {
    "TrimOldest": lambda function: TrimOldest(pins=function),
    "Traits": lambda function: Traits(pins=function),
    "Limit": lambda function: Limit(cap=10, select=function),
    "reader": lambda function: register_reader(Note, function),
    "writer": lambda function: register_reader(Note, lambda note: {}, writer=function),
}


@pytest.mark.parametrize("function", [later, Later(), functools.partial(later, 1)])
@pytest.mark.parametrize("takes", TAKES.values(), ids=TAKES)
def test_an_async_function_is_refused_where_nothing_would_await_it(
    takes: Callable[[Any], object], function: Any
) -> None:
    with pytest.raises(BudgetError, match=r"is async, and nothing awaits it here"):
        takes(function)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: TrimOldest(low_water=2),
            "TrimOldest: low_water is a share of the tokens left, 0 < low_water <= 1, got 2",
        ),
        (lambda: KeepRelevant(low_water=0), "KeepRelevant: low_water is a share of the tokens left"),
        (lambda: KeepRelevant(low_water=True), "KeepRelevant: low_water is a share of the tokens left"),
        (lambda: Summarize(7), "Summarize: summarizer: expected a function, got int"),  # type: ignore[arg-type]
        (
            lambda: Summarize(lambda one, two: ""),  # type: ignore[arg-type, misc]
            "Summarize: summarizer cannot be called with three arguments, but with (one, two); write",
        ),
        (lambda: BM25(k1=-1), "BM25: k1 is -1"),
        (lambda: BM25(b=1.5), "BM25: b is 1.5"),
    ],
)
def test_an_argument_is_refused_by_the_policy_and_the_name_that_it_was_passed_by(made: Any, expected: str) -> None:
    with pytest.raises(BudgetError) as caught:
        made()
    assert str(caught.value).startswith(expected)


NUMBERED: dict[str, Callable[[Any], object]] = {
    "ClearReasoning": ClearReasoning,
    "ClearToolResults": ClearToolResults,
    "Summarize": lambda keep: Summarize(None, keep),
    "TrimSteps": TrimSteps,
    "Truncate": Truncate,
}
FROM_ZERO = ("ClearReasoning", "ClearToolResults", "TrimSteps")


@pytest.mark.parametrize("bad", [-1, 0, 0.5, 1.0, True, None, "2"])
@pytest.mark.parametrize("policy", NUMBERED)
def test_an_illegal_number_is_refused_by_its_policy_at_construction(policy: str, bad: Any) -> None:
    if bad == 0 and policy in FROM_ZERO:
        NUMBERED[policy](bad)
    else:
        with pytest.raises(BudgetError, match=f"^{policy}"):
            NUMBERED[policy](bad)


def test_the_extreme_legal_arguments_are_accepted() -> None:
    assert (TrimOldest(low_water=1).low_water, KeepRelevant(low_water=1e-9).low_water) == (1, 1e-9)
    assert (BM25(k1=0, b=0).b, BM25(b=1).b, BM25(k1=9).k1) == (0, 1, 9)
    assert Summarize(None).summarizer is None


@pytest.mark.parametrize("name", ["truncate", "TRUNCATE", "t__r__u__n__c__a__t__e", "truncates"])
def test_a_policy_given_as_text_is_named_in_any_spelling(name: str) -> None:
    with pytest.raises(BudgetError, match=r"write `from assembler import Truncate`, and pass an object of it$"):
        Assembler(on_overflow=name)  # type: ignore[call-overload]
