"""The memory of counts counts each text once, stays within its bounds, and changes no count."""

from __future__ import annotations

import itertools
import pickle
import sys
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgets import BudgetError, TokenCountError, memoised, tiktoken_counter
from tests.assembler.by_hand import Tally
from tests.budgets.drawn_texts import texts


def test_the_notes_of_a_counter_are_passed_on() -> None:
    class Chatty(Tally):
        notes: object = ("a fallback counted",)

    counter = Chatty()
    remembered = memoised(counter)
    assert remembered.notes == ("a fallback counted",)
    assert memoised(len).notes == memoised(tiktoken_counter()).notes == ()
    for wrong in ("one line", ["a list"], 3, None):
        Chatty.notes = wrong
        assert remembered.notes == ()


@given(drawn=st.lists(texts, max_size=30))
def test_each_text_is_counted_once_and_right(drawn: list[str]) -> None:
    tally = Tally()
    count = memoised(tally)
    assert [count(text) for text in drawn + drawn] == [len(text) for text in drawn + drawn]
    assert sorted(tally.texts) == sorted(set(drawn))


@given(
    drawn=st.lists(st.text("ab", max_size=6), max_size=200),
    max_entries=st.integers(2, 12),
    max_characters=st.integers(2, 30),
)
def test_the_memory_never_holds_more_than_its_bounds(drawn: list[str], max_entries: int, max_characters: int) -> None:
    count = memoised(len, max_entries=max_entries, max_characters=max_characters)
    for text in drawn:
        assert count(text) == len(text)
        kept = count._generations
        held = [*kept.young, *kept.old]
        assert len(count) <= len(held) <= max_entries
        assert sum(map(len, held)) <= max_characters


@given(drawn=st.lists(st.text("ab", max_size=6), max_size=60), splits=st.lists(st.integers(0, 60), max_size=4))
def test_texts_counted_together_are_counted_once_and_right(drawn: list[str], splits: list[int]) -> None:
    tally = Tally()
    count = memoised(tally)
    for start, stop in itertools.pairwise([0, *sorted(splits), len(drawn)]):
        assert list(count.count_each(iter(drawn[start:stop]))) == [len(text) for text in drawn[start:stop]]
        assert list(map(count, drawn)) == list(map(len, drawn))
    assert sorted(tally.texts) == sorted(set(drawn))


@given(
    drawn=st.lists(st.lists(st.text("ab", max_size=6), max_size=20), max_size=10),
    max_entries=st.integers(2, 12),
    max_characters=st.integers(2, 30),
)
def test_texts_counted_together_keep_the_bounds_of_the_memory(
    drawn: list[list[str]], max_entries: int, max_characters: int
) -> None:
    count = memoised(len, max_entries=max_entries, max_characters=max_characters)
    for texts_at_once in drawn:
        assert list(count.count_each(texts_at_once)) == list(map(len, texts_at_once))
        kept = count._generations
        held = [*kept.young, *kept.old]
        assert len(count) <= len(held) <= max_entries
        assert sum(map(len, held)) <= max_characters
        assert kept.characters == sum(map(len, kept.young))


def test_texts_counted_before_one_that_fails_are_remembered() -> None:
    asked = list[str]()

    def answer(text: str) -> int:
        asked.append(text)
        return int(text)

    count = memoised(answer)
    with pytest.raises(TokenCountError, match="failed with ValueError"):
        list(count.count_each(["1", "2", "no number", "3"]))
    assert [count("1"), count("2")] == [1, 2]
    assert asked == ["1", "2", "no number"]


@pytest.mark.parametrize("wrong", [None, 3, b"bytes", ["a list"]])
def test_a_value_among_texts_that_is_no_text_is_refused(wrong: Any) -> None:
    with pytest.raises(TokenCountError, match="pass a text"):
        list(memoised(len).count_each(["a", wrong]))


def test_a_text_that_is_about_to_be_forgotten_is_not_counted_again_beside_new_ones() -> None:
    tally = Tally()
    count = memoised(tally, max_entries=8)
    for text in "abcdef":  # the older half is full, and "a" is in it
        count(text)
    assert list(count.count_each(["a", "new", "new"])) == [1, 3, 3]
    assert tally.texts == [*"abcdef", "new"]


def test_a_recently_used_text_is_not_forgotten() -> None:
    tally = Tally()
    count = memoised(tally, max_entries=10)
    for i in range(100):
        count("often")
        count(str(i))
    assert tally.texts.count("often") == 1


def test_an_unused_text_is_forgotten() -> None:
    tally = Tally()
    count = memoised(tally, max_entries=10)
    count("once")
    for i in range(10):
        count(str(i))
    count("once")
    assert tally.texts.count("once") == 2


@pytest.mark.parametrize(("length", "times"), [(49, 1), (50, 1), (51, 2)])
def test_a_text_longer_than_half_of_the_memory_is_counted_each_time(length: int, times: int) -> None:
    tally = Tally()
    count = memoised(tally, max_characters=100)
    assert count("x" * length) == count("x" * length) == length
    assert len(tally.texts) == times


def test_a_zero_is_remembered_too() -> None:
    tally = Tally()
    count = memoised(tally)
    assert count("") == count("") == 0
    assert tally.texts == [""]


def test_threads_that_overflow_it_get_right_counts_and_keep_the_bounds() -> None:
    count = memoised(len, max_entries=16, max_characters=64)
    wrong: list[str] = []
    start = threading.Barrier(16)

    def churn(seed: int) -> None:
        start.wait()
        for i in range(2_000):
            text = "x" * ((i * seed) % 23)
            if count(text) != len(text):
                wrong.append(text)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=churn, args=(seed,)) for seed in range(1, 17)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong
    assert len(count) <= 16


def test_a_pickled_memory_is_empty() -> None:
    count = memoised(len, max_entries=7, max_characters=70)
    count("text")
    copy = pickle.loads(pickle.dumps(count))
    assert copy == count
    assert (len(copy), len(count)) == (0, 1)
    assert (copy.max_entries, copy.max_characters) == (7, 70)


@pytest.mark.parametrize("bound", [1, 0, -1])
def test_a_memory_that_holds_nothing_is_refused(bound: int) -> None:
    with pytest.raises(BudgetError, match=f"max_entries is {bound}"):
        memoised(len, max_entries=bound)
    with pytest.raises(BudgetError, match=f"max_characters is {bound}"):
        memoised(len, max_characters=bound)
