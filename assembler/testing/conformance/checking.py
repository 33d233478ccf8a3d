"""Code that the checks of contracts share: their error, how they run examples, and checks of any request."""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias, TypeVar, cast

import attrs

import assembler
import budgets
from assembler.context import Context
from assembler.conversation.messages import Message, Result, Thinking
from assembler.drawn.engine import Flaky, Phase, SearchStrategy, given, hypothesis, settings, st, steadily
from assembler.validation import as_tuple, iterates, wrong
from assembler.verify import verify
from budgets import AssemblyError, BudgetError
from budgets.errors import LONGEST, Evidence
from budgets.numbers import index_of, shown

AMPLE = 1_000_000
"""A window, in tokens, that no drawn conversation fills."""
EDGE = 2
"""Offsets from an edge, where `<` and `<=` differ."""
_IN_A_ROW = 16
WORDS = st.text("abcdefghijklmnop", min_size=6, max_size=12)
"""Texts that every API and layout carries unchanged, and that occur in no name or note by chance."""

Case = TypeVar("Case")
Subject = TypeVar("Subject")
Texts: TypeAlias = SearchStrategy[str] | Iterable[str]
"""What a check may draw texts from besides its own: a Hypothesis strategy, or a list of texts."""
History: TypeAlias = Iterable[object]
"""A whole conversation, in any spelling that the library reads."""


def copy_subject(subject: Subject) -> Subject | None:
    """A deep copy of what is checked, which remembers nothing of the check; None if it cannot be copied."""
    try:
        return copy.deepcopy(subject)
    except Exception:  # it may hold anything, such as a connection
        return None


def texts_of(message: Message) -> Iterator[str]:
    """The texts of a message, of its reasoning and of its results."""
    for part in message.parts:
        if isinstance(part, str):
            yield part
        elif isinstance(part, Thinking):
            yield part.text
        elif isinstance(part, Result):
            yield from (inner for inner in part.parts if isinstance(inner, str))


def quotes(note: str, text: str) -> bool:
    """Whether a text that others may read holds `text`, or as many of its characters in a row as no chance explains."""
    return text in note or any(note[at : at + _IN_A_ROW] in text for at in range(len(note) - _IN_A_ROW + 1))


class ContractError(Evidence, AssertionError):
    """Your own `subject` breaks the `law` of its contract; `problem` shows where.

    Raised for the smallest example that was found. Every text in the error was drawn by the check, or given to it.
    """

    def __init__(self, subject: str, law: str, problem: str) -> None:
        super().__init__(f"{subject}: {law}; {problem}")
        self.subject, self.law, self.problem = subject, law, problem


def examples(number: int) -> settings:
    """Settings with the same examples each time, without a store, also inside another property.

    Raises `BudgetError` for less than one.
    """
    if index_of(number) is None or number < 1:
        raise BudgetError(f"max_examples is a whole number, 1 or more, got {shown(number)}")
    return steadily(number, Phase.explicit, Phase.generate, Phase.shrink)


def with_own(drawn: SearchStrategy[str], own: Texts | None) -> SearchStrategy[str]:
    """The strategy, with texts of the caller's in half of the draws. Raises `BudgetError` for a blank text."""
    if own is None:
        return drawn
    if isinstance(own, SearchStrategy):
        return own | drawn
    listed = [own] if isinstance(own, str) else as_tuple("texts", own, "texts")
    for place, text in enumerate(listed):
        if not isinstance(text, str) or not text.strip():
            raise BudgetError(wrong(f"texts[{place}]", "a text that is not blank", text))
    return st.sampled_from(cast("Sequence[str]", listed)) | drawn


def list_histories(histories: Iterable[History]) -> list[list[object]]:
    """Whole conversations as lists. Raises `BudgetError` for one conversation alone, or for anything else."""
    listed = as_tuple("histories", histories, "whole conversations")
    for place, history in enumerate(listed):
        if isinstance(history, str | Mapping) or not iterates(history):
            problem = wrong(f"histories[{place}]", "a whole conversation, which is a list of messages", listed[place])
            raise BudgetError(f"{problem}; write histories=[[…]] for one conversation")
    return [[*cast("Iterable[object]", history)] for history in listed]


def refuse_class(subject: object, check: str) -> None:
    """Raise `BudgetError` for a class in place of an object of it."""
    __tracebackhide__ = True
    if isinstance(subject, type):
        name = subject.__name__
        raise BudgetError(f"{check}: {name} is a class, not an object of it; call it: {check}({name}())")


_ROOTS = tuple(str(Path(cast(str, module.__file__)).parent) for module in (assembler, budgets, hypothesis))
"""Where the code of the checks lies, and of the tools that run them."""


def failure_of(subject: str, check: Callable[[], None]) -> BaseException | None:
    """Run a check, and return its failure without the frames and notes of the tools that found it.

    Anything but a broken law is one too: your own code must raise nothing, and give the same answer twice. Its frames
    stay, in the cause.
    """
    try:
        check()
    except ContractError as error:
        return _show_own_frames(error)
    except Flaky as error:
        inner: tuple[BaseException, ...] = getattr(error, "exceptions", ())
        found = next((each for each in inner if isinstance(each, ContractError)), None)
        law = "it gives the same answer each time"
        return _show_own_frames(
            found or ContractError(subject, law, "a case failed once, and not when it was tried again")
        )
    except (AssemblyError, ImportError) as error:  # an argument of the check, or a missing package
        return _show_own_frames(error)
    except Exception as error:
        problem = f"raised {type(error).__name__}: {error}; return an answer for every case"
        found = ContractError(subject, "it raises nothing", problem)
        found.__cause__ = _show_own_frames(error)
        return found
    return None


def _show_own_frames(error: BaseException) -> BaseException:
    """The error with the frames of the caller's code alone, and with the smallest case as its note."""
    error.__notes__ = [note for note in getattr(error, "__notes__", ()) if note.startswith(_CASE)]
    if error.__cause__ is not None:
        _show_own_frames(error.__cause__)
    error.__suppress_context__ = True
    return error.with_traceback(_find_own_frames(error.__traceback__))


def _find_own_frames(frames: TracebackType | None) -> TracebackType | None:
    while frames is not None and frames.tb_frame.f_code.co_filename.startswith(_ROOTS):
        frames = frames.tb_next
    return frames


_CASE = "the smallest case: "


@attrs.define(eq=False)
class Checked:
    """Something of your own under a check; errors call it by `name`."""

    name: str

    def broken(self, law: str, problem: str) -> ContractError:
        """The error to raise."""
        return ContractError(self.name, law, problem)

    def fits_and_is_valid(self, context: Context[Any], dialect: str) -> None:
        """Raise unless the built request fits its budget and keeps the rules of its API."""
        if context.count.upper > (context.input_limit or 0):
            raise self.broken("what is built fits", f"{context.count.upper} of {context.input_limit} tokens")
        if wrongs := verify(context.request(), dialect=dialect):
            raise self.broken("what is built is valid", "; ".join(map(str, wrongs[:3])))


def each_drawn(cases: SearchStrategy[Case], check: Callable[[Case], None], number: int) -> None:
    """Check as many drawn cases, the same each time. An error has the smallest case as its note."""

    @examples(number)
    @given(cases)
    def each(case: Case) -> None:
        with note_case(case):
            check(case)

    each()


@contextmanager
def note_case(case: object) -> Generator[None]:
    """Note the case with whatever is raised in a `with` block. The innermost case is the one that is shown."""
    try:
        yield
    except Exception as error:
        error.add_note(f"{_CASE}{str(case)[:LONGEST]}")
        raise
