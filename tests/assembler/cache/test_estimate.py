"""What a prefix cache may serve: by the table, never more than the prefix, and never less for a longer one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, TrimOldest
from assembler.dialects import DIALECTS, anthropic, openai_chat, plain
from assembler.report.cache import rule_for
from assembler.strategies import QuestionChunks
from budgets import Budget, Grade

RULES = [rule for dialect in DIALECTS.values() for rule in dialect.api.caches]


@given(st.sampled_from(RULES), st.integers(0, 20_000), st.integers(0, 300))
def test_a_longer_prefix_is_never_served_less_and_never_whole_steps_more(rule: Any, tokens: int, more: int) -> None:
    served = rule.served(tokens)
    assert 0 <= served <= tokens
    assert served <= rule.served(tokens + more)
    assert served == 0 or tokens - served < rule.step


@pytest.mark.parametrize(
    ("dialect", "model", "below", "at", "next_step"),
    [
        ("openai_chat", "gpt-4o", 1_023, 1_024, 1_152),
        ("openai_responses", "openai/gpt-5.6-sol", 1_023, 1_024, 1_152),
        ("openai_chat", None, 1_023, 1_024, 1_152),
        ("openai_chat", "deepseek-chat", 63, 64, 128),
        ("anthropic", None, 511, 512, 513),
        ("anthropic", "claude-opus-5-5", 511, 512, 513),
        ("anthropic", "claude-sonnet-5-20260101", 1_023, 1_024, 1_025),
        ("anthropic", "claude-sonnet-4-5-20250929", 1_023, 1_024, 1_025),
        ("anthropic", "claude-opus-4-20250514", 1_023, 1_024, 1_025),
        ("anthropic", "claude-opus-4-7", 2_047, 2_048, 2_049),
        ("anthropic", "claude-3-5-haiku-latest", 2_047, 2_048, 2_049),
        ("anthropic", "claude-haiku-4-5", 4_095, 4_096, 4_097),
        ("bedrock", "global.anthropic.claude-opus-4-7-v1:0", 4_095, 4_096, 4_097),
        ("bedrock", "us.amazon.nova-lite-v1:0", 1_023, 1_024, 1_025),
        ("gemini", "models/gemini-2.5-flash", 2_047, 2_048, 2_049),
        ("gemini", "gemini-3.8-flash", 4_095, 4_096, 4_097),
        ("gemini", None, 4_095, 4_096, 4_097),
    ],
)
def test_the_table_says_where_a_provider_begins_to_cache(
    dialect: str, model: str | None, below: int, at: int, next_step: int
) -> None:
    rule = rule_for(dialect, model)
    assert rule is not None
    assert [rule.served(n) for n in (below, at, next_step - 1, next_step)] == [0, at, at, next_step]


@pytest.mark.parametrize(
    ("dialect", "model"),
    [("openai_chat", "gpt-4-turbo"), ("gemini", "gemini-2.0-flash"), ("bedrock", "meta.llama3-3-70b-instruct-v1:0")],
)
def test_a_model_that_caches_nothing_is_served_nothing(dialect: str, model: str) -> None:
    rule = rule_for(dialect, model)
    assert rule is not None
    assert rule.served(1_000_000) == 0


@pytest.mark.parametrize(("dialect", "model"), [("openai_chat", "grok-4"), ("mistral", None), ("plain", "gpt-4o")])
def test_a_model_without_published_cache_rules_has_none_here(dialect: str, model: str | None) -> None:
    assert rule_for(dialect, model) is None


def test_every_row_says_where_its_numbers_were_read() -> None:
    assert all(rule.source and rule.step >= 1 for rule in RULES)


def chat(words: int, turns: int = 1, model: str = "gpt-4o") -> Assembler:
    assembler = Assembler(Budget(200_000, model=model)).add_instruction("word " * words)
    for turn in range(turns):
        assembler.add_message(("user", f"question {turn}")).add_message(("assistant", "answer"))
    return assembler.add_message(("user", "last"))


@given(st.integers(1, 3_000), st.integers(0, 500), st.integers(0, 3))
def test_a_longer_prefix_is_never_worth_less(words: int, more: int, turns: int) -> None:
    small, large = chat(words, turns).build(), chat(words + more, turns + 1).build()
    assert small.cacheable.tokens <= large.cacheable.tokens <= large.count.tokens
    assert small.cacheable.grade is Grade.ESTIMATED


def test_the_stable_prefix_is_all_but_the_newest_turn_and_the_framing() -> None:
    context = chat(2_000, turns=3).build()
    row = context.report.cache
    assert row is not None
    newest = context.report.rows[-2]
    assert newest.reason == "newest turn"
    assert row.stable_prefix == context.count.tokens - newest.after - context.costs.framing
    assert row.served == context.cacheable.tokens == row.stable_prefix // 128 * 128 > 1_024
    assert (row.least, row.step) == (1_024, 128)
    assert context.report.to_dict()["cache"]["served"] == row.served
    assert f"may serve {row.served:,} of the {row.stable_prefix:,}" in str(context.report)


def test_without_a_known_rule_the_whole_prefix_is_the_bound() -> None:
    context = Assembler(dialect=plain).add_instruction("a " * 3_000).add_message(("user", "x")).build()
    assert context.cacheable.tokens == 0
    assert context.cacheable.upper == context.costs.instruction
    assert context.report.cache is not None
    assert context.report.cache.source is None


def test_a_request_that_grew_is_served_all_that_was_sent_before() -> None:
    base = chat(2_000)
    grown = base.fork().add_message(("assistant", "reply")).add_message(("user", "more")).build()
    before = base.build()
    shared = before.count.tokens - before.costs.framing
    assert grown.served_after(before).tokens == shared // 128 * 128
    assert before.served_after(before).tokens == shared // 128 * 128


def test_equal_messages_of_another_assembler_are_served_too() -> None:
    assert chat(2_000, turns=40).build().served_after(chat(2_000, turns=40).build()).tokens >= 2_000


def test_messages_after_a_changed_one_are_not_served_from_the_cache() -> None:
    history = [("user", "a"), ("assistant", "word " * 3_000), ("user", "b")]
    one = Assembler(dialect=openai_chat).add_instruction("w " * 1_200).add_messages(history).build()
    other = Assembler(dialect=openai_chat).add_instruction("w " * 1_200).add_messages([("user", "A"), *history[1:]])
    assert 1_024 <= one.served_after(other.build()).tokens < 1_300


def test_another_system_text_leaves_at_most_the_tools_cached() -> None:
    tools = [{"name": "t", "description": "word " * 2_000, "parameters": {"type": "object", "properties": {}}}]
    base = Assembler(dialect=anthropic).add_instruction("a").add_capability(tools).add_message(("user", "x"))
    served = base.build().served_after(base.fork().add_instruction("b").build())
    assert served.tokens == 0
    assert 2_000 <= served.upper <= base.build().count.upper
    other = base.fork().add_capability([{**tools[0], "name": "u"}]).build()
    assert base.build().served_after(other).upper == 0


def test_another_dialect_or_model_shares_no_cache() -> None:
    context = chat(2_000).build()
    assert context.served_after(chat(2_000, model="gpt-4o-mini").build()).upper == 0
    assert context.served_after(chat(2_000, model="claude-opus-4-1").build()).upper == 0


@given(st.integers(1, 30), st.sampled_from([None, 0.5]))
def test_the_cache_never_serves_more_than_either_request_holds(turns: int, low: float | None) -> None:
    budget = Budget(3_000, model="gpt-4o")
    assembler = Assembler(budget, on_overflow=TrimOldest(low_water=low)).add_instruction("rule " * 1_500)
    previous = assembler.add_message(("user", "go")).build()
    for turn in range(turns):
        assembler.add_message(("assistant", "word " * 90)).add_message(("user", f"turn {turn}"))
        context = assembler.build()
        served = context.served_after(previous)
        assert served.tokens <= min(context.count.tokens, previous.count.tokens)
        if context.first_changed(previous) is None:
            assert served.tokens > previous.count.tokens - 128 - previous.costs.framing
        previous = context


def test_a_note_for_what_was_dropped_is_part_of_what_is_shared() -> None:
    budget = Budget(1_400, model="gpt-4o")
    policy = TrimOldest(low_water=0.5, note="Older turns were left out.")
    assembler = Assembler(budget, on_overflow=policy).add_instruction("rule " * 1_100)
    for turn in range(12):
        assembler.add_message(("user", f"q{turn} " * 15)).add_message(("assistant", "a " * 15))
    before = assembler.add_message(("user", "last")).build()
    after = assembler.add_message(("assistant", "b")).add_message(("user", "next")).build()
    assert before.dropped
    assert after.served_after(before).tokens >= 1_152


def test_knowledge_around_the_newest_question_is_outside_the_prefix() -> None:
    def asked(words: int) -> Any:
        assembler = Assembler(dialect=openai_chat, strategy=QuestionChunks()).add_instruction("Be brief.")
        return assembler.add_knowledge("word " * words, type="rag").add_message(("user", "why?")).build().report.cache

    assert asked(1).stable_prefix == asked(900).stable_prefix
