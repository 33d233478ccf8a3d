"""A count is exact only for a known model that is counted by its own vocabulary."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from assembler import Assembler, Context, TrimOldest, count_request
from assembler.dialects import DIALECTS, openai_chat, plain
from assembler.policies import ClearReasoning, KeepRelevant, Policy, TrimSteps
from assembler.testing import conversations
from budgets import Budget, Grade, tiktoken_counter
from tests.scaled import scaled

QUESTION = {"role": "user", "content": "Hello there, how are you?"}


@pytest.mark.parametrize("name", sorted(DIALECTS))
@pytest.mark.parametrize("model", ["unknown/model", "phi-99", "command-z"])
@scaled(0.1)
@given(history=conversations("openai_chat"))
def test_no_count_for_an_unknown_model_is_exact(name: str, model: str, history: list[dict[str, Any]]) -> None:
    if DIALECTS[name].api.vocabulary:
        return  # its models have one vocabulary, whatever their names
    budget = Budget(100_000, model=model)
    tools = [{"name": "search", "parameters": {"type": "object"}}]
    count = Assembler(budget, dialect=DIALECTS[name]).add_capability(tools).add_messages(history).build().count
    assert count.grade is Grade.ESTIMATED
    assert count.upper > count.tokens


@given(history=conversations("openai_chat"))
def test_the_bound_for_an_unknown_model_holds_a_vocabulary_of_more_than_twice_as_many_tokens(
    history: list[dict[str, Any]],
) -> None:
    """The model's template adds eight tokens to each message and sixty to the request."""
    context = Assembler(Budget(100_000, model="unknown/model")).add_messages(history).build()
    texts = count_request(context.request(), dialect=plain).tokens
    assert context.count.upper >= 2.2 * texts + 8 * len(history) + 60
    assert context.count.tokens == texts


GENERATIONS = {
    "llama": ["llama-2-70b-chat", "llama-3-8b", "llama-3.1-8b", "llama-3.3-70b", "llama-4-scout"],
    "qwen": ["qwen2.5-7b", "qwen3-32b", "qwq-32b"],
    "deepseek": ["deepseek-chat", "deepseek-v3", "deepseek-v3.1", "deepseek-v4-pro"],
}
TOOL = {"type": "function", "function": {"name": "f", "description": "Finds.", "parameters": {"type": "object"}}}


@pytest.mark.parametrize("family", GENERATIONS)
@pytest.mark.parametrize("text", ["How are you?", "Привет, как дела? ", "今日はいい天気です。"])
@pytest.mark.parametrize("tools", [[], [TOOL]])
def test_a_name_without_a_generation_is_estimated_and_its_bound_holds_for_each(
    family: str, text: str, tools: list[Any]
) -> None:
    """`my-qwen` was bounded as Qwen 3, and `my-llama` by the vocabulary of Llama 3."""
    body = {"messages": [{"role": "user", "content": text * 20}], "tools": tools}
    generations = [count_request(body, dialect=openai_chat, model=model) for model in GENERATIONS[family]]
    for name in (family, f"my-{family}", f"acme/{family}-prod"):
        count = count_request(body, dialect=openai_chat, model=name)
        assert count.grade is Grade.ESTIMATED
        assert count.upper >= max(generation.tokens for generation in generations)
        assert count.upper > 1.15 * count.tokens


def test_without_a_model_texts_are_counted_exactly_by_the_vocabulary_that_was_asked_for() -> None:
    context = Assembler(Budget(8_192)).add_message(QUESTION).build()
    assert (context.dialect, context.count.grade) == ("plain", Grade.EXACT)
    assert context.count.tokens == tiktoken_counter("o200k_base")(QUESTION["content"])


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-5", "claude-sonnet-4-5", "gpt-4-0613"])
def test_a_body_is_priced_by_the_model_that_it_names_unless_another_is_given(model: str) -> None:
    dialect = DIALECTS["anthropic" if model.startswith("claude") else "openai_chat"]
    body = {"messages": [{"role": "user", "content": "Grüße aus Łódź!"}]}
    assert count_request({"model": model, **body}, dialect=dialect) == count_request(body, dialect=dialect, model=model)
    named = {"model": "nobody-1", **body}
    assert count_request(named, dialect=dialect, model=model) == count_request(body, dialect=dialect, model=model)
    assert count_request(named, dialect=dialect).upper > count_request(body, dialect=dialect, model=model).upper


def test_an_own_counter_is_trusted() -> None:
    context = Assembler(Budget(8_192, model="unknown/model", counter=len)).add_message(QUESTION).build()
    assert (context.count.tokens, context.count.grade) == (len(QUESTION["content"]), Grade.EXACT)


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4o-mini"])
def test_a_known_model_with_its_own_vocabulary_is_exact(model: str) -> None:
    context = Assembler(Budget.for_model(model)).add_message(QUESTION).build()
    assert context.count == count_request(context.request(), dialect=openai_chat, model=model)
    assert context.count.grade is Grade.EXACT


@pytest.mark.parametrize("policy", [KeepRelevant(keep_turns=1), TrimOldest()], ids=str)
def test_a_dropped_message_no_longer_affects_the_grade(policy: Policy) -> None:
    thought = {"role": "assistant", "content": "Snow.", "reasoning_content": "It is an estimate what this costs."}
    history = [QUESTION, thought, {"role": "user", "content": "And today?"}]
    budget = Budget(10_000, model="gpt-3.5-turbo")
    whole = Assembler(budget, dialect=openai_chat).add_messages(history).build().count
    budget = Budget(whole.upper - 1, model="gpt-3.5-turbo")
    context = Assembler(budget, dialect=openai_chat, on_overflow=policy).add_messages(history).build()
    assert len(context.dropped) == 2
    assert whole.grade > context.count.grade
    assert context.count == count_request(context.request(), dialect=openai_chat, model="gpt-3.5-turbo")


def test_reasoning_that_is_cleared_takes_its_grade_from_the_items_beside_it() -> None:
    """Items were graded together with the reasoning, and kept that grade after it was cleared."""
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "Z0FB" * 100}
    blocks = [{"type": "output_text", "text": "I look."}]
    answer = {"type": "message", "role": "assistant", "id": "msg_1", "content": blocks}
    asked = {"type": "function_call", "call_id": "a", "name": "find", "arguments": "{}"}
    found = {"type": "function_call_output", "call_id": "a", "output": "yes"}
    history = [QUESTION, thought, answer, asked, found, {"role": "user", "content": "And today?"}]

    def built(window: int) -> Context[Any]:
        budget = Budget(window, model="gpt-4o")
        made = Assembler(budget, dialect="openai_responses", on_overflow=ClearReasoning(0))
        return made.add_messages(history).build()

    whole = built(10_000).count
    context = built(whole.upper - 1)
    assert [message.outcome for message in context.dropped] == ["dropped", "shortened"]
    assert whole.grade > context.count.grade
    assert context.count == count_request(context.request(), dialect="openai_responses", model="gpt-4o")


def test_a_session_grades_what_stays_and_not_the_step_that_it_dropped_before() -> None:
    """The answer stands beside the dropped result, and all that stays was priced anew without being graded anew."""
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Where is it?"},
        {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "gAAAA" + "x" * 900},  # an estimate
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "word " * 100},
        {"role": "assistant", "content": "Here."},
    ]
    budget, policies = Budget(30, model="gpt-5.4"), [TrimOldest(low_water=0.5), TrimSteps(keep=0)]
    session = Assembler(budget, dialect="openai_responses", on_overflow=policies)
    before = session.set_messages(messages[:-1]).build()
    after = session.add_message(messages[-1]).build()
    assert [len(context.messages) for context in (before, after)] == [1, 2]
    assert after.count == count_request(after.request(), dialect="openai_responses", model="gpt-5.4")
