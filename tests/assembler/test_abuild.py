"""`await abuild()` makes the same bytes as `build()`, never blocks the event loop, and takes late answers."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import gc
import json
import logging
import pickle
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, AssemblyError, SummaryError, TokenCountError, TrimOldest
from assembler.dialects import plain
from assembler.policies import Policy, Summarize
from assembler.policies.summarize import HEADING
from budgets import Budget, BudgetError, ContextLengthError
from tests.scaled import scaled

from . import by_hand
from .policies.drawn import any_session, gist, ladders, low_summaries

Summarizer = Callable[[Sequence[Any], str | None, int], Any]
PATIENCE = 20
"""Seconds after which something that was blocked is given up; nothing here ever takes as long."""


def talk(turns: int, size: int = 20) -> list[dict[str, Any]]:
    return [{"role": "user", "content": f"{turn:02}" + "x" * (size - 2)} for turn in range(turns)]


async def agist(dropped: Any, before: str | None, most: int) -> str:
    await asyncio.sleep(0)
    return gist(dropped, before, most)


def unsaid(dropped: Any, before: str | None, most: int) -> Any:
    """An async summarizer that `inspect` does not recognise as one."""
    return agist(dropped, before, most)


async def acount(text: str) -> int:
    await asyncio.sleep(0)
    return len(text)


def build_threads() -> set[threading.Thread]:
    """The threads of builds that run now. One of an earlier test may need a moment more to end."""
    return {thread for thread in threading.enumerate() if thread.name == "assembler.abuild"}


def of(history: Sequence[Any], limit: int, ladder: Policy | list[Policy], counter: Any = len) -> Assembler:
    return Assembler(Budget(limit, counter=counter), dialect=plain, on_overflow=ladder).add_messages(history)


def asking(ladder: Sequence[Policy], summarizer: Summarizer) -> list[Policy]:
    return [Summarize(summarizer, rung.keep_turns) if isinstance(rung, Summarize) else rung for rung in ladder]


def outcome(build: Callable[[], Any]) -> tuple[str, list[str]]:
    try:
        context = build()
    except AssemblyError as error:
        return f"{type(error).__name__}: {error}", []
    return json.dumps(context.request()), [str(warning) for warning in context.warnings]


@scaled(0.5)
@given(any_session, st.one_of(ladders, low_summaries), st.floats(0.1, 1.1), st.sampled_from([agist, unsaid, gist]))
def test_a_session_that_awaits_gives_the_bytes_of_one_that_does_not(
    history: list[dict[str, Any]], ladder: list[Policy], share: float, summarizer: Summarizer
) -> None:
    limit = max(int(by_hand.cost(history) * share), 1)
    waiting, plainly = of([], limit, asking(ladder, summarizer)), of([], limit, asking(ladder, gist))
    with asyncio.Runner() as runner:
        for message in history:
            try:
                waiting.add_message(message)
                plainly.add_message(message)
            except AssemblyError:
                return
            assert outcome(lambda: runner.run(waiting.abuild())) == outcome(plainly.build)


@given(any_session, ladders, st.floats(0.1, 1.1))
def test_counters_that_are_awaited_give_the_bytes_of_those_that_are_not(
    history: list[dict[str, Any]], ladder: list[Policy], share: float
) -> None:
    limit = max(int(by_hand.cost(history) * share), 1)
    waiting, plainly = of(history, limit, asking(ladder, agist), acount), of(history, limit, ladder)
    awaited, found = outcome(lambda: asyncio.run(waiting.abuild())), outcome(plainly.build)
    assert awaited == found


@pytest.mark.parametrize("asynchronous", [True, False])
def test_a_growing_session_asks_as_often_and_the_same_as_one_that_awaits_nothing(asynchronous: bool) -> None:
    def session(run: Callable[[Assembler], Any], wrapped: bool) -> list[Any]:
        calls: list[Any] = []

        def write(dropped: Sequence[Any], previous: str | None, most: int) -> str:
            calls.append(([message["content"] for message in dropped], previous, most))
            return f"{len(calls)}sss"

        async def awrite(dropped: Sequence[Any], previous: str | None, most: int) -> str:
            return write(dropped, previous, most)

        assembler = of([], 130, [Summarize(awrite if wrapped else write, 2), TrimOldest()])
        for message in talk(20):
            run(assembler.add_message(message))
        return calls

    awaited = session(lambda assembler: asyncio.run(assembler.abuild()), asynchronous)
    assert awaited == session(Assembler.build, False)
    assert len(awaited) > 3


class Threadless(asyncio.SelectorEventLoop):
    """A loop such as that of Temporal's workflows, which offers no threads."""

    def run_in_executor(self, *_: Any) -> Any:
        raise NotImplementedError


@pytest.mark.parametrize("summarizer", [gist, agist])
def test_a_loop_without_threads_builds_the_same_bytes(summarizer: Summarizer) -> None:
    waiting, plainly = (of(talk(8), 100, Summarize(write, 1)) for write in (summarizer, gist))
    with asyncio.Runner(loop_factory=Threadless) as runner:
        assert runner.run(waiting.abuild()).request() == plainly.build().request()


def test_a_summarizer_that_blocks_does_not_block_the_loop() -> None:
    started, released = threading.Event(), threading.Event()

    def slow(dropped: Any, previous: Any, most: int) -> str:
        started.set()
        assert released.wait(PATIENCE), "the loop never ran while the summarizer was at work"
        return "told"

    async def serve() -> str:
        building = asyncio.create_task(of(talk(8), 100, Summarize(slow, 1)).abuild())
        while not started.is_set():
            await asyncio.sleep(0)
        released.set()
        return str((await building).messages[0])

    assert "told" in asyncio.run(serve())


@pytest.mark.parametrize("counter_waits", [True, False])
def test_a_counter_that_waits_does_not_block_the_loop(counter_waits: bool) -> None:
    async def serve() -> int:
        started, released, freed = threading.Event(), threading.Event(), asyncio.Event()

        async def later(text: str) -> int:
            started.set()
            await freed.wait()
            return len(text)

        def blocks(text: str) -> int:
            started.set()
            assert released.wait(PATIENCE), "the loop never ran while the counter was at work"
            return len(text)

        building = asyncio.create_task(of(talk(3), 100, TrimOldest(), later if counter_waits else blocks).abuild())
        while not started.is_set():
            await asyncio.sleep(0)
        freed.set()
        released.set()
        return (await building).count.tokens

    assert asyncio.run(serve()) == 60


@pytest.mark.parametrize("summarizer", [agist, unsaid])
def test_an_async_summarizer_that_fails_is_warned_of_like_any_other(
    summarizer: Summarizer, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(dropped: Any, previous: Any, most: int) -> str:
        raise TimeoutError("x" * 20)

    context = asyncio.run(of(talk(5), 90, [Summarize(fails, 1), TrimOldest()]).abuild())
    assert context.messages == talk(5)[1:]
    (failure,) = context.warnings
    assert isinstance(failure, SummaryError)
    assert failure.raised == "TimeoutError"
    assert isinstance(failure.__cause__, TimeoutError)
    (record,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert record.getMessage() == "built despite an error: the summarizer raised TimeoutError"
    assert asyncio.run(of(talk(5), 90, [Summarize(summarizer, 1), TrimOldest()]).abuild()).warnings == ()


def test_an_async_counter_that_fails_raises_as_any_other_does() -> None:
    async def broken(text: str) -> int:
        raise OSError

    with pytest.raises(TokenCountError, match=r"broken failed with OSError"):
        asyncio.run(of(talk(3), 100, TrimOldest(), broken).abuild())


def test_a_build_that_awaits_nothing_uses_counts_of_an_async_counter() -> None:
    assembler = of(talk(8), 100, TrimOldest(), acount)
    with pytest.raises(TokenCountError, match=r"await assembler\.abuild\(\)"):
        assembler.build()
    context = asyncio.run(assembler.abuild())
    assert assembler.build().request() == context.request()


@pytest.mark.filterwarnings("error")
def test_cancelling_a_build_cancels_its_counter_and_its_thread() -> None:
    threads, earlier = list[threading.Thread](), build_threads()

    async def serve() -> None:
        started = asyncio.Event()

        async def never(text: str) -> int:
            started.set()
            await asyncio.Event().wait()
            return 0

        building = asyncio.create_task(of(talk(3), 100, TrimOldest(), never).abuild())
        await started.wait()
        threads.extend(build_threads() - earlier)
        building.cancel()
        with pytest.raises(asyncio.CancelledError):
            await building

    asyncio.run(serve())
    (thread,) = threads
    assert thread.daemon, "a counter that never answers would keep the process from its end"
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_a_build_that_ends_after_its_loop_was_closed_raises_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    started, closed, raised = threading.Event(), threading.Event(), list[Any]()
    earlier = build_threads()
    monkeypatch.setattr(threading, "excepthook", raised.append)

    class Slow:
        def cut(self, ledger: Any, tokens_left: int) -> Any:
            started.set()
            assert closed.wait(PATIENCE)
            return TrimOldest().cut(ledger, tokens_left)

    async def serve() -> set[threading.Thread]:
        building = asyncio.create_task(of(talk(8), 100, Slow(), acount).abuild())
        while not started.is_set():
            await asyncio.sleep(0)
        building.cancel()
        with pytest.raises(asyncio.CancelledError):
            await building
        return build_threads() - earlier

    (thread,) = asyncio.run(serve())
    closed.set()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert raised == []


@pytest.mark.parametrize("again", [False, True])
def test_a_count_that_is_cancelled_before_it_begins_leaves_no_warning_and_no_thread(
    again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `again` the task is cancelled between the thread's question whether it is and its request to the loop."""
    asked, ask = threading.Event(), asyncio.run_coroutine_threadsafe
    building: list[asyncio.Task[Any]] = []

    def asking(coroutine: Any, loop: asyncio.AbstractEventLoop) -> Any:
        if again:
            asked.set()
            while not building[0].cancelling():
                threading.Event().wait(0.001)
        future = ask(coroutine, loop)
        asked.set()
        return future

    async def cancel() -> None:
        building.append(asyncio.create_task(Assembler(Budget(60, counter=acount)).add_messages(talk(2)).abuild()))
        await asyncio.sleep(0)
        assert asked.wait(PATIENCE)  # the loop runs nothing meanwhile
        building[0].cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await building[0]

    monkeypatch.setattr(asyncio, "run_coroutine_threadsafe", asking)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        asyncio.run(cancel())
        for thread in threading.enumerate():
            if thread.name == "assembler.abuild":
                thread.join(PATIENCE)
                assert not thread.is_alive()
        gc.collect()
    assert [str(each.message) for each in warned] == []


def test_a_cancelled_summary_is_not_a_failure_and_is_asked_for_again() -> None:
    asked: list[int] = []

    async def serve() -> str:
        started = asyncio.Event()

        async def write(dropped: Sequence[Any], previous: Any, most: int) -> str:
            asked.append(len(dropped))
            if len(asked) == 1:
                started.set()
                await asyncio.Event().wait()
            return "told"

        assembler = of(talk(8), 100, Summarize(write, 1))
        building = asyncio.create_task(assembler.abuild())
        await started.wait()
        building.cancel()
        with pytest.raises(asyncio.CancelledError):
            await building
        return str((await assembler.abuild()).messages[0])

    assert "told" in asyncio.run(serve())
    assert asked == [7, 7]


def test_two_builds_at_once_do_not_see_what_the_other_adds() -> None:
    async def serve() -> list[list[object]]:
        base = of(talk(8), 100, Summarize(agist, 1))
        forks = [base.fork().add_message({"role": "user", "content": name * 20}) for name in "abc"]
        return [context.messages for context in await asyncio.gather(*(fork.abuild() for fork in forks))]

    assert [messages[-1]["content"][0] for messages in asyncio.run(serve())] == ["a", "b", "c"]  # type: ignore[index]


def test_messages_added_during_an_awaited_build_enter_the_next_one() -> None:
    async def serve() -> list[object]:
        async def write(dropped: Any, previous: Any, most: int) -> str:
            assembler.add_message({"role": "user", "content": "late"})
            return "told"

        assembler = of(talk(8), 100, Summarize(write, 1))
        return (await assembler.abuild()).messages

    assert asyncio.run(serve())[-1] == talk(8)[-1]


WHO: contextvars.ContextVar[str] = contextvars.ContextVar("WHO", default="nobody")


def test_summarizers_and_counters_see_the_callers_context_variables() -> None:
    seen: set[str] = set()

    async def count(text: str) -> int:
        seen.add(f"count {WHO.get()}")
        return len(text)

    def write(dropped: Any, previous: Any, most: int) -> str:
        seen.add(f"write {WHO.get()}")
        return "told"

    async def serve() -> None:
        WHO.set("me")
        await of(talk(8), 100, Summarize(write, 1), count).abuild()

    asyncio.run(serve())
    assert seen == {"count me", "write me"}


# What is wanted, where nobody is asked


def test_a_plan_does_not_ask_what_must_be_awaited_and_says_what_it_would_ask() -> None:
    history = talk(8)
    plan = of(history, 100, Summarize(agist, 1)).plan()
    assert plan.wanted is not None
    assert plan.wanted.dropped == tuple(history[:7])
    assert plan.wanted.previous is None
    assert plan.wanted.max_tokens == 100 - 20 - len(HEADING)
    assert plan.count.tokens == 160  # nothing gave way: whoever reads `wanted` knows why
    assert "xx" not in repr(plan.wanted)
    trimmed = of(history, 100, [Summarize(agist, 1), TrimOldest()]).plan()
    assert trimmed.count.tokens == 100
    assert trimmed.wanted is not None
    assert of(history, 100, [Summarize(gist, 1), TrimOldest()]).plan().wanted is None


def test_a_plan_that_no_summary_can_rescue_raises_the_usual_error() -> None:
    with pytest.raises(ContextLengthError):
        of(talk(1, 200), 100, Summarize(agist, 1)).plan()


def background(limit: int, *messages: Any) -> Assembler:
    return of(messages, limit, [Summarize(None, 2), TrimOldest()])


def test_a_summary_made_in_the_background_is_used_once_it_is_there() -> None:
    history = talk(8)
    assembler = background(130, *history)
    context = assembler.build()
    assert context.messages == history[2:]
    assert context.wanted is not None
    assert context.wanted.dropped == tuple(history[:6])
    assembler.add_message({"role": "user", "content": "y" * 20})
    assert assembler.build().messages == [*history[3:], {"role": "user", "content": "y" * 20}]
    assembler.add_summary(context.wanted, "told")
    later = assembler.build()
    assert later.messages[0] == {"role": "user", "content": HEADING + "told"}
    assert later.messages[1:] == [*history[6:], {"role": "user", "content": "y" * 20}]
    assert later.wanted is None


def test_the_next_summary_is_wanted_together_with_the_one_before() -> None:
    assembler = background(130, *talk(8))
    wanted = assembler.build().wanted
    assert wanted is not None
    assembler.add_summary(wanted, "told").add_messages([*assembler.inside[0].history.raws(), *talk(6)])
    again = assembler.build().wanted
    assert again is not None
    assert again.previous == "told"
    assert len(again.dropped) == 6


@pytest.mark.parametrize("change", ["edited", "replaced", "superseded", "cut short"])
def test_a_summary_of_changed_messages_is_ignored_with_a_warning(change: str, caplog: pytest.LogCaptureFixture) -> None:
    history = talk(8)
    assembler = background(130, *history)
    wanted = assembler.build().wanted
    assert wanted is not None
    if change == "edited":
        history[1]["content"] = "z"
    elif change == "replaced":
        assembler.add_messages([{"role": "user", "content": "z"}, *history[1:]])
    elif change == "superseded":
        assembler.add_summary(wanted, "newer")
    else:
        assembler.add_messages(history[:6])
    before = assembler.build().messages
    assert assembler.add_summary(wanted, "old").build().messages == before
    assert [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING] == [
        "ignored a summary: its messages have changed"
    ]


def rebuilt(assembler: Assembler) -> Assembler:
    """As a server makes it at the next request, out of a database."""
    return background(130, *json.loads(json.dumps(assembler.messages)))


def grown_beside_a_fork(assembler: Assembler) -> Assembler:
    """A fork has appended to the log that they shared."""
    assembler.fork().add_message({"role": "user", "content": "a" * 20})
    return assembler.add_message({"role": "user", "content": "b" * 20})


def edited_at_the_end(assembler: Assembler) -> Assembler:
    assembler.messages[-1]["content"] = "e" * 20
    assembler.build()
    return assembler


def unpickled(assembler: Assembler) -> Assembler:
    return cast(Assembler, pickle.loads(pickle.dumps(assembler)))


@pytest.mark.parametrize("later", [rebuilt, grown_beside_a_fork, edited_at_the_end, unpickled])
def test_a_summary_is_used_by_every_assembler_that_holds_its_messages(
    later: Callable[[Assembler], Assembler], caplog: pytest.LogCaptureFixture
) -> None:
    assembler = background(130, *talk(8))
    wanted = assembler.build().wanted
    assert wanted is not None
    asked = later(assembler).add_summary(pickle.loads(pickle.dumps(wanted)), "told")
    assert asked.build().messages[0] == {"role": "user", "content": HEADING + "told"}
    assert not [record for record in caplog.records if record.levelno == logging.WARNING]


def test_a_summary_is_forgotten_if_one_of_its_messages_changes_before_the_next_build() -> None:
    assembler = background(130, *talk(8))
    wanted = assembler.build().wanted
    assert wanted is not None
    asked = rebuilt(assembler).add_summary(wanted, "told")
    asked.messages[1]["content"] = "z"
    assert HEADING + "told" not in str(asked.build().messages)


def test_a_shorter_fork_keeps_a_summary_for_histories_that_hold_its_messages() -> None:
    assembler = background(130, *talk(8))
    wanted = assembler.build().wanted
    assert wanted is not None
    short = assembler.fork().add_messages(assembler.inside[0].history.raws(0, 3))
    assembler.add_summary(wanted, "told")
    assert len(short.build().messages) == 3
    assert assembler.build().messages[0] == {"role": "user", "content": HEADING + "told"}


def test_a_summary_that_is_too_long_is_refused_and_the_next_policy_is_asked() -> None:
    history = talk(8)
    assembler = background(130, *history)
    wanted = assembler.build().wanted
    assert wanted is not None
    context = assembler.add_summary(wanted, "s" * 200).build()
    assert context.messages == history[2:]
    assert "a summary was refused" in str(context.report)


def test_a_value_that_is_not_a_wanted_summary_is_refused() -> None:
    with pytest.raises(BudgetError, match=r"context\.wanted"):
        background(130, *talk(8)).add_summary("told", "told")  # type: ignore[arg-type]
