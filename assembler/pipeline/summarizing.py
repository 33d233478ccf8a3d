"""Calls the summarizers that a plan needs.

The core, `build.make_plan`, never calls a summarizer: it raises `UnansweredError` with the question. `run_answering`
calls the summarizer, `run_awaiting` awaits it, and `plan_without_awaiting` plans without it. The answer is remembered
with the history, then the core runs again and finds it there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Coroutine
from functools import partial
from inspect import isawaitable
from types import TracebackType
from typing import TypeVar, cast

from assembler.conversation.summary_request import UnansweredError, Wanted
from assembler.errors import ConversationError, SummaryError
from assembler.pipeline.build import make_plan
from assembler.pipeline.draft import Draft
from assembler.pipeline.planned import Planned
from assembler.pipeline.settings import Settings
from assembler.pipeline.what_if import plan_without_asking
from budgets import BudgetError

T = TypeVar("T")

MOST_QUESTIONS = 16
"""The most questions of one build: one for each policy, and one more whenever a message changes meanwhile."""


def run_answering(work: Callable[[], T]) -> T:
    """Run `work`, and call each summarizer that it needs. Raises `BudgetError` for one that must be awaited."""
    for _ in range(MOST_QUESTIONS):
        try:
            return work()
        except UnansweredError as unanswered:
            wanted = unanswered.wanted
        if wanted.question.awaited:
            raise must_await_error()
        wanted.question.settle(_call_summarizer(wanted))
    raise changing_error()


def plan_asking(draft: Draft, settings: Settings) -> Planned:
    """The plan of a draft. Calls each summarizer that it needs."""
    return run_answering(partial(make_plan, draft, settings))


def plan_without_awaiting(draft: Draft, settings: Settings) -> Planned:
    """The plan of a draft, without the summarizers that must be awaited: `wanted` holds what they would be asked."""
    if not settings.awaits:
        return plan_asking(draft, settings)
    try:
        return make_plan(draft, settings)
    except UnansweredError as unanswered:
        wanted = unanswered.wanted
    return plan_without_asking(draft, settings, wanted)


def must_await_error() -> BudgetError:
    """The error for an async summarizer in a call that cannot await."""
    return BudgetError(
        "on_overflow: the summarizer is async, and build() cannot await it: "
        "call `await assembler.abuild()`, or pass a function that returns the text"
    )


def changing_error() -> ConversationError:
    """The error for messages that changed during every call of the summarizer."""
    return ConversationError("messages change while they are summarised; leave them alone until build() returns")


def summary_failure(error: Exception) -> SummaryError:
    """The error for a summarizer that raised. The exception is only chained: its text could quote a message."""
    kind = type(error).__name__
    failure = SummaryError(f"the summarizer raised {kind}", raised=kind)
    failure.__cause__ = error
    failure.add_note(f"raised at {_find_places(error.__traceback__)}")
    _drop_frames(error)
    return failure


_CALLERS = ("assembler.", "asyncio.", "concurrent.")
"""Where the names of the modules begin that call a summarizer."""


def _find_places(traceback: TracebackType | None) -> str:
    """The lines of the caller's code in which it was raised, the summarizer's own first."""
    from traceback import walk_tb  # most summarizers return

    places = [(frame.f_globals.get("__name__", ""), frame.f_code, line) for frame, line in walk_tb(traceback)]
    own = itertools.dropwhile(lambda place: str(place[0]).startswith(_CALLERS), places)
    return ", ".join(f"{code.co_filename}:{line} in {code.co_name}" for _, code, line in own) or "its call"


def _drop_frames(error: BaseException) -> None:
    """Drop the tracebacks of an error and of those chained to it.

    A frame holds all those that called it, with their variables: a remembered failure would keep the whole build, and
    whatever the caller had in hand, as long as the conversation lives.
    """
    left: list[BaseException | None] = [error]
    seen: set[int] = set()
    while left:
        each = left.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        each.__traceback__ = None
        left += [each.__cause__, each.__context__]
        if isinstance(each, BaseExceptionGroup):
            left += cast("BaseExceptionGroup[BaseException]", each).exceptions


def _call_summarizer(wanted: Wanted) -> object:
    """The text of the summarizer, or the error if it failed."""
    try:
        text = wanted.question.ask()
    except MemoryError:  # the process is in trouble, not the summarizer
        raise
    except Exception as error:  # whatever the caller's function raises, the ladder continues and reports it
        return summary_failure(error)
    if not isawaitable(text):
        return text
    if isinstance(text, Coroutine):
        text.close()  # it will not be awaited
    return SummaryError("the summarizer returned a coroutine, which build() cannot await: call `await abuild()`")
