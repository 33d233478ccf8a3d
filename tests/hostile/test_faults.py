"""Failing counters, threads, processes and numbers (cases C): a typed error, no partial state, a next build."""

from __future__ import annotations

import asyncio
import copy
import gc
import json
import os
import pickle
import random
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from assembler import (
    Assembler,
    AssemblyError,
    ChatRegions,
    CitedSources,
    ClearToolResults,
    ContextLengthError,
    MarkupError,
    Placement,
    TrimOldest,
    TrimSteps,
)
from assembler.dialects import anthropic, gemini, openai_chat, plain
from assembler.policies import Summarize
from budgets import (
    Budget,
    BudgetError,
    CountEndpointError,
    Limit,
    TokenCountError,
    memoised,
    provider_counter,
    tiktoken_counter,
)
from tests.assembler.by_hand import pairs_hold
from tests.hostile.case_file import case
from tests.hostile.test_peers import spoken

HISTORY = spoken("uauctauCTTa" * 6 + "u")


class FailsAt:
    """A counter that fails at its k-th call only."""

    def __init__(self, call: int, failure: BaseException) -> None:
        self.left, self.failure = call, failure

    def __call__(self, text: str) -> int:
        self.left -= 1
        if self.left == 0:
            raise self.failure
        return len(text)


class PanicException(BaseException):
    """As pyo3's: no Exception."""


def gathered(counter: Any, limit: int = 120, policy: Any = None) -> Assembler:
    assembler = Assembler(Budget(limit, counter=counter), on_overflow=policy or TrimOldest(), dialect=plain)
    assembler.add_instruction("be brief").add_knowledge("k", type="t").add_knowledge("l", type="t", source="s")
    return assembler.add_messages(HISTORY)


def outcome(assembler: Assembler) -> str:
    context = assembler.build()
    return json.dumps([context.request(), context.report.to_dict(), context.prefix_hash])


@pytest.mark.parametrize(
    "failure", [RuntimeError("x"), PanicException("x"), RecursionError(), StopIteration()], ids=repr
)
def test_a_counter_that_fails_at_any_call_leaves_nothing_behind(failure: BaseException) -> None:
    """C-07-counter-raises, C-panic."""
    whole = outcome(gathered(len))
    for call in range(1, 40):
        assembler = gathered(FailsAt(call, failure))
        try:
            str(assembler.build().report)  # one that fails there costs the size of what was dropped, not the report
        except TokenCountError as error:
            assert error.__cause__ is failure
            assert "FailsAt" in str(error)
            assert "(at " in str(error)
        assert outcome(assembler) == whole


@pytest.mark.parametrize("entries", [4, 64])
def test_a_part_is_named_only_if_the_counts_before_it_are_surely_remembered(entries: int) -> None:
    counter = memoised(FailsAt(5, RuntimeError()), max_entries=entries)
    assembler = Assembler(Budget(5_000, counter=counter), dialect=plain)
    for place in range(9):
        assembler.add_knowledge(f"No. {place}", type="fact")
    with pytest.raises(TokenCountError) as caught:
        assembler.plan()
    place = "knowledge[4]" if entries == 64 else "instruction, capability or knowledge"
    assert str(caught.value).endswith(f"(at {place})")
    assert str(caught.value).count("(at ") == 1


def test_without_a_memory_the_error_of_a_counter_names_the_region(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_counter: object, _text: str) -> int:
        raise TokenCountError("tiktoken:o200k_base", "has lost its vocabulary")

    monkeypatch.setattr(type(tiktoken_counter()), "__call__", fails)
    with pytest.raises(TokenCountError, match=r"lost its vocabulary \(at instruction, capability or knowledge\)"):
        Assembler(dialect=plain).add_instruction("Be brief.").plan()


PARTS = {
    "instruction": "gold",
    "tools[0] 'find'": "silver",
    "tools[1] 'book'": "copper",
    "message 0": "iron",
    "knowledge[0]": "lead",
    "knowledge[1]": "zinc",
    "knowledge[2]": "tin",
}
"""What an error calls a part, and the word that only this part says."""


def of_parts(counter: Any, dialect: Any, strategy: Any) -> Assembler:
    words = iter(PARTS.values())
    assembler = Assembler(Budget(5_000, counter=counter), dialect=dialect, strategy=strategy)
    assembler.add_instruction(f"Be {next(words)}.")
    assembler.add_capability(
        [{"name": name, "description": f"A {next(words)} tool.", "parameters": {}} for name in ("find", "book")]
    )
    assembler.add_messages([{"role": "system", "content": next(words)}, {"role": "user", "content": "quartz"}])
    for place, word in enumerate(words):
        assembler.add_knowledge(f"All of {word}.", type="fact", score=1.0 - place / 10)
    return assembler


@pytest.mark.parametrize("strategy", [ChatRegions(), CitedSources(), ChatRegions(placement=Placement.QUESTION)])
@pytest.mark.parametrize("dialect", [plain, openai_chat, anthropic, gemini], ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("additive", [True, False])
def test_a_counter_that_fails_on_one_part_has_that_part_named(additive: bool, dialect: Any, strategy: Any) -> None:
    """C-07-counter-raises."""
    found = set[str]()
    for call in range(1, 80):
        failed: list[str] = []

        class Failing:
            additive_at_tag_seams = additive
            left = call

            def __call__(self, text: str, failed: list[str] = failed) -> int:
                self.left -= 1
                if self.left == 0:
                    failed.append(text)
                    raise RuntimeError
                return len(text)

        try:
            of_parts(Failing(), dialect, strategy).plan()
            break  # every call has failed once
        except TokenCountError as error:
            whose = [part for part, word in PARTS.items() if word in failed[0]]
            joined = "quartz" in failed[0] or "END OF SOURCES" in failed[0]  # a question, or words around the sources
            if len(whose) == 1 and not joined:
                assert f"(at {whose[0]})" in str(error), (whose, str(error))
                found.update(whose)
            assert not any(word in str(error) for word in PARTS.values())
    assert {"instruction", "knowledge[0]", "message 0"} <= found


@pytest.mark.parametrize(
    "stop", [KeyboardInterrupt(), SystemExit(3), MemoryError(), GeneratorExit(), asyncio.CancelledError()], ids=repr
)
def test_an_exception_that_stops_the_program_passes_through_a_build(stop: BaseException) -> None:
    """C-25-ctrl-c, C-memory."""
    whole = outcome(gathered(len))
    for call in (1, 2, 3, 5, 8):
        assembler = gathered(FailsAt(call, stop))
        with pytest.raises(type(stop)) as caught:
            assembler.build()
        assert caught.value is stop
        assert outcome(assembler) == whole


@pytest.mark.parametrize(
    "answer", [-1, True, 1.5, float("nan"), "7", None, [1], pytest.param(object(), id="an object"), 1j], ids=repr
)
def test_a_nonsensical_answer_is_refused_as_a_count(answer: Any) -> None:
    """C-nonsense."""
    with pytest.raises(TokenCountError, match="int >= 0 expected"):
        gathered(lambda _: answer).build()


class Raising:
    """A whole number that cannot be asked for."""

    def __index__(self) -> int:
        raise RuntimeError("sk-CANARY-123")


HUGE = 10**5_000
"""More digits than Python prints."""


@pytest.mark.parametrize("answer", [HUGE, -HUGE, Raising()], ids=["huge", "as far below", "raising"])
def test_a_number_above_any_window_is_refused_as_a_count_and_a_budget(answer: Any) -> None:
    with pytest.raises(TokenCountError, match="int >= 0 expected"):
        gathered(lambda _: answer).build()
    for made in (lambda: Budget(answer), lambda: Budget(100, overhead=answer), lambda: Limit(cap=answer)):
        with pytest.raises(BudgetError) as refused:
            made()
        assert len(str(refused.value)) < 200
        assert "CANARY" not in str(refused.value)
    for policy in (
        lambda: TrimOldest(keep_turns=answer),
        lambda: TrimOldest(low_water=answer),
        lambda: TrimSteps(answer),
    ):
        with pytest.raises(BudgetError):
            policy()


def test_a_counter_whose_attributes_raise_still_counts() -> None:
    class Shy:
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError("sk-CANARY-123")

        def __call__(self, text: str) -> int:
            return len(text)

    class Odd(Shy):
        __signature__ = "no signature"

    for counter in (Shy(), Odd()):
        assert outcome(gathered(counter)) == outcome(gathered(len))
        assert type(counter).__name__ in repr(Budget(100, counter=counter))


@pytest.mark.parametrize("wrong", [None, 5, ["x"], "\ud800"], ids=ascii)
def test_a_policys_reason_is_treated_as_text(wrong: Any) -> None:
    with pytest.raises(MarkupError):
        ClearToolResults(placeholder=wrong)
    if wrong is not None:
        with pytest.raises(MarkupError):
            TrimOldest(note=wrong)
    if not isinstance(wrong, str | list):
        with pytest.raises(BudgetError):
            ClearToolResults(exclude=wrong)


def test_numpy_numbers_are_counts_and_budgets() -> None:
    numpy = pytest.importorskip("numpy")
    assembler = gathered(lambda text: numpy.int32(len(text)), limit=numpy.uint16(120))
    assert outcome(assembler) == outcome(gathered(len))
    with pytest.raises(TokenCountError):
        gathered(lambda _: numpy.bool_(True)).build()
    with pytest.raises(BudgetError):
        Budget(numpy.array([1, 2]))


def test_a_counter_of_nothing_builds() -> None:
    """C-11-counter-zero."""
    context = gathered(lambda _: 0).build()
    assert (context.count.tokens, context.report.count.tokens, len(context.messages)) == (0, 0, len(HISTORY))
    assert "0 tokens" in str(context.report)


def test_a_counter_that_answers_differently_each_time_still_adds_up() -> None:
    """C-random."""
    for seed in range(30):
        dice = random.Random(seed)
        assembler = gathered(lambda _, dice=dice: dice.randrange(12), limit=150)
        try:
            context = assembler.build()
        except ContextLengthError:
            continue
        report = context.report.to_dict()
        assert sum(report["regions"].values()) == report["tokens"] <= 150
        assert sum(row["after"] for row in report["rows"]) == report["tokens"]


@pytest.mark.parametrize(
    "price", [lambda t: -(-len(t) // 4), lambda t: len(t) + 3 * t.count("\n"), lambda t: len(t) ** 2]
)
def test_the_emitted_request_is_recounted_whatever_the_counter_does_at_joins(price: Callable[[str], int]) -> None:
    """C-13-counter-nonadditive."""
    for limit in range(20, 40_000, 397):
        try:
            request = gathered(price, limit=limit).build().request()
        except ContextLengthError:
            continue
        calls = [call["function"] for m in request["messages"] for call in m.get("tool_calls", ())]
        texts = [request["system"], *(m["content"] for m in request["messages"] if m["content"])]
        texts += [text for call in calls for text in (call["name"], call["arguments"])]
        assert sum(map(price, texts)) <= limit


def test_a_build_with_a_counter_that_changes_what_it_counts_ends() -> None:
    """C-mutating."""
    message = {"role": "user", "content": "x"}

    def count(text: str) -> int:
        message["content"] += "!"
        return len(text)

    with pytest.raises(AssemblyError):
        Assembler(Budget(200, counter=count), dialect=plain).add_messages([message]).build()


def in_threads(work: Callable[[int], object], number: int = 32) -> list[object]:
    barrier, answers = threading.Barrier(number), dict[int, object]()

    def run(place: int) -> None:
        barrier.wait()
        try:
            answers[place] = work(place)
        except BaseException as error:
            answers[place] = error

    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=run, args=(place,)) for place in range(number)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(switch)
    return [answers.get(place) for place in range(number)]


@pytest.mark.parametrize("policy", [TrimOldest(), TrimOldest(low_water=0.5), TrimOldest(pins={1, 3})], ids=repr)
def test_threads_that_share_a_base_build_the_same_bytes(policy: Any) -> None:
    """Each thread builds the base, and a fork that goes its own way.

    C-01-threads; C-31-free-threaded where the interpreter is.
    """
    base = Assembler(Budget(200, model="gpt-4o"), on_overflow=policy).add_instruction("be brief").add_messages(HISTORY)
    alone = Assembler(Budget(200, model="gpt-4o"), on_overflow=policy).add_instruction("be brief").add_messages(HISTORY)
    wanted = [
        (outcome(alone), outcome(alone.fork().add_messages([*HISTORY[:-1], {"role": "user", "content": f"q{place}"}])))
        for place in range(4)
    ]

    def work(place: int) -> object:
        found = {
            (
                outcome(base),
                outcome(base.fork().add_messages([*HISTORY[:-1], {"role": "user", "content": f"q{place % 4}"}])),
            )
            for _ in range(3)
        }
        return found.pop() if len(found) == 1 else found

    assert in_threads(work) == [wanted[place % 4] for place in range(32)]


def test_threads_with_other_settings_do_not_disturb_each_other() -> None:
    """C-threads-mixed: one history object list, four budgets and counters."""
    counter = tiktoken_counter()
    terms = [(125 + 40 * (place % 4), (counter, len)[place % 2]) for place in range(32)]
    wanted = [outcome(gathered(count, limit=limit)) for limit, count in terms[:4]]

    def work(place: int) -> object:
        limit, count = terms[place]
        return outcome(gathered(count, limit=limit))

    assert in_threads(work) == [wanted[place % 4] for place in range(32)]


def test_a_base_that_grows_while_its_forks_build_disturbs_none() -> None:
    base = Assembler(Budget(10_000, counter=len), dialect=plain).add_messages(HISTORY)
    fork, before = base.fork(), outcome(base)
    done = threading.Event()

    def work(place: int) -> object:
        if place == 0:
            for number in range(200):
                base.add_message({"role": "user", "content": f"{number}"})
            done.set()
            return before
        return {outcome(fork) for _ in range(5)}.pop()

    assert in_threads(work, 8) == [before] * 8
    assert len(base.build().messages) == len(HISTORY) + 200


def test_a_cancelled_task_ends_at_once_and_leaves_nothing_behind() -> None:
    """C-03-asyncio-cancel: the thread runs on, the caller does not wait for it."""
    entered, leave = threading.Event(), threading.Event()

    def slow(text: str) -> int:
        entered.set()
        assert leave.wait(30)
        return len(text)

    assembler = gathered(slow)

    async def cancelled() -> bool:
        task = asyncio.create_task(asyncio.to_thread(assembler.build))
        await asyncio.to_thread(entered.wait, 30)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            return not leave.is_set()
        finally:
            leave.set()
        return False

    assert asyncio.run(cancelled())
    assert outcome(assembler) == outcome(gathered(len))


def test_a_chunk_of_a_million_tokens_is_refused_and_not_shortened() -> None:
    """C-05-1e6-knowledge."""
    text = "a <b> & c. " * 150_000
    assembler = Assembler(Budget(128_000, counter=len)).add_knowledge(text, type="rag")
    with pytest.raises(ContextLengthError) as caught:
        assembler.build()
    assert caught.value.costs.knowledge > len(text)
    assert "turns cannot help" in str(caught.value)


def test_too_many_tools_are_named_as_the_cause() -> None:
    """C-1000-tools."""
    words = {"type": "object", "properties": {"q": {"type": "string", "description": "words " * 8}}}
    tools = [{"name": f"tool_{i}", "description": "does a thing " * 9, "parameters": words} for i in range(1_000)]
    with pytest.raises(ContextLengthError) as caught:
        Assembler(Budget(8_000, model="gpt-4o")).add_capability(tools).add_messages([("user", "x")]).build()
    assert caught.value.costs.capability > 0.9 * caught.value.required
    assert f"capability {caught.value.costs.capability}" in str(caught.value)
    assert "tools" in str(caught.value).splitlines()[-1]


def test_a_hundred_thousand_messages_fit_lazily() -> None:
    """C-1e5-messages: the work is that of what is kept."""
    calls: list[str] = []
    history = [{"role": ("user", "assistant")[i % 2], "content": f"number {i}"} for i in range(100_000)]
    budget = Budget(128_000, counter=lambda text: calls.append(text) or 64)
    kept = Assembler(budget, on_overflow=TrimOldest()).add_messages(history).build().messages
    assert (len(kept), kept[-1] is history[-1]) == (2_000, True)
    assert len(calls) <= 2_010


def test_the_error_names_a_counter_that_does_not_answer() -> None:
    """C-09-counter-timeout."""
    leave = threading.Event()

    def never(_subject: object) -> int:
        leave.wait(30)
        return 1

    try:
        with pytest.raises(TokenCountError, match=r"never.*did not answer within 0\.05 s"):
            gathered(provider_counter(never, timeout=0.05)).build()
    finally:
        leave.set()


def test_the_error_for_a_rate_limit_states_the_wait() -> None:
    """C-17-provider-429."""

    class RateLimitedError(Exception):
        status_code = 429

        def __init__(self) -> None:
            super().__init__("slow down")
            self.response = type("R", (), {"headers": {"retry-after": "17"}})()

    def limited(_subject: object) -> int:
        raise RateLimitedError

    with pytest.raises(TokenCountError) as caught:
        provider_counter(limited)("text")
    assert getattr(caught.value, "retry_after", None) == 17.0
    empty = Assembler(Budget(500, counter=provider_counter(limited)), dialect=plain)
    for gathered in (empty.fork().add_messages(HISTORY), empty.fork().add_instruction("brief")):
        with pytest.raises(CountEndpointError, match=r"\(at (conversation\[\d+\]|instruction)") as inside:
            gathered.build()
        assert (inside.value.retry_after, inside.value.status) == (17.0, 429)


def test_a_wait_beyond_any_float_is_ignored() -> None:
    class RateLimitedError(Exception):
        def __init__(self) -> None:
            self.response = type("R", (), {"headers": {"retry-after": HUGE}})()

    def limited(_subject: object) -> int:
        raise RateLimitedError

    with pytest.raises(CountEndpointError) as caught:
        provider_counter(limited)("text")
    assert caught.value.retry_after is None


@pytest.mark.parametrize("limit", [40, 80, 120, 200])
def test_every_returned_conversation_is_valid(limit: int) -> None:
    """C-19-provider-order: who counts a context's request never sees an invalid one."""
    for policy in (TrimOldest(), TrimOldest(low_water=0.5), TrimOldest(keep_turns=2)):
        try:
            context = gathered(len, limit=limit, policy=policy).build()
        except ContextLengthError:
            continue
        assert pairs_hold(context.request()["messages"])
        assert context.request()["messages"][0]["role"] == "user"


def python(program: str, *options: str, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, *options, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": os.environ.get("PATH", ""), **env},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout


BUILD = """
import json
from assembler import Assembler, TrimOldest
from budgets import Budget
def look(q: str, many: set[str] = frozenset({'b', 'a', 'c'})) -> str: 'Look.'
a = Assembler(Budget(150, model='gpt-4o'), on_overflow=TrimOldest(low_water=0.5))
a.add_instruction('be brief').add_capability([look]).add_knowledge('k', type='t', metadata={'z': 1, 'a': 2})
a.add_messages([{'role': ('user', 'assistant')[i % 2], 'content': f'message {i}'} for i in range(41)])
c = a.build()
print(json.dumps([c.request(), c.report.to_dict(), c.prefix_hash, str(c.report)]))
"""


def test_seed_clock_locale_and_folder_do_not_change_the_bytes() -> None:
    """C-hash-seed, C-21-clock, C-15-offline, C-warnings: each process is odd in its own way, and none says a word."""
    frozen = "import time\ntime.time = time.monotonic = lambda: -1.0\n"
    offline = "import socket\nsocket.socket = socket.create_connection = None\n"
    printed = {
        python(BUILD, "-W", "error", PYTHONHASHSEED="0", TZ="Pacific/Kiritimati", LC_ALL="tr_TR.UTF-8"),
        python(frozen + BUILD, "-W", "error", PYTHONHASHSEED="1"),
        python(offline + BUILD, "-W", "error", PYTHONHASHSEED="2", TIKTOKEN_CACHE_DIR="/nowhere", HOME="/nowhere"),
    }
    assert len(printed) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_builds_the_same() -> None:
    """C-fork."""
    program = BUILD + (
        "\nimport os, threading\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    again = a.add_message({'role': 'user', 'content': 'new'}).build()\n"
        "    os._exit(0 if again.messages[-1]['content'] == 'new' and c.request() == c.request() else 9)\n"
        "assert os.waitpid(pid, 0)[1] == 0\n"
    )
    assert python(program)


def test_a_damaged_vocabulary_is_refused_by_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """C-corrupt-vocabulary."""
    import budgets.vocabularies.loading as loading

    sound = loading.read_packed("cl100k_base.zlib")
    for damaged in (b"", sound[: len(sound) // 2], sound[:-8] + b"\0" * 8):
        monkeypatch.setattr(loading, "read_packed", lambda _, damaged=damaged: damaged)
        with pytest.raises(TokenCountError, match="cl100k_base"):
            loading.mergeable_ranks("cl100k_base")


def test_a_surrogate_is_refused_before_anybody_counts() -> None:
    """C-surrogates."""
    counted: list[str] = []
    assembler = gathered(lambda text: counted.append(text) or 1)
    bad = "x\udfff"
    attempts: list[Callable[[], object]] = [
        lambda: assembler.add_instruction(bad),
        lambda: assembler.add_knowledge(bad, type="t"),
        lambda: assembler.add_knowledge("x", type=bad),
        lambda: assembler.add_message({"role": "user", "content": bad}),
        lambda: assembler.add_message(("user", bad)),
        lambda: assembler.add_capability([{"name": "f", "description": bad}]),
    ]
    for attempt in attempts:
        with pytest.raises(AssemblyError):
            attempt()
    assert counted == []


def test_copies_and_pickles_build_the_same() -> None:
    """C-23-pickle."""
    for policy in (TrimOldest(), TrimOldest(low_water=0.5)):
        assembler = gathered(len, policy=policy)
        whole, report = outcome(assembler), assembler.build().report
        for again in (pickle.loads(pickle.dumps(assembler)), copy.deepcopy(assembler), copy.copy(assembler)):
            assert again == assembler
            assert outcome(again) == whole
        assert pickle.loads(pickle.dumps(report)) == report == copy.deepcopy(report)
    with pytest.raises(BudgetError, match="cannot be pickled"):
        pickle.dumps(gathered(lambda text: len(text)))


@pytest.mark.parametrize("door", ["build", "plan"])
def test_contexts_and_plans_are_values_that_pickle(door: str) -> None:
    made: Any = getattr(gathered(len), door)()
    assert pickle.loads(pickle.dumps(made)).count == made.count


def test_errors_pickle_with_their_evidence() -> None:
    with pytest.raises(ContextLengthError) as caught:
        gathered(len, limit=10).build()
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.costs, again.required) == (str(caught.value), caught.value.costs, caught.value.required)


def test_many_builds_leak_no_memory() -> None:
    """C-27-gc."""
    assembler = gathered(len, policy=TrimOldest(low_water=0.5))
    outcome(assembler)
    tracemalloc.start()
    try:
        for _ in range(20):
            assembler.fork().add_message({"role": "user", "content": "x"}).build()
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(150):
            str(assembler.fork().add_message({"role": "user", "content": "x"}).build().count)
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - before < 100_000
    finally:
        tracemalloc.stop()


def test_nothing_at_all_is_an_empty_context() -> None:
    """C-empty."""
    for budget in (None, Budget(1, counter=len)):
        assembler = Assembler(budget, dialect=plain)
        system, messages, tools = context = assembler.build()
        assert (system, messages, tools, context.count.tokens) == (None, [], [], 0)
        assert context.request() == {"messages": []}
        assert assembler.add_messages([]).add_capability([]).build() == context
    with pytest.raises(AssemblyError, match="at least one message"):
        Assembler(dialect=openai_chat).build().request()


@pytest.mark.parametrize("window", [0, -1, True, 1.0, float("inf"), "8000", None, [8000]], ids=repr)
def test_impossible_windows_are_refused_at_construction(window: Any) -> None:
    """C-29-budget-edges."""
    assert case("C-29-budget-edges")["expect"] == "BudgetError at construction"
    with pytest.raises(BudgetError):
        Budget(window)


def test_reserves_are_refused_where_they_leave_nothing() -> None:
    for reserve in (10, 11, 2**63):
        with pytest.raises(BudgetError):
            Budget(10, max_output_tokens=reserve)
        with pytest.raises(BudgetError):
            Budget(10, max_output_tokens=5, reasoning_tokens=reserve)
    assert Budget(10, max_output_tokens=9).input_limit == 1
    assert Budget(10, overhead=2**63).input_limit == 0
    assert Budget(2**63, max_output_tokens=2**62).input_limit == 2**62


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit(3), MemoryError()], ids=repr)
def test_an_exception_that_stops_the_process_is_not_a_failed_summary(stop: BaseException) -> None:
    def summarizer(*_wanted: object) -> str:
        raise stop

    history = [{"role": role, "content": "x" * 12} for role in ("user", "assistant") * 3]
    made = Assembler(Budget(50, counter=len), on_overflow=[Summarize(summarizer, keep_turns=1), TrimOldest()])
    made.add_messages([*history, {"role": "user", "content": "q"}])
    with pytest.raises(type(stop)):
        made.build()
    if isinstance(stop, Exception):  # asyncio.run makes its own of the others
        with pytest.raises(type(stop)):
            asyncio.run(made.abuild())
