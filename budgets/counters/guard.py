"""The contract of counters, and a wrapper that enforces it for foreign ones.

A counter returns an int >= 0 for any text without lone surrogates, and raises `TokenCountError` for anything else. Only
exceptions that stop the program, a task or a greenlet pass through unchanged: see `_stops`.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Iterable, Iterator
from typing import cast

import attrs

from budgets.count import AwaitedCounter, Grade, TokenCounter, Tokens
from budgets.counters.awaited import wait_for_answer
from budgets.errors import BudgetError, TokenCountError, lone_surrogate, named_type
from budgets.numbers import LARGEST, index_of, shown

_PANIC = "PanicException"
"""The class that engines written in Rust raise for a bug of their own (pyo3). It cannot be imported."""


def _stops(failure: BaseException) -> bool:
    """Whether an exception is no failure of the counter in whose call it was raised, and must not be wrapped.

    Besides `MemoryError` these are all that are no `Exception`: an interrupt, the end of the program, the cancelling of
    a task (asyncio, trio), the killing or the timeout of a greenlet (gevent).
    """
    if isinstance(failure, Exception):
        return isinstance(failure, MemoryError)
    return type(failure).__name__ != _PANIC


class Guarded:
    """A counter that keeps the contract by itself: a bundled one or a wrapper. It need not be wrapped again."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The engine and vocabulary, for errors and reports."""
        raise NotImplementedError

    @property
    def grade(self) -> Grade:
        """The grade of its counts."""
        return Grade.EXACT

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines for the report, such as why a fallback counted. Usually `()`."""
        return ()

    @property
    def vocabulary_sha256(self) -> str | None:
        """SHA-256 of the vocabulary file as its owner published it; None if there is none."""
        return None

    @property
    def additive_at_tag_seams(self) -> bool:
        r"""Whether counts add after a line break, where one tag or block ends and the next begins.

        True promises n(a) + n(b) == n(a + b) for every a that ends with a line break (\n or \r) and every b that does
        not begin with "/" and has no line break in its leading white space. So n(a + sep) + n(b) == n(a + sep + b) for
        every sep that ends with a newline and every b that starts with "<". tests/budgets/test_additivity.py tests this
        for the bundled encodings.
        """
        return False

    def __call__(self, text: str, /) -> Tokens:
        """Tokens of `text`."""
        raise NotImplementedError

    def count_each(self, texts: Iterable[str]) -> Iterator[Tokens]:
        """Tokens of each text, counted when the iterator reaches it."""
        return map(self, texts)


@attrs.frozen(eq=False, repr=False)
class Fronting(Guarded):
    """A counter in front of another, with its name, grade and promises."""

    counter: Guarded


for _promise in ("name", "grade", "notes", "vocabulary_sha256", "additive_at_tag_seams"):
    setattr(Fronting, _promise, property(operator.attrgetter(f"counter.{_promise}")))


def count_each(counter: TokenCounter, texts: Iterable[str]) -> list[Tokens]:
    """Tokens of each text. One call for all texts, if the counter keeps the contract by itself."""
    return list(counter.count_each(texts) if isinstance(counter, Guarded) else map(counter, texts))


def name_of(counter: TokenCounter | AwaitedCounter) -> str:
    """The name of a counter in errors: its `name`, or that of its function or class, but never its repr."""
    for attribute in ("name", "__qualname__"):
        found = attribute_of(counter, attribute)
        if isinstance(found, str) and found:
            return found
    return type(counter).__qualname__


def attribute_of(counter: object, attribute: str, otherwise: object = None) -> object:
    """An attribute of a foreign object. One that raises when it is read counts as missing."""
    try:
        return getattr(counter, attribute, otherwise)
    except Exception:
        return otherwise


def notes_of(counter: TokenCounter | AwaitedCounter) -> tuple[str, ...]:
    """The `notes` of a counter, if they are a tuple of lines; else `()`."""
    found = attribute_of(counter, "notes")
    lines = cast("tuple[object, ...]", found) if isinstance(found, tuple) else ()
    return tuple(line for line in lines if isinstance(line, str))


def refuse_surrogates(name: str, text: str) -> None:
    """Raise `TokenCountError` unless `text` is a text without lone surrogates, which no API accepts. O(text).

    Engines disagree on a surrogate: tiktoken counts it as U+FFFD, tokenizers raises TypeError, and an HTTP client fails
    on it later.
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may pass anything
        raise no_text(name, text)
    if text.isascii():
        return
    if (offset := lone_surrogate(text)) is not None:
        raise TokenCountError(
            name, f"cannot count a lone surrogate (offset {offset}): no UTF-8 spells it. Decode the source again."
        )


def no_text(name: str, value: object) -> TokenCountError:
    """The error for a value that is not a text."""
    return TokenCountError(name, f"was given {named_type(value)}: pass a text (str)")


def failure_of(name: str, failure: BaseException, text: object = "") -> BaseException:
    """What to raise for an exception of an engine: itself if it must pass through, else a `TokenCountError`.

    If `text` is not a text, the error says so. Rust engines panic with a BaseException, so `except Exception` does not
    catch everything.
    """
    if isinstance(failure, TokenCountError) or _stops(failure):
        return failure
    if not isinstance(text, str):
        error = no_text(name, text)
        error.__suppress_context__ = True
        return error
    error = TokenCountError(name, f"failed with {type(failure).__name__}")
    error.__cause__ = failure
    return error


def _read_answer(name: str, answer: object, counter: object) -> Tokens:
    """The answer as an int >= 0, numpy's integers included. Raises `TokenCountError` for anything else."""
    tokens = index_of(answer)
    if tokens is None:
        returned = repr(answer) if answer is None or isinstance(answer, float) else shown(answer)
        raise TokenCountError(name, f"returned {returned} (int >= 0 expected){_advise_instead(counter, answer)}")
    if tokens < 0:
        raise TokenCountError(name, f"returned {tokens} (int >= 0 expected)")
    return tokens


@attrs.frozen
class TotalCounter(Guarded):
    """A wrapper for a foreign counter. It returns an int >= 0 or raises `TokenCountError` with the cause chained."""

    counter: TokenCounter | AwaitedCounter = attrs.field(repr=name_of)

    @property
    def name(self) -> str:
        """The name of the wrapped counter."""
        return name_of(self.counter)

    @property
    def grade(self) -> Grade:
        """The grade of the wrapped counter, exact unless it declares another: its user wants its counts."""
        claimed = attribute_of(self.counter, "grade", Grade.EXACT)
        return claimed if isinstance(claimed, Grade) else Grade.EXACT

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of the wrapped counter, if it has any."""
        return notes_of(self.counter)

    @property
    def additive_at_tag_seams(self) -> bool:
        """The promise of the wrapped counter; False unless it declares one."""
        return attribute_of(self.counter, "additive_at_tag_seams") is True

    def __call__(self, text: str, /) -> Tokens:
        """Tokens of `text`, or TokenCountError."""
        if type(text) is not str or not text.isascii():  # only these need the name
            refuse_surrogates(self.name, text)
        try:
            answer: object = self.counter(text)
            if type(answer) is not int:
                answer = wait_for_answer(self.name, answer)
        except BaseException as failure:
            raise failure_of(self.name, failure)  # noqa: B904 - chained there, unless it is the failure itself
        if type(answer) is int and 0 <= answer < LARGEST:
            return answer
        return _read_answer(self.name, answer, self.counter)


def _advise_instead(counter: object, answer: object = None) -> str:
    """What to pass instead of a tokenizer, or of its method that returns the tokens themselves."""
    if isinstance(counter, str):
        return "; pass tiktoken_counter(name), or the model's name alone: Budget(…, model=name)"
    if (
        attribute_of(counter, "apply_chat_template") is not None
        or attribute_of(counter, "all_special_tokens") is not None
    ):
        return "; a Hugging Face tokenizer is passed as transformers_counter(tokenizer)"
    if attribute_of(counter, "encode") is not None:
        return "; pass a function that counts: lambda text: len(tokenizer.encode(text))"
    if isinstance(answer, list | tuple):
        return "; return how many tokens there are: len(…)"
    if isinstance(answer, float):
        return "; round it up: math.ceil(…)"
    return ""


def total_counter(counter: TokenCounter | AwaitedCounter) -> Guarded:
    """`counter` in a wrapper that checks that each call returns a whole number of 0 or more.

    A counter that does so already is returned unchanged. Raises `BudgetError` if `counter` cannot be called with one
    text, or has a `grade` that is not a `Grade`.
    """
    if isinstance(counter, Guarded):
        return counter
    refuse_unusable(counter)
    return TotalCounter(counter)


def refuse_unusable(counter: TokenCounter | AwaitedCounter) -> None:
    """Raise `BudgetError` unless `counter` can be called with one text and its `grade`, if it has one, is a `Grade`."""
    refuse_wrong_arity(counter)
    grade = attribute_of(counter, "grade", Grade.EXACT)
    if not isinstance(grade, Grade):
        kind = named_type(grade)
        raise BudgetError(f"counter {name_of(counter)}: its grade is {kind}; make it one of budgets.Grade")


def refuse_wrong_arity(counter: TokenCounter | AwaitedCounter) -> None:
    """Raise `BudgetError` unless `counter` can be called with exactly one text.

    Builtins without a readable signature are accepted; their answers are checked at each count anyway.
    """
    if not callable(counter):
        kind = type(counter).__name__
        raise BudgetError(
            f"counter: expected a callable from a text to its tokens, got {kind}{_advise_instead(counter)}"
        )
    try:
        signature = inspect.signature(counter)
    except Exception:  # a builtin raises ValueError; a strange object may raise anything
        return
    try:
        signature.bind("")
    except TypeError:
        names = ", ".join(signature.parameters)  # without defaults and annotations, which could hold any text
        raise BudgetError(
            f"counter {name_of(counter)} cannot be called with one text: its signature is ({names})"
            + ("; pass an object of the class, not the class" if isinstance(counter, type) else "")
        ) from None
