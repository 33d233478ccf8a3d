"""A Hugging Face tokenizer is copied: no setting and no thread of its owner changes a count."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
import warnings

import pytest
from hypothesis import given
from tokenizers import Tokenizer, processors

from budgets import MissingExtraError, TokenCountError, transformers_counter
from tests.budgets.drawn_texts import texts
from tests.budgets.toy_tokenizers import SPECIALS, byte_level

LONG = "The order has been shipped. " * 60


def own_copy() -> Tokenizer:
    return Tokenizer.from_str(byte_level().to_str())


@given(text=texts)
def test_the_counter_agrees_with_the_tokenizer_on_plain_text(text: str) -> None:
    if not any(special in text for special in SPECIALS):
        assert transformers_counter_of_toy(text) == len(byte_level().encode(text, add_special_tokens=False).ids)


transformers_counter_of_toy = transformers_counter(byte_level())


def test_settings_of_the_original_change_no_count() -> None:
    original = own_copy()
    count = transformers_counter(original)
    before = count(LONG)
    original.enable_truncation(8)
    original.enable_padding(length=500)
    original.add_special_tokens(["order"])
    assert count(LONG) == before > 8
    truncating = own_copy()
    truncating.enable_truncation(8)
    truncating.enable_padding(length=500)
    assert transformers_counter(truncating)(LONG) == before  # settings that are on already are not copied


def test_counting_leaves_the_original_as_it_was() -> None:
    original = own_copy()
    state = original.to_str()
    transformers_counter(original)(LONG)
    assert original.to_str() == state
    assert original.encode_special_tokens is False


def test_tokens_that_the_tokenizer_adds_by_itself_are_not_counted() -> None:
    framed = own_copy()
    framed.post_processor = processors.TemplateProcessing(single="</s> $A </s>", special_tokens=[("</s>", 3)])
    assert len(framed.encode("a").ids) == 3
    assert transformers_counter(framed)("a") == 1


def test_threads_that_truncate_the_original_disturb_nothing() -> None:
    original = own_copy()
    count = transformers_counter(original)
    alone, stop, found = count(LONG), threading.Event(), []

    def disturb() -> None:
        while not stop.is_set():
            original.enable_truncation(8)
            original.no_truncation()

    disturber = threading.Thread(target=disturb)
    disturber.start()
    found = [count(LONG) for _ in range(200)]
    stop.set()
    disturber.join()
    assert set(found) == {alone}


def test_a_fast_tokenizer_of_transformers_is_taken_by_its_backend() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from transformers import PreTrainedTokenizerFast
    fast = PreTrainedTokenizerFast(tokenizer_object=own_copy(), eos_token="</s>")
    fast.name_or_path = "toy/bpe"
    count = transformers_counter(fast)
    assert count.name == "transformers:toy/bpe"
    assert count(LONG) == len(fast.encode(LONG, add_special_tokens=False))
    assert count("</s>") > 1
    assert pickle.loads(pickle.dumps(count)) == count


def test_a_slow_tokenizer_raises_an_error_that_says_what_to_pass() -> None:
    class Slow:
        name_or_path = "old/slow"

        def tokenize(self, text: str) -> list[str]:
            return text.split()

    with pytest.raises(TokenCountError, match="transformers:old/slow has no fast tokenizer inside: load it with"):
        transformers_counter(Slow())


def test_a_tokenizer_that_cannot_be_copied_is_refused() -> None:
    class Unserializable:
        def to_str(self) -> str:
            raise RuntimeError("custom component")

    with pytest.raises(TokenCountError, match="cannot be copied: RuntimeError") as caught:
        transformers_counter(Unserializable())
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_equal_tokenizers_make_equal_counters_and_others_do_not() -> None:
    assert transformers_counter(own_copy()) == transformers_counter(own_copy())
    assert transformers_counter(byte_level(20)) != transformers_counter(byte_level(40))


def test_an_engine_that_fails_is_a_count_error() -> None:
    count = transformers_counter(own_copy())
    object.__setattr__(count, "_engine", None)
    with pytest.raises(TokenCountError, match="failed with AttributeError"):
        count("text")


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = own_copy()
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'context-assembler\[transformers\]'"):
        transformers_counter(tokenizer)


_FORKED = """
import multiprocessing, warnings
warnings.simplefilter("ignore")
from budgets import tiktoken_counter, transformers_counter
from tests.budgets.toy_tokenizers import byte_level
def both(text): return exact(text), toy(text)
if __name__ == "__main__":
    exact, toy = tiktoken_counter("r50k_base"), transformers_counter(byte_level())
    here = both("The order has been shipped")
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(both, ["The order has been shipped"] * 4) == [here] * 4
    print("agreed")
"""


def test_a_process_forked_after_counting_counts_on() -> None:
    run = subprocess.run([sys.executable, "-c", _FORKED], capture_output=True, text=True, timeout=60)
    assert run.stdout == "agreed\n", run.stderr
