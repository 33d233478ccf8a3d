"""The errors that concern numbers. Each carries its evidence as attributes and never any text of a prompt.

    AssemblyError
    ├─ ContextLengthError   it does not fit, and what would      (`budgets.context_length`: it holds a budget)
    ├─ BudgetError          impossible numbers               (also a ValueError)
    ├─ UnknownModelError    a name nobody published          (also a LookupError)
    ├─ TokenCountError      a counter failed or lied
    └─ MissingExtraError    an optional package is absent    (also an ImportError)

The errors that concern messages, markup, tools and prompts continue the tree in `assembler.errors`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence
from typing import Any, TypeVar


class AssemblyError(Exception):
    """Anything this library raises on purpose."""


Known = TypeVar("Known", bound=AssemblyError)


def _rebuild(cls: type[Known], args: tuple[Any, ...], state: dict[str, Any]) -> Known:
    """Unpickle an error whose constructor takes keywords: `Exception.__reduce__` alone would call it without them."""
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


LONGEST = 1_000
"""Characters of an error's text. Ids, names and kinds in it come from outside: of a longer one the middle is left out,
so that what happened and what to do about it stay."""


class Evidence(AssemblyError):  # noqa: N818 - what its subclasses share, never raised itself
    """An error of bounded text that pickles with its attributes, whatever its constructor asks for.

    The text steers no terminal: what does not print, apart from line breaks, is spelled as an escape.
    """

    def __init__(self, text: str = "") -> None:
        bounded = text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"
        super().__init__(printable(bounded))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args, dict(self.__dict__))


def lone_surrogate(text: str) -> int | None:
    """The place of the first half of a surrogate pair, which no UTF-8 spells; None where there is none. O(characters).

    The codec's own error holds the whole text: none that is raised for this may have it in its chain.
    """
    try:
        text.encode()
    except UnicodeEncodeError as failure:
        return failure.start
    return None


def printable(text: str) -> str:
    """The text in which nothing steers a terminal: what does not print, apart from line breaks, is an escape."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one == "\n" else repr(one)[1:-1] for one in text)


class BudgetError(Evidence, ValueError):
    """Numbers that no window can satisfy: negative, not whole, or a reserve that leaves no tokens."""


class UnknownModelError(Evidence, LookupError):
    """A model that the tables do not hold; `nearest` lists the known names most like it."""

    name: str
    nearest: Sequence[str]

    def __init__(self, name: str, *, nearest: Sequence[str]) -> None:
        self.name = name
        self.nearest = tuple(nearest)
        like = f" Nearest known: {', '.join(self.nearest)}." if self.nearest else ""
        super().__init__(
            f"no published window is known for model {name!r}.{like} "
            "Pass the numbers yourself: Budget(context_window=…, max_output_tokens=…, model=…)."
        )


class TokenCountError(Evidence):
    """A counter failed or answered nonsense; `counter` names it, and the cause, where there is one, is chained."""

    counter: str

    def __init__(self, counter: str, problem: str) -> None:
        self.counter = counter
        super().__init__(f"counter {counter} {problem}")

    def at(self, place: str) -> TokenCountError:
        """A copy of this error, evidence included, that also says which text the counter failed on."""
        return _rebuild(type(self), (f"{self} (at {place})",), dict(self.__dict__))


@contextlib.contextmanager
def from_extra(extra: str, *, needed_for: str) -> Generator[None]:
    """What is imported inside comes with an extra: `MissingExtraError` where it is not installed."""
    try:
        yield
    except ImportError as absent:
        raise MissingExtraError(extra, needed_for=needed_for) from absent


class MissingExtraError(Evidence, ImportError):
    """An optional package is not installed; `extra` is what to ask pip for."""

    extra: str

    def __init__(self, extra: str, *, needed_for: str) -> None:
        self.extra = extra
        super().__init__(f"{needed_for} needs an optional package: pip install 'context-assembler[{extra}]'")
