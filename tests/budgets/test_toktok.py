"""The second engine counts any text as the first one does."""

from __future__ import annotations

import importlib
import itertools
import pickle
import sys
import types
import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from budgets import MissingExtraError, TokenCountError, fastest_counter, tiktoken_counter, toktok_counter
from budgets.counters import toktok as subject
from budgets.counters.settled_characters import all_settled
from tests.benchmarks.fuzz_toktok import differences, drawn
from tests.budgets.drawn_texts import texts
from tests.budgets.raw_engines import tokens_of
from tests.scaled import scaled

ENCODINGS = ["cl100k_base", "o200k_base", "o200k_harmony"]

NEW_IN_UNICODE_17 = "\u088f\u0c5c\u1acf\u1add\ua7ce\ua7f1\U00010940\U00011db0"
"""toktok-rs 0.3.0 knows them for letters or marks, tiktoken 0.14.0 does not know them."""
RECLASSED = "\u0295"
"""A lower-case letter until Unicode 16, a letter without case from 17 on."""

needs_toktok = pytest.mark.skipif(importlib.util.find_spec("toktok") is None, reason="toktok-rs is not installed")

TELLING = [("cl100k_base", "\t", ""), ("o200k_base", " ", "x"), ("o200k_base", "\u3000", "1")]
"""Each encoding, and each thing that may stand behind a run: a long run takes about a second."""

# Frames in which the class of a character shows in the count: what it does to the texts beside it.
FRAMES = ["{}", "{}'s", "{}123", ";;{}'s", " {} x", "A{}'S", "x'{}e", "\n{}\n", "  {}/\n"]


@pytest.fixture
def without_toktok(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "toktok", None)
    subject._load_count.cache_clear()
    yield
    subject._load_count.cache_clear()


@needs_toktok
@scaled(0.5)
@given(text=texts)
@example("<|endoftext|>\n<|im_start|>")
@example("x" + RECLASSED + "'s")
@pytest.mark.parametrize("name", ENCODINGS)
def test_both_engines_count_alike(name: str, text: str) -> None:
    assert toktok_counter(name)(text) == tokens_of(name, text)


@needs_toktok
@scaled(0.5)
@given(start=st.integers(0, 0x10FFFF // 97))
@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_no_single_character_makes_the_two_engines_differ(name: str, start: int) -> None:
    """A draw of what tests/benchmarks/fuzz_toktok.py runs over all."""
    counter = toktok_counter(name)
    for point in (start, start * 97):
        if unicodedata.category(chr(point)) != "Cs":
            for frame in FRAMES:
                text = frame.format(chr(point))
                assert counter(text) == tokens_of(name, text), hex(point)


@needs_toktok
@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
@pytest.mark.parametrize("character", NEW_IN_UNICODE_17)
def test_a_character_newer_than_one_engine_is_left_to_tiktoken(name: str, character: str) -> None:
    for frame in FRAMES:
        text = frame.format(character)
        assert not all_settled(text)
        assert toktok_counter(name)(text) == tokens_of(name, text)


@needs_toktok
def test_without_the_routing_the_engines_differ() -> None:
    """The mutant. When this fails, both engines have the same tables and the routing may be removed."""
    text = "\u088f's"
    assert subject._load_count("o200k_base")(text) != tokens_of("o200k_base", text)


@needs_toktok
@pytest.mark.parametrize(
    ("name", "blank", "after"),
    [
        case if case in TELLING else pytest.param(*case, marks=pytest.mark.slow)
        for case in itertools.product(["cl100k_base", "o200k_base"], [" ", "\t", "\u3000", "\n"], ["", "x", "1"])
    ],
)
def test_a_run_of_blanks_that_makes_tiktoken_panic_is_counted_alike(name: str, blank: str, after: str) -> None:
    text = blank * 1_000_000 + after
    assert toktok_counter(name)(text) == tiktoken_counter(name)(text)


@needs_toktok
@pytest.mark.parametrize("text", ["\ud800", "a\udfff", "\ud83d\ude00", "\u088f\ud800"])
def test_a_lone_surrogate_is_refused_as_tiktoken_refuses_it(text: str) -> None:
    with pytest.raises(TokenCountError) as ours:
        toktok_counter()(text)
    with pytest.raises(TokenCountError) as theirs:
        tiktoken_counter()(text)
    assert str(ours.value).replace("toktok:", "tiktoken:") == str(theirs.value)


@needs_toktok
def test_the_public_function_counts_like_the_private_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A later toktok-rs may not have the private function any more."""
    engine = importlib.import_module("toktok")
    face = types.SimpleNamespace(batch_count=engine.batch_count)
    monkeypatch.setitem(sys.modules, "toktok", face)
    subject._load_count.cache_clear()
    try:
        assert toktok_counter()("One text, counted.") == tokens_of("o200k_base", "One text, counted.")
    finally:
        subject._load_count.cache_clear()


@needs_toktok
def test_the_fastest_counter_is_toktok_if_installed_and_able_to_count_the_encoding() -> None:
    assert fastest_counter("cl100k_base") == toktok_counter("cl100k_base")
    assert fastest_counter("r50k_base") == tiktoken_counter("r50k_base")


@needs_toktok
def test_toktoks_counter_has_tiktokens_promises_and_pickles() -> None:
    for name in ENCODINGS:
        counter = toktok_counter(name)
        assert counter.name == f"toktok:{name}"
        assert counter.grade is tiktoken_counter(name).grade
        assert counter.additive_at_tag_seams is tiktoken_counter(name).additive_at_tag_seams
        assert pickle.loads(pickle.dumps(counter)) == counter


@needs_toktok
def test_an_engine_that_fails_is_a_count_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        pass

    def panic(_text: str) -> int:
        raise PanicException

    monkeypatch.setattr(subject, "_load_count", lambda _encoding: panic)
    with pytest.raises(TokenCountError, match="failed with PanicException"):
        toktok_counter()("x")


@pytest.mark.usefixtures("without_toktok")
def test_without_the_package_the_error_names_the_extra() -> None:
    with pytest.raises(MissingExtraError, match=r"context-assembler\[toktok\]"):
        toktok_counter()
    with pytest.raises(MissingExtraError):
        subject.ToktokCounter("o200k_base")("x")


@pytest.mark.usefixtures("without_toktok")
def test_without_the_package_the_fastest_is_tiktoken() -> None:
    assert fastest_counter("o200k_base") == tiktoken_counter("o200k_base")


def test_another_package_of_the_same_name_is_not_taken_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "toktok", types.ModuleType("toktok"))
    with pytest.raises(MissingExtraError):
        toktok_counter()


def test_an_encoding_that_it_does_not_hold_is_refused() -> None:
    with pytest.raises(TokenCountError, match="tiktoken_counter"):
        toktok_counter("r50k_base")
    with pytest.raises(TokenCountError):
        fastest_counter("p50k_base")


@given(text=st.text(st.characters(exclude_categories=["Cs", "Cn"], max_codepoint=0xFFFF)))
def test_an_old_text_is_left_to_the_second_engine(text: str) -> None:
    """Python 3.11 knows Unicode 14, so all that it knows is older than 15. A later Python knows more."""
    if unicodedata.unidata_version <= "15.0.0":
        assert all_settled(text.replace(RECLASSED, ""))


@pytest.mark.slow
def test_the_table_holds_as_many_characters_as_unicode_15_assigned() -> None:
    """62,034 below 65,536 less surrogates (unicodedata2 15.0.0, read 2026-11), and one of them was reclassed since."""
    settled = [point for point in range(0x110000) if all_settled(chr(point))]
    assert sum(point < 0x10000 for point in settled) == 62_034 - 1
    assert ord(RECLASSED) not in settled
    if unicodedata.unidata_version >= "15.0.0":
        assert all(unicodedata.category(chr(point)) not in ("Cn", "Cs") for point in settled)


@needs_toktok
@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_a_sample_of_the_fuzz_finds_no_difference(name: str) -> None:
    compared, routed, found = differences(name, drawn(4_000, seed=7))
    assert compared == 4_000
    assert 0 < routed < compared
    assert found == []
