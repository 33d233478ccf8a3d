"""Models that a host bills by its chat template: found by name, added up as the rules say, bounded."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, count_request
from assembler.dialects import hosted_pricing, openai_chat
from assembler.dialects.hosted import hosted_pricer
from budgets import Budget, Grade, UnknownModelError, tiktoken_counter

from ..drawn import histories

HOSTED = ("deepseek-v4-flash", "meta-llama/llama-4-maverick", "llama3-8b-8192", "qwen/qwen3-32b", "openai/gpt-oss-120b")
OTHERS = ("gpt-4o", "gpt-5", "o3-mini", "claude-opus-4-8", "mistral-large-latest", "novel-1", None)
USER = {"role": "user", "content": "q"}
TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}


def own(text: str) -> int:
    return len(re.findall(r"\w+|[^\w]+", text))


def tokens(model: str, *messages: dict[str, Any], **options: Any) -> int:
    request = {"messages": list(messages), **options}
    return count_request(request, dialect=openai_chat, model=model, counter=own).tokens


@pytest.mark.parametrize("model", HOSTED)
def test_a_hosted_model_has_a_bill_of_its_own(model: str) -> None:
    assert hosted_pricer(model, own) is not None
    assert hosted_pricer(model.upper(), own) is not None


@pytest.mark.parametrize("model", OTHERS)
def test_any_other_model_has_none(model: str | None) -> None:
    assert hosted_pricer(model, own) is None


@given(st.sampled_from(["deepseek", "llama", "qwen", "gpt-oss", "grok", "compound", "gpt-4o", "o1", "x"]), st.text())
def test_a_name_is_hosted_if_and_only_if_a_template_is_listed_for_it(stem: str, rest: str) -> None:
    try:
        hosted_pricing.family_of(stem + rest)
        listed = True
    except UnknownModelError:
        listed = False
    assert (hosted_pricer(stem + rest, own) is not None) is listed


def test_the_sum_is_the_one_of_the_published_table() -> None:
    """docs/how-it-counts-others.md: opening, a message, the texts."""
    assert tokens("deepseek-v4-flash", USER) == 3 + 1 + 1
    assert tokens("deepseek-v4-flash", USER, {"role": "assistant", "content": "a b"}, USER) == 3 + 2 * 2 + 3 + 3
    assert tokens("llama3-8b-8192", {"role": "system", "content": "s"}, USER) == 5 + 6 + 6
    assert tokens("llama-3.3-70b-versatile", {"role": "system", "content": "s"}, USER) == 25 + 6 + 6
    assert tokens("llama-3.3-70b-versatile", USER) == 42 + 6
    assert tokens("openai/gpt-oss-120b", USER) == 67 + 4 + 1


def test_tools_that_may_not_be_called_cost_nothing_where_the_template_leaves_them_out() -> None:
    bare = tokens("deepseek-v4-flash", USER)
    assert tokens("deepseek-v4-flash", USER, tools=[TOOL], tool_choice="none") == bare
    assert tokens("deepseek-v4-flash", USER, tools=[TOOL]) > bare + 221
    assert tokens("llama3-8b-8192", USER, tools=[TOOL], tool_choice="none") > tokens("llama3-8b-8192", USER)


@pytest.mark.parametrize("spelled", ["response_format", "text"])
def test_an_answer_schema_costs_its_text_in_either_spelling(spelled: str) -> None:
    schema = {"type": "object"}
    wanted: dict[str, Any] = {
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}},
        "text": {"format": {"type": "json_schema", "name": "x", "schema": schema}},
    }
    bare = tokens("grok-4.3", USER)
    assert tokens("grok-4.3", USER, **{spelled: wanted[spelled]}) == bare + 11 + own('{"type": "object"}')
    assert tokens("grok-4.3", USER, response_format={"type": "json_object"}) == bare + 11
    assert tokens("grok-4.3", USER, response_format={"type": "text"}) == bare


@given(histories(), st.sampled_from(HOSTED))
def test_a_build_costs_what_its_request_costs(history: list[dict[str, Any]], model: str) -> None:
    context = Assembler(Budget(10**6, model=model, counter=own), dialect=openai_chat).add_messages(history).build()
    counted = count_request(context.request(), dialect=openai_chat, model=model, counter=own)
    assert (counted.tokens, counted.upper) == (context.count.tokens, context.count.upper)
    assert counted.tokens <= counted.upper


def test_a_message_with_several_results_is_one_message_for_each_and_a_name_is_bounded() -> None:
    pricer = hosted_pricer("qwen/qwen3-32b", own)
    assert pricer is not None
    one, two = (
        [{"type": "tool_result", "tool_use_id": str(place), "content": "r"} for place in range(results)]
        for results in (1, 2)
    )
    from assembler.messages import read_message

    single, double = (pricer.message(read_message({"role": "user", "content": parts}, 0)) for parts in (one, two))
    assert double.tokens == 2 * single.tokens
    named = pricer.message(read_message({**USER, "name": "ann"}, 0))
    plain = pricer.message(read_message(USER, 0))
    assert (named.tokens, named.upper) == (plain.tokens, plain.upper + 1 + 2)


def test_a_bundled_counter_stands_in_and_is_graded_so() -> None:
    request = {"messages": [{"role": "user", "content": "SOME_CAPITALS 12345"}]}
    guessed = count_request(request, dialect=openai_chat, model="deepseek-v4-flash", counter=tiktoken_counter())
    assert guessed.grade is Grade.ESTIMATED
    counted = count_request(request, dialect=openai_chat, model="deepseek-v4-flash", counter=own)
    assert counted.grade is Grade.BOUNDED
