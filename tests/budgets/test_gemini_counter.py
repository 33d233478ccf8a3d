"""Gemini's texts are counted with the caller's tokenizer file only."""

from __future__ import annotations

from pathlib import Path

import pytest

from assembler import count_request
from assembler.dialects import gemini
from budgets import Grade, TokenCountError, gemini_counter
from tests.budgets.toy_tokenizers import SPECIALS, byte_level
from tests.interpreter import ran


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "tokenizer.json"
    file.write_text(byte_level().to_str())
    return file


def test_the_counter_agrees_with_the_tokenizer_in_the_file(path: Path) -> None:
    text = "The order has been shipped to Kyoto."
    assert gemini_counter(path)(text) == len(byte_level().encode(text, add_special_tokens=False).ids)
    assert gemini_counter(str(path)) == gemini_counter(path)


def test_text_that_looks_like_a_control_token_stays_text(path: Path) -> None:
    assert gemini_counter(path)(SPECIALS[0]) > 1


def test_a_request_is_priced_by_the_file_and_no_longer_estimated(path: Path) -> None:
    count = gemini_counter(path)
    asked = "Don't ship it twice, please."
    priced = count_request({"contents": asked}, dialect=gemini, model="gemini-2.5-flash", counter=count)
    assert priced.tokens == count(asked) + 1
    assert priced.grade is Grade.BOUNDED


def test_the_error_for_a_file_that_is_not_a_tokenizer_names_it_and_quotes_nothing(tmp_path: Path) -> None:
    wrong = tmp_path / "notes.json"
    wrong.write_text('{"secret": "words"}')
    for bad in (wrong, tmp_path / "absent.json"):
        with pytest.raises(TokenCountError, match=bad.name) as caught:
            gemini_counter(bad)
        assert "secret" not in str(caught.value)


def test_without_the_extra_the_error_says_which_one_is_missing() -> None:
    script = (
        "import sys; sys.modules['tokenizers'] = None\n"
        "import budgets\n"
        "try: budgets.gemini_counter('tokenizer.json')\n"
        "except budgets.MissingExtraError as error: print(error)"
    )
    done = ran(script)
    assert "gemini_counter" in done
    assert "transformers" in done
