"""The report states the outcome of every item, and its sums are the request's."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from assembler import Assembler, TrimOldest
from assembler.dialects import openai_chat, plain
from budgets import Budget, ContextLengthError

from . import by_hand
from .drawn import documents, histories, words

TOOLS = [
    {"name": "search", "description": "Search orders.", "parameters": {"type": "object", "properties": {"q": {}}}},
    {"name": "refund", "description": "", "parameters": {"type": "object", "properties": {}}},
]


@given(histories(), st.lists(documents, max_size=3), words, st.floats(0.3, 1.2))
def test_rows_add_up_to_the_regions_and_the_regions_to_the_count(
    history: list[dict[str, Any]], knowledge: list[dict[str, Any]], rules: str, share: float
) -> None:
    whole = Assembler(dialect=openai_chat).add_instruction(rules).add_capability(TOOLS).add_messages(history)
    for item in knowledge:
        whole.add_knowledge(**item)
    limit = max(1, int(share * whole.costs().total))
    tight = Assembler(Budget(limit), dialect=openai_chat, on_overflow=TrimOldest())
    tight.add_instruction(rules).add_capability(TOOLS).add_messages(history)
    for item in knowledge:
        tight.add_knowledge(**item)
    try:
        context = tight.build()
    except ContextLengthError:
        return
    report = context.report
    after: Counter[str] = Counter()
    for row in report.rows:
        after[row.region] += row.after
    assert after == Counter(context.costs.to_dict())
    assert sum(row.after for row in report.rows) == context.count.tokens == context.costs.total
    before = sum(row.before or 0 for row in report.rows)
    head = len(by_hand.split_head(history)[0])
    assert before == whole.costs().total
    assert sum(row.messages for row in report.rows) == len(history)
    dropped = [row for row in report.rows if row.outcome == "dropped"]
    assert sum(row.messages for row in dropped) == len(context.dropped)
    assert not dropped or dropped[0].name.startswith(f"message{'s' if dropped[0].messages > 1 else ''} {head}")


def report_of_a_cut() -> Any:
    history = [{"role": "user", "content": f"question {n} " * 20} for n in range(12)]
    budget = Budget(700, max_output_tokens=100, model="gpt-4o")
    assembler = Assembler(budget, on_overflow=TrimOldest(low_water=0.5)).add_instruction("Be brief.")
    assembler.add_capability(TOOLS).add_knowledge("Tokyo", type="entity", source="crm\u202e" + "x" * 60)
    return assembler.add_messages(history).build().report


def test_the_text_is_a_table_of_80_columns_with_a_bar_for_each_region() -> None:
    text = str(report_of_a_cut())
    assert max(map(len, text.splitlines())) <= 80
    assert "\u202e" not in text
    for region in ("instruction", "capability", "knowledge", "conversation", "framing"):
        line = next(line for line in text.splitlines() if line.startswith(region) and "%" in line)
        assert any(block in line for block in "█▉▊▋▌▍▎▏")
    assert "TrimOldest: cut down to 50% of the tokens left" in text
    assert "limit 600 = 700 context_window - 100 max_output_tokens" in text


def columns(line: str) -> int:
    """The columns that rich draws in a terminal."""
    return cell_len(line)


@pytest.mark.parametrize("odd", ["東京の注文" * 20, "a\x1b[31mred\x07", "e\u0301" * 90, "x" * 10_000, "한국어 🏴 café"])
def test_no_name_widens_the_table_or_moves_the_cursor(odd: str) -> None:
    plain_name = odd.replace("\x1b", "").replace("\x07", "")
    budget = Budget(900, max_output_tokens=100, reasoning_tokens=100, overhead=20, safety_margin=10)
    report = Assembler(dialect=plain).add_knowledge("k", type="note", source=plain_name)
    report = attrs.evolve(report.build().report, budget=budget, model=odd)
    rows = [attrs.evolve(row, reason=odd) for row in report.rows]
    text = str(attrs.evolve(report, rows=tuple(rows), notes=(odd,)))
    assert max(columns(line) for line in text.split("\n")) <= 80
    assert text.replace("\n", "").isprintable()


def test_the_dict_is_json_and_holds_no_text() -> None:
    report = report_of_a_cut()
    data = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert data["tokens"] == report.count.tokens
    assert data["input_limit"] == 600
    assert data["regions"] == dict(report.costs.to_dict())
    assert "question" not in json.dumps(data)
    assert [row["outcome"] for row in data["rows"]].count("dropped") == 1


def test_an_unreadable_dropped_message_has_an_unknown_size() -> None:
    history: list[Any] = [{"role": "user", "content": "x" * 9} for _ in range(300)]
    history[3] = {"role": "nobody"}
    assembler = Assembler(Budget(40, counter=len), dialect=plain, on_overflow=TrimOldest()).add_messages(history)
    report = assembler.build().report
    assert [row.before for row in report.rows if row.outcome == "dropped"] == [None]
    assert " ? " in str(report)


def test_nothing_added_is_an_empty_context() -> None:
    context = Assembler().build()
    system, messages, tools = context
    assert (system, messages, tools) == (None, [], [])
    assert context.costs.total == context.count.tokens == 0
    assert context.request() == {"messages": []}
    assert str(context.report).startswith("0 tokens (exact) as plain")


@pytest.mark.parametrize("model", ["gpt-4o", None])
def test_a_bounded_count_is_shown_with_its_upper_bound(model: str | None) -> None:
    parts = [{"type": "text", "text": "a b"}, {"type": "text", "text": " c d"}]
    budget = Budget(1000, model=model)
    context = Assembler(budget, dialect=openai_chat).add_messages([{"role": "user", "content": parts}]).build()
    assert context.count.upper >= context.count.tokens
    assert f"at most {context.count.upper}" in str(context.report)


def test_the_answer_is_clamped_to_what_the_window_leaves() -> None:
    message = {"role": "user", "content": "x" * 50}
    reserved = Assembler(Budget(100, max_output_tokens=30, counter=len), dialect=plain).add_message(message).build()
    free = Assembler(Budget(100, counter=len), dialect=plain).add_message(message).build()
    assert (reserved.max_output_tokens, free.max_output_tokens) == (30, 50)
    assert Assembler().build().max_output_tokens is None


def test_the_prefix_hash_stays_while_only_the_newest_turn_grows_and_moves_with_the_rest() -> None:
    base = Assembler().add_instruction("a").add_messages([("user", "1"), ("assistant", "2"), ("user", "3")])
    hashed = base.build().prefix_hash
    assert base.fork().add_message(("assistant", "4")).build().prefix_hash == hashed
    assert base.fork().add_instruction("b").build().prefix_hash != hashed
    assert base.fork().add_message(("user", "4")).build().prefix_hash != hashed


@pytest.mark.parametrize(
    ("given", "meant"),
    [("gtp-4o", "gpt-4o"), ("claud-sonnet-4", "claude-sonnet-4"), ("gemni-2.5-pro", "gemini-2.5-pro")],
)
def test_a_misspelled_model_is_carried_and_its_report_asks_whether_another_was_meant(given: str, meant: str) -> None:
    context = Assembler(Budget(4_000, model=given)).add_message(("user", "Hello")).build()
    assert context.report.model == given
    assert (
        f"unknown model {given}: counted by o200k_base, with a wide bound; did you mean {meant}?"
        in context.report.notes
    )


def test_the_report_says_as_which_model_a_deployment_is_priced() -> None:
    bot = Assembler(Budget(4_000, model="prod-gpt4o-eastus"), dialect="openai_chat").add_message(("user", "Hello"))
    text = "unknown model prod-gpt4o-eastus: priced as gpt-4o-eastus, with a wide bound; "
    assert f"{text}the real name has a tight one" in bot.build().report.notes


@pytest.mark.parametrize(
    "model", ["gpt-4o", "my-model", "support-bot", "gpt-99", "grok-9", "llama-99b", "acme/assistant"]
)
def test_no_other_model_is_suggested_for_one_of_a_known_family_or_of_the_callers_own(model: str) -> None:
    assert "did you mean" not in str(
        Assembler(Budget(4_000, model=model)).add_message(("user", "Hello")).build().report
    )


def test_the_models_own_counter_causes_no_warning() -> None:
    context = Assembler(Budget(4_000, model="gtp-4o", counter=len)).add_message(("user", "Hello")).build()
    assert context.report.notes == ()


def test_no_note_repeats_why_turns_were_dropped() -> None:
    """What a single policy saves is not counted, so it was listed among those that could not help."""
    made = Assembler(Budget(10, counter=len), dialect=plain, on_overflow=TrimOldest())
    report = made.add_messages([("user", "q" * 8), ("user", "n" * 8)]).build().report
    assert [row.reason for row in report.rows if row.outcome == "dropped"] == ["TrimOldest: older turns do not fit"]
    assert not report.notes
