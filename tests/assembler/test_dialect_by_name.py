"""Every function takes a dialect as a value or by name, and its request has the keys of its typed form."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from assembler import Assembler, CacheMarks, ConversationError, TrimOldest, count_request, fit_request, verify
from assembler.dialects import DIALECTS, Anthropic, Api, Bedrock, Dialect, openai_chat, typed_requests
from assembler.testing import assemblers, assert_fits, assert_valid, check_dialect, planted, survival
from budgets import Budget, BudgetError

TYPED = {
    "anthropic": typed_requests.AnthropicRequest,
    "bedrock": typed_requests.BedrockRequest,
    "gemini": typed_requests.GeminiRequest,
    "mistral": typed_requests.MistralRequest,
    "openai_chat": typed_requests.ChatRequest,
    "openai_responses": typed_requests.ResponsesRequest,
}


@pytest.mark.parametrize("name", DIALECTS)
def test_a_dialects_name_works_like_its_value_in_every_function(name: str) -> None:
    value = DIALECTS[name]
    assembler = Assembler(dialect=name).add_instruction("Be brief.").add_message(("user", "Hi"))
    assert repr(assembler) == repr(Assembler(dialect=value).add_instruction("Be brief.").add_message(("user", "Hi")))
    context = assembler.build()
    request = context.request()
    assert context.request(name) == context.request(value) == request
    assert count_request(request, dialect=name) == count_request(request, dialect=value)
    assert verify(request, dialect=name) == verify(request, dialect=value) == []
    assert verify(request, dialect=context.dialect) == []
    assert_fits(request, budget=Budget(1_000), dialect=name)
    assert_valid(request, dialect=name)
    assert assemblers(name) is not None
    check_dialect(name, max_examples=1)


@pytest.mark.parametrize(
    ("model", "name"), [("gpt-4o", "openai_chat"), ("claude-opus-4-6", "anthropic"), ("gemini-2.5-pro", "gemini")]
)
def test_without_a_dialect_every_function_takes_that_of_the_model(model: str, name: str) -> None:
    request = Assembler(Budget(1_000, model=model)).add_message(("user", "Hi")).build().request()
    assert count_request(request, model=model) == count_request(request, dialect=name, model=model)
    assert count_request({**request, "model": model}) == count_request(request, dialect=name, model=model)
    assert verify(request, model=model) == verify({**request, "model": model}) == []
    assert fit_request(request, assembler=Assembler(Budget(1_000, model=model))) == request


@pytest.mark.parametrize(
    "own",
    [
        Anthropic(thinking={"type": "enabled", "budget_tokens": 2_000}),
        Bedrock(thinking={"type": "enabled", "budget_tokens": 2_000}),
    ],
)
def test_the_name_of_ones_own_dialect_means_it_with_its_settings(own: Anthropic | Bedrock) -> None:
    """The call that the docs show for type checkers sent Claude's request without the thinking that was priced."""
    context = Assembler(Budget(9_000), dialect=own).add_message(("user", "Hi")).build()
    marks = CacheMarks()
    assert "budget_tokens" in str(context.request())
    assert context.request(own.name) == context.request()
    assert context.request(own.name, cache_marks=marks) == context.request(cache_marks=marks)
    assert context.request().keys() <= TYPED[own.name].__annotations__.keys()
    base, body = Assembler(Budget(9_000), dialect=own).set_instruction("Be brief."), context.unmarked()
    del body["thinking" if own.name == "anthropic" else "additionalModelRequestFields"]
    assert "budget_tokens" in str(fit_request(body, assembler=base))
    assert fit_request(body, dialect=own.name, assembler=base) == fit_request(body, assembler=base)


def test_survival_takes_a_dialect_by_its_name() -> None:
    by_name = survival(TrimOldest(), [planted(1, turns=6, facts=2)], dialect="openai_chat")
    assert by_name == survival(TrimOldest(), [planted(1, turns=6, facts=2)])


@pytest.mark.parametrize("door", [count_request, verify, assert_valid])
def test_without_a_dialect_and_a_known_model_every_function_behaves_alike(door: Callable[..., object]) -> None:
    for request in ({"messages": []}, {"messages": [], "model": "my-finetune"}):
        with pytest.raises(BudgetError, match=f"^no dialect: pass dialect=, one of {next(iter(DIALECTS))}, "):
            door(request)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("openai", "openai_chat"),
        ("OpenAI", "openai_chat"),
        ("claude", "anthropic"),
        ("responses", "openai_responses"),
        ("openai-responses", "openai_responses"),
        ("google", "gemini"),
        ("converse", "bedrock"),
        ("antropic", "anthropic"),
    ],
)
def test_another_name_of_an_api_is_refused_with_the_librarys(name: str, meant: str) -> None:
    with pytest.raises(BudgetError, match=rf"did you mean {meant}\?$"):
        Assembler(dialect=name)


@pytest.mark.parametrize("dialect", ["chat_template", Assembler.build, DIALECTS.get])
def test_the_error_for_chat_template_itself_says_to_call_it_with_a_tokenizer(dialect: object) -> None:
    with pytest.raises(BudgetError, match=r"chat_template\(tokenizer\)"):
        Assembler(dialect=dialect)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", TYPED)
def test_the_type_of_a_request_names_every_key_of_a_full_one(name: str) -> None:
    assembler = Assembler(dialect=name).add_instruction("Be brief.").add_message(("user", "Hi"))
    assembler.add_capability([{"name": "look", "description": "", "parameters": {"type": "object"}}], choice="look")
    assembler.add_output_schema({"type": "object", "properties": {"a": {"type": "string"}}}, name="answer")
    keys = assembler.build().request().keys()
    assert len(keys) > 1
    assert keys <= TYPED[name].__annotations__.keys()


def test_the_model_is_read_under_the_key_that_its_api_declares() -> None:
    """Bedrock's name of a model decided the price and no dialect, and the key of one's own API was not read at all."""
    ours = SimpleNamespace(
        name="ours",
        api=Api(model="engine"),
        opening=openai_chat.opening,
        pricer=openai_chat.pricer,
        parse=openai_chat.parse,
        options=openai_chat.options,
        emit=openai_chat.emit,
    )
    body = {"messages": [{"role": "user", "content": "Hi"}]}
    for model in ("gpt-4o", "nobodys-model"):
        count = count_request(body, dialect=cast("Dialect", ours), model=model)
        assert count_request({"engine": model, **body}, dialect=cast("Dialect", ours)) == count
        assert count_request({"model": model, **body}, dialect=cast("Dialect", ours)) == count
    converse = {"modelId": "anthropic.claude-sonnet-4-5", "messages": [{"role": "user", "content": [{"text": "Hi"}]}]}
    priced = count_request(converse, dialect="bedrock", model="anthropic.claude-sonnet-4-5")
    assert count_request(converse) == count_request(converse, dialect="bedrock") == priced
    assert assert_fits(converse) == priced


@pytest.mark.parametrize(
    ("body", "dialect", "advised"),
    [
        ({"input": "hi"}, "openai_chat", "openai_responses"),
        ({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}, "anthropic", "gemini"),
        ({"messages": [{"role": "user", "content": "hi"}]}, "openai_responses", "openai_chat"),
        ({"messages": [{"role": "user", "content": "hi"}]}, "gemini", "anthropic"),
    ],
)
def test_a_body_of_another_api_is_refused_with_a_dialect_that_reads_it(
    body: dict[str, Any], dialect: str, advised: str
) -> None:
    with pytest.raises(ConversationError, match=rf"is one for .*{advised}.*: pass that as the dialect") as refused:
        count_request(body, dialect=dialect)
    assert dialect not in str(refused.value)
    assert count_request(body, dialect=advised).tokens > 0
    with pytest.raises(ConversationError) as unknown:
        count_request({"messages": None}, dialect=dialect)
    assert "pass that" not in str(unknown.value)
