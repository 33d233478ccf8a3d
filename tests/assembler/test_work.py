"""Work is measured by counts of tokenizer calls, characters and messages read, never by time."""

from __future__ import annotations

import contextlib
import gc
import inspect
import itertools
import json
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, ChatRegions, ContextLengthError, ConversationError, calibrate, count_request
from assembler.batch.lines import answer as answer_row
from assembler.conversation import readings
from assembler.conversation.messages import Message, copies
from assembler.conversation.readings import Readings, Span
from assembler.dialects import DIALECTS, Dialect, openai_chat, plain
from assembler.pipeline.last_decision import GLANCE
from assembler.pipeline.settings import Settings
from assembler.policies import ClearToolResults, Summarize, TrimOldest
from assembler.policies.traits import Traits
from assembler.pricing.pricer import FixedPrices, Piece, Pricer
from assembler.regions.layout import Layout
from assembler.regions.tools import Tool
from assembler.report import turns as report_turns
from assembler.strategies import Placement
from budgets import Budget, Count, Limit, TokenCounter
from budgets.count import Difference
from tests.assembler.by_hand import Tally
from tests.calls import calls_of, cuts_asked

SIZE = 10
"""Characters of every text here, and its tokens: the counter counts characters."""


class OwnMessage:
    """A message that counts how often it is read."""

    def __init__(self, role: str, content: str) -> None:
        self._role, self._content = role, content
        self.reads = 0

    @property
    def role(self) -> str:
        self.reads += 1
        return self._role

    @property
    def content(self) -> str:
        self.reads += 1
        return self._content


class Watched(dict[str, Any]):
    """A message dict that counts how often it is read."""

    reads = 0

    def __getitem__(self, key: str) -> Any:
        self.reads += 1
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.reads += 1
        return super().get(key, default)

    def keys(self) -> Any:
        self.reads += 1
        return super().keys()

    def __iter__(self) -> Iterator[str]:
        """Counted, so that a copy of the dict is: with this method, `dict` asks for the keys and each item."""
        self.reads += 1
        return super().__iter__()


@attrs.frozen
class PricedOnce:
    """The plain dialect, writing down the index that each priced message carries in its text."""

    priced: list[int]
    name: str = "plain"
    opening: Any = plain.opening
    parse: Any = plain.parse
    api: Any = plain.api
    options: Any = plain.options
    emit: Any = plain.emit

    def pricer(self, model: str | None, count: TokenCounter) -> Pricer:
        return _Pricer(plain.pricer(model, count), self.priced)


@attrs.frozen(eq=False)
class _Pricer:
    inner: Pricer
    priced: list[int]

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        return self.inner.fixed(pieces, head, tools)

    def message(self, message: Message) -> Count:
        self.priced.append(int(str(message.parts[0])[:6]))
        return self.inner.message(message)

    def options(self, layout: Layout) -> Count | Difference:
        return self.inner.options(layout)


def text(index: int) -> str:
    return f"{index:06}".ljust(SIZE, ".")


def role(index: int) -> str:
    return "assistant" if index % 2 else "user"


def dicts(length: int, start: int = 0) -> list[dict[str, Any]]:
    """Turns of two messages, every text its own."""
    return [{"role": role(index), "content": text(index)} for index in range(start, start + length)]


def assembler_of(
    counter: TokenCounter, messages: int, low_water: float | None = None, dialect: Dialect = plain
) -> Assembler:
    """One with room for so many messages."""
    budget = Budget(messages * SIZE, counter=counter)
    return Assembler(budget, dialect=dialect, on_overflow=TrimOldest(low_water=low_water))


def own_messages(length: int) -> list[OwnMessage]:
    return [OwnMessage(role(index), text(index)) for index in range(length)]


def watched(length: int) -> list[Watched]:
    return [Watched(message) for message in dicts(length)]


@pytest.mark.parametrize("made", [own_messages, watched])
def test_a_cold_build_looks_at_what_it_keeps_and_one_turn_more(made: Callable[[int], list[Any]]) -> None:
    tally, history = Tally(), made(10_000)
    context = assembler_of(tally, 41).add_messages(history).build()
    kept = len(context.messages)
    assert kept == 40
    needed = range(10_000 - kept - 2, 10_000)
    assert sorted(tally.asked()) == [text(index) for index in needed]
    # The first one is asked whether it is a system message.
    assert [index for index, message in enumerate(history) if message.reads] == [0, *needed]


@pytest.mark.parametrize("a_character", [1, 4])
@pytest.mark.parametrize("low_water", [None, 0.9])
def test_a_cold_build_counts_the_texts_that_it_needs_one_after_another_whatever_a_character_costs(
    a_character: int, low_water: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = list[str]()
    read = readings.read_message

    def reading(raw: object, index: int) -> Message:
        events.append("read")
        return read(raw, index)

    def counting(text: str) -> int:
        events.append("count")
        return a_character * len(text)

    monkeypatch.setattr(readings, "read_message", reading)
    context = assembler_of(counting, 401 * a_character, low_water).add_messages(dicts(1_000)).build()
    assert len(context.messages) >= 360
    assert len([*itertools.groupby(events)]) <= 60  # of at least 403 messages


def test_a_cold_build_holds_four_references_for_each_message_that_it_does_not_read() -> None:
    history = dicts(50_000)

    def held(length: int) -> int:
        few, assembler = history[:length], assembler_of(len, 41)
        tracemalloc.start()
        try:
            assembler.add_messages(few).build()
            return tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()

    held(10)
    assert held(50_000) - held(10_000) <= 40_000 * 4 * 8.5


@pytest.mark.parametrize("low_water", [None, 0.5])
@pytest.mark.parametrize("length", [50, 5_000])
def test_a_build_after_one_more_message_counts_that_message_alone(length: int, low_water: float | None) -> None:
    tally = Tally()
    assembler = assembler_of(tally, 41, low_water).add_messages(dicts(length))
    assembler.build()
    tally.asked()
    for message in dicts(60, length):
        assembler.add_message(message).build()
        assert tally.asked() == [message["content"]]


@pytest.mark.parametrize("low_water", [None, 0.5])
def test_a_build_of_a_grown_list_counts_what_it_grew_by(low_water: float | None) -> None:
    tally, history = Tally(), dicts(500)
    assembler = assembler_of(tally, 41, low_water).add_messages(list(history))
    assembler.build()
    tally.asked()
    for index in range(500, 560, 2):
        history += dicts(2, index)
        assembler.add_messages(list(history)).build()
        assert sorted(tally.asked()) == [text(index), text(index + 1)]


@attrs.frozen
class Asked:
    """`TrimOldest(low_water=0.5)` that counts its calls."""

    times: list[int]
    inner: TrimOldest = attrs.field(factory=lambda: TrimOldest(low_water=0.5))

    @property
    def traits(self) -> Traits:
        return self.inner.traits

    def cut(self, ledger: Any, room: int, /) -> Any:
        self.times.append(ledger.length)
        return self.inner.cut(ledger, room)


def test_a_policy_is_asked_only_when_the_kept_messages_outgrow_the_tokens_left() -> None:
    asked = list[int]()
    assembler = Assembler(Budget(40 * SIZE, counter=len), dialect=plain, on_overflow=Asked(asked))
    for message in dicts(400):
        assembler.add_message(message).build()
    # It outgrows 40 messages at 41, and a cut keeps the 10 newest turns, or 9 and the question that made it overflow.
    assert asked == sorted(set(asked))
    assert len(asked) <= 400 // 20


@pytest.mark.parametrize("cap", [60, 10])
def test_a_budget_with_limits_asks_its_policy_no_more_often_and_prices_nothing_again(cap: int) -> None:
    asked, tally = list[int](), Tally()
    budget = Budget(40 * SIZE + cap, counter=tally, limits={"knowledge": Limit(cap=cap)})
    assembler = Assembler(budget, dialect=plain, on_overflow=Asked(asked)).add_knowledge("know", type="t")
    assembler.add_knowledge("more", type="t")
    for message in dicts(400):
        assembler.add_message(message).build()
        assert len(tally.asked()) <= 1 or len(asked) < 2
    # Once the conversation asks for more than it can ever get, more messages change no region's part.
    assert len([length for length in asked if length > 40 + cap // SIZE]) <= 400 // 20


def appended(length: int, low_water: float | None) -> tuple[int, int, int]:
    """Python calls, compared messages and copied entries of one more message after `length`."""
    assembler = assembler_of(len, 41, low_water, dialect=openai_chat).add_messages(dicts(length))
    compared, walked = list[int](), list[object]()
    dicts_are_unchanged, looked_into = Readings.dicts_are_unchanged, copies._find_nested  # pyright: ignore[reportPrivateUsage]

    def compare(readings: Readings, *stretches: Span) -> bool:
        compared.extend(max(stop - start, 0) for start, stop in stretches)
        return dicts_are_unchanged(readings, *stretches)

    def look(entries: list[Any], start: int, *before: Any) -> Any:
        walked.extend(entries[start:])
        return looked_into(entries, start, *before)

    def work() -> None:
        assembler.add_message(next(further)).build().request()

    with pytest.MonkeyPatch.context() as patch:
        further = iter(dicts(100, length))
        work()
        while low_water and len(assembler.build().messages) > 20:  # where a cut is due, more is done
            work()
        work()
        calls = calls_of(work)
        assembler.add_message(next(further))
        patch.setattr(Readings, "dicts_are_unchanged", compare)
        patch.setattr(copies, "_find_nested", look)
        assembler.build().request()
    return calls, sum(compared), len(walked)


@pytest.mark.parametrize("low_water", [None, 0.5])
def test_a_build_after_one_more_message_does_as_much_in_a_long_history_as_in_a_short_one(
    low_water: float | None,
) -> None:
    appended(1_000, low_water)  # what is found once in a process
    calls, compared, walked = appended(1_000, low_water)
    # Which of the messages that went are looked at may differ, and how many stayed at the last cut.
    assert appended(8_000, low_water) == (pytest.approx(calls, abs=5), pytest.approx(compared, abs=20), walked)
    assert calls <= APPENDED
    assert compared <= 42 + GLANCE + 20  # the new one too: its owner may have changed it after it was added
    assert walked <= (41 if low_water is None else 1)  # where a turn went, the request begins otherwise


def test_a_build_that_cuts_again_compares_the_kept_messages_only_however_long_the_history_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared, dicts_are_unchanged = list[int](), Readings.dicts_are_unchanged

    def compare(readings: Readings, *stretches: Span) -> bool:
        compared.extend(max(stop - start, 0) for start, stop in stretches)
        return dicts_are_unchanged(readings, *stretches)

    monkeypatch.setattr(Readings, "dicts_are_unchanged", compare)

    def most(length: int) -> int:
        assembler = assembler_of(len, 41, 0.5).add_messages(dicts(length))
        assembler.build()
        sums, cuts = list[int](), set[int]()
        for message in dicts(60, length):
            compared.clear()
            cuts.add(assembler.add_message(message).build().first_kept)
            sums.append(sum(compared))
        assert len(cuts) > 2
        return max(sums)

    assert most(4_000) == most(1_000) <= 2 * 41 + GLANCE + 20


APPENDED = 107
"""Python calls of one appended message, its build and its request."""
STEP = 165
"""The same of a step of an agent: a call of a tool and its answer."""
REPORT = 88
"""The same of a report after one more message."""


def test_a_build_after_a_step_of_an_agent_calls_few_functions() -> None:
    assembler = assembler_of(len, 400, 0.5, dialect=openai_chat).add_message({"role": "user", "content": "go on"})
    steps = iter([[called(number), answer(number)] for number in range(30)])

    def work() -> None:
        for message in next(steps):
            assembler.add_message(message)
        assembler.build().request()

    for _ in range(10):
        work()
    assert calls_of(work) <= STEP


MERGED = 542
"""The same of an answer and a question, where the API sends neighbouring messages as one turn: what is sent is priced
beside what is said."""


@pytest.mark.parametrize(
    ("dialect", "model"),
    [
        ("anthropic", "claude-sonnet-4-5"),
        ("bedrock", "anthropic.claude-sonnet-4-5"),
        ("bedrock", "amazon.nova-pro-v1:0"),
        ("gemini", "gemini-2.5-pro"),
        ("mistral", "mistral-large-latest"),
        ("openai_chat", "openrouter/anthropic/claude-sonnet-4-5"),
    ],
)
def test_if_messages_are_merged_a_build_prices_the_new_ones_and_calls_few_functions(dialect: str, model: str) -> None:
    pricer = type(DIALECTS[dialect].pricer(model, len))

    def appended(length: int) -> tuple[int, int]:
        budget = Budget(1_000_000, model=model, counter=len)
        assembler = Assembler(budget, dialect=dialect, on_overflow=TrimOldest())
        assembler.add_messages(dicts(length)).build().request()
        further, priced = iter(dicts(20, length)), list[Message]()

        def work() -> None:
            assembler.add_message(next(further)).add_message(next(further)).build().request()

        price = pricer.message

        def watched(self: Any, message: Message) -> Count:
            priced.append(message)
            return price(self, message)

        work()
        calls = calls_of(work)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pricer, "message", watched)
            work()
        return calls, len(priced)

    calls, priced = appended(41)
    # What is found once in a process may be found in either.
    assert appended(161) == (pytest.approx(calls, abs=20), priced)
    assert calls <= MERGED
    assert priced == 4


def under_limits(model: str) -> Assembler:
    limits = {"knowledge": Limit(cap=0.2), "conversation": Limit(floor=0.1)}
    return Assembler(Budget(1_000_000, model=model, counter=len, limits=limits), on_overflow=TrimOldest())


def around_the_question(model: str) -> Assembler:
    strategy = ChatRegions(placement=Placement.QUESTION)
    return Assembler(Budget(1_000_000, model=model, counter=len), strategy=strategy, on_overflow=TrimOldest())


def after_a_bill(model: str) -> Assembler:
    return Assembler(Budget(1_000_000, model=model, counter=len), on_overflow=TrimOldest())


@pytest.mark.parametrize(
    ("kind", "model", "most"),
    [
        (under_limits, "gpt-4o", 115),
        (under_limits, "claude-sonnet-4-5", 367),
        (around_the_question, "gpt-4o", 535),
        (after_a_bill, "gpt-4o", 390),
        (after_a_bill, "claude-sonnet-4-5", 615),
    ],
)
def test_an_appended_build_calls_as_few_functions_in_a_long_history_whatever_it_counts_from(
    kind: Callable[[str], Assembler], model: str, most: int
) -> None:
    def appended(length: int) -> int:
        assembler = kind(model).add_knowledge("It is known.", type="t").add_messages(dicts(length))
        further, context = iter(dicts(20, length)), assembler.build()

        def work() -> None:
            assembler.add_message(next(further)).add_message(next(further)).build().request()

        for _ in range(2):
            if kind is after_a_bill:
                assembler.anchor(calibrate(context, context.count.tokens + 3))
            context = assembler.add_message(next(further)).add_message(next(further)).build()
        if kind is after_a_bill:
            assembler.anchor(calibrate(context, context.count.tokens + 3))
        return calls_of(work)

    calls = appended(41)
    assert appended(161) == pytest.approx(calls, abs=20)
    assert calls <= most


COLD = 15
"""Python calls of one more message that stays, in a cold build of Chat's."""


def test_one_more_message_in_a_cold_build_calls_few_functions() -> None:
    def cold(room: int) -> tuple[int, int]:
        budget = Budget(room * SIZE, model="gpt-4o", counter=len)
        assembler = Assembler(budget, on_overflow=TrimOldest()).add_messages(dicts(2_000))
        return calls_of(assembler.build), len(assembler.build().messages)

    cold(40)
    (few, short), (many, long) = cold(40), cold(440)
    assert many - few <= (long - short) * COLD


ROW = 44
"""Python calls of a row of a batch of twelve messages, beside its build and its request."""


def test_a_row_of_a_batch_calls_few_functions_beside_its_build() -> None:
    base = assembler_of(len, 400, dialect=openai_chat)
    messages = dicts(12)
    line = json.dumps({"id": 7, "messages": messages}).encode()

    def by_hand() -> None:
        json.dumps(base.fork().add_messages(json.loads(line)["messages"]).build().request())

    def by_batch() -> None:
        answer_row(base, 7, line)

    for _ in range(2):
        by_hand()
        by_batch()
    assert calls_of(by_batch) <= calls_of(by_hand) + ROW


@pytest.mark.parametrize("room", [41, 200])
def test_a_report_after_one_more_message_calls_few_functions_however_many_turns_stay(room: int) -> None:
    assembler = assembler_of(len, room, 0.9, dialect=openai_chat).add_messages(dicts(400))
    assembler.build().report.to_dict()
    assembler.add_message(dicts(1, 400)[0]).build().report.to_dict()
    context = assembler.add_message(dicts(1, 401)[0]).build()
    assert len(context.report.rows) - 2 == len(context.messages) / 2 > room / 4
    assert calls_of(lambda: context.report.to_dict()) <= REPORT


def test_reports_search_each_tool_result_once_for_invisible_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = list[str]()

    def search(results: Any) -> list[Any]:
        searched.extend(text for _, _, text in results)
        return []

    monkeypatch.setattr(report_turns, "invisible_texts", search)
    assembler = assembler_of(len, 60, 0.5, dialect=openai_chat)
    for number in range(40):
        assert assembler.add_message({"role": "user", "content": "go on"}).build().report.rows
        for step in (2 * number, 2 * number + 1):
            assembler.add_message(called(step)).add_message({**answer(step), "content": f"é{step:03}"})
            assert assembler.build().report.rows
        assembler.add_message({"role": "assistant", "content": "done"})
    assert assembler.build().first_kept > 100
    assert searched == [f"é{step:03}" for step in range(80)]


def called(number: int) -> dict[str, Any]:
    """A call of a tool, as an agent makes it."""
    function = {"name": "look", "arguments": json.dumps({"path": f"{number}.py", "line": number})}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}],
    }


def answer(number: int) -> dict[str, Any]:
    """The answer to it."""
    return {"role": "tool", "tool_call_id": f"c{number}", "content": text(number)}


def test_dropped_messages_are_never_read_again_if_the_newest_turns_that_fit_stay() -> None:
    tally, history = Tally(), own_messages(400)
    assembler = assembler_of(tally, 41).add_messages(list(history))
    gone = 400 - len(assembler.build().messages)
    for message in history:
        message.reads = 0
    for message in dicts(60, 400):
        assembler.add_message(message).build()
    # The first one could have become a system message.
    assert not any(message.reads for message in history[1 : gone - 2])


def test_a_low_water_mark_prices_the_whole_history_once_and_never_again() -> None:
    tally, priced = Tally(), list[int]()
    assembler = assembler_of(tally, 41, 0.5, dialect=PricedOnce(priced)).add_messages(dicts(2_000))
    assembler.build()
    assert sorted(priced) == list(range(2_000))
    for message in dicts(200, 2_000):
        assembler.add_message(message).build()
    assert sorted(priced) == list(range(2_200))
    assert len(tally.asked()) == 2_200


def test_a_fork_counts_nothing_that_its_base_has_counted() -> None:
    tally = Tally()
    base = assembler_of(tally, 41).add_instruction("Be brief.").add_messages(dicts(500))
    base.build()
    tally.asked()
    forks = [base.fork() for _ in range(5)]
    for fork in forks:
        fork.build()
    assert tally.asked() == []
    for place, fork in enumerate(forks):
        fork.add_message({"role": "user", "content": f"fork {place}"}).build()
        assert tally.asked() == [f"fork {place}"]


def test_a_changed_message_is_priced_again_with_its_turn_and_the_next_but_nothing_before() -> None:
    priced, history = list[int](), dicts(100)
    assembler = assembler_of(Tally(), 41, dialect=PricedOnce(priced)).add_messages(history)
    assert len(assembler.build().messages) == 40
    priced.clear()
    history[81]["content"] = text(81).replace(".", "!")
    assert assembler.build().messages[-19] is history[81]
    assert sorted(priced) == list(range(80, 100))


def test_a_changed_message_that_was_cut_away_is_not_looked_at() -> None:
    priced, history = list[int](), dicts(100)
    assembler = assembler_of(Tally(), 41, dialect=PricedOnce(priced)).add_messages(history)
    assembler.build()
    priced.clear()
    history[3]["content"] = text(3) * 50
    assembler.build()
    assert priced == []


def test_a_report_at_every_build_prices_each_dropped_message_at_most_once() -> None:
    priced = list[int]()
    assembler = assembler_of(Tally(), 11, dialect=PricedOnce(priced))
    for message in dicts(300):
        rows = assembler.add_message(message).build().report.to_dict()["rows"]
        assert sum(row["messages"] for row in rows) == len(priced)
    assert sorted(priced) == list(range(300))


def test_forks_of_one_base_built_by_many_threads_give_the_same_bytes() -> None:
    base = assembler_of(Tally(), 41, 0.5).add_messages(dicts(1_000))

    def sent(place: int) -> str:
        fork = base.fork().add_message({"role": "user", "content": "the same"})
        context = fork.build()
        return json.dumps([context.request(), context.report.to_dict(), context.prefix_hash])

    with ThreadPoolExecutor(32) as threads:
        answers = list(threads.map(sent, range(64)))
    assert len(set(answers)) == 1
    fresh = assembler_of(Tally(), 41, 0.5).add_messages(dicts(1_000))
    fresh.add_message({"role": "user", "content": "the same"})
    assert json.loads(answers[0])[0] == fresh.build().request()


def test_a_thousand_builds_leave_less_than_a_hundred_bytes_each() -> None:
    base = assembler_of(Tally(), 5, 0.5, dialect=openai_chat).add_messages(dicts(12))

    def build(times: int) -> None:
        for number in range(times):
            fork = base.fork() if number % 8 else base.fork().add_message(dicts(1, 12 + number % 40)[0])
            fork.build().request()

    build(400)
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        build(1_000)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 100_000


LADDERS: dict[str, Any] = {
    "low water": {"on_overflow": [ClearToolResults(), TrimOldest(low_water=0.5)]},
    "held": {"on_overflow": [Summarize(lambda dropped, before, most: "said"), TrimOldest(low_water=0.5)]},
    "limits": {
        "on_overflow": TrimOldest(),
        "limits": {"knowledge": Limit(cap=60, select=lambda items, tokens, room: [0])},
    },
}


@pytest.mark.parametrize("ladder", LADDERS)
def test_what_ifs_and_bills_leave_nothing_behind_in_a_history(ladder: str) -> None:
    given = dict(LADDERS[ladder])
    budget = Budget(300, counter=len, limits=given.pop("limits", {}))
    assembler = Assembler(budget, dialect=plain, **given)
    for text in ("know", "more"):
        assembler.add_knowledge(text, type="t")
    assembler.add_messages([{"role": "user", "content": "0123456789"} for _ in range(60)])

    def looked() -> int:
        plan = assembler.plan()
        for window in range(100, 300, 40):
            with contextlib.suppress(ContextLengthError):
                plan.what_if(context_window=window)
        assembler.anchor(calibrate(assembler.build(), 300)).build()
        assembler.anchor(None)
        del plan
        gc.collect()
        return sum(type(found) is Settings for found in gc.get_objects())

    gc.collect()
    gc.freeze()  # what other tests hold is not looked through
    try:
        looked()
        before = looked()
        assert looked() == before
    finally:
        gc.unfreeze()


def test_a_ladder_with_a_mark_continues_from_its_last_overflow(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = cuts_asked(monkeypatch)
    ladder = [ClearToolResults(), TrimOldest(low_water=0.5)]
    assembler = Assembler(Budget(300, counter=len), dialect=plain, on_overflow=ladder)
    assembler.add_messages(dicts(400)).build()
    past = len(asked)
    assert past > 10
    for message in dicts(60):
        asked.clear()
        assembler.add_message(message).build()
        assert len(asked) <= 2


def test_a_change_to_one_request_is_not_seen_in_the_next() -> None:
    asked: dict[str, Any] = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    history: list[dict[str, Any]] = [
        {"role": "user", "content": [{"type": "text", "text": "which?"}]},
        {"role": "assistant", "content": None, "tool_calls": [asked]},
        {"role": "tool", "tool_call_id": "a", "content": "this"},
    ]
    budget = Budget(1_000, counter=len, model="gpt-4o")
    assembler = Assembler(budget).add_messages(history)
    first = assembler.build().request()
    written = json.dumps(first)
    first["messages"][0]["content"][0]["text"] = "changed"
    first["messages"][1]["tool_calls"][0]["function"]["name"] = "changed"
    first["messages"][1]["tool_calls"][0]["id"] = "changed"
    first["messages"][1]["tool_calls"].append("changed")
    first["messages"][2]["content"] = "changed"
    assert json.dumps(assembler.build().request()) == written
    assert history[1]["tool_calls"] == [asked]


def test_an_older_fork_is_checked_for_pairs_though_a_longer_history_was_valid() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    assembler = assembler_of(Tally(), 100).add_messages(dicts(4))
    assembler.add_message({"role": "user", "content": "look"})
    assembler.add_message({"role": "assistant", "content": None, "tool_calls": [call]})
    unanswered = assembler.fork()
    assembler.add_message({"role": "tool", "tool_call_id": "a", "content": "there"})
    for message in dicts(4):
        assembler.add_message(message).build()
    with pytest.raises(ConversationError):
        unanswered.build()


POLICIES: list[Any] = [
    TrimOldest(),
    TrimOldest(low_water=0.5),
    TrimOldest(keep_turns=3),
    TrimOldest(note="x"),
    [ClearToolResults(keep=1), TrimOldest(low_water=0.4)],
]


def built(assembler: Assembler) -> Any:
    try:
        context = assembler.build()
    except ContextLengthError as error:
        return error.required
    return context.request(), context.report.to_dict()


@given(
    sizes=st.lists(st.integers(0, 30), min_size=1, max_size=12),
    room=st.integers(10, 90),
    order=st.permutations(range(12)),
    policy=st.sampled_from(POLICIES),
)
def test_forks_built_in_any_order_build_what_a_fresh_assembler_builds(
    sizes: list[int], room: int, order: list[int], policy: Any
) -> None:
    history = [{"role": role(index), "content": "x" * size} for index, size in enumerate(sizes)]
    growing = Assembler(Budget(room, counter=len), dialect=plain, on_overflow=policy)
    forks = [growing.add_message(message).fork() for message in history]
    for place in order:
        if place < len(forks):
            fresh = Assembler(Budget(room, counter=len), dialect=plain, on_overflow=policy)
            assert built(forks[place]) == built(fresh.add_messages(history[: place + 1]))


def test_an_error_inspects_no_counters_signature_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assembler = assembler_of(lambda text: len(text), 2).add_messages([{"role": "user", "content": "x" * 99}])
    looked = list[object]()
    monkeypatch.setattr(inspect, "signature", looked.append)
    with pytest.raises(ContextLengthError):
        assembler.build()
    assert looked == []


@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-4-5"])
def test_parallel_results_are_priced_as_one_for_as_much_as_they_say(model: str) -> None:
    def counted(number: int) -> int:
        tally = Tally()
        call = {"type": "function", "function": {"name": "look", "arguments": "{}"}}
        history: list[dict[str, Any]] = [{"role": "user", "content": "look"}]
        history += [
            {"role": "assistant", "content": None, "tool_calls": [{"id": f"c{n}", **call} for n in range(number)]}
        ]
        history += [{"role": "tool", "tool_call_id": f"c{n}", "content": text(n)} for n in range(number)]
        assembler = Assembler(Budget(1_000_000, counter=tally, model=model)).add_capability([{"name": "look"}])
        context = assembler.add_messages(history).build()
        work = sum(map(len, tally.texts))
        billed = count_request(context.request(), dialect=context.dialect, model=model, counter=len)
        assert context.count == billed
        return work

    assert counted(200) <= 2.1 * counted(100)


@pytest.mark.parametrize("dialect", ["anthropic", "gemini", "bedrock", "mistral"])
def test_an_error_of_an_api_that_merges_messages_asks_policies_as_often_as_one_of_chat(
    dialect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = [*dicts(20), {"role": "user", "content": "x" * 500}]
    asked = cuts_asked(monkeypatch)

    def refused(name: str) -> int:
        before = len(asked)
        assembler = Assembler(Budget(300, counter=len), dialect=name, on_overflow=TrimOldest())
        with pytest.raises(ContextLengthError):
            assembler.add_messages(history).build()
        return len(asked) - before

    assert refused(dialect) <= refused("openai_chat")
