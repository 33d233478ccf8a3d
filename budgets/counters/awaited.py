"""Counters that must be awaited, while a thread that may wait for them counts. Imports no asyncio."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import ContextVar
from typing import TypeAlias

from budgets.errors import BudgetError, TokenCountError

Waits: TypeAlias = Callable[[Awaitable[object]], object]
"""Waits for an awaitable on an event loop of another thread, and gives what came of it."""

WAITING: ContextVar[Waits | None] = ContextVar("assembler_waiting", default=None)
"""Set while a build runs in a thread of its own, beside the loop that awaits it."""


def is_async(function: object) -> bool:
    """Whether a function, or an object that is called like one, is declared async."""
    called = function if inspect.isroutine(function) else getattr(function, "__call__", None)  # noqa: B004
    return any(inspect.iscoroutinefunction(one) or inspect.isasyncgenfunction(one) for one in (function, called))


def refuse_async(function: object, name: str) -> None:
    """Raise `BudgetError` for an async function where nothing awaits it: its coroutine would count as an answer."""
    if is_async(function):
        raise BudgetError(f"{name} is async, and nothing awaits it here; pass a function that returns its answer")


def wait_for_answer(name: str, answer: object) -> object:
    """A counter's answer, awaited where it must be. Raises `TokenCountError` where nothing can wait for it."""
    if not inspect.isawaitable(answer):
        return answer
    waits = WAITING.get()
    if waits is not None:
        return waits(answer)
    if isinstance(answer, Coroutine):
        answer.close()  # it will not be awaited
    raise TokenCountError(name, "is async, and nothing awaits it here: call `await assembler.abuild()`")
