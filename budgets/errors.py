"""The errors about numbers. Each has its evidence as attributes, and never any text of a prompt.

    AssemblyError
    ├─ ContextLengthError   it does not fit, and what would  (in `budgets.context_length`, as it holds a budget)
    ├─ BudgetError          impossible numbers               (also a ValueError)
    ├─ UnknownModelError    a model that is not in the tables  (also a LookupError)
    ├─ TokenCountError      a counter failed or returned nonsense
    └─ MissingExtraError    an optional package is missing   (also an ImportError)

The errors about messages, markup, tools and prompts continue the tree in `assembler.errors`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from types import TracebackType
from typing import Any, TypeVar


class AssemblyError(Exception):
    """The base class of all errors that this library raises on purpose."""


Known = TypeVar("Known", bound=AssemblyError)


def _rebuild(cls: type[Known], args: tuple[Any, ...], state: dict[str, Any]) -> Known:
    """Unpickle an error whose constructor takes keywords, which `Exception.__reduce__` does not support."""
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


LONGEST = 1_000
"""The most characters of an error's text, which may contain ids and names of any length. Of a longer text the middle is
left out, so that the problem and the cure stay."""


class Evidence(AssemblyError):  # noqa: N818 - a base class, never raised itself
    """An error with a text of bounded length, which pickles with its attributes.

    Characters that could control a terminal are escaped, except line breaks.
    """

    def __init__(self, text: str = "") -> None:
        bounded = text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"
        super().__init__(printable(bounded))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args, dict(self.__dict__))


class OfTheCaller:
    """A context in which an object of the caller's is read: an exception of its own methods becomes an error of ours.

    `error` makes it from a text. The exception is neither quoted nor chained, since it may quote what it was asked for.
    Exceptions of this library's own code pass, and those of a package that does not load: no argument is at fault.
    """

    __slots__ = ("_error", "_given")

    def __init__(self, given: str, error: Callable[[str], AssemblyError]) -> None:
        self._given, self._error = given, error

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: object, traceback: TracebackType | None) -> None:
        if kind is None or not isinstance(error, Exception) or isinstance(error, AssemblyError) or _is_ours(traceback):
            return
        problem = self._error(
            f"{self._given}: a method of its own raised {kind.__name__}; pass plain dicts, lists and texts"
        )
        try:
            raise problem
        except AssemblyError:
            problem.__context__ = None
            raise


def _is_ours(traceback: TracebackType | None) -> bool:
    """Whether the innermost frame is of this library, or a module was being loaded."""
    name = ""
    while traceback is not None:
        frame, traceback = traceback.tb_frame, traceback.tb_next
        if frame.f_code.co_name == "<module>":
            return True
        name = str(frame.f_globals.get("__name__"))
    return name.partition(".")[0] in ("assembler", "budgets")


def lone_surrogate(text: str) -> int | None:
    """The offset of the first lone surrogate, which UTF-8 cannot encode, or None. O(characters).

    Returns it rather than raising, because the codec's own error holds the whole text and must not be chained.
    """
    try:
        text.encode()
    except UnicodeEncodeError as failure:
        return failure.start
    return None


def printable(text: str) -> str:
    """The text with unprintable characters escaped, except line breaks, so that it cannot control a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)


def named_type(value: object) -> str:
    """The type of a value with its article, for an error that must not quote the value: an int, a str."""
    name = type(value).__name__
    return f"{'an' if name[:1] in tuple('aeioAEIO') else 'a'} {name}"


class BudgetError(Evidence, ValueError):
    """Impossible numbers, such as negative ones or a reserve that leaves no tokens, or another wrong argument."""


class UnknownModelError(Evidence, LookupError):
    """A model that is not in the tables. `nearest` lists the most similar known names."""

    name: str
    nearest: Sequence[str]

    def __init__(self, name: str, *, nearest: Sequence[str]) -> None:
        self.name = name
        self.nearest = tuple(nearest)
        like = f" Nearest known: {', '.join(self.nearest)}." if self.nearest else ""
        super().__init__(
            f"no published window is known for model {name!r}.{like} "
            f"Pass its window yourself: Budget.for_model({name!r}, context_window=…)."
        )


class TokenCountError(Evidence):
    """A counter, named by `counter`, failed or returned nonsense. A cause is chained."""

    counter: str

    def __init__(self, counter: str, problem: str) -> None:
        self.counter = counter
        super().__init__(f"counter {counter} {problem}")

    def at(self, place: str) -> TokenCountError:
        """A copy of this error that also says on which text the counter failed."""
        return _rebuild(type(self), (f"{self} (at {place})",), dict(self.__dict__))


_REINSTALL = ", and the installed one does not load: pip install --upgrade --force-reinstall"


@contextlib.contextmanager
def from_extra(extra: str, *, needed_for: str) -> Generator[None]:
    """Raise `MissingExtraError` for an `ImportError` inside the `with` block."""
    try:
        yield
    except ModuleNotFoundError as absent:
        raise MissingExtraError(extra, needed_for=needed_for) from absent
    except ImportError as broken:
        raise MissingExtraError(extra, needed_for=needed_for, advice=_REINSTALL) from broken


class MissingExtraError(Evidence, ImportError):
    """An optional package is not installed, or does not load. `extra` is the name of the extra to install."""

    extra: str

    def __init__(self, extra: str, *, needed_for: str, advice: str = ": pip install") -> None:
        self.extra = extra
        super().__init__(f"{needed_for} needs an optional package{advice} 'context-assembler[{extra}]'")
