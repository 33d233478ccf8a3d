"""Texts counted before an engine is loaded have the count of the published tiktoken."""

from __future__ import annotations

import itertools
import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from budgets.counters.first_texts import CHARACTERS, ENCODINGS, LONGEST_PIECE, FirstTexts, first_texts
from tests.budgets.drawn_texts import texts
from tests.budgets.raw_engines import tokens_of
from tests.scaled import scaled

ASCII = "".join(map(chr, range(128)))
TELLING = "aAsSlLtT019'/ \t\n\r\x0b\x1c;_"
"""A character or two of each class that the patterns tell apart."""

ascii_texts = st.one_of(
    texts.map(lambda text: "".join(letter for letter in text if letter.isascii())),
    st.text(st.sampled_from(TELLING), max_size=24),
    st.text(st.sampled_from(ASCII), max_size=60),
)


def fresh(encoding: str, characters: int = CHARACTERS) -> FirstTexts:
    """One that has counted nothing yet."""
    from budgets.vocabularies import vocabulary_of

    return FirstTexts(vocabulary_of(encoding).pattern, first_texts(encoding).ranks, characters)


@pytest.mark.parametrize("encoding", sorted(ENCODINGS))
@scaled(0.5)
@given(text=ascii_texts)
@example("  \n \n  x")
@example(";\r\n/ a")
@example("x'S's'LL don't DON'T")
@example("blank at the end \n")
@example("\x1c\x1d \x1e\x1f\x00\x7f")
def test_a_first_text_has_the_tokens_that_tiktoken_counts(encoding: str, text: str) -> None:
    assert fresh(encoding).count(text) == tokens_of(encoding, text)


@pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_base"])
def test_every_text_of_two_ascii_characters_and_every_telling_one_of_three_has_them(encoding: str) -> None:
    many = fresh(encoding, 10**9)
    drawn = itertools.chain(itertools.product(ASCII, repeat=2), itertools.product(TELLING, repeat=3))
    assert [text for text in map("".join, drawn) if many.count(text) != tokens_of(encoding, text)] == []


def test_unusual_and_slow_spellings_are_left_to_the_engine() -> None:
    first = fresh("o200k_base")
    assert first.count("é") is None
    assert first.count("q" * (LONGEST_PIECE + 1)) is None
    assert first.count("a" * LONGEST_PIECE) == tokens_of("o200k_base", "a" * LONGEST_PIECE)


def test_the_engine_counts_from_the_first_text_beyond_the_limit() -> None:
    first, half = fresh("o200k_base"), "ab " * (CHARACTERS // 6)
    assert [first.count(half), first.count(half)] == [tokens_of("o200k_base", half)] * 2
    assert first.count("a" * (CHARACTERS - 2 * len(half) + 1)) is None


def test_a_short_chat_loads_no_engine_and_a_long_one_does() -> None:
    code = (
        "import sys; from budgets import tiktoken_counter; count = tiktoken_counter()\n"
        "print(count('What is the capital of France?'), 'tiktoken' in sys.modules)\n"
        f"print(count('ab ' * {CHARACTERS}), 'tiktoken' in sys.modules, count('Why?'))"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    many = tokens_of("o200k_base", "ab " * CHARACTERS)
    assert done.stdout.split() == ["7", "False", str(many), "True", "2"]
