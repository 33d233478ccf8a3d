"""Where the count of a text is the sum of the counts of its parts, on which the fitting relies.

T0, T1, T3 and the tag seam are stated in the tests' names; each has a mutant that must fail.
"""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from budgets import tiktoken_counter
from budgets.counters.tiktoken import BUNDLED
from tests.budgets.drawn_texts import BLANKS, adversarial, texts
from tests.budgets.raw_engines import engine, tokens_of
from tests.scaled import scaled

PATTERNS_OF_2023_ON = ["cl100k_base", "o200k_base"]
WHITE = BLANKS + "\n\r"

newlines = st.sampled_from(["\n", "\n\n", "\n\n\n"])


def leading_white(text: str) -> str:
    return text[: len(text) - len(text.lstrip(WHITE))]


@scaled(0.3)
@given(a=texts, b=texts)
@pytest.mark.parametrize("name", PATTERNS_OF_2023_ON)
def test_a_control_token_keeps_two_texts_apart(name: str, a: str, b: str) -> None:
    """T0."""
    assume("<|endoftext|>" not in a + b)
    joined = engine(name).encode(a + "<|endoftext|>" + b, allowed_special={"<|endoftext|>"}, disallowed_special=())
    count = tiktoken_counter(name)
    assert len(joined) == count(a) + 1 + count(b)


@scaled(0.3)
@given(a=adversarial, end=st.sampled_from("\n\r"), b=adversarial)
@example(a=";", end="\n", b="")
@example(a="x \n ", end="\n", b="  y")
@pytest.mark.parametrize("name", [name for name in BUNDLED if tiktoken_counter(name).additive_at_tag_seams])
def test_after_a_line_break_counts_add(name: str, a: str, end: str, b: str) -> None:
    """T1, for a second text that has no line break before its first word and does not begin with a slash."""
    assume(not set(leading_white(b)) & set("\n\r") and not b.startswith("/"))
    count = tiktoken_counter(name)
    assert count(a + end) + count(b) == tokens_of(name, a + end + b)


@scaled(0.3)
@given(a=adversarial, b=adversarial, seam=st.sampled_from(WHITE))
@pytest.mark.parametrize("name", PATTERNS_OF_2023_ON)
def test_counts_add_before_white_space(name: str, a: str, b: str, seam: str) -> None:
    """T3, after a letter or digit; after any other character unless the white space is a line break."""
    assume(a and not a[-1].isspace())
    alphanumeric = unicodedata.category(a[-1])[0] in "LN"
    assume(alphanumeric or seam not in "\n\r")
    count = tiktoken_counter(name)
    assert count(a) + count(seam + b) == tokens_of(name, a + seam + b)


@scaled(0.3)
@given(a=texts, sep=newlines, b=texts)
@example(a='<context source="a">\n;', sep="\n\n", b="/x")
@pytest.mark.parametrize("name", [name for name in BUNDLED if tiktoken_counter(name).additive_at_tag_seams])
def test_counts_add_where_a_tag_ends_and_the_next_begins(name: str, a: str, sep: str, b: str) -> None:
    count = tiktoken_counter(name)
    assert count(a + ">" + sep) + count("<" + b) == tokens_of(name, a + ">" + sep + "<" + b)


def test_every_encoding_but_the_oldest_promises_it() -> None:
    assert {name for name in BUNDLED if not tiktoken_counter(name).additive_at_tag_seams} == {"r50k_base"}


MUTANTS = {
    "a slash after a line break is swallowed by o200k_base": ("o200k_base", "<a>;\n", "/b"),
    "a line break after a line break is not at a boundary": ("o200k_base", "x\n", "\nb"),
    "the separator priced apart from a row of marks": ("o200k_base", ";" * 16, "\n\n"),
    "the separator priced apart from a tag": ("cl100k_base", "</context>", "\n\n"),
    "two words without a blank": ("o200k_base", "con", "text"),
    "r50k_base at a tag seam of two line breaks": ("r50k_base", "</a>\n\n", "<b>"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_without_these_conditions_the_sum_is_wrong(mutant: str) -> None:
    name, a, b = MUTANTS[mutant]
    count = tiktoken_counter(name)
    assert count(a) + count(b) != tokens_of(name, a + b)
