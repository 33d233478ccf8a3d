"""A provider's own count endpoint as a counter.

`provider_counter(lambda text: client.count(text))`, or over whole requests:
`provider_counter(lambda request: client.messages.count_tokens(model=…, **request)).count(context.request())`.
"""

from __future__ import annotations

import contextvars
import math
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

import attrs

from budgets.count import Count, Grade, Tokens
from budgets.counters.awaited import is_async
from budgets.counters.guard import Guarded, attribute_of, failure_of, name_of, refuse_surrogates, refuse_wrong_arity
from budgets.errors import BudgetError, TokenCountError
from budgets.forking import ForkedLock
from budgets.numbers import index_of, shown

Endpoint: TypeAlias = Callable[[Any], Any]
"""From a text or a request to its tokens: an int, or the provider's answer that says `input_tokens` or the like."""

ANSWERS = ("input_tokens", "total_tokens", "totalTokens", "inputTokens")
"""Where the endpoints keep the number: Anthropic and OpenAI, Gemini (SDK, wire), Bedrock; references read 2026-11."""


class CountEndpointError(TokenCountError):
    """A count endpoint did not answer. `status` is HTTP's, `retry_after` the seconds it asks to wait; None if not said.

    The provider's own exception is chained; its text is not repeated, since it may quote the request.
    """

    status: int | None
    retry_after: float | None

    def __init__(
        self, counter: str, problem: str, *, status: int | None = None, retry_after: float | None = None
    ) -> None:
        self.status = status
        self.retry_after = retry_after
        said = f" (HTTP {status})" if status is not None else ""
        wait = f"; it asks to wait {retry_after:g} s" if retry_after is not None else ""
        super().__init__(counter, f"{problem}{said}{wait}. Try again later, or pass a fallback.")


@attrs.frozen
class ProviderCount:
    """One answer: the count, and, where a fallback stood in, why. `reason` belongs in whatever reports the count."""

    count: Count
    reason: str | None = None


MOST_ABANDONED = 4
"""Calls that were given up and have not ended: no thread can be stopped, so with so many no other is begun."""

MOST_SKIPPED = 1_023
"""Counts at most that the fallback makes before an endpoint that failed is asked again."""


@attrs.define(eq=False)
class _Past:
    """What became of the calls so far: how often the fallback stood in and why, and which calls have not ended yet.

    After the second failure in a row the endpoint is left alone for 1 count, then for 3, 7, 15 …, so that n counts meet
    at most about log2(n) failures. Numbers of calls and no clock: the same calls give the same counts.
    """

    times: int = 0
    last: str = ""
    failures: int = 0
    skipped: int = 0
    abandoned: list[threading.Thread] = attrs.field(factory=list[threading.Thread])
    lock: ForkedLock = attrs.field(factory=ForkedLock)

    def spared(self) -> bool:
        """Whether this count is one for which the endpoint is left alone."""
        with self.lock:
            self.skipped -= 1
            return self.skipped >= 0

    def answered(self) -> None:
        with self.lock:
            self.failures = self.skipped = 0

    def failed(self, reason: str) -> None:
        with self.lock:
            self.last = reason
            self.failures += 1
            self.skipped = min(2 ** min(self.failures - 1, 32) - 1, MOST_SKIPPED)

    def stood_in(self) -> None:
        with self.lock:
            self.times += 1

    def abandon(self, thread: threading.Thread) -> None:
        with self.lock:
            self.abandoned.append(thread)

    def full(self) -> bool:
        """Whether too many calls have not ended. Those that have are forgotten."""
        with self.lock:
            self.abandoned = [thread for thread in self.abandoned if thread.is_alive()]
            return len(self.abandoned) >= MOST_ABANDONED


def _no_wait(_instance: object, _attribute: attrs.Attribute[Any], timeout: object) -> None:
    if timeout is None:
        return
    longest = threading.TIMEOUT_MAX  # some 292 years
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout <= longest:
        raise BudgetError(
            f"timeout is {shown(timeout)}: seconds above 0 are expected, or None to wait as long as it takes"
        )


@attrs.frozen
class ProviderCounter(Guarded):
    """Asks an endpoint, once a count; a failure is a CountEndpointError, or the fallback's count with its reason.

    An answer of 0 is a failure: no request costs nothing. Wrap it in `memoised` to ask once a text. An endpoint that
    fails again and again is asked ever more seldom while a fallback stands in.
    """

    endpoint: Endpoint = attrs.field(repr=name_of)
    timeout: float | None = attrs.field(default=None, validator=_no_wait)
    fallback: Endpoint | None = attrs.field(
        default=None, repr=lambda found: "None" if found is None else name_of(found)
    )
    _past: _Past = attrs.field(factory=_Past, init=False, eq=False, repr=False)

    @property
    def name(self) -> str:
        """`provider:` and the callable's own name."""
        return f"provider:{name_of(self.endpoint)}"

    @property
    def grade(self) -> Grade:
        """Bounded while the endpoint answered every time (its own makers call it an estimate); then estimated."""
        return Grade.ESTIMATED if self._past.times else Grade.BOUNDED

    @property
    def notes(self) -> tuple[str, ...]:
        """A line for the report if the fallback ever stood in: how often, and why last."""
        times, last = self._past.times, self._past.last
        return (f"the fallback counted {times} times: the endpoint {last} ({self.name})",) if times else ()

    def __call__(self, text: str, /) -> Tokens:
        """Tokens of `text`, 0 for the empty one without asking. Raises CountEndpointError without a fallback."""
        if not text:
            return 0
        refuse_surrogates(self.name, text)
        return self.count(text).count.tokens

    def count(self, subject: Any, /) -> ProviderCount:
        """Tokens of whatever the endpoint takes: a text or a whole request, graded, with the reason of a fallback."""
        if self.fallback is None:
            return ProviderCount(Count(self._asked(subject), Grade.BOUNDED))
        if not self._past.spared():
            try:
                count = Count(self._asked(subject), Grade.BOUNDED)
            except CountEndpointError as failure:
                self._past.failed(str(failure).removeprefix(f"counter {self.name} ").removesuffix(_CURE))
            else:
                self._past.answered()
                return ProviderCount(count)
        self._past.stood_in()
        return ProviderCount(self._instead(self.fallback, subject), self._past.last)

    def _asked(self, subject: object) -> Tokens:
        if self._past.full():
            raise CountEndpointError(self.name, f"has not answered {MOST_ABANDONED} earlier calls, and is not asked")
        try:
            answer = _within(self.timeout, self.endpoint, subject, self._past)
        except _TimedOutError:
            raise CountEndpointError(self.name, f"did not answer within {self.timeout:g} s") from None
        except BaseException as failure:
            passed = failure_of(self.name, failure)
            if passed is failure and not isinstance(failure, TokenCountError):
                raise  # the program is asked to stop
            raise CountEndpointError(
                self.name,
                f"failed with {type(failure).__name__}",
                status=status_of(failure),
                retry_after=retry_after_of(failure),
            ) from failure
        tokens = _number_in(answer)
        if tokens is None or tokens <= 0:
            shown = tokens if tokens is not None else f"a {type(answer).__name__} without a number of tokens"
            raise CountEndpointError(self.name, f"returned {shown} (int > 0 expected)")
        return tokens

    def _instead(self, fallback: Endpoint, subject: object) -> Count:
        """The fallback's count: estimated, whatever it calls itself."""
        try:
            answer = fallback(subject)
        except BaseException as failure:
            raise failure_of(name_of(fallback), failure)  # noqa: B904 - chained there, unless it is the failure itself
        given = (answer.tokens, answer.upper) if isinstance(answer, Count) else (_number_in(answer),) * 2
        tokens, upper = map(index_of, given)
        if tokens is None or tokens <= 0:
            raise TokenCountError(name_of(fallback), f"returned {tokens} as a fallback (int > 0 expected)")
        if upper is None or upper < tokens:
            raise TokenCountError(name_of(fallback), f"returned a bound of {upper} over {tokens} tokens as a fallback")
        return Count(tokens, Grade.ESTIMATED, upper)

    def __reduce__(self) -> tuple[Any, ...]:
        return ProviderCounter, (self.endpoint, self.timeout, self.fallback)


_CURE = ". Try again later, or pass a fallback."


def provider_counter(
    endpoint: Endpoint, *, timeout: float | None = None, fallback: Endpoint | None = None
) -> ProviderCounter:
    """A counter that asks a provider's count endpoint: Anthropic count_tokens, Gemini countTokens, OpenAI input_tokens.

    `timeout` in seconds abandons a call but cannot stop it: give the client its own, too. `fallback` counts when the
    endpoint does not, never silently: `ProviderCount.reason`, `notes` and the grade say so. Raises BudgetError for what
    cannot be called with one argument.
    """
    refuse_wrong_arity(endpoint)
    _refuse_async(endpoint)
    if fallback is not None:
        refuse_wrong_arity(fallback)
        _refuse_async(fallback)
    return ProviderCounter(endpoint, timeout, fallback)


def _number_in(answer: object) -> Tokens | None:
    """The tokens of an answer: a number, or the field of an object or a dict that holds it."""
    number = index_of(answer)
    if number is not None:
        return number
    if isinstance(answer, Mapping):
        fields = cast("Mapping[str, object]", answer)
        held = [fields.get(name) for name in ANSWERS]
    else:
        held = [attribute_of(answer, name) for name in ANSWERS]
    return next((number for number in map(index_of, held) if number is not None), None)


def status_of(failure: BaseException) -> int | None:
    """The HTTP status that an SDK's exception carries: `status_code`, `code`, `status` or botocore's metadata."""
    for name in ("status_code", "code", "status"):
        status = index_of(attribute_of(failure, name))
        if status is not None:
            return status
    return index_of(_botocore(failure).get("HTTPStatusCode"))


def retry_after_of(failure: BaseException) -> float | None:
    """Seconds that the response's headers ask to wait. A date is not read: it would need a clock."""
    response = attribute_of(failure, "response")
    headers = attribute_of(response, "headers") or _botocore(failure).get("HTTPHeaders")
    get = attribute_of(headers, "get")
    if not callable(get):
        return None
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0), ("Retry-After", 1.0)):
        try:
            seconds = float(cast(str, get(name))) / unit
        except Exception:  # no number, or headers that are none
            continue
        if 0 <= seconds < math.inf:
            return seconds
    return None


def _botocore(failure: BaseException) -> Mapping[str, object]:
    response = attribute_of(failure, "response")
    metadata = cast("Mapping[str, object]", response).get("ResponseMetadata") if isinstance(response, Mapping) else None
    return cast("Mapping[str, object]", metadata) if isinstance(metadata, Mapping) else {}


class _TimedOutError(Exception):
    """The endpoint was abandoned."""


def _within(timeout: float | None, endpoint: Endpoint, subject: object, past: _Past) -> object:
    """The endpoint's answer, from a thread of its own where it may take too long."""
    if timeout is None:
        return endpoint(subject)
    outcome: list[tuple[object, BaseException | None]] = []
    context = contextvars.copy_context()

    def ask() -> None:
        try:
            outcome.append((context.run(endpoint, subject), None))
        except BaseException as failure:  # carried over to the thread that waits
            outcome.append((None, failure))

    thread = threading.Thread(target=ask, name="count-endpoint", daemon=True)
    thread.start()
    thread.join(timeout)
    if not outcome:
        past.abandon(thread)
        raise _TimedOutError
    answer, failure = outcome[0]
    if failure is not None:
        raise failure
    return answer


def _refuse_async(counter: object) -> None:
    if is_async(counter):
        raise BudgetError(
            "provider_counter asks a function that answers at once; give an async one to Budget(counter=…) "
            "and call `await assembler.abuild()`"
        )
