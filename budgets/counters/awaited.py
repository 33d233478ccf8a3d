"""Waits for async counters in a thread beside the event loop. Does not import asyncio."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import ContextVar
from typing import TypeAlias

from budgets.errors import BudgetError, TokenCountError

Waits: TypeAlias = Callable[[Awaitable[object]], object]
"""Blocks until another thread's event loop has run an awaitable, and returns its result."""

WAITS: ContextVar[Waits | None] = ContextVar("assembler_waiting", default=None)
"""Set while a build runs in its own thread, beside the loop that awaits it."""


def is_async(function: object) -> bool:
    """Whether a function, or the `__call__` of an object, is async."""
    called = function if inspect.isroutine(function) else getattr(function, "__call__", None)  # noqa: B004
    return any(inspect.iscoroutinefunction(each) or inspect.isasyncgenfunction(each) for each in (function, called))


def refuse_async(function: object, name: str) -> None:
    """Raise `BudgetError` for an async function that would not be awaited."""
    if is_async(function):
        raise BudgetError(f"{name} is async, and nothing awaits it here; pass a function that returns its answer")


def wait_for_answer(name: str, answer: object) -> object:
    """A counter's answer, awaited if necessary. Raises `TokenCountError` if nothing can wait for it."""
    if not inspect.isawaitable(answer):
        return answer
    waits = WAITS.get()
    if waits is not None:
        return waits(answer)
    if isinstance(answer, Coroutine):
        answer.close()  # it will not be awaited
    raise TokenCountError(name, "is async, and nothing awaits it here: call `await assembler.abuild()`")
