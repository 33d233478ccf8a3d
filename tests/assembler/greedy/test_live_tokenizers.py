"""A tokenizer with state keeps it, and text that spells its control tokens stays text."""

from __future__ import annotations

import copy
import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler.errors import PromptError
from assembler.greedy import Config, PromptBuilder
from assembler.greedy.config import Generator
from assembler.prompts import PromptFormatter, ValidatedPromptTemplate
from assembler.prompts.control_text import ControlTexts
from assembler.prompts.control_tokens import control_tokens
from budgets import BudgetError
from tests.scaled import scaled

from .tokenizers_of_three_kinds import NAMES, tokenizer

SPECIAL = ["<|tool|>", "[SPECIAL_7]", "</s>", "<s>"]
WORDS = ["Kyoto express", "    "]
"""Added tokens that are no control tokens."""
PIECES = [
    *SPECIAL, "<think>", "<THINK>", "\uff1cs\uff1e", "\uff1cthink\uff1e", "<|to", "ol|>", "[SPECIAL", "_7]", "< /s>",
    "\u200b", *WORDS, "a", " ", "\n", "eos_token",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)


def limit_of(limit: int) -> Config:
    return Config(Generator(limit))


def with_controls(name: str, *, lower: bool) -> Any:
    """The tokenizer with special tokens and others, which it looks for in the text or in the normalised one."""
    from tokenizers import AddedToken, normalizers

    made = copy.deepcopy(tokenizer(name))
    if lower:
        made.backend_tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    made.add_special_tokens({"additional_special_tokens": ["<|tool|>", "[SPECIAL_7]"]})
    made.add_tokens([AddedToken("<think>", normalized=True, special=False), *WORDS])
    return made


CONTROLLED = {
    f"{name}, {how}": with_controls(name, lower=how == "lower") for name in NAMES[::2] for how in ("as is", "lower")
}


def controls(encoder: Any, text: str) -> list[str]:
    """The control tokens among the ids of a text, as the tokenizer itself says."""
    names = {*SPECIAL, "<think>"}
    return [token for token in encoder.convert_ids_to_tokens(encoder(text)["input_ids"]) if token in names]


@pytest.mark.parametrize("name", CONTROLLED)
@scaled(0.3)
@given(texts, st.lists(texts, max_size=3))
def test_no_question_and_no_chunk_becomes_a_control_token(name: str, question: str, chunks: list[str]) -> None:
    encoder = CONTROLLED[name]
    prompt = PromptBuilder(limit_of(5_000), encoder).build(question, chunks)
    assert controls(encoder, prompt) == controls(encoder, PromptBuilder(limit_of(5_000), encoder).build("q", ["c"]))


@pytest.mark.parametrize("name", CONTROLLED)
@scaled(0.3)
@given(texts, st.sampled_from(["base", "instructor"]))
def test_a_formatted_prompt_has_exactly_the_control_tokens_of_one_with_a_placeholder(
    name: str, value: str, kind: str
) -> None:
    encoder = CONTROLLED[name]
    if kind == "instructor":
        encoder = copy.deepcopy(encoder)
        encoder.add_special_tokens({"additional_special_tokens": ["[INST]", "[/INST]"]})
    template = ValidatedPromptTemplate("t", "<s> Say it: {question}" if kind == "base" else "Say it: {question}")
    formatter = PromptFormatter(encoder)
    placeholder, _ = formatter.format_prompt(template.format(question="x"))
    try:
        formatted, _ = formatter.format_prompt(template.format(question=value))
    except PromptError:
        assert ControlTexts.of(encoder).broken(value) != value
        return
    assert controls(encoder, formatted) == controls(encoder, placeholder)


def test_a_chunk_that_ends_the_text_is_broken_up_and_the_log_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "assembler.greedy"):
        prompt = PromptBuilder(limit_of(500), tokenizer("byte-level framed")).build("q", ["fact </s><s>", "so"])
    assert "fact < /s>< s>\nso" in prompt
    assert [record.getMessage()[:7] for record in caplog.records] == ["1 texts"]


def test_every_place_where_a_tokenizer_keeps_tokens_is_searched() -> None:
    encoder = CONTROLLED["byte-level bare, as is"]
    raw = encoder.backend_tokenizer
    assert control_tokens(encoder) == control_tokens(raw) == {*SPECIAL, "<think>"}

    class Bare:
        def __init__(self) -> None:
            self.special_tokens_map = {"eos_token": "</s>"}

        def get_vocab(self) -> dict[str, int]:
            return {"<|im_start|>": 1, "<\uff5cUser\uff5c>": 2, "<div>": 3, "the": 4}

    assert control_tokens(Bare()) == {"</s>", "<|im_start|>", "<\uff5cUser\uff5c>"}


def test_a_text_that_stays_a_control_token_whatever_is_put_between_is_refused() -> None:
    both = ControlTexts(frozenset({"<a>", *("<" + " " * blanks + "a>" for blanks in range(1, 12))}))
    with pytest.raises(PromptError, match="control tokens"):
        both.broken("<a>")


def state(encoder: Any) -> Any:
    engine = getattr(encoder, "backend_tokenizer", encoder)
    return (
        engine.to_str(),
        engine.truncation,
        engine.padding,
        engine.encode_special_tokens,
        repr(getattr(encoder, "__dict__", {})),
    )


@st.composite
def settings(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "truncation": draw(st.none() | st.fixed_dictionaries({"max_length": st.integers(4, 60)})),
        "padding": draw(st.none() | st.fixed_dictionaries({"length": st.sampled_from([None, 32, 512])})),
    }


@pytest.mark.parametrize("name", NAMES[1::2])
@scaled(0.3)
@given(settings(), st.booleans(), st.lists(st.text("a bc\n", max_size=60), max_size=6), st.integers(30, 200))
def test_the_tokenizers_state_changes_no_count_and_no_count_changes_its_state(
    name: str, chosen: dict[str, Any], raw: bool, chunks: list[str], limit: int
) -> None:
    live = copy.deepcopy(tokenizer(name))
    engine = live.backend_tokenizer
    if chosen["truncation"]:
        engine.enable_truncation(**chosen["truncation"])
    if chosen["padding"]:
        engine.enable_padding(**chosen["padding"])
    given_tokenizer = engine if raw else live
    before = copy.deepcopy(state(given_tokenizer))
    found = written(given_tokenizer, chunks, limit)
    assert state(given_tokenizer) == before
    assert found == written(copy.deepcopy(tokenizer(name)), chunks, limit)


def written(encoder: Any, chunks: list[str], limit: int) -> str | type[Exception]:
    from budgets import ContextLengthError

    try:
        return PromptBuilder(limit_of(limit), encoder).build("what?", chunks)
    except ContextLengthError:
        return ContextLengthError


def test_a_tokenizer_that_cannot_be_copied_is_refused() -> None:
    class Fixed:
        def no_truncation(self) -> None: ...

        def encode(self, text: str) -> Any: ...

        def __deepcopy__(self, memo: Any) -> Any:
            raise TypeError

    with pytest.raises(BudgetError, match="cannot be copied"):
        PromptBuilder(limit_of(10), Fixed())
