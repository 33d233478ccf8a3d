"""A summary replaces the dropped turns, is asked for once, and may be refused."""

from __future__ import annotations

import functools
import json
import logging
import pickle
import traceback
from collections.abc import Sequence
from typing import Any, cast

import attrs
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assembler import Assembler, PricedTurns, SummaryError
from assembler.conversation.messages import user_message
from assembler.conversation.policy_memory import Keepsake
from assembler.dialects import plain
from assembler.policies import Cut, Refuse, Summarize, TrimOldest
from assembler.policies.summarize import HEADING
from budgets import Budget, BudgetError, ContextLengthError
from tests.assembler import by_hand
from tests.assembler.by_hand import History, Message

from .build import assembler_of, check, sent
from .drawn import any_session


class Writer:
    """A summarizer that remembers what it was given and writes texts of a given length."""

    def __init__(self, length: int = 5) -> None:
        self.length = length
        self.calls: list[tuple[list[Any], str | None, int]] = []

    def __call__(self, dropped: Sequence[Any], previous: str | None, max_tokens: int) -> str:
        self.calls.append((list(dropped), previous, max_tokens))
        return f"{len(self.calls) % 10}" + "s" * (self.length - 1)


def talk(turns: int, size: int = 20) -> History:
    return [{"role": "user", "content": f"{turn:02}" + "x" * (size - 2)} for turn in range(turns)]


def ids(messages: Sequence[object]) -> list[int]:
    return [id(message) for message in messages]


@given(any_session, st.integers(1, 3), st.integers(1, 40), st.data())
def test_a_summarizer_gets_exactly_the_dropped_messages_and_its_summary_is_used_only_if_smaller(
    history: History, keep: int, length: int, data: st.DataObject
) -> None:
    whole = by_hand.cost(history)
    limit = max(whole - data.draw(st.integers(1, whole)), 1)
    assume(limit < whole)
    writer = Writer(length)
    turns = by_hand.turns_of(history)
    pinned = [by_hand.is_pinned(turn, lambda message: message.get("pinned") is True) for turn in turns]
    old = len(turns) - keep
    dropped = by_hand.flat([turn for at, turn in enumerate(turns) if at < old and not pinned[at]])
    kept = by_hand.flat([turn for at, turn in enumerate(turns) if at >= old or pinned[at]])
    room = limit - by_hand.cost(kept) - len(HEADING)
    assembler = assembler_of(history, limit, Summarize(writer, keep))
    fits = old > 0 and room > 0 and length <= room and len(HEADING) + length < by_hand.cost(dropped)
    try:
        context = assembler.build()
    except ContextLengthError:
        assert not fits
        return
    assert fits
    assert [(ids(given), before, most) for given, before, most in writer.calls] == [(ids(dropped), None, room)]
    check(context, history, limit)
    summary = {"role": "user", "content": HEADING + writer(dropped, None, room).replace("2", "1", 1)}
    assert sent(context) == [summary, *by_hand.public(kept)]


@given(st.integers(1, 3), st.integers(5, 80), st.integers(3, 25))
def test_a_growing_session_asks_only_at_an_overflow_and_passes_on_the_last_summary(
    keep: int, spare: int, turns: int
) -> None:
    writer, limit = Writer(), 20 * keep + len(HEADING) + spare
    history = talk(turns)
    assembler = Assembler(Budget(limit, counter=len), dialect=plain, on_overflow=Summarize(writer, keep))
    summary: tuple[int, str] | None = None
    for stop, message in enumerate(history, 1):
        asked = len(writer.calls)
        assembler.add_message(message)
        start, text = summary or (0, "")
        size = by_hand.cost(history[start:stop]) + (len(HEADING) + len(text) if summary else 0)
        context = assembler.build()
        again = assembler.fork().build()
        assert again.request() == context.request()
        if size <= limit:
            assert len(writer.calls) == asked
        else:
            given_, before, most = writer.calls[-1]
            assert len(writer.calls) == asked + 1
            assert ids(given_) == ids(history[start : stop - keep])
            assert before == (text if summary else None)
            assert most == spare
            summary = (stop - keep, context.request()["messages"][0]["content"].removeprefix(HEADING))
        start, text = summary or (0, "")
        messages = [{"role": "user", "content": HEADING + text}] if summary else []
        assert sent(context) == [*messages, *history[start:stop]]


class Silent:
    """Summarizers that return no summary."""

    @staticmethod
    def raises(dropped: Any, previous: Any, max_tokens: int) -> str:
        raise RuntimeError("the model is away, and this text is private")

    @staticmethod
    def says_nothing(dropped: Any, previous: Any, max_tokens: int) -> str:
        return " \n"

    @staticmethod
    def says_none(dropped: Any, previous: Any, max_tokens: int) -> Any:
        return None

    @staticmethod
    def says_too_much(dropped: Any, previous: Any, max_tokens: int) -> str:
        return "s" * (max_tokens + 1)

    @staticmethod
    def says_what_cannot_be_sent(dropped: Any, previous: Any, max_tokens: int) -> str:
        return "half of an emoji: \ud83d"


FAULTS = [
    (Silent.raises, "the summarizer raised RuntimeError"),
    (Silent.says_nothing, "the summarizer returned no text"),
    (Silent.says_none, "the summarizer returned no text"),
    (Silent.says_too_much, "a summary was refused"),
    (Silent.says_what_cannot_be_sent, "the summarizer returned a text that cannot be sent"),
]


@pytest.mark.parametrize(("summarizer", "reason"), FAULTS)
def test_a_failed_summary_is_reported_and_the_next_policy_is_asked(summarizer: Any, reason: str) -> None:
    history = talk(8)
    context = assembler_of(history, 100, [Summarize(summarizer, 2), TrimOldest()]).build()
    assert sent(context) == history[3:]
    assert f"Summarize: {reason}" in str(context.report)
    assert "private" not in str(context.report)


@pytest.mark.parametrize(("summarizer", "reason"), FAULTS)
def test_a_failed_summary_leaves_the_one_before_in_place(summarizer: Any, reason: str) -> None:
    history, writers = talk(8), [Writer()]

    def changing(dropped: Any, previous: Any, max_tokens: int) -> Any:
        return writers[0](dropped, previous, max_tokens)

    assembler = assembler_of(history[:6], 119, [Summarize(changing, 2), TrimOldest()])
    first = sent(assembler.build())
    assert first[0]["content"] == HEADING + "1ssss"
    writers[0] = summarizer
    context = assembler.add_message(history[6]).add_message(history[7]).build()
    assert sent(context) == [first[0], *history[5:]]


class Asked:
    """A summarizer that counts its calls, and returns no summary."""

    def __init__(self, summarizer: Any) -> None:
        self.summarizer = summarizer
        self.given: list[tuple[int, int]] = []

    def __call__(self, dropped: Sequence[Any], previous: str | None, max_tokens: int) -> Any:
        self.given.append((len(dropped), max_tokens))
        return self.summarizer(dropped, previous, max_tokens)


@pytest.mark.parametrize(("summarizer", "reason"), FAULTS)
def test_a_failed_summarizer_is_asked_again_only_if_more_must_be_dropped(summarizer: Any, reason: str) -> None:
    asked, history = Asked(summarizer), talk(9)
    assembler = assembler_of(history[:8], 100, [Summarize(asked, 2), TrimOldest()])
    first = assembler.build()
    for again in (assembler.build(), assembler.fork().build(), assembler.plan()):
        assert str(again.report) == str(first.report)
        assert f"Summarize: {reason}" in str(again.report)
    assembler.add_message({"role": "assistant", "content": "y"}).build()
    assert [messages for messages, _ in asked.given] == [6]
    assembler.add_message(history[8]).build()
    assert [messages for messages, _ in asked.given] == [6, 7]
    assembler.build()
    assert len(asked.given) == 2


def test_a_failed_summarizer_is_asked_again_if_it_may_write_more() -> None:
    asked = Asked(Silent.says_too_much)
    assembler = assembler_of(talk(8), 110, [Summarize(asked, 2), TrimOldest()])
    for taken in (10, 11, 9, 10):  # the instruction leaves 100, 99, 101 and 100 to one history
        assembler.add_instruction("i" * taken).plan()
    room = 60 - len(HEADING)
    assert asked.given == [(6, room), (6, room + 1)]


def test_a_shorter_fork_does_not_ask_a_failed_summarizer_for_more() -> None:
    asked, history = Asked(Silent.raises), talk(9)
    short = assembler_of(history[:8], 100, [Summarize(asked, 2), TrimOldest()])
    longer = short.fork().add_message(history[8])
    for _ in range(2):
        longer.build()
        short.build()
    assert [messages for messages, _ in asked.given] == [7]


@pytest.mark.parametrize(("summarizer", "reason"), FAULTS)
def test_after_a_failure_the_next_summary_covers_all_messages_dropped_since(summarizer: Any, reason: str) -> None:
    history, writers = talk(9), [summarizer]

    def changing(dropped: Any, previous: Any, max_tokens: int) -> Any:
        return writers[0](dropped, previous, max_tokens)

    assembler = assembler_of(history[:8], 100, [Summarize(changing, 2), TrimOldest()])
    assembler.build()
    writer = writers[0] = Writer()
    assembler.build()
    assert not writer.calls
    context = assembler.add_message(history[8]).build()
    assert ids(writer.calls[0][0]) == ids(history[:7])
    assert sent(context) == [{"role": "user", "content": HEADING + "1ssss"}, *history[7:]]


def test_pins_are_never_summarised() -> None:
    writer, history = Writer(), talk(8)
    history[1]["pinned"] = True
    context = assembler_of(history, 119, Summarize(writer, 2)).build()
    assert ids(writer.calls[0][0]) == ids([history[0], *history[2:6]])
    assert sent(context)[1:] == by_hand.public([history[1], *history[6:]])


@pytest.mark.parametrize("room", [-1, 0, 1])
def test_the_summarizer_is_not_asked_if_no_text_could_fit(room: int) -> None:
    writer = Writer(1)
    with_room = assembler_of(talk(8), 20 + len(HEADING) + room, [Summarize(writer, 1), TrimOldest()])
    with_room.build()
    assert len(writer.calls) == (room == 1)


def test_a_later_summarizing_rung_is_not_asked_if_the_rest_just_fits() -> None:
    writer = Writer()
    assembler_of(talk(8), 60, [TrimOldest(), Summarize(writer, 1)]).build()
    assert not writer.calls


def test_nothing_is_asked_while_everything_fits() -> None:
    writer = Writer()
    assembler_of(talk(5), 100, Summarize(writer)).build()
    assert not writer.calls


def test_two_assemblers_with_one_summarizer_do_not_share_summaries() -> None:
    policy = Summarize(Writer(), 1)
    one = assembler_of(talk(8), 100, policy).build()
    other = assembler_of([{"role": "user", "content": "y" * 30}, *talk(7)], 100, policy).build()
    assert sent(one)[0]["content"] != sent(other)[0]["content"]


def test_the_error_for_too_many_kept_turns_names_the_largest_number_that_works() -> None:
    with pytest.raises(ContextLengthError) as raised:
        assembler_of(talk(5), 99, [Summarize(Writer(), 5), Refuse()]).build()
    assert raised.value.required == 100


def test_a_summarizer_that_cannot_be_called_is_refused_at_once() -> None:
    with pytest.raises(BudgetError, match=r"^Summarize: summarizer: expected a function, got str"):
        Summarize("write it", 2)  # type: ignore[arg-type]


def test_a_summary_is_a_user_message_so_that_any_api_can_begin_with_it() -> None:
    message: Message = sent(assembler_of(talk(8), 100, Summarize(Writer(), 1)).build())[0]
    assert message["role"] == "user"


@pytest.mark.parametrize("note", [None, "[gone]"])
def test_a_note_never_replaces_a_current_summary(note: str | None) -> None:
    """The summarizer succeeds once and then fails: its summary stays as long as turns are cut."""
    writer = Writer()

    def once(dropped: Sequence[Any], previous: str | None, max_tokens: int) -> str:
        if writer.calls:
            raise ConnectionError
        return writer(dropped, previous, max_tokens)

    ladder = [Summarize(once, keep_turns=2), TrimOldest(low_water=0.6, note=note)]
    assembler = Assembler(Budget(200, counter=len), dialect=plain, on_overflow=ladder)
    first: list[object] = []
    for message in talk(30):
        context = assembler.add_message(message).build()
        first += sent(context)[:1] if writer.calls else []
    assert set(map(str, first)) == {str({"role": "user", "content": HEADING + "1ssss"})}
    assert len(first) > 15


@pytest.mark.parametrize("low_water", [None, 0.6])
def test_a_what_if_asks_no_summarizer_and_changes_no_later_build(low_water: float | None) -> None:
    def session(asking: bool) -> tuple[list[list[Message]], Writer]:
        writer, built = Writer(), list[list[Message]]()
        ladder = [Summarize(writer, keep_turns=3), TrimOldest(low_water=low_water)]
        assembler = Assembler(Budget(200, counter=len), dialect=plain, on_overflow=ladder)
        for message in talk(25):
            assembler.add_message(message)
            plan, calls = assembler.plan(), len(writer.calls)
            for window in (70, 90, 130, 170, 400) if asking else ():
                assert plan.what_if(context_window=window).count.upper <= window
            assert len(writer.calls) == calls
            built.append(sent(assembler.build()))
        return built, writer

    (plain_session, alone), (asked_session, asked) = session(False), session(True)
    assert asked_session == plain_session
    assert len(asked.calls) == len(alone.calls) > 1


async def from_afar(dropped: Any, previous: str | None, most: int) -> str:
    return "told"


class Afar:
    async def __call__(self, dropped: Any, previous: str | None, most: int) -> str:
        return "told"


@pytest.mark.parametrize("write", [from_afar, functools.partial(from_afar), Afar()], ids=["def", "partial", "call"])
def test_build_refuses_an_async_summarizer_and_names_abuild(
    write: Any,
) -> None:
    assembler = assembler_of(talk(2), 90, Summarize(write))
    with pytest.raises(BudgetError, match=r"async.*await assembler\.abuild\(\)"):
        assembler.build()


def later(dropped: Any, previous: str | None, most: int) -> Any:
    return from_afar(dropped, previous, most)


def failing(dropped: Any, previous: str | None, most: int) -> str:
    raise TimeoutError("x" * 20)


def silent(dropped: Any, previous: str | None, most: int) -> str:
    return " "


FAILURES = [(failing, "TimeoutError"), (later, "coroutine"), (silent, "no text")]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("write", "expected"), FAILURES)
def test_a_failing_summarizer_is_reported_and_the_next_policy_is_asked(
    write: Any, expected: str, caplog: pytest.LogCaptureFixture
) -> None:
    history = talk(5)
    context = assembler_of(history, 90, [Summarize(write, 1), TrimOldest()]).build()
    check(context, history, 90)
    assert context.messages == history[1:]
    (failure,) = context.warnings
    assert isinstance(failure, SummaryError)
    assert expected in str(failure)
    assert failure.raised == ("TimeoutError" if write is failing else None)
    (record,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert record.name == "assembler"
    assert expected in record.getMessage()
    for text in (repr(failure), repr(context), str(context.report), record.getMessage()):
        assert "xx" not in text
    assert isinstance(failure.__cause__, TimeoutError) is (write is failing)
    assert "xx" not in caplog.text
    assert [str(error) for error in pickle.loads(pickle.dumps(context)).warnings] == [str(failure)]
    assert str(pickle.loads(pickle.dumps(failure))) == str(failure)


def test_a_failure_names_where_it_was_raised_and_keeps_no_frame() -> None:
    def connect() -> str:
        raise ConnectionError from ValueError("of the transport")

    def write(*_: object) -> str:
        try:
            return connect()
        except ConnectionError as error:
            raise ExceptionGroup("all attempts", [error]) from error

    (failure,) = assembler_of(talk(5), 90, [Summarize(write, 1), TrimOldest()]).build().warnings
    line = write.__code__.co_firstlineno + 4
    assert failure.__notes__ == [f"raised at {__file__}:{line} in write"]
    raised = failure.__cause__
    assert isinstance(raised, ExceptionGroup)
    assert raised.__cause__ is raised.exceptions[0]
    for each in (raised, raised.__cause__, raised.__cause__.__cause__):
        assert each is not None
        assert each.__traceback__ is None


@pytest.mark.parametrize(("write", "expected"), FAILURES)
@pytest.mark.parametrize("low_water", [None, 0.8])
def test_an_unmet_failure_is_the_cause_of_the_error(write: Any, expected: str, low_water: float | None) -> None:
    ladder = [Summarize(write, 1), TrimOldest(low_water, keep_turns=5)]
    with pytest.raises(ContextLengthError) as caught:
        assembler_of(talk(5), 90, ladder).build()
    assert isinstance(caught.value.__cause__, SummaryError)
    assert expected in str(caught.value.__cause__)
    assert "xx" not in "".join(traceback.format_exception(caught.value))


def test_without_a_failure_there_is_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    context = assembler_of(talk(5), 90, [Summarize(Writer(), 1), TrimOldest()]).build()
    assert context.warnings == ()
    assert not caplog.records


asked: list[str | None] = []


def remembering(dropped: Any, previous: str | None, most: int) -> str:
    asked.append(previous)
    return "told"


def test_a_pickled_assembler_asks_for_no_summary_that_it_has() -> None:
    asked.clear()
    history = talk(20)
    lived = assembler_of(history[:5], 90, Summarize(remembering, 1))
    lived.build()
    assert asked == [None]
    for message in history[5:]:
        lived = pickle.loads(pickle.dumps(lived)).add_message(message)
        lived = pickle.loads(pickle.dumps(lived))
        pickle.loads(pickle.dumps(lived.build()))
    assert asked.count(None) == 1
    assert len(asked) < 16


def test_a_fork_whose_sibling_grew_asks_for_no_summary_that_it_has() -> None:
    asked.clear()
    history = talk(6)
    first = assembler_of(history[:5], 95, Summarize(remembering, 1))
    first.build()
    second = first.fork()
    first.add_message(history[5]).build()
    second.add_message({"role": "user", "content": "another"}).build()
    assert asked == [None]


def test_a_summary_survives_an_edit_of_later_messages_and_not_of_those_it_replaces() -> None:
    asked.clear()
    history = talk(5)
    assembler = assembler_of(history, 95, Summarize(remembering, 1))
    assembler.build()
    history[4]["content"] = "shorter"
    assembler.build()
    assert asked == [None]
    history[0]["content"] = "y" * 30
    assembler.costs()
    assembler.build()
    assert asked == [None, None]


SUMMARIZING = [[], [TrimOldest()], [TrimOldest(0.8)]]
"""The rungs after a `Summarize`."""


@pytest.mark.parametrize("later", SUMMARIZING, ids=str)
@pytest.mark.parametrize("edited", [3, 80, 380])
def test_no_summary_outlives_an_edit_of_one_of_many_messages_that_it_replaces(later: Any, edited: int) -> None:
    asked.clear()
    history = talk(400)
    assembler = assembler_of(history, 95, [Summarize(remembering, 1), *later])
    assembler.build()
    history[edited]["content"] = "y" * 30
    assembler.build()
    assert asked == [None, None]


@pytest.mark.parametrize("later", SUMMARIZING, ids=str)
@pytest.mark.parametrize("turns", [5, 400])
def test_no_summary_outlives_an_edit_right_after_it_was_unpickled(later: Any, turns: int) -> None:
    asked.clear()
    assembler = assembler_of(talk(turns), 95, [Summarize(remembering, 1), *later])
    assembler.build()
    assembler = pickle.loads(pickle.dumps(assembler))
    assembler.messages[0]["content"] = "y" * 30
    assembler.build()
    assert asked == [None, None]


@pytest.mark.parametrize("later", SUMMARIZING, ids=str)
@pytest.mark.parametrize("turns", [5, 400])
def test_no_summary_outlives_an_edit_right_before_it_was_pickled(later: Any, turns: int) -> None:
    asked.clear()
    history = talk(turns)
    assembler = assembler_of(history, 95, [Summarize(remembering, 1), *later])
    assembler.build()
    history[0]["content"] = "y" * 30
    pickle.loads(pickle.dumps(assembler)).build()
    assert asked == [None, None]


@pytest.mark.parametrize("later", SUMMARIZING, ids=str)
def test_a_message_that_changes_while_it_is_summarised_is_summarised_again(later: Any) -> None:
    """Messages that only the summarizer was given were not read, so nobody saw the change."""
    history, given = talk(400), list[str]()

    def slow(dropped: Sequence[Any], previous: str | None, most: int) -> str:
        given.append(dropped[5]["content"])
        history[5]["content"] = "changed meanwhile"
        return "told"

    assembler_of(history, 95, [Summarize(slow, 1), *later]).build()
    assert given == ["05" + "x" * 18, "changed meanwhile"]


@attrs.frozen
class Tally(Keepsake):
    """How many messages a policy dropped, and what one of them said."""

    text: str


class Remembers:
    """A policy of one's own that keeps a memory of the messages that it drops."""

    def cut(self, ledger: PricedTurns, tokens_left: int) -> Cut:
        first = ledger.newest_turns(1)
        known = ledger.keepsakes.find(self, Tally)
        if known is None or known.stop != first:
            dropped = cast("list[Message]", ledger.objects(ledger.first, first))
            known = Tally(ledger.first, first, dropped[3]["content"])
            ledger.keepsakes.keep(self, known)
        return Cut(first, "counted", user_message(known.text))


@pytest.mark.parametrize("turns", [5, 400])
def test_what_an_own_policy_remembers_is_forgotten_when_its_messages_change(turns: int) -> None:
    history = talk(turns)
    assembler = assembler_of(history, 50, Remembers())
    assert sent(assembler.build())[0]["content"] == history[3]["content"]
    history[3]["content"] = "y" * 25
    assert sent(assembler.build())[0]["content"] == "y" * 25


class Adds(str):
    """A text with methods of its own."""

    __slots__ = ()

    def __radd__(self, other: object) -> str:
        raise RuntimeError


def test_a_summary_is_taken_as_a_plain_text_whatever_methods_its_class_has() -> None:
    def write(dropped: Sequence[Any], previous: str | None, most: int) -> str:
        return Adds("told")

    context = assembler_of(talk(8), 100, Summarize(write, 1)).build()
    assert sent(context)[0]["content"] == HEADING + "told"


@pytest.mark.parametrize(("write", "warning"), FAILURES)
def test_a_process_that_restores_a_state_warns_of_the_same_failure_and_asks_no_more(write: Any, warning: str) -> None:
    history, writer = talk(5), Writer()
    before = assembler_of(history, 90, [Summarize(write, 1), TrimOldest()]).build()
    state = json.loads(json.dumps(before.state()))
    after = assembler_of(history, 90, [Summarize(writer, 1), TrimOldest()]).restore(state).build()
    assert not writer.calls
    assert [(str(each), each.raised) for each in after.warnings] == [
        (str(each), each.raised) for each in before.warnings
    ]
    assert str(after.report) == str(before.report)
    assert after.state() == before.state()


def test_a_refusal_without_a_failure_is_remembered_without_one() -> None:
    history, writer = talk(8), Writer(1_000)
    before = assembler_of(history, 120, [Summarize(writer, 1), TrimOldest()]).build()
    after = assembler_of(history, 120, [Summarize(Writer(), 1), TrimOldest()]).restore(before.state()).build()
    assert str(after.report) == str(before.report)
    assert [str(each) for each in after.warnings] == [str(each) for each in before.warnings]
    assert after.state() == before.state()


def test_without_a_summarizer_the_cut_states_the_wanted_summary() -> None:
    ledger = assembler_of(talk(5), 1_000, TrimOldest()).build().inside.ledger
    cut = Summarize(None, 1).cut(ledger, 90)
    assert (cut.first_kept, cut.reason) == (0, "a summary is wanted")
    assert cut.wanted is not None
