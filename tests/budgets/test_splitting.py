"""The rewritten split patterns give the ids of the published ones, by tiktoken itself."""

from __future__ import annotations

import itertools
from typing import cast

import pytest
import tiktoken
from hypothesis import example, given

from budgets.counters.tiktoken import _load_engine, _make_count
from budgets.vocabularies import PUBLISHED, mergeable_ranks
from budgets.vocabularies.splitting import find_faster_pattern
from tests.benchmarks.fuzz_splitting import CLASSES, block, first_difference
from tests.budgets.drawn_texts import texts
from tests.budgets.raw_engines import NAMES, engine
from tests.scaled import scaled

TELLING = ["cl100k_base", "o200k_base", "r50k_base"]
"""o200k_harmony has the tokens and the pattern of o200k_base."""


@scaled(0.5)
@given(text=texts)
@example("  \n \n  x")
@example(";\r\n/ a")
@example("x'S's'\u017f'LL")
@example("\u0301a \u0301'd")
@pytest.mark.parametrize("name", TELLING)
def test_a_text_has_the_ids_that_the_published_pattern_gives(name: str, text: str) -> None:
    assert _load_engine(name).encode_ordinary(text) == engine(name).encode_ordinary(text)


@scaled(0.5)
@given(text=texts)
@example("<|endoftext|> is a text <|endofprompt|>")
@pytest.mark.parametrize("name", NAMES)
def test_the_tokens_that_an_engine_packs_are_as_many_as_those_that_it_lists(name: str, text: str) -> None:
    assert _make_count(_load_engine(name))(text) == len(engine(name).encode_ordinary(text))


def test_an_engine_that_packs_no_tokens_is_counted_by_its_list() -> None:
    class Listing:
        def encode_ordinary(self, text: str) -> list[int]:
            return engine("o200k_base").encode_ordinary(text)

    text = "A release of tiktoken may hide what has no public name."
    assert _make_count(cast("tiktoken.Encoding", Listing()))(text) == len(Listing().encode_ordinary(text))


@pytest.mark.parametrize("name", TELLING)
def test_every_text_of_three_characters_has_the_published_ids(name: str) -> None:
    pair = engine(name).encode_ordinary, _load_engine(name).encode_ordinary
    assert first_difference(map("".join, itertools.product(CLASSES, repeat=3)), {name: pair}) is None


def test_without_the_look_ahead_the_pattern_would_be_another() -> None:
    r"""The mutant: `\s+` without the look-ahead takes the last blank from the word behind it."""
    wrong = find_faster_pattern(PUBLISHED["r50k_base"].pattern).replace(r"|\s+(?!\S)", "|\\s+")
    spoilt = tiktoken.Encoding("spoilt", pat_str=wrong, mergeable_ranks=mergeable_ranks("r50k_base"), special_tokens={})
    pair = engine("r50k_base").encode_ordinary, spoilt.encode_ordinary
    assert first_difference(["a b", "a  b"], {"r50k_base": pair}) == ("r50k_base", "a  b")


@pytest.mark.parametrize("name", NAMES)
def test_no_possessive_quantifier_is_left_before_the_look_ahead(name: str) -> None:
    before, look_ahead, _ = find_faster_pattern(PUBLISHED[name].pattern).partition(r"|\s+(?!\S)")
    assert look_ahead
    assert before.startswith("(?:")
    assert not any(quantifier in before for quantifier in ("++", "*+", "?+", "3}+"))


def test_a_block_of_the_search_is_the_same_in_every_run() -> None:
    assert list(itertools.islice(block(0), 4)) == list(CLASSES[:4])
    drawn = [list(itertools.islice(block(1_000), 5)) for _ in range(2)]
    assert drawn[0] == drawn[1]
