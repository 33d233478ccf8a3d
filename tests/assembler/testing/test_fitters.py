"""The check finds the faults of the trimmers that everybody writes, and none in a correct one."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import strategies as st

from assembler.testing import (
    ESSENTIAL,
    MAXIMAL,
    MONOTONE,
    NEWEST_TURN_STAYS,
    SUFFIX,
    FitterError,
    Invariant,
    check_fitter,
    conversations,
)
from assembler.testing.fitters.histories import histories
from tests.assembler.by_hand import pairs_hold, turns_of
from tests.assembler.testing.trimmers import (
    Messages,
    characters,
    drop_leading_results,
    drop_oldest_message,
    keep_last_messages,
    pop_the_middle,
    trim_oldest,
    whole_turns,
)

EVERY = (*ESSENTIAL, NEWEST_TURN_STAYS, SUFFIX, MAXIMAL, MONOTONE)
Trim = Callable[[Messages, int], Any]


def broken(trim: Trim, invariants: tuple[Invariant, ...] = ESSENTIAL, **options: Any) -> FitterError:
    with pytest.raises(FitterError) as caught:
        check_fitter(trim, count=characters, invariants=invariants, **options)
    return caught.value


quick = {"max_examples": 30}
enough = {"max_examples": 100}
"""To find a fault that few windows show, whichever modules are loaded: the draws depend on them."""


@pytest.mark.parametrize(
    ("trim", "first", "too"),
    [
        (drop_oldest_message, "no-orphan-result", "question-stays"),
        (keep_last_messages, "fits", "no-orphan-result"),
        (pop_the_middle, "no-orphan-result", "no-unanswered-call"),
        (drop_leading_results, "question-stays", "opens-with-the-user"),
    ],
)
def test_two_hundred_examples_find_the_law_that_a_common_trimmer_breaks(trim: Trim, first: str, too: str) -> None:
    error = broken(trim)
    assert error.invariant.name == first
    assert too in error.verdict.broken
    assert error.verdict.examples <= 200
    assert len(error.messages) <= 3


@pytest.mark.parametrize("trim", [pytest.param(trim_oldest, marks=pytest.mark.slow), whole_turns])
def test_a_right_trimmer_breaks_no_law_at_all(trim: Trim) -> None:
    verdict = check_fitter(trim, count=characters, invariants=EVERY)
    assert (verdict.examples, verdict.broken) == (200, {})
    assert 0 < verdict.refused < 200


def crashes(messages: Messages, window: int) -> Messages:
    return messages[:1] if messages[4:] else [messages[9]]


def returns_nothing(messages: Messages, window: int) -> None:
    return None


def empties_the_list(messages: Messages, window: int) -> Messages:
    kept = whole_turns(list(messages), window)
    messages.clear()
    return kept


def marks_messages(messages: Messages, window: int) -> Messages:
    kept = whole_turns(messages, window)
    kept[0]["seen"] = True
    return kept


def summarises(messages: Messages, window: int) -> Messages:
    kept = whole_turns(messages, window)
    return kept if len(kept) == len(messages) else [{"role": "user", "content": ""}, *kept]


def reverses(messages: Messages, window: int) -> Messages:
    return whole_turns(messages, window)[::-1]


def one_too_many(messages: Messages, window: int) -> Messages:
    return whole_turns(messages, window + 1)


def forgets_the_last_result(messages: Messages, window: int) -> Messages:
    return [m for m in whole_turns(messages, window) if m["role"] != "tool" or not m["tool_call_id"].endswith("_1")]


def forgets_the_head(messages: Messages, window: int) -> Messages:
    return [m for m in whole_turns(messages, window) if m["role"] not in ("system", "developer")]


def forgets_the_question(messages: Messages, window: int) -> Messages:
    kept = whole_turns(messages, window)
    return kept if len(kept) == len(messages) else [m for m in kept if m["role"] != "user"]


def keeps_answers_of_old(messages: Messages, window: int) -> Messages:
    try:
        return whole_turns(messages, window)
    except ValueError:
        newest = turns_of(messages)[-1]
        if characters(newest[:1]) > window or messages[0]["role"] in ("system", "developer"):
            raise
        return newest[:1]


def never_cuts_one_turn(messages: Messages, window: int) -> Messages:
    if len(turns_of(messages)) > 1 or characters(messages) <= window:
        return whole_turns(messages, window)
    raise ValueError("one turn")


def always_cuts(messages: Messages, window: int) -> Messages:
    head = [m for m in messages if m["role"] in ("system", "developer")]
    newest = [*head, *turns_of(messages[len(head) :])[-1]]
    return whole_turns(newest, window)


def gives_up(messages: Messages, window: int) -> Messages:
    if characters(messages) > window:
        raise ValueError("too long")
    return messages


def answer_first(messages: Messages, window: int) -> Messages:
    kept = whole_turns(messages, window)
    lost = [m for m in messages[: len(messages) - len(kept)] if m["role"] == "assistant" and not m.get("tool_calls")]
    head = [m for m in kept if m["role"] in ("system", "developer")]
    longer = [*head, *lost[-1:], *kept[len(head) :]]
    return longer if lost and len(kept) < len(messages) and characters(longer) <= window else kept


def keeps_only_two_turns(messages: Messages, window: int) -> Messages:
    kept = whole_turns(messages, window)
    if len(kept) == len(messages):
        return kept
    head = [m for m in kept if m["role"] in ("system", "developer")]
    return [*head, *(m for turn in turns_of(kept[len(head) :])[-1:] for m in turn)]


def takes_turns() -> Trim:
    calls = [0]

    def trim(messages: Messages, window: int) -> Messages:
        calls[0] += 1
        kept = whole_turns(messages, window)
        return kept if calls[0] % 2 or len(kept) == len(messages) else keeps_only_two_turns(messages, window)

    return trim


def even_windows_only(messages: Messages, window: int) -> Messages:
    return keeps_only_two_turns(messages, window) if window % 2 else whole_turns(messages, window)


@pytest.mark.parametrize(
    ("trim", "name"),
    [
        (crashes, "answers-or-refuses"),
        (returns_nothing, "answers-or-refuses"),
        (empties_the_list, "input-untouched"),
        (marks_messages, "input-untouched"),
        (summarises, "same-messages-in-order"),
        (reverses, "same-messages-in-order"),
        (one_too_many, "fits"),
        (drop_oldest_message, "no-orphan-result"),
        (forgets_the_last_result, "no-unanswered-call"),
        (forgets_the_question, "question-stays"),
        (forgets_the_head, "instruction-stays"),
        (answer_first, "opens-with-the-user"),
        (always_cuts, "unchanged-when-it-fits"),
        (gives_up, "refuses-only-when-needed"),
        (keeps_only_two_turns, "maximal"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_each_law_is_the_first_that_some_trimmer_breaks(trim: Trim, name: str) -> None:
    error = broken(trim, EVERY, **enough)
    assert error.invariant.name == name
    assert error.problem in str(error)
    assert next(iter(error.verdict.broken)) == name


@pytest.mark.parametrize(
    ("trim", "law"),
    [
        (even_windows_only, MONOTONE),
        (drop_oldest_message, NEWEST_TURN_STAYS),
        (pop_the_middle, SUFFIX),
        (always_cuts, MAXIMAL),
        (takes_turns(), next(law for law in ESSENTIAL if law.name == "same-again")),
        (forgets_the_head, next(law for law in ESSENTIAL if law.name == "instruction-stays")),
    ],
    ids=lambda value: value.name if isinstance(value, Invariant) else "",
)
def test_a_law_can_be_asked_alone(trim: Trim, law: Invariant) -> None:
    assert broken(trim, (law,), **enough).invariant is law


@pytest.mark.parametrize("name", ["unchanged-when-it-fits", "refuses-only-when-needed", "maximal"])
def test_a_trimmer_that_leaves_one_token_unused_is_seen(name: str) -> None:
    def one_too_few(messages: Messages, window: int) -> Messages:
        return whole_turns(messages, window - 1)

    law = next(law for law in EVERY if law.name == name)
    assert broken(one_too_few, (law,), **enough).invariant is law


def test_a_trimmer_that_cuts_its_own_result_again_is_restless() -> None:
    def trim(messages: Messages, window: int) -> Messages:
        head = [m for m in messages if m["role"] in ("system", "developer")]
        turns = turns_of(messages[len(head) :])
        return whole_turns([*head, *(m for turn in turns[len(turns) // 2 :] for m in turn)], window)

    law = next(law for law in ESSENTIAL if law.name == "fixed-point")
    error = broken(trim, (law,), **quick)
    assert error.problem == "called on its own result, it cut again"


def test_an_error_says_what_came_back_of_which_messages() -> None:
    lines = str(broken(drop_oldest_message, **quick)).splitlines()
    assert lines[0] == "broken: no-orphan-result (every kept result has its call before it)"
    assert lines[1] == "  message #2 answers c1_0, whose call was dropped"
    assert [line.split()[:2] for line in lines[3:6]] == [["#0", "dropped"], ["#1", "dropped"], ["#2", "kept"]]
    assert "of 30 examples; broken too: question-stays" in lines[-2]
    assert lines[-1] == "  Drop a call and its results together."


def test_an_error_is_an_assertion_that_survives_a_pickle() -> None:
    error = broken(summarises, **quick)
    again = pickle.loads(pickle.dumps(FitterError.__new__(FitterError, "x")))
    assert isinstance(error, AssertionError)
    assert "and 1 that was never given" in str(error)
    assert again.args == ("x",)
    assert pickle.loads(pickle.dumps(error)).messages == error.messages


def count_only_the_first_call(messages: Messages, window: int) -> Messages:
    for start in [place for place, message in enumerate(messages) if message["role"] == "user"]:
        head = [message for message in messages if message["role"] in ("system", "developer")]
        kept = [*head, *messages[max(start, len(head)) :]]
        if characters([{**message, "tool_calls": message.get("tool_calls", [])[:1]} for message in kept]) <= window:
            return kept
    raise ValueError


def remove_by_value(messages: Messages, window: int) -> Messages:
    kept = list(messages)
    for turn in turns_of([message for message in messages if message["role"] not in ("system", "developer")])[:-1]:
        if characters(kept) > window:
            kept = [message for message in kept if message not in turn]
    if characters(kept) > window:
        raise ValueError
    return kept


def drop_into_the_newest_turn(messages: Messages, window: int) -> Messages:
    try:
        return whole_turns(messages, window)
    except ValueError:
        question = max(place for place, message in enumerate(messages) if message["role"] == "user")
        head = [message for message in messages if message["role"] in ("system", "developer")]
        kept = [*head, *messages[question + 1 :]]
        if question + 1 == len(messages) or characters(kept) > window:
            raise
        return kept


def drop_one_result_of_a_step(messages: Messages, window: int) -> Messages:
    kept = list(messages)
    while len(kept) > 1 and characters(kept) > window:
        if kept.pop(0).get("tool_calls"):
            kept.pop(0)
    if characters(kept) > window:
        raise ValueError
    return kept


@pytest.mark.parametrize(
    ("trim", "law", "longest"),
    [
        (count_only_the_first_call, "fits", 4),
        (remove_by_value, "question-stays", 2),
        (drop_into_the_newest_turn, "question-stays", 4),
        (drop_one_result_of_a_step, "no-orphan-result", 4),
    ],
)
def test_a_subtle_fault_is_shown_by_a_history_that_nothing_can_be_taken_from(
    trim: Trim, law: str, longest: int
) -> None:
    error = broken(trim)
    assert error.invariant.name == law
    assert len(error.messages) <= longest


def test_the_error_of_a_long_history_shows_its_first_and_last_messages_whole() -> None:
    def forgets(messages: Messages, window: int) -> Messages:
        return messages[1:]

    history = [{"role": "user", "content": f"question {number}"} for number in range(40)]
    error = broken(forgets, conversations=st.just(history), **quick)
    rows = [line.strip() for line in str(error).splitlines() if "    " in line]
    assert rows[0].startswith("#0  dropped  user       'question 0'")
    assert "… 32 more: see `messages` and `kept` of this error" in rows
    assert rows[-1].startswith("#39 kept     user       'question 39'")


def test_the_same_examples_come_each_time() -> None:
    first, second = (broken(pop_the_middle, **quick) for _ in range(2))
    assert str(first) == str(second)


def test_copies_of_messages_are_known_again() -> None:
    def copying(messages: Messages, window: int) -> Messages:
        return copy.deepcopy(whole_turns(messages, window))

    assert not check_fitter(copying, count=characters, invariants=EVERY, max_examples=30).broken


def test_messages_of_another_spelling_are_judged_by_the_ones_they_were_made_of() -> None:
    def spell(messages: Messages) -> list[tuple[str, Any]]:
        return [(f"{place}", message) for place, message in enumerate(messages)]

    def count(pairs: list[tuple[str, Any]]) -> int:
        return characters([message for _, message in pairs])

    def suffix(pairs: list[tuple[str, Any]], window: int) -> list[tuple[str, Any]]:
        return next(pairs[start:] for start in range(len(pairs) + 1) if count(pairs[start:]) <= window)

    with pytest.raises(FitterError) as caught:
        check_fitter(suffix, count=count, spell=spell, max_examples=100)
    assert caught.value.invariant.name == "no-orphan-result"


def test_a_spelling_that_loses_messages_is_refused() -> None:
    with pytest.raises(ValueError, match="one for each"):
        check_fitter(whole_turns, count=characters, spell=lambda messages: messages[1:], max_examples=5)


def test_errors_that_are_not_listed_are_crashes() -> None:
    def strict(messages: Messages, window: int) -> Messages:
        try:
            return whole_turns(messages, window)
        except ValueError as error:
            raise LookupError from error

    assert broken(strict, **quick).invariant.name == "answers-or-refuses"
    assert not check_fitter(strict, count=characters, refuses=(LookupError,), max_examples=30).broken


@pytest.mark.slow
def test_other_conversations_can_be_drawn() -> None:
    drawn = conversations(texts=st.sampled_from(["ab", "c"]))

    def length(messages: Messages) -> int:
        return len(messages)

    def last_three(messages: Messages, window: int) -> Messages:
        return messages[-window:]

    with pytest.raises(FitterError) as caught:
        check_fitter(last_three, count=length, conversations=drawn, max_examples=25)
    assert caught.value.invariant.name in ("no-orphan-result", "question-stays")


def test_a_law_that_breaks_too_rarely_to_be_found_again_is_reported_by_the_shortest_case_seen() -> None:
    calls: list[int] = []

    def fails_in_its_first_calls(messages: Messages, window: int) -> Messages:
        calls.append(0)
        return messages if len(calls) < 15 else whole_turns(messages, window)

    error = broken(fails_in_its_first_calls, (next(law for law in ESSENTIAL if law.name == "fits"),), max_examples=20)
    assert error.problem.startswith("only in some of the runs")


def test_a_check_without_laws_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing would be checked"):
        check_fitter(whole_turns, count=characters, invariants=())


def test_a_verdict_reads_like_a_table() -> None:
    verdict = check_fitter(whole_turns, count=characters, max_examples=20)
    assert str(verdict) == f"20 examples, {verdict.refused} refused, nothing broken"
    table = str(broken(keep_last_messages, **quick).verdict).splitlines()
    assert table[1].split()[0] == "fits"
    assert table[1].endswith("broken")


def test_the_histories_that_are_drawn_are_valid_and_all_texts_but_short_questions_are_unique() -> None:
    seen: list[Messages] = []

    def look(messages: Messages, window: int) -> Messages:
        seen.append(messages)
        return messages

    everything = Invariant("anything", "holds", "Nothing.", lambda trial: None)
    check_fitter(look, count=characters, invariants=(everything,), conversations=histories())
    assert all(pairs_hold(messages) for messages in seen)
    assert all(messages[-1]["role"] in ("user", "tool") for messages in seen)
    assert max(len(messages) for messages in seen) > 12
    repeated = 0
    for messages in seen:
        contents = [(m["content"], m.get("tool_call_id")) for m in messages if m["content"] is not None]
        assert len(set(contents) - {("yes", None)}) == len(contents) - contents.count(("yes", None))
        repeated += contents.count(("yes", None)) > 1
    assert repeated > 9
