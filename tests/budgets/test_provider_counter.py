"""A failing count endpoint is reported, and its fallback is never silent."""

from __future__ import annotations

import math
import pickle
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from budgets import (
    Budget,
    BudgetError,
    Count,
    CountEndpointError,
    Grade,
    TokenCountError,
    approximate_counter,
    memoised,
    provider_counter,
)
from budgets.counters.provider import MOST_ABANDONED, MOST_SKIPPED


class RateLimitedError(Exception):
    """As the SDKs of OpenAI and Anthropic raise it."""

    def __init__(self, status: int = 429, **headers: str) -> None:
        super().__init__("the prompt was: SECRET")
        self.status_code = status
        self.response = SimpleNamespace(headers={key.replace("_", "-"): value for key, value in headers.items()})


def failing(failure: BaseException) -> Any:
    def endpoint(_subject: object) -> int:
        raise failure

    return endpoint


def seven(_subject: object) -> int:
    return 7


@pytest.mark.parametrize(
    "answer",
    [
        31,
        SimpleNamespace(input_tokens=31),
        SimpleNamespace(total_tokens=31),
        {"input_tokens": 31},
        {"totalTokens": 31, "cachedContentTokenCount": 4},
        {"inputTokens": 31},
    ],
)
def test_the_answer_of_every_provider_is_understood(answer: object) -> None:
    counter = provider_counter(lambda request: answer)
    assert counter.count({"messages": []}).count == Count(31, Grade.BOUNDED)
    assert counter("text") == 31
    assert (counter.grade, counter.notes) == (Grade.BOUNDED, ())


@pytest.mark.parametrize("answer", [0, -1, None, True, 3.0, "31", {}, {"input_tokens": 0}, SimpleNamespace(tokens=3)])
def test_an_answer_that_is_not_a_number_above_0_is_a_failure(answer: object) -> None:
    counter = provider_counter(lambda request: answer)
    with pytest.raises(CountEndpointError, match="int > 0 expected"):
        counter.count({"messages": []})
    with pytest.raises(CountEndpointError):
        counter("text")


@pytest.mark.parametrize(
    ("failure", "status", "retry_after"),
    [
        (RateLimitedError(retry_after="17"), 429, 17.0),
        (RateLimitedError(retry_after_ms="1500", retry_after="2"), 429, 1.5),
        (RateLimitedError(retry_after="Wed, 21 Oct 2026 07:28:00 GMT"), 429, None),
        (RateLimitedError(retry_after="-3"), 429, None),
        (RateLimitedError(500), 500, None),
        (RateLimitedError(404), 404, None),
        (TimeoutError("SECRET"), None, None),
        (ConnectionError("SECRET"), None, None),
    ],
)
def test_a_failure_carries_what_the_provider_said(
    failure: Exception, status: int | None, retry_after: float | None
) -> None:
    with pytest.raises(CountEndpointError) as caught:
        provider_counter(failing(failure))("text")
    assert (caught.value.status, caught.value.retry_after) == (status, retry_after)
    assert caught.value.__cause__ is failure
    assert isinstance(caught.value, TokenCountError)
    assert "SECRET" not in str(caught.value)
    assert str(caught.value).endswith("pass a fallback.")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.status, again.retry_after, str(again)) == (status, retry_after, str(caught.value))


def test_the_failures_of_google_and_amazon_carry_their_messages_too() -> None:
    google = type("APIError", (Exception,), {"code": 503})()
    amazon = type("ClientError", (Exception,), {})()
    amazon.response = {"ResponseMetadata": {"HTTPStatusCode": 429, "HTTPHeaders": {"retry-after": "3"}}}
    for failure, expected in ((google, (503, None)), (amazon, (429, 3.0))):
        with pytest.raises(CountEndpointError) as caught:
            provider_counter(failing(failure))("text")
        assert (caught.value.status, caught.value.retry_after) == expected


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, MemoryError, GeneratorExit])
@pytest.mark.parametrize("timeout", [None, 60])
def test_an_exception_that_stops_the_program_passes_through(stop: type[BaseException], timeout: float | None) -> None:
    with pytest.raises(stop):
        provider_counter(failing(stop()), timeout=timeout, fallback=seven)("text")


def test_an_endpoint_that_does_not_answer_in_time_is_abandoned() -> None:
    never = threading.Event()
    try:
        counter = provider_counter(lambda text: never.wait() and 5, timeout=0.01)
        with pytest.raises(CountEndpointError, match=r"within 0\.01 s"):
            counter("text")
        beside = provider_counter(lambda text: never.wait() and 5, timeout=0.01, fallback=seven)
        assert "within 0.01 s" in str(beside.count("text").reason)
    finally:
        never.set()


def hanging() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "count-endpoint"]


def test_a_dead_endpoint_costs_a_bounded_number_of_timeouts_and_threads() -> None:
    for thread in hanging():  # of an earlier test
        thread.join()
    never, asked = threading.Event(), list[str]()

    def dead(text: str) -> int:
        asked.append(text)
        never.wait()
        return 5

    counter = provider_counter(dead, timeout=0.001, fallback=seven)
    try:
        assert [counter(f"text {n}") for n in range(300)] == [7] * 300
        assert len(asked) == len(hanging()) == MOST_ABANDONED
        assert "300 times" in counter.notes[0]
        alone = provider_counter(dead, timeout=0.001)
        for _ in range(MOST_ABANDONED):
            with pytest.raises(CountEndpointError, match="within"):
                alone("text")
        with pytest.raises(CountEndpointError, match="has not answered 4 earlier calls, and is not asked"):
            alone("text")
    finally:
        never.set()
    for thread in hanging():
        thread.join()
    assert alone("text") == 5


@pytest.mark.parametrize("texts", [1, 2, 3, 4, 5, 300, 5_000])
def test_an_endpoint_that_fails_is_asked_ever_more_seldom(texts: int) -> None:
    asked: list[str] = []

    def failing_endpoint(text: str) -> int:
        asked.append(text)
        raise RateLimitedError

    counter = provider_counter(failing_endpoint, fallback=seven)
    for n in range(texts):
        assert counter.count(f"text {n}").reason == "failed with RateLimitedError (HTTP 429)"
    assert len(asked) <= 2 + math.log2(texts) + texts // MOST_SKIPPED


def test_an_endpoint_that_recovered_is_asked_every_time_again() -> None:
    asked: list[str] = []

    def recovering(text: str) -> int:
        asked.append(text)
        if len(asked) <= 3:
            raise RateLimitedError
        return 9

    counter = provider_counter(recovering, fallback=seven)
    counts = [counter(f"text {n}") for n in range(20)]
    # Asked, asked, left alone once, asked, left alone three times; from then on it answers.
    assert counts == [7] * 7 + [9] * 13
    assert counter.grade is Grade.ESTIMATED


class UnreadableError(Exception):
    """An exception whose fields raise when they are looked at."""

    @property
    def status_code(self) -> int:
        raise ZeroDivisionError

    response = code = status_code


def test_an_answer_that_raises_when_it_is_read_is_a_failure_of_the_endpoint() -> None:
    with pytest.raises(CountEndpointError, match="failed with UnreadableError"):
        provider_counter(failing(UnreadableError()))("text")
    answer = type("Answer", (), {"input_tokens": UnreadableError.status_code})()
    with pytest.raises(CountEndpointError, match="an Answer without a number of tokens"):
        provider_counter(lambda text: answer)("text")


def test_an_endpoint_is_trusted_only_if_it_answers_in_time() -> None:
    assert provider_counter(seven, timeout=60)("text") == 7
    with pytest.raises(CountEndpointError, match="RateLimitedError"):
        provider_counter(failing(RateLimitedError()), timeout=60)("text")


def test_a_fallback_is_never_silent() -> None:
    counter = provider_counter(failing(RateLimitedError(retry_after="9")), fallback=approximate_counter())
    assert counter.grade is Grade.BOUNDED
    answer = counter.count("Some text.")
    assert answer.count == Count(approximate_counter()("Some text."), Grade.ESTIMATED)
    assert answer.reason == "failed with RateLimitedError (HTTP 429); it asks to wait 9 s"
    assert counter.grade is Grade.ESTIMATED
    assert counter("Some more.") > 0
    (note,) = counter.notes
    assert "2 times" in note
    assert answer.reason in note


def test_a_memo_keeps_the_grade_of_each_remembered_count() -> None:
    counter = provider_counter(failing(RateLimitedError()), fallback=seven)
    remembered = memoised(counter)
    assert remembered("text") == 7
    assert remembered.grade is Grade.ESTIMATED


def test_a_fallback_may_say_how_far_off_it_is_but_not_that_it_is_exact() -> None:
    counter = provider_counter(failing(RateLimitedError()), fallback=lambda request: Count(40, Grade.EXACT, upper=50))
    assert counter.count({}).count == Count(40, Grade.ESTIMATED, upper=50)


@pytest.mark.parametrize(
    "answer",
    [0, None, -4, math.nan, Count(0), Count(10**700), Count(5, upper=10**700)],
)
def test_a_fallback_that_counts_nothing_is_a_failure(answer: object) -> None:
    with pytest.raises(TokenCountError, match="as a fallback"):
        provider_counter(failing(RateLimitedError()), fallback=lambda text: answer)("text")


def test_a_fallback_that_fails_is_a_failure() -> None:
    with pytest.raises(TokenCountError, match="failed with ValueError"):
        provider_counter(failing(RateLimitedError()), fallback=failing(ValueError()))("text")


def test_the_empty_text_costs_nothing_and_no_call() -> None:
    assert provider_counter(failing(AssertionError()))("") == 0


def test_a_lone_surrogate_is_refused_before_anybody_is_asked() -> None:
    with pytest.raises(TokenCountError, match="surrogate"):
        provider_counter(failing(AssertionError()), fallback=seven)("\ud800")


def test_a_provider_counter_works_in_a_budget() -> None:
    budget = Budget(1_000, counter=provider_counter(seven))
    assert budget.token_counter("text") == 7


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), True, 10**400, 1e300])
def test_an_illegal_timeout_is_refused(timeout: float) -> None:
    with pytest.raises(BudgetError, match="timeout"):
        provider_counter(seven, timeout=timeout)


async def tomorrow(_text: str) -> int:
    return 1


@pytest.mark.parametrize("wrong", [tomorrow, lambda: 1, 7])
def test_an_endpoint_that_cannot_be_called_is_refused_at_once(wrong: Any) -> None:
    with pytest.raises(BudgetError):
        provider_counter(wrong)
    with pytest.raises(BudgetError):
        provider_counter(seven, fallback=wrong)


def test_a_provider_counter_pickles_and_its_repr_names_its_parts() -> None:
    counter = provider_counter(seven, timeout=2.5, fallback=approximate_counter())
    assert pickle.loads(pickle.dumps(counter)) == counter
    assert "seven" in repr(counter)
    assert counter.name == "provider:seven"
