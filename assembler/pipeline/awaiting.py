"""Runs a build with async summarizers and counters: the core in a thread, they on the caller's event loop.

No thread is held while a summarizer is awaited. An async counter is called in the middle of the core, so the thread of
such a build blocks until the loop answers. That build gets a thread of its own: in the executor's pool it could block
the very thread that the counter needs.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from inspect import isawaitable
from typing import Any, TypeVar, cast

from assembler.conversation.summary_request import UnansweredError, Wanted
from assembler.pipeline.settings import Settings
from assembler.pipeline.summarizing import MOST_QUESTIONS, changing_error, summary_failure
from budgets.counters.awaited import WAITS, is_async

T = TypeVar("T")


async def run_in_thread(work: Callable[[], T]) -> T:
    """Run `work` in a thread of the loop's pool, or at once if the loop has none, as in a workflow of Temporal."""
    loop = asyncio.get_running_loop()
    context = copy_context()

    def run() -> T:
        return context.run(lambda: _without_stop_iteration(work))

    try:
        found = loop.run_in_executor(None, run)
    except NotImplementedError:
        return run()
    return await found


def _without_stop_iteration(work: Callable[[], T]) -> T:
    """What `work` returns. A StopIteration that it raises becomes a RuntimeError, as in any coroutine (PEP 479).

    No future takes a StopIteration, so that the task that awaits it would never wake.
    """
    try:
        return work()
    except StopIteration as error:
        raise RuntimeError("a function that the build called raised StopIteration") from error


async def run_awaiting(settings: Settings, work: Callable[[], T]) -> T:
    """Run `work` off the loop, and await each summarizer that it needs once."""
    counter = None if settings.budget is None else settings.budget.counter
    run = _run_in_own_thread if is_async(counter) else run_in_thread

    def work_or_question() -> T | Wanted:
        try:
            return work()
        except UnansweredError as unanswered:
            return unanswered.wanted

    for _ in range(MOST_QUESTIONS):
        found = await run(work_or_question)
        if not isinstance(found, Wanted):
            return found
        found.question.settle(await _await_summarizer(found))
    raise changing_error()


async def _await_summarizer(wanted: Wanted) -> object:
    """The text of the summarizer, or the error if it failed. A sync summarizer is called in a thread."""
    question = wanted.question
    try:
        text = question.ask() if question.awaited else await run_in_thread(question.ask)
        return await text if isawaitable(text) else text
    except MemoryError:  # the process is in trouble, not the summarizer
        raise
    except Exception as error:  # whatever the caller's function raises, the ladder continues and reports it
        return summary_failure(error)


async def _run_in_own_thread(work: Callable[[], T]) -> T:
    """Run `work` in a new thread, where counters may block on this loop. Cancelling the task ends the work."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    pending: list[Future[object]] = []

    def wait(answer: Awaitable[object]) -> object:
        # Without a coroutine around it, whose cancelling could leave this one unawaited.
        is_one = isinstance(answer, Coroutine)
        coroutine = cast("Coroutine[Any, Any, object]", answer) if is_one else _await_answer(answer)
        if done.cancelled():
            coroutine.close()
            raise asyncio.CancelledError
        try:
            pending[:] = [future := asyncio.run_coroutine_threadsafe(coroutine, loop)]
            if done.cancelled():  # since it was asked above: the loop may close before it runs anything
                future.cancel()
            return future.result()
        finally:
            if loop.is_closed():  # and will never run it
                coroutine.close()
            pending.clear()  # the future holds this function; as a cycle they would hold the finished build

    def run() -> None:
        WAITS.set(wait)
        try:
            finish = partial(_set_result, done, _without_stop_iteration(work))
        except BaseException as error:  # for the task that awaits this
            finish = partial(_set_error, done, error)
        with suppress(RuntimeError):  # the loop is closed, and no task waits
            loop.call_soon_threadsafe(finish)

    threading.Thread(target=copy_context().run, args=(run,), name="assembler.abuild", daemon=True).start()
    try:
        return await done
    finally:
        for future in pending:
            future.cancel()


async def _await_answer(answer: Awaitable[object]) -> object:
    return await answer


def _set_result(done: asyncio.Future[T], found: T) -> None:
    if not done.done():
        done.set_result(found)


def _set_error(done: asyncio.Future[T], error: BaseException) -> None:
    if not done.done():
        done.set_exception(error)
