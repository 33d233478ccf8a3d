"""The greedy builder agrees with a brute force over prefixes that recounts each prompt."""

from __future__ import annotations

import copy
import functools
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, QuestionChunks, TrimOldest
from assembler.dialects import openai_chat, plain
from assembler.greedy import Config, PromptBuilder
from assembler.greedy.config import Generator
from assembler.pricing.pricer import Piece
from assembler.strategies import question_chunks
from budgets import Budget, BudgetError, ContextLengthError, MissingExtraError, TokenCountError, tiktoken_counter
from tests.scaled import scaled

from .tokenizers_of_three_kinds import NAMES, tokenizer

ROLE = "You are a helpful QA system."
HEADER = "Below is relevant context filtered from a larger document:"
ENDING = "Please provide the best possible answer."
PLACEHOLDER = "No additional context was deemed novel."

chunks = st.lists(
    st.one_of(
        st.sampled_from(["", "\n", "Kyoto", "a\nb\nc", " x ", "</s>", "\n\nThe order", "been " * 30, "漢字"]),
        st.text("abc shipped\n.", max_size=30),
    ),
    max_size=9,
)
questions = st.sampled_from(["", "what?", "Where is\nthe order?", "/help", "w" * 40])


def by_hand(question: str, lines: list[str]) -> str:
    return "\n".join([ROLE, f"The user asks: {question}", HEADER, *(lines or [PLACEHOLDER]), ENDING])


def brute_force(question: str, given_chunks: list[str], count: Any, limit: int) -> str | None:
    """Chunk by chunk until the first that does not fit; None if not even the placeholder does."""
    kept = 0
    while kept < len(given_chunks) and count(by_hand(question, given_chunks[: kept + 1])) <= limit:
        kept += 1
    prompt = by_hand(question, given_chunks[:kept])
    return prompt if count(prompt) <= limit else None


def built(question: str, given_chunks: list[str], tokens: Any, limit: int) -> str | None:
    cfg = SimpleNamespace(generator=SimpleNamespace(encoder_max_tokens=limit))
    try:
        return PromptBuilder(cfg, tokens).build(question, given_chunks)
    except ContextLengthError as error:
        assert error.required > limit
        return None


@pytest.mark.parametrize("name", NAMES)
@scaled(0.3)
@given(questions, chunks, st.data())
def test_the_prompt_is_the_longest_run_of_first_chunks_that_fits(
    name: str, question: str, given_chunks: list[str], data: st.DataObject
) -> None:
    encoder = tokenizer(name)

    def count(text: str) -> int:
        return len(encoder(text)["input_ids"])

    as_text = [chunk.replace("</s>", "< /s>") for chunk in given_chunks]
    edges = [count(by_hand(question, as_text[:kept])) for kept in range(len(as_text) + 1)]
    limit = max(1, data.draw(st.sampled_from(edges)) + data.draw(st.integers(-1, 1)))
    before = copy.copy(given_chunks)
    assert built(question, given_chunks, encoder, limit) == brute_force(question, as_text, count, limit)
    assert given_chunks == before


@pytest.mark.parametrize("name", ["byte-level framed", "sentence-piece bare"])
def test_every_limit_from_nothing_to_the_full_size_gives_what_brute_force_gives(name: str) -> None:
    encoder = tokenizer(name)
    lines = ["The order", "", "been shipped to Kyoto\n", "x", "twice " * 4, "please"]

    @functools.cache
    def count(text: str) -> int:
        return len(encoder(text)["input_ids"])

    for limit in range(1, count(by_hand("q", lines)) + 2):
        assert built("q", lines, encoder, limit) == brute_force("q", lines, count, limit), limit


def test_many_small_chunks_are_chosen_as_if_each_had_been_tried() -> None:
    lines = [f"c{number}" for number in range(700)]
    for limit in (200, 1_024, 1_025, 1_500):
        assert built("q", lines, len, limit * 4) == brute_force("q", lines, len, limit * 4)


def test_a_longer_prompt_that_costs_less_does_not_hide_a_chunk_that_did_not_fit() -> None:
    def merging(text: str) -> int:
        return max(0, len(text) - 9 * text.count("Z"))

    lines = ["x", "y", "a" * 80, "Z" * 6, "b"]
    for limit in range(merging(by_hand("q", [])), merging(by_hand("q", lines[:3])) + 3):
        assert built("q", lines, merging, limit) == brute_force("q", lines, merging, limit)


def test_a_long_list_is_counted_a_few_times_and_not_once_a_chunk() -> None:
    counted: list[int] = []

    def counter(text: str) -> int:
        counted.append(len(text))
        return len(text)

    lines = ["x" * 200] * 5_000
    prompt = built("q", lines, counter, 20_000)
    assert prompt is not None
    assert prompt.count("x" * 200) == (20_000 - len(by_hand("q", ["y"])) + 2) // 201
    assert sum(counted) < 25 * 20_000


@pytest.mark.parametrize("room", [0, 5, 70])
def test_many_chunks_that_cost_nothing_are_not_each_counted_nor_laid_out_again(
    room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted, made = 0, 0

    def words(text: str) -> int:
        nonlocal counted
        counted += 1
        return len(text.split())

    def piece(*fields: Any) -> Piece:
        nonlocal made
        made += 1
        return Piece(*fields)

    monkeypatch.setattr(question_chunks, "Piece", piece)
    lines = ["", " ", "\n"] * 1_000
    prompt = built("q", lines, words, words(by_hand("q", lines)) + room)
    assert prompt == by_hand("q", lines)
    assert counted < 8 * len(lines).bit_length()
    assert made < len(lines) + 5 * counted


@pytest.mark.parametrize("width", [1, 3])
def test_blank_chunks_that_cost_something_end_where_they_no_longer_fit(width: int) -> None:
    def counter(text: str) -> int:
        return len(text.split()) + -(-text.count("\n") // width)

    lines = ["a", *[""] * 24, "b", *["", "c"] * 12]
    for limit in range(counter(by_hand("q", [])), counter(by_hand("q", lines)) + 2):
        assert built("q", lines, counter, limit) == brute_force("q", lines, counter, limit), limit


def test_the_tokens_that_the_tokenizer_adds_count_against_the_limit() -> None:
    framed, bare = tokenizer("byte-level framed"), tokenizer("byte-level bare")
    limit = len(bare(by_hand("q", ["The order"]))["input_ids"])
    assert built("q", ["The order"], bare, limit) == by_hand("q", ["The order"])
    assert built("q", ["The order"], framed, limit) != by_hand("q", ["The order"])
    assert built("q", ["The order"], framed, limit + 2) == by_hand("q", ["The order"])


def test_without_a_chunk_that_fits_the_placeholder_is_used_and_must_fit_too() -> None:
    size = len(by_hand("q", []))
    assert built("q", [], len, size) == by_hand("q", [])
    assert built("q", ["x" * 100, "y"], len, size) == by_hand("q", [])
    assert built("q", [], len, size - 1) is None


@pytest.mark.parametrize("limit", [0, -1, True, "1024", None, 10.0])
def test_a_limit_that_is_not_a_number_of_tokens_is_refused(limit: Any) -> None:
    with pytest.raises(BudgetError):
        PromptBuilder(SimpleNamespace(generator=SimpleNamespace(encoder_max_tokens=limit)), len)


def test_the_shipped_configuration_says_1024() -> None:
    assert Config.read() == Config(Generator(1024))


def test_without_a_reader_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(MissingExtraError, match=r"context-assembler\[cli\]"):
        Config.read()


MISTAGGED = [f"generator: {{encoder_max_tokens: !!{value}}}" for value in ("int ''", "bool maybe", "timestamp today")]


@pytest.mark.parametrize(
    "text", ["", "generator: 3", "generator: {}", "[", "generator: {encoder_max_tokens: no}", *MISTAGGED]
)
def test_a_file_without_a_limit_is_refused(text: str, tmp_path: Any) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(BudgetError):
        Config.read(path)


@pytest.mark.parametrize("number", ["010", "1:30", "0x200", "0b11"])
def test_a_number_that_only_yaml_1_1_knows_is_no_limit(number: str, tmp_path: Any) -> None:
    """It was read as another one: 010 as 8, and 1:30 as 90."""
    path = tmp_path / "config.yaml"
    path.write_text(f"generator: {{encoder_max_tokens: {number}}}")
    with pytest.raises(BudgetError, match="encoder_max_tokens is a str: whole tokens"):
        Config.read(path)


def test_a_limit_that_is_given_twice_is_refused_with_its_line(tmp_path: Any) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("generator:\n  encoder_max_tokens: 512\n  encoder_max_tokens: 1024\n")
    with pytest.raises(BudgetError, match=r"^configuration: line 3, column 3: key encoder_max_tokens given twice"):
        Config.read(path)


def test_a_file_may_hold_more_than_the_limit(tmp_path: Any) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("generator: {encoder_max_tokens: 77, beams: 4}\nchunking: {chunk_size: 300}\n")
    assert Config.read(path).generator.encoder_max_tokens == 77
    path.write_text("#" * 1_000_001)
    with pytest.raises(BudgetError, match="more than 1000000 characters"):
        Config.read(path)


def test_a_tokenizer_object_or_a_counter_is_accepted() -> None:
    encoder = tokenizer("byte-level framed")
    limit = len(encoder(by_hand("q", ["The order", "x"]))["input_ids"])
    expected = built("q", ["The order", "x", "y"], encoder, limit)
    assert built("q", ["The order", "x", "y"], encoder.backend_tokenizer, limit) == expected
    assert built("q", ["x"], tiktoken_counter(), 100) == by_hand("q", ["x"])
    assert built("q", ["x", "y"], lambda text: {"input_ids": text}, len(by_hand("q", ["x"]))) == by_hand("q", ["x"])


@pytest.mark.parametrize("table", [lambda ids: [ids], lambda ids: np.array([ids]), lambda ids: [ids[:5], ids[5:]]])
def test_ids_in_a_table_count_each(table: Any) -> None:
    """With `return_tensors` a tokenizer answers with a table of one row, which counted as one token."""

    def tensors(text: str) -> dict[str, Any]:
        return {"input_ids": table(list(text.encode()))}

    fitting = by_hand("q", ["x"])
    assert built("q", ["x", "y"], tensors, len(fitting)) == fitting
    assert built("q", ["x"], tensors, 20) is None


def test_a_tokenizer_that_fails_is_named() -> None:
    with pytest.raises(TokenCountError, match=r"EncoderInput|function"):
        built("q", ["x"], lambda text: "many", 100)


@pytest.mark.parametrize("tokens", [None, "gpt2", 3, int])
def test_a_value_that_is_neither_tokenizer_nor_counter_is_refused(tokens: Any) -> None:
    with pytest.raises(BudgetError):
        PromptBuilder(Config.read(), tokens)


@pytest.mark.parametrize("bad", ["one text", [1], [None]])
def test_chunks_that_are_not_texts_are_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="accepted_chunks"):
        PromptBuilder(Config.read(), len).build("q", bad)


def test_only_build_is_public() -> None:
    assert [name for name in dir(PromptBuilder) if not name.startswith("_")] == ["build"]


@given(chunks, st.integers(40, 400), st.sampled_from([plain, openai_chat]))
def test_the_strategy_keeps_its_promise_in_an_assembler_with_an_instruction_and_a_history(
    given_chunks: list[str], room: int, dialect: Any
) -> None:
    count = tiktoken_counter()
    assembler = Assembler(
        Budget(room, counter=count), dialect=dialect, strategy=QuestionChunks(), on_overflow=TrimOldest()
    )
    assembler.add_instruction("Be brief.")
    for chunk in given_chunks:
        assembler.add_knowledge(chunk, type="chunk")
    assembler.add_messages([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}])
    assembler.add_message({"role": "user", "content": "where?"})
    try:
        context = assembler.build()
    except ContextLengthError:
        return
    kept = len(context.sources)
    assert context.messages[-1]["content"] == by_hand("where?", given_chunks[:kept])
    assert context.count.upper <= room
    texts = [context.system, *(message["content"] for message in context.messages)]
    framing = 3 + 4 * len(texts) if dialect is openai_chat else 0
    spoken = 1 if dialect is openai_chat and any(m["role"] == "assistant" for m in context.messages) else 0
    assert abs(sum(map(count, texts)) + framing - context.count.tokens) <= 2 + spoken


def test_without_a_question_the_prompt_is_in_the_system_text() -> None:
    context = Assembler(strategy=QuestionChunks()).add_instruction("Be brief.").add_knowledge("x", type="c").build()
    assert context.system == f"Be brief.\n{ROLE}\n{HEADER}\nx\n{ENDING}"


def test_the_report_lists_the_chunks_that_were_left_out() -> None:
    assembler = Assembler(Budget(len(by_hand("q", ["a"])), counter=len), strategy=QuestionChunks(), dialect=plain)
    assembler.add_knowledge("a", type="chunk").add_knowledge("b", type="chunk", source="b.txt").add_knowledge(
        "c", type="chunk"
    )
    assembler.add_message({"role": "user", "content": "q"})
    rows = [(row.name, row.outcome, row.reason) for row in assembler.build().report.rows if row.region == "knowledge"]
    assert rows == [
        ("chunk 0", "kept", ""),
        ("b.txt", "dropped", "does not fit"),
        ("chunk 2", "dropped", "comes after one that does not fit"),
    ]
    assert QuestionChunks().render(assembler._draft.regions).system == f"{ROLE}\n{HEADER}\na\nb\nc\n{ENDING}"


def test_an_error_advises_as_many_tokens_as_are_too_many_if_a_chunk_costs_less_than_none() -> None:
    """It advised what the prompt with the placeholder lacks, which is not the smallest."""
    with pytest.raises(ContextLengthError) as caught:
        PromptBuilder(Config(Generator(50)), tiktoken_counter()).build("why " * 300, ["a", "b"])
    asked = caught.value.excess
    assert f"shorten its messages by {asked} tokens. " in caught.value.advice
    assert built("why " * (300 - asked), ["a", "b"], tiktoken_counter(), 50) is not None
    assert built("why " * (301 - asked), ["a", "b"], tiktoken_counter(), 50) is None
