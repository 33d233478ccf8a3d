"""Forks, threads and forked processes share no later additions and no lock."""

from __future__ import annotations

import copy
import functools
import importlib
import os
import pickle
import pkgutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

import assembler
import budgets
from assembler import Assembler, AssemblyError, TrimOldest
from assembler.conversation.history import History
from assembler.dialects import anthropic, plain
from budgets import Budget, TokenCounter, claude_counter, forking, memoised, tiktoken_counter

Message = dict[str, Any]

ROLES = st.sampled_from(["system", "developer", "user", "user", "assistant"])


def made(messages: list[Message], window: int = 40) -> Assembler:
    return Assembler(Budget(window, counter=len), dialect=plain, on_overflow=TrimOldest()).add_messages(messages)


def outcome_of(assembler: Assembler) -> Any:
    """All that an assembler says of itself: its request, prices, report, or why there is none."""
    try:
        context = assembler.build()
        outcome: Any = context.request(), str(context.report), context.manifest()
    except AssemblyError as error:
        outcome = str(error)
    return outcome, assembler.costs(), assembler.available_for_messages()


@pytest.mark.parametrize("dialect", [plain, anthropic], ids=lambda dialect: dialect.name)
def test_a_fork_does_not_see_its_siblings_system_message(dialect: Any) -> None:
    base = Assembler(dialect=dialect).add_messages([{"role": "system", "content": "all tenants"}])
    sibling = base.fork().add_message({"role": "system", "content": "one tenant's secret"})
    sibling.add_message({"role": "user", "content": "hello"}).build()
    assert base.build().messages == [{"role": "system", "content": "all tenants"}]
    assert "secret" not in str(base.fork().add_message({"role": "user", "content": "hi"}).build().request())
    assert base.costs().total < sibling.costs().total


@given(
    trunk=st.lists(ROLES, max_size=4),
    branches=st.lists(st.tuples(st.integers(0, 4), st.lists(ROLES, max_size=4)), min_size=1, max_size=5),
    window=st.integers(3, 60),
    order=st.randoms(use_true_random=False),
)
def test_a_fork_equals_a_fresh_assembler_whatever_its_siblings_added(
    trunk: list[str], branches: list[tuple[int, list[str]]], window: int, order: Any
) -> None:
    spoken = [{"role": role, "content": f"{place}{role}"} for place, role in enumerate(trunk)]
    forks = [(made(spoken, window), list(spoken))]
    for parent, roles in branches:
        assembler, messages = forks[parent % len(forks)]
        fork, messages = assembler.fork(), list(messages)
        for place, role in enumerate(roles):
            messages.append({"role": role, "content": f"{len(forks)}.{place}"})
            fork.add_message(messages[-1])
            if place % 2:
                outcome_of(fork)
        forks.append((fork, messages))
    order.shuffle(forks)
    for assembler, messages in forks:
        assert outcome_of(assembler) == outcome_of(made(messages, window))


def test_two_threads_that_append_at_once_each_find_their_own_message() -> None:
    base = History.of(["a"])

    class Slow(list[object]):
        """A list to which another thread appends after its length was read."""

        def append(self, item: object) -> None:
            if item == "slow":
                super().append("quick")
            super().append(item)

    base._log.raws = base.readings._raws = Slow(base.raws())  # pyright: ignore[reportPrivateUsage]
    slow = base.appended("slow")
    assert (slow.raws(), base.appended("other").raws()) == (["a", "slow"], ["a", "other"])


def in_a_child(work: Callable[[], object]) -> bool:
    """True if a forked child does the work. A child that hangs is ended by an alarm."""
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


@contextmanager
def held_by_another_thread(lock: AbstractContextManager[Any]) -> Iterator[None]:
    """A lock, taken and kept by a thread that no child inherits."""
    entered, free = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            entered.set()
            free.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait()
    try:
        yield
    finally:
        free.set()
        thread.join()


class Stuck:
    """A counter that blocks another thread at one text until a test releases it."""

    def __init__(self) -> None:
        self.entered, self.free = threading.Event(), threading.Event()

    def __call__(self, text: str) -> int:
        if text == "stuck" and threading.current_thread() is not threading.main_thread():
            self.entered.set()
            self.free.wait()
        return len(text)


class Tenants(Assembler):
    """A user's own assembler, with an attribute of its own."""

    def __init__(self, tenant: str) -> None:
        super().__init__(Budget(1_000, counter=len))
        self.tenant = tenant


class Slotted(Tenants):
    __slots__ = ("__note",)

    def note(self, text: str | None = None) -> str:
        if text is not None:
            self.__note = text
        return self.__note


def unpickled(assembler: Slotted) -> Slotted:
    return cast(Slotted, pickle.loads(pickle.dumps(assembler)))


COPIERS: list[Callable[[Slotted], Slotted]] = [Slotted.fork, copy.copy, copy.deepcopy, unpickled]


@pytest.mark.parametrize("copied", COPIERS)
def test_a_copy_of_a_subclass_is_of_that_class_and_has_its_attributes(copied: Callable[[Slotted], Slotted]) -> None:
    assembler = Slotted("a").add_message(("user", "q"))
    assembler.note("of a")
    other = copied(assembler)
    assert (type(other), other.tenant, other.note(), other) == (Slotted, "a", "of a", assembler)
    other.tenant = "b"
    other.add_message(("assistant", "x"))
    assert (assembler.tenant, assembler.messages) == ("a", [("user", "q")])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("low_water", [None, 0.5])
def test_a_process_forked_beside_a_thread_that_counts_builds_all_the_same(low_water: float | None) -> None:
    counter = Stuck()
    base = Assembler(Budget(12, counter=counter), dialect=plain, on_overflow=TrimOldest(low_water))
    base.add_messages([{"role": "user", "content": text} for text in ("stuck", "older", "the newest")])

    def work() -> None:
        context = base.fork().add_message({"role": "user", "content": "more"}).build()
        str(context.report)
        base.anchor(None).build()

    thread = threading.Thread(target=lambda: str(base.build().report))
    thread.start()
    counter.entered.wait()
    try:
        assert in_a_child(work)
    finally:
        counter.free.set()
        thread.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize(("module", "counter"), [("tiktoken", tiktoken_counter()), ("claude_lines", claude_counter())])
def test_a_process_forked_while_a_vocabulary_is_loaded_counts_all_the_same(module: str, counter: TokenCounter) -> None:
    with held_by_another_thread(importlib.import_module(f"budgets.counters.{module}")._loading):
        assert in_a_child(lambda: counter("a text that nobody has counted yet, in this process: " * 40))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_process_forked_while_a_count_is_put_into_the_memory_counts_all_the_same() -> None:
    counter = memoised(len)
    with held_by_another_thread(counter._generations.lock):  # pyright: ignore[reportPrivateUsage]
        assert in_a_child(lambda: counter("a text that is not remembered yet"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a count that hangs is ended in a child")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_signal_handler_that_counts_while_a_count_is_put_into_the_memory_does_not_hang() -> None:
    """It runs in the midst of anything, on the thread that holds the lock. So does a finalizer."""
    counter, hashed = memoised(len), list[int]()

    class Interrupted(str):
        __slots__ = ()

        def __hash__(self) -> int:
            hashed.append(len(hashed))
            counter(f"what the handler counts, {len(hashed)}")
            return str.__hash__(self)

    assert in_a_child(lambda: counter(Interrupted("interrupted")))


SLOW = """
import sys
entered, free = sys.modules["slow_doors"].events
entered.set()
free.wait()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_process_forked_while_another_thread_imports_a_module_of_this_library_imports_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The child inherited the locked lock of the module, and its first build waited for ever."""
    entered, free = threading.Event(), threading.Event()
    events = ModuleType("slow_doors")
    events.__dict__["events"] = entered, free
    monkeypatch.setitem(sys.modules, "slow_doors", events)
    (tmp_path / "slowly_imported.py").write_text(SLOW)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    thread = threading.Thread(
        target=exec, args=("import slowly_imported", {"__name__": "assembler.counting", "__builtins__": __builtins__})
    )

    def rest() -> None:
        free.set()
        thread.join()

    monkeypatch.setattr(forking, "sleep_briefly", rest)
    thread.start()
    entered.wait()
    assert in_a_child(lambda: importlib.import_module("slowly_imported"))
    assert not thread.is_alive()
    del sys.modules["slowly_imported"]


def test_an_import_in_another_thread_keeps_no_fork_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forking, "sleep_briefly", lambda: pytest.fail("waited"))
    forking.wait_for_imports()


def every_module() -> Iterator[ModuleType]:
    for package in (assembler, budgets):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if found.name in sys.modules:
                yield sys.modules[found.name]


def test_no_class_waits_for_the_lock_that_python_311_gives_a_cached_property() -> None:
    for module in every_module():
        for owner in vars(module).values():
            if isinstance(owner, type) and owner.__module__ == module.__name__:
                locked = [name for name, value in vars(owner).items() if isinstance(value, functools.cached_property)]
                assert not locked, (owner, locked)
