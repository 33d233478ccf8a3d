"""What every counter promises, and how a foreign one is held to it.

A counter is total: any text without lone surrogates gives an int >= 0, anything else is a TokenCountError. Only what
asks the program itself to stop passes through unchanged: see `_STOPS`.
"""

from __future__ import annotations

import inspect
from typing import cast

import attrs

from budgets.count import AwaitedCounter, Grade, TokenCounter, Tokens
from budgets.counters.awaited import wait_for_answer
from budgets.errors import BudgetError, TokenCountError, lone_surrogate
from budgets.numbers import LARGEST, index_of, shown

_STOPS = (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError)
"""Together with asyncio's CancelledError: not failures of a counter, and never wrapped as one."""


class Guarded:
    """A counter that keeps the promise by itself: a bundled one or a wrapper. Nothing needs to wrap it again."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """Engine and vocabulary, as errors and reports print them."""
        raise NotImplementedError

    @property
    def grade(self) -> Grade:
        """What a count of this counter is worth as a count of its own tokenizer."""
        return Grade.EXACT

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the count should know, a line each: that a fallback stood in, and why. Most often `()`."""
        return ()

    @property
    def vocabulary_sha256(self) -> str | None:
        """SHA-256 of the vocabulary that counts, as its owner published it; None where there is no such file."""
        return None

    @property
    def additive_at_tag_seams(self) -> bool:
        r"""Whether counts add after a line break: where one tag or block ends and the next begins.

        True promises n(a) + n(b) == n(a + b) for every a that ends with a line break (\n or \r) and every b whose
        leading white space holds none and that does not begin with "/". So n(a + sep) + n(b) == n(a + sep + b) for
        every sep that ends with a newline and every b that starts with "<". The bundled encodings are held to it by
        tests/budgets/test_additivity.py.
        """
        return False

    def __call__(self, text: str, /) -> Tokens:
        """Tokens of `text`."""
        raise NotImplementedError


@attrs.frozen(eq=False, repr=False)
class Fronting(Guarded):
    """A counter in front of another, with the name, grade and promises of that one."""

    counter: Guarded

    @property
    def name(self) -> str:
        """That of the counter behind it."""
        return self.counter.name

    @property
    def grade(self) -> Grade:
        """That of the counter behind it."""
        return self.counter.grade

    @property
    def notes(self) -> tuple[str, ...]:
        """Those of the counter behind it."""
        return self.counter.notes

    @property
    def vocabulary_sha256(self) -> str | None:
        """That of the counter behind it."""
        return self.counter.vocabulary_sha256

    @property
    def additive_at_tag_seams(self) -> bool:
        """The promise of the counter behind it."""
        return self.counter.additive_at_tag_seams


def name_of(counter: TokenCounter | AwaitedCounter) -> str:
    """What to call a counter in errors: its `name`, or that of its function or class. Never its repr."""
    for attribute in ("name", "__qualname__"):
        found = attribute_of(counter, attribute)
        if isinstance(found, str) and found:
            return found
    return type(counter).__qualname__


def attribute_of(counter: object, attribute: str, otherwise: object = None) -> object:
    """An attribute of a foreign object; one that raises when it is read counts as missing."""
    try:
        return getattr(counter, attribute, otherwise)
    except Exception:
        return otherwise


def notes_of(counter: TokenCounter | AwaitedCounter) -> tuple[str, ...]:
    """What a counter has to say about its counts: its `notes`, if that is a tuple of lines."""
    found = attribute_of(counter, "notes")
    lines = cast("tuple[object, ...]", found) if isinstance(found, tuple) else ()
    return tuple(line for line in lines if isinstance(line, str))


def refuse_surrogates(name: str, text: str) -> None:
    """Raise TokenCountError if `text` is none, or holds a lone surrogate: engines disagree on it, no API accepts it.

    tiktoken counts it as U+FFFD, tokenizers raises TypeError, an HTTP client fails on it later. O(text).
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # the language asks for it
        raise no_text(name, text)
    if text.isascii():
        return
    if (offset := lone_surrogate(text)) is not None:
        raise TokenCountError(
            name, f"cannot count a lone surrogate (offset {offset}): no UTF-8 spells it. Decode the source again."
        )


def no_text(name: str, value: object) -> TokenCountError:
    """The error of a counter that was given something else to count."""
    return TokenCountError(name, f"was given a {type(value).__name__}: pass a text (str)")


def failure_of(name: str, failure: BaseException, text: object = "") -> BaseException:
    """What to raise for an exception out of an engine: itself if it must pass through, else a TokenCountError.

    An engine that was given something else than a `text` failed of that.

    Rust engines panic with a BaseException (pyo3's PanicException), so `except Exception` is not enough.
    """
    from asyncio import CancelledError  # heavy, and wanted only once something has failed

    if isinstance(failure, (*_STOPS, CancelledError, TokenCountError)):
        return failure
    if not isinstance(text, str):
        error = no_text(name, text)
        error.__suppress_context__ = True
        return error
    error = TokenCountError(name, f"failed with {type(failure).__name__}")
    error.__cause__ = failure
    return error


def read_answer(name: str, answer: object, counter: object = None) -> Tokens:
    """The answer as an int >= 0, numpy's integers included. Raises TokenCountError for anything else."""
    if type(answer) is int and 0 <= answer < LARGEST:
        return answer
    tokens = index_of(answer)
    if tokens is None:
        said = repr(answer) if answer is None or isinstance(answer, bool | float) else _kind(answer)
        raise TokenCountError(name, f"returned {said} (int >= 0 expected){_instead(counter, answer)}")
    if tokens < 0:
        raise TokenCountError(name, f"returned {tokens} (int >= 0 expected)")
    return tokens


def _kind(answer: object) -> str:
    return shown(answer) if isinstance(answer, int) else f"a {type(answer).__name__}"


@attrs.frozen
class TotalCounter(Guarded):
    """Another's counter, held to the promise: an int >= 0, or TokenCountError with the cause chained."""

    counter: TokenCounter | AwaitedCounter = attrs.field(repr=name_of)

    @property
    def name(self) -> str:
        """The wrapped counter's."""
        return name_of(self.counter)

    @property
    def grade(self) -> Grade:
        """The wrapped counter's, exact unless it says otherwise: its own count is what its user wants."""
        claimed = attribute_of(self.counter, "grade", Grade.EXACT)
        return claimed if isinstance(claimed, Grade) else Grade.EXACT

    @property
    def notes(self) -> tuple[str, ...]:
        """The wrapped counter's, if it has any."""
        return notes_of(self.counter)

    @property
    def additive_at_tag_seams(self) -> bool:
        """The wrapped counter's promise; no promise unless it gives one."""
        return attribute_of(self.counter, "additive_at_tag_seams") is True

    def __call__(self, text: str, /) -> Tokens:
        """Tokens of `text`, or TokenCountError."""
        if type(text) is not str or not text.isascii():  # the name is looked up for these alone
            refuse_surrogates(self.name, text)
        try:
            answer: object = self.counter(text)
            if type(answer) is not int:
                answer = wait_for_answer(self.name, answer)
        except BaseException as failure:
            raise failure_of(self.name, failure)  # noqa: B904 - chained there, unless it is the failure itself
        if type(answer) is int and 0 <= answer < LARGEST:
            return answer
        return read_answer(self.name, answer, self.counter)


def _instead(counter: object, answer: object = None) -> str:
    """What to pass instead of a tokenizer, or of a method of one that returns the tokens themselves."""
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
    """`counter`, held at every call to return a whole number of 0 or more.

    A counter that is held to that already is returned as it is. Raises BudgetError at once if `counter` cannot be
    called with one text.
    """
    if isinstance(counter, Guarded):
        return counter
    refuse_wrong_arity(counter)
    return TotalCounter(counter)


def refuse_wrong_arity(counter: TokenCounter | AwaitedCounter) -> None:
    """Raise BudgetError unless `counter` can be called with exactly one text.

    Builtins that do not tell their signature are believed; what they answer is checked at each count anyway.
    """
    if not callable(counter):
        raise BudgetError(
            f"counter: expected a callable from a text to its tokens, got {type(counter).__name__}{_instead(counter)}"
        )
    try:
        signature = inspect.signature(counter)
    except Exception:  # a builtin's ValueError, or what a strange object raises when it is looked at
        return
    try:
        signature.bind("")
    except TypeError:
        names = ", ".join(signature.parameters)  # alone: a default or an annotation could hold any text
        raise BudgetError(
            f"counter {name_of(counter)} cannot be called with one text: its signature is ({names})"
            + ("; pass an object of the class, not the class" if isinstance(counter, type) else "")
        ) from None
