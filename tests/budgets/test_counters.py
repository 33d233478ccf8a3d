"""The contract of every counter in the table. EXAMPLES make those that need an argument."""

from __future__ import annotations

import copy
import importlib
import inspect
import json
import pickle
import pkgutil
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from budgets import (
    Grade,
    TokenCountError,
    approximate_counter,
    counters,
    memoised,
    tiktoken_counter,
    total_counter,
    transformers_counter,
)
from budgets.counters.guard import Guarded
from tests.budgets.drawn_texts import controls, texts
from tests.budgets.raw_engines import tokens_of
from tests.budgets.toy_tokenizers import SPECIALS, byte_level
from tests.scaled import scaled

EXAMPLES: dict[str, Callable[[], Guarded]] = {
    "tiktoken o200k_base": tiktoken_counter,
    "tiktoken cl100k_base": lambda: tiktoken_counter("cl100k_base"),
    "tiktoken o200k_harmony": lambda: tiktoken_counter("o200k_harmony"),
    "tiktoken r50k_base": lambda: tiktoken_counter("r50k_base"),
    "transformers": lambda: transformers_counter(byte_level()),
    "approximate": approximate_counter,
    "a user's own": lambda: total_counter(len),
    "memoised": lambda: memoised(tiktoken_counter()),
    "memoised user's own": lambda: memoised(len),
}
"""Counters that need an argument, or have ways that differ."""


def makers() -> dict[str, Callable[..., Any]]:
    """The functions of the table that make a counter."""
    listed = {name: getattr(counters, name) for name in dir(counters)}
    return {name: make for name, make in listed.items() if inspect.isfunction(make)}


def needs_nothing(make: Callable[..., object]) -> bool:
    return all(each.default is not each.empty for each in inspect.signature(make).parameters.values())


COUNTERS = {**EXAMPLES, **{name: make for name, make in makers().items() if needs_nothing(make)}}


def test_every_maker_of_a_counter_is_in_the_table() -> None:
    found = [
        importlib.import_module(each.name) for each in pkgutil.iter_modules(counters.__path__, "budgets.counters.")
    ]
    written = {name for module in found for name, one in vars(module).items() if _makes_a_counter(name, one, module)}
    assert len(written) > 8
    assert written <= makers().keys(), "a line of budgets/counters/__init__.pyi is missing"


def _makes_a_counter(name: str, one: object, module: ModuleType) -> bool:
    ours = inspect.isfunction(one) and one.__module__ == module.__name__
    return ours and name.endswith("_counter") and not name.startswith("_")


@pytest.fixture(params=COUNTERS)
def counter(request: pytest.FixtureRequest) -> Guarded:
    return _made(request.param)


_kept: dict[str, Guarded] = {}


def _made(name: str) -> Guarded:
    if name not in _kept:
        _kept[name] = COUNTERS[name]()
    return _kept[name]


@pytest.mark.parametrize("name", COUNTERS)
@scaled(0.3)
@given(text=texts)
def test_any_text_has_the_same_number_of_tokens_every_time(name: str, text: str) -> None:
    count = _made(name)
    tokens = count(text)
    assert type(tokens) is int
    assert tokens >= 0
    assert count(text) == tokens


def test_the_empty_text_costs_nothing(counter: Guarded) -> None:
    assert counter("") == 0


@pytest.mark.parametrize("name", COUNTERS)
@scaled(0.3)
@given(before=texts, control=controls)
def test_control_tokens_in_a_text_are_text(name: str, before: str, control: str) -> None:
    """As one special token, `<|endoftext|>` would cost 1 and its halves together more."""
    count = _made(name)
    assert count(control) > 1
    assert count(before + control) >= 1


@pytest.mark.parametrize("name", COUNTERS)
@scaled(0.3)
@given(before=texts, after=texts, lone=st.characters(categories=["Cs"]))
def test_a_lone_surrogate_is_the_same_error_for_every_engine(name: str, before: str, after: str, lone: str) -> None:
    count = _made(name)
    with pytest.raises(TokenCountError) as caught:
        count(before + lone + after)
    assert str(caught.value) == (
        f"counter {count.name} cannot count a lone surrogate (offset {len(before)}): no UTF-8 spells it. "
        "Decode the source again."
    )
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_copies_of_a_counter_count_alike(counter: Guarded) -> None:
    text = "The order has <|endoftext|> shipped; 東京.\n\n"
    for other in (pickle.loads(pickle.dumps(counter)), copy.copy(counter), copy.deepcopy(counter)):
        assert other == counter
        assert other(text) == counter(text)
        assert (other.name, other.grade, other.additive_at_tag_seams) == (
            counter.name,
            counter.grade,
            counter.additive_at_tag_seams,
        )


def test_threads_count_alike(counter: Guarded) -> None:
    drawn = [f"order {i} <|im_start|> shipped {'é' * (i % 7)}" for i in range(40)]
    alone = [counter(text) for text in drawn]
    found: list[list[int]] = []
    start = threading.Barrier(16)

    def count_all() -> None:
        start.wait()
        found.append([counter(text) for text in drawn])

    threads = [threading.Thread(target=count_all) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone] * 16


@pytest.mark.parametrize("wrong", [None, 7, ["text"]])
def test_a_value_that_is_not_text_is_refused(counter: Guarded, wrong: object) -> None:
    with pytest.raises((TokenCountError, TypeError, AttributeError)):
        counter(wrong)  # type: ignore[arg-type]


def test_a_counters_name_holds_its_engine_and_vocabulary() -> None:
    assert {name: made.name for name, made in ((n, _made(n)) for n in EXAMPLES)} == {
        "tiktoken o200k_base": "tiktoken:o200k_base",
        "tiktoken cl100k_base": "tiktoken:cl100k_base",
        "tiktoken o200k_harmony": "tiktoken:o200k_harmony",
        "tiktoken r50k_base": "tiktoken:r50k_base",
        "transformers": "transformers:Tokenizer",
        "approximate": "approximate",
        "a user's own": "len",
        "memoised": "tiktoken:o200k_base",
        "memoised user's own": "len",
    }


def test_only_the_approximate_counter_estimates() -> None:
    assert {name for name in EXAMPLES if _made(name).grade is not Grade.EXACT} == {"approximate"}
    assert memoised(approximate_counter()).grade is Grade.ESTIMATED


@pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_base", "o200k_harmony", "r50k_base"])
@scaled(0.3)
@given(text=texts)
def test_tiktoken_counts_what_tiktoken_counts(encoding: str, text: str) -> None:
    assert tiktoken_counter(encoding)(text) == tokens_of(encoding, text)


@pytest.mark.parametrize("special", SPECIALS)
def test_transformers_counts_control_tokens_as_their_letters(special: str) -> None:
    without = json.loads(byte_level().to_str()) | {"added_tokens": []}
    letters = Tokenizer.from_str(json.dumps(without)).encode(f"a {special} b").ids
    assert len(byte_level().encode(f"a {special} b").ids) < len(letters)
    assert transformers_counter(byte_level())(f"a {special} b") == len(letters)


def test_32_threads_that_count_first_load_the_vocabulary_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import budgets.counters.tiktoken as subject
    import budgets.vocabularies as vocabularies

    original, loads = vocabularies.mergeable_ranks, []

    def watched(name: str) -> dict[bytes, int]:
        loads.append(name)
        return original(name)

    monkeypatch.setattr(vocabularies, "mergeable_ranks", watched)
    subject._build_engine.cache_clear()
    counts: list[int] = []
    start = threading.Barrier(32)

    def count() -> None:
        start.wait()
        counts.append(tiktoken_counter("r50k_base")("one two three"))

    threads = [threading.Thread(target=count) for _ in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [3] * 32
    assert loads == ["r50k_base"]


def test_a_damaged_vocabulary_is_refused_at_each_count(monkeypatch: pytest.MonkeyPatch) -> None:
    import budgets.counters.tiktoken as subject
    import budgets.vocabularies.loading as loading

    subject._build_engine.cache_clear()
    monkeypatch.setattr(loading, "read_packed", lambda _file: b"damaged")
    count = tiktoken_counter("r50k_base")
    for _ in range(2):
        with pytest.raises(TokenCountError, match=r"r50k_base\.zlib is not ours"):
            count("text")
    monkeypatch.undo()
    assert count("text") == 1
