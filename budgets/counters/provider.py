"""Counts with a provider's own endpoint.

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
from budgets.errors import BudgetError, TokenCountError, named_type
from budgets.forking import ForkedLock
from budgets.numbers import index_of, shown

Endpoint: TypeAlias = Callable[[Any], Any]
"""A function from a text or a request to its tokens: an int, or the provider's answer with a field such as
`input_tokens`."""

ANSWERS = ("input_tokens", "total_tokens", "totalTokens", "inputTokens")
"""The fields with the number: Anthropic and OpenAI, Gemini (SDK, API), Bedrock; references read 2026-11."""


class CountEndpointError(TokenCountError):
    """A count endpoint did not answer. `status` is the HTTP status, `retry_after` the seconds to wait, or None.

    `reason` says why. The provider's own exception is chained, but not quoted, since it may quote the request.
    """

    reason: str
    status: int | None
    retry_after: float | None

    def __init__(
        self, counter: str, problem: str, *, status: int | None = None, retry_after: float | None = None
    ) -> None:
        self.status = status
        self.retry_after = retry_after
        code = f" (HTTP {status})" if status is not None else ""
        wait = f"; it asks to wait {retry_after:g} s" if retry_after is not None else ""
        self.reason = f"{problem}{code}{wait}"
        super().__init__(counter, f"{self.reason}. Try again later, or pass a fallback.")


@attrs.frozen
class ProviderCount:
    """One answer: the count, and, if the fallback counted, the reason, which should be shown with the count."""

    count: Count
    reason: str | None = None


MOST_ABANDONED = 4
"""The most abandoned calls that are still running. Threads cannot be stopped, so beyond this no call is started."""

MOST_SKIPPED = 1_023
"""The most counts by the fallback before an endpoint that failed is asked again."""


@attrs.define(eq=False)
class _CallHistory:
    """The history of calls: how often the fallback counted and why, and which calls are still running.

    After the second failure in a row the endpoint is skipped for 1 count, then for 3, 7, 15 …, so that n counts meet at
    most about log2(n) failures. It counts calls rather than time, so the same calls give the same counts.
    """

    times: int = 0
    last: str = ""
    failures: int = 0
    skipped: int = 0
    abandoned: list[threading.Thread] = attrs.field(factory=list[threading.Thread])
    lock: ForkedLock = attrs.field(factory=ForkedLock)

    def must_skip(self) -> bool:
        """Whether to skip the endpoint for this count."""
        with self.lock:
            self.skipped -= 1
            return self.skipped >= 0

    def note_answer(self) -> None:
        with self.lock:
            self.failures = self.skipped = 0

    def note_failure(self, reason: str) -> None:
        with self.lock:
            self.last = reason
            self.failures += 1
            self.skipped = min(2 ** min(self.failures - 1, 32) - 1, MOST_SKIPPED)

    def note_fallback(self) -> None:
        with self.lock:
            self.times += 1

    def abandon(self, thread: threading.Thread) -> None:
        with self.lock:
            self.abandoned.append(thread)

    def is_full(self) -> bool:
        """Whether too many abandoned calls are still running."""
        with self.lock:
            self.abandoned = [thread for thread in self.abandoned if thread.is_alive()]
            return len(self.abandoned) >= MOST_ABANDONED


def _must_be_wait(_instance: object, _attribute: attrs.Attribute[Any], timeout: object) -> None:
    if timeout is None:
        return
    longest = threading.TIMEOUT_MAX  # some 292 years
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout <= longest:
        raise BudgetError(
            f"timeout is {shown(timeout)}: seconds above 0 are expected, or None to wait as long as it takes"
        )


@attrs.frozen
class ProviderCounter(Guarded):
    """Asks an endpoint once for each count. If it fails, uses the fallback or raises `CountEndpointError`.

    An answer of 0 is a failure, since every request costs something. Wrap it in `memoised` to ask once for each text.
    An endpoint that keeps failing is asked less and less often if there is a fallback.
    """

    endpoint: Endpoint = attrs.field(repr=name_of)
    timeout: float | None = attrs.field(default=None, validator=_must_be_wait)
    fallback: Endpoint | None = attrs.field(
        default=None, repr=lambda found: "None" if found is None else name_of(found)
    )
    _past: _CallHistory = attrs.field(factory=_CallHistory, init=False, eq=False, repr=False)

    @property
    def name(self) -> str:
        """`provider:` and the callable's own name."""
        return f"provider:{name_of(self.endpoint)}"

    @property
    def grade(self) -> Grade:
        """Bounded if the endpoint has always answered (its makers call it an estimate), else estimated."""
        return Grade.ESTIMATED if self._past.times else Grade.BOUNDED

    @property
    def notes(self) -> tuple[str, ...]:
        """A line for the report if the fallback ever counted: how often, and the last reason."""
        times, last = self._past.times, self._past.last
        return (f"the fallback counted {times} times: the endpoint {last} ({self.name})",) if times else ()

    def __call__(self, text: str, /) -> Tokens:
        """Tokens of `text`; 0 without asking if it is empty. Raises `CountEndpointError` without a fallback."""
        if not text:
            return 0
        refuse_surrogates(self.name, text)
        return self.count(text).count.tokens

    def count(self, subject: Any, /) -> ProviderCount:
        """Tokens of what the endpoint accepts, a text or a whole request, with the reason if the fallback counted."""
        if self.fallback is None:
            return ProviderCount(Count(self._ask_endpoint(subject), Grade.BOUNDED))
        if not self._past.must_skip():
            try:
                count = Count(self._ask_endpoint(subject), Grade.BOUNDED)
            except CountEndpointError as failure:
                self._past.note_failure(failure.reason)
            else:
                self._past.note_answer()
                return ProviderCount(count)
        self._past.note_fallback()
        return ProviderCount(self._count_by_fallback(self.fallback, subject), self._past.last)

    def _ask_endpoint(self, subject: object) -> Tokens:
        if self._past.is_full():
            raise CountEndpointError(self.name, f"has not answered {MOST_ABANDONED} earlier calls, and is not asked")
        try:
            answer = _call_within(self.timeout, self.endpoint, subject, self._past)
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
        tokens = _find_number(answer)
        if tokens is None or tokens <= 0:
            shown = tokens if tokens is not None else f"{named_type(answer)} without a number of tokens"
            raise CountEndpointError(self.name, f"returned {shown} (int > 0 expected)")
        return tokens

    def _count_by_fallback(self, fallback: Endpoint, subject: object) -> Count:
        """The fallback's count, always graded estimated."""
        try:
            answer = fallback(subject)
        except BaseException as failure:
            raise failure_of(name_of(fallback), failure)  # noqa: B904 - chained there, unless it is the failure itself
        given = (answer.tokens, answer.upper) if isinstance(answer, Count) else (_find_number(answer),) * 2
        tokens, upper = map(index_of, given)
        if tokens is None or tokens <= 0:
            raise TokenCountError(name_of(fallback), f"returned {tokens} as a fallback (int > 0 expected)")
        if upper is None or upper < tokens:
            raise TokenCountError(name_of(fallback), f"returned a bound of {upper} over {tokens} tokens as a fallback")
        return Count(tokens, Grade.ESTIMATED, upper)

    def __reduce__(self) -> tuple[Any, ...]:
        return ProviderCounter, (self.endpoint, self.timeout, self.fallback)


def provider_counter(
    endpoint: Endpoint, *, timeout: float | None = None, fallback: Endpoint | None = None
) -> ProviderCounter:
    """A counter that asks a provider's count endpoint: Anthropic count_tokens, Gemini countTokens, OpenAI input_tokens.

    `timeout` in seconds abandons a call but cannot stop it, so give the client a timeout too. `fallback` counts if the
    endpoint fails, but never silently: `ProviderCount.reason`, `notes` and the grade say so. Raises `BudgetError` for
    a function that cannot be called with one argument.
    """
    _refuse_unusable(endpoint)
    if fallback is not None:
        _refuse_unusable(fallback)
    return ProviderCounter(endpoint, timeout, fallback)


def _find_number(answer: object) -> Tokens | None:
    """The tokens in an answer: a number, or a field of an object or a dict."""
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
    """The HTTP status of an SDK's exception: `status_code`, `code`, `status` or botocore's metadata."""
    for name in ("status_code", "code", "status"):
        if (status := index_of(attribute_of(failure, name))) is not None:
            return status
    return index_of(_read_botocore(failure).get("HTTPStatusCode"))


def retry_after_of(failure: BaseException) -> float | None:
    """The seconds to wait by the response's headers. Dates are not read, since they would need a clock."""
    response = attribute_of(failure, "response")
    headers = attribute_of(response, "headers") or _read_botocore(failure).get("HTTPHeaders")
    get = attribute_of(headers, "get")
    if not callable(get):
        return None
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0), ("Retry-After", 1.0)):
        try:
            seconds = float(cast(str, get(name))) / unit
        except Exception:  # not a number, or strange headers
            continue
        if 0 <= seconds < math.inf:
            return seconds
    return None


def _read_botocore(failure: BaseException) -> Mapping[str, object]:
    response = attribute_of(failure, "response")
    metadata = cast("Mapping[str, object]", response).get("ResponseMetadata") if isinstance(response, Mapping) else None
    return cast("Mapping[str, object]", metadata) if isinstance(metadata, Mapping) else {}


class _TimedOutError(Exception):
    """The endpoint was abandoned."""


def _call_within(timeout: float | None, endpoint: Endpoint, subject: object, past: _CallHistory) -> object:
    """The endpoint's answer. With a timeout it is called in its own thread."""
    if timeout is None:
        return endpoint(subject)
    outcome: list[tuple[object, BaseException | None]] = []
    context = contextvars.copy_context()

    def ask() -> None:
        try:
            outcome.append((context.run(endpoint, subject), None))
        except BaseException as failure:  # raised again in the waiting thread
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


def _refuse_unusable(endpoint: Endpoint) -> None:
    if not callable(endpoint):
        raise BudgetError(
            f"provider_counter: expected a function from a text to the endpoint's answer, got {type(endpoint).__name__}"
        )
    refuse_wrong_arity(endpoint)
    if is_async(endpoint):
        raise BudgetError(
            "provider_counter asks a function that answers at once; give an async one to Budget(counter=…) "
            "and call `await assembler.abuild()`"
        )
