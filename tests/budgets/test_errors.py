"""Errors carry their evidence, state the arithmetic, and survive pickling."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable

import pytest

import budgets.context_length
import budgets.errors
from budgets import (
    AssemblyError,
    Budget,
    BudgetError,
    ContextLengthError,
    Limit,
    MissingExtraError,
    RegionCosts,
    TokenCountError,
    UnknownModelError,
)

ERRORS = [
    ContextLengthError(
        required=9_120,
        costs=RegionCosts(instruction=310, capability=900, knowledge=6_500, conversation=1_400, framing=10),
        budget=Budget(12_000, max_output_tokens=4_000, counter=len),
        smallest_window=13_120,
        advice="Dropping turns cannot help: shorten the instruction, tools or knowledge.",
    ),
    BudgetError("no room"),
    UnknownModelError("gpt-9", nearest=["gpt-5", "gpt-4"]),
    TokenCountError("len", "failed with RuntimeError"),
    MissingExtraError("transformers", needed_for="transformers_counter"),
    AssemblyError("anything"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_survives_pickling_and_copying(error: AssemblyError) -> None:
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(other) is type(error)
        assert (str(other), other.args, vars(other)) == (str(error), error.args, vars(error))


def test_every_error_of_the_tree_is_tested_here() -> None:
    homes = (budgets.errors, budgets.context_length)
    classes = [kind for home in homes for _, kind in inspect.getmembers(home, inspect.isclass)]
    tree = {kind for kind in classes if issubclass(kind, Exception)}
    assert tree - {budgets.errors.Evidence} == {type(error) for error in ERRORS}


def test_context_length_error_shows_its_arithmetic() -> None:
    error = ERRORS[0]
    assert isinstance(error, ContextLengthError)
    assert str(error) == (
        "context needs 9120 tokens but only 8000 are free (12000 context_window - 4000 max_output_tokens): "
        "1120 too many.\n"
        "  instruction 310, capability 900, knowledge 6500, conversation 1400, framing 10\n"
        "  Dropping turns cannot help: shorten the instruction, tools or knowledge."
    )
    assert (error.required, error.available, error.excess, error.smallest_window) == (9_120, 8_000, 1_120, 13_120)
    assert error.costs.total == error.required
    assert error.budget.input_limit == error.available


def test_an_unknown_model_names_the_nearest_and_the_way_out() -> None:
    assert str(ERRORS[2]) == (
        "no published window is known for model 'gpt-9'. Nearest known: gpt-5, gpt-4. "
        "Pass its window yourself: Budget.for_model('gpt-9', context_window=…)."
    )
    assert "Nearest" not in str(UnknownModelError("x", nearest=[]))


def test_errors_are_also_what_python_calls_them() -> None:
    kinds = {BudgetError: ValueError, UnknownModelError: LookupError, MissingExtraError: ImportError}
    assert all(issubclass(kind, (also, AssemblyError)) for kind, also in kinds.items())
    assert str(ERRORS[4]) == (
        "transformers_counter needs an optional package: pip install 'context-assembler[transformers]'"
    )


@pytest.mark.parametrize(
    "raising",
    [
        lambda: Budget.for_model("z" * 50_000),
        lambda: Budget(100, limits={"k" * 50_000: Limit(cap=1)}),
        lambda: Budget(100, counter="c" * 50_000),  # type: ignore[arg-type]
    ],
)
def test_a_long_name_from_outside_makes_no_long_error(raising: Callable[[], object]) -> None:
    with pytest.raises(AssemblyError) as caught:
        raising()
    assert len(str(caught.value)) < 1_010
