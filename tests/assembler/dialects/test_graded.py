"""No dialect gives a price a better grade than its counter has."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from assembler import Assembler
from assembler.dialects import DIALECTS, openai_chat
from assembler.dialects.prices.graded import graded_pricer
from budgets import Budget, Grade, approximate_counter, provider_counter
from tests.scaled import scaled

from ..drawn import histories

MODELS = ("gpt-4o", "gpt-5", "gpt-4", "claude-sonnet-4-5", "gemini-2.5-flash", "mistral-large-latest", "llama3-8b-8192")
TOOL = {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}


class OverloadedError(Exception):
    """What an SDK raises."""

    status_code = 529


def down(subject: Any) -> int:
    raise OverloadedError("the text of a message")


class Flaky:
    """Counts a few times, and then raises."""

    def __init__(self, answers: int) -> None:
        self.answers = answers

    def __call__(self, text: str) -> int:
        self.answers -= 1
        return len(text) if self.answers >= 0 else down(text)


def built(dialect: str, model: str | None, counter: Any, history: list[Any]) -> Any:
    budget = Budget(1_000_000, model=model, counter=counter)
    assembler = Assembler(budget, dialect=DIALECTS[dialect]).add_instruction("Be brief.").add_capability([TOOL])
    return assembler.add_messages(history).add_message({"role": "user", "content": "q"}).build()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("dialect", sorted(DIALECTS))
@scaled(0.1)
@given(history=histories())
def test_a_counter_that_estimates_never_gives_a_better_count(dialect: str, model: str, history: list[Any]) -> None:
    context = built(dialect, model, approximate_counter(), history)
    assert context.count.grade is Grade.ESTIMATED
    assert context.count.upper >= context.count.tokens


@pytest.mark.parametrize("answers", [0, 1, 4])
@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_a_fallback_is_in_the_grade_and_in_the_report(dialect: str, answers: int) -> None:
    counter = provider_counter(Flaky(answers), fallback=len)
    context = built(dialect, "gpt-4o", counter, [("user", "first"), ("assistant", "second")])
    assert context.count.grade is Grade.ESTIMATED
    assert "fallback counted" in str(context.report)
    assert "failed with OverloadedError (HTTP 529)" in str(context.report.notes)
    assert "the text of a message" not in str(context.report)


@pytest.mark.parametrize("dialect", ["openai_chat", "openai_responses", "plain"])
def test_an_endpoint_that_answers_is_graded_bounded_and_causes_no_note(dialect: str) -> None:
    context = built(dialect, "gpt-4o", provider_counter(len), [("user", "first"), ("assistant", "second")])
    assert context.count.grade is Grade.BOUNDED
    assert context.report.notes == ()


def test_grading_changes_nothing_with_an_exact_counter() -> None:
    inner = openai_chat.pricer("gpt-4o", len)
    assert graded_pricer(inner, len) is inner


def test_an_option_is_graded_too() -> None:
    request = {"messages": [{"role": "user", "content": "q"}], "tool_choice": {"type": "function", "function": {}}}
    rules = openai_chat.pricer("gpt-4o", approximate_counter())
    assert rules.options(openai_chat.parse(request)).grade is Grade.ESTIMATED
