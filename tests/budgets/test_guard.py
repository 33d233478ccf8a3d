"""A foreign counter returns an int >= 0 or raises TokenCountError; exceptions that stop the program pass through."""

from __future__ import annotations

import asyncio
import functools
import pickle
from typing import Any

import numpy as np
import pytest

from budgets import Budget, BudgetError, Grade, TokenCountError, approximate_counter, memoised, total_counter
from budgets.counters.guard import TotalCounter, name_of

CANARY = "canary-7f3a"


class PanicException(BaseException):
    """As pyo3 raises it: no Exception, of a class of this name."""


class GreenletExit(BaseException):
    """As greenlet raises it in a greenlet that is killed."""


def answering(answer: Any) -> Any:
    def counter(text: str) -> Any:
        return answer

    return counter


def raising(failure: BaseException) -> Any:
    def counter(text: str) -> int:
        raise failure

    return counter


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (-1, "-1"),
        (True, "True"),
        (False, "False"),
        (1.5, "1.5"),
        (2.0, "2.0"),
        (float("nan"), "nan"),
        ("7", "a str"),
        (None, "None"),
        ([1], "a list"),
        (np.bool_(True), f"a {np.bool_.__name__}"),  # bool_ in numpy 1
        (np.float64(3), repr(np.float64(3))),  # 3.0 in numpy 1
        (np.array([1, 2]), "a ndarray"),
        (np.int64(-3), "-3"),
        (CANARY, "a str"),
    ],
    ids=repr,
)
def test_an_answer_that_is_not_a_count_is_an_error(answer: object, shown: str) -> None:
    with pytest.raises(TokenCountError) as caught:
        total_counter(answering(answer))("text")
    step = "; return how many tokens there are: len(…)" if isinstance(answer, list) else ""
    step = "; round it up: math.ceil(…)" if isinstance(answer, float) else step
    assert str(caught.value) == f"counter answering.<locals>.counter returned {shown} (int >= 0 expected){step}"


@pytest.mark.parametrize("answer", [0, 7, 2**63, np.int64(7), np.uint8(7), np.array(7)], ids=repr)
def test_an_answer_that_is_a_whole_number_becomes_an_int(answer: Any) -> None:
    tokens = total_counter(answering(answer))("text")
    assert type(tokens) is int
    assert tokens == int(answer)


@pytest.mark.parametrize(
    "failure",
    [RuntimeError(CANARY), RecursionError(), AssertionError(), StopIteration(), PanicException(CANARY)],
    ids=repr,
)
def test_a_failure_is_a_count_error_with_its_cause(failure: BaseException) -> None:
    with pytest.raises(TokenCountError) as caught:
        total_counter(raising(failure))(CANARY)
    assert caught.value.__cause__ is failure
    assert caught.value.counter == "raising.<locals>.counter"
    assert str(caught.value).endswith(f"failed with {type(failure).__name__}")
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize(
    "stop",
    [
        KeyboardInterrupt(),
        SystemExit(3),
        GeneratorExit(),
        MemoryError(),
        asyncio.CancelledError(),
        GreenletExit(),
        TokenCountError("mine", "says no"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("wrap", [total_counter, memoised], ids=["guarded", "memoised"])
def test_an_exception_that_stops_the_program_passes_through_unchanged(stop: BaseException, wrap: Any) -> None:
    with pytest.raises(type(stop)) as caught:
        wrap(raising(stop))("text")
    assert caught.value is stop


def test_a_counter_that_failed_counts_again() -> None:
    answers = iter([3, RuntimeError(), 5])

    def third_time(text: str) -> int:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    count = memoised(third_time)
    assert count("a") == 3
    with pytest.raises(TokenCountError):
        count("b")
    assert (count("b"), count("a")) == (5, 3)


def test_a_total_counter_is_not_wrapped_again() -> None:
    once = total_counter(len)
    assert total_counter(once) is once
    assert total_counter(approximate_counter()) == approximate_counter()
    assert pickle.loads(pickle.dumps(once)) == once == TotalCounter(len)


def no_argument() -> int:
    return 1


def two_arguments(text: str, model: str) -> int:
    return 1


def keyword_only(*, text: str) -> int:
    return 1


async def waits(text: str) -> int:
    return 1


class WaitsToo:
    async def __call__(self, text: str) -> int:
        return 1


@pytest.mark.parametrize("make", [total_counter, memoised, lambda counter: Budget(9, counter=counter)])
@pytest.mark.parametrize(
    ("counter", "problem"),
    [
        (no_argument, r"no_argument cannot be called with one text: its signature is \(\)"),
        (two_arguments, r"two_arguments cannot be called with one text: its signature is \(text, model\)"),
        (keyword_only, r"its signature is \(text\)"),
        ("o200k_base", "counter: expected a callable from a text to its tokens, got str"),
        (7, "counter: expected a callable from a text to its tokens, got int"),
    ],
)
def test_a_counter_that_does_not_take_one_text_is_refused_at_once(make: Any, counter: Any, problem: str) -> None:
    with pytest.raises(BudgetError, match=problem):
        make(counter)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("make", [total_counter, memoised])
@pytest.mark.parametrize(
    ("counter", "name"), [(waits, "waits"), (WaitsToo(), "WaitsToo"), (functools.partial(waits), "partial")]
)
def test_an_awaited_counter_raises_an_error_that_names_abuild_and_leaves_no_coroutine_behind(
    make: Any, counter: Any, name: str
) -> None:
    with pytest.raises(TokenCountError, match=rf"{name}.* is async.*await assembler\.abuild\(\)"):
        make(counter)("a")


def with_default(text: str, model: str = "x") -> int:
    return len(text)


class Weighs:
    name = "weighs"
    grade = Grade.BOUNDED
    additive_at_tag_seams = True

    def __call__(self, text: str) -> int:
        return len(text)

    def method(self, text: str) -> int:
        return len(text)


@pytest.mark.parametrize(
    "counter",
    [
        len,
        with_default,
        Weighs(),
        Weighs().method,
        functools.partial(with_default, model="y"),
        "".join,
        int,
        lambda *texts: len(texts[0]),
    ],
)
def test_a_counter_that_may_take_one_text_is_accepted(counter: Any) -> None:
    assert Budget(9, counter=counter).counter is counter


def test_the_wrappers_keep_a_counters_declarations() -> None:
    for wrapped in (total_counter(Weighs()), memoised(Weighs())):
        assert (wrapped.name, wrapped.grade, wrapped.additive_at_tag_seams) == ("weighs", Grade.BOUNDED, True)
    for silent in (total_counter(len), memoised(len)):
        assert (silent.name, silent.grade, silent.additive_at_tag_seams) == ("len", Grade.EXACT, False)


class Boasts:
    name = 7
    additive_at_tag_seams = "yes"

    def __call__(self, text: str) -> int:
        return len(text)


def test_claims_of_the_wrong_kind_are_not_believed() -> None:
    boasting = total_counter(Boasts())
    assert (boasting.name, boasting.grade, boasting.additive_at_tag_seams) == ("Boasts", Grade.EXACT, False)


class Grades(Boasts):
    grade = "estimated"


def test_a_wrong_grade_is_refused_at_construction_instead_of_read_as_exact() -> None:
    with pytest.raises(BudgetError, match=r"its grade is a str; make it one of budgets\.Grade"):
        Budget(9, counter=Grades())


def test_no_repr_shows_more_of_a_counter_than_its_name() -> None:
    hiding = functools.partial(with_default, model=CANARY)
    assert name_of(hiding) == "partial"
    assert CANARY not in repr(total_counter(hiding)) + repr(memoised(hiding)) + repr(Budget(9, counter=hiding))
