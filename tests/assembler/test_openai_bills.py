"""OpenAI's bill as recorded requests of many projects show it, each in its smallest case.

The recordings and what each rule rests on: `docs/how-it-counts-openai.md`.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, ClearReasoning, ConversationError, count_request
from assembler.dialects import openai_chat, openai_responses
from assembler.dialects.openai_chat.dialect import as_billed
from budgets import Budget, Count, tiktoken_counter

count = tiktoken_counter("o200k_base")

# ── Chat Completions


def tool_message(**fields: Any) -> dict[str, Any]:
    return {"role": "tool", "content": "sunny", **fields}


def asking(*ids: str) -> dict[str, Any]:
    calls = [{"id": it, "type": "function", "function": {"name": "look", "arguments": "{}"}} for it in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


QUESTION: dict[str, Any] = {"role": "user", "content": "weather?"}


def chat_price(*messages: dict[str, Any], model: str = "gpt-4o", **options: Any) -> Count:
    return count_request({"messages": list(messages), **options}, dialect=openai_chat, model=model)


@pytest.mark.parametrize(
    ("called", "arguments", "result", "description", "properties", "asked", "billed"),
    [
        # crmne/ruby_llm (MIT), spec/fixtures/vcr_cassettes/activerecord_actsas_tool_usage_persists_tool_calls
        (
            "dice_roll",
            "{}",
            "{:roll=>1}",
            "Rolls a single six-sided die and returns the result",
            {},
            "Roll a die for me",
            64,
        ),
        # Mirascope/mirascope (MIT), test_resume_with_override_thinking_and_tools
        (
            "compute_fib",
            '{"n": 100}',
            "218922995834555169026",
            "Compute the nth Fibonacci number (1-indexed).",
            {"n": {"title": "N", "type": "integer"}},
            "What is the 100th fibonacci number?",
            84,
        ),
    ],
)
def test_a_call_on_responses_is_shown_as_it_was_sent_between_two_full_names(
    called: str,
    arguments: str,
    result: str,
    description: str,
    properties: dict[str, Any],
    asked: str,
    billed: int,
) -> None:
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    request = {
        "input": [
            {"role": "user", "content": asked},
            {"type": "function_call", "call_id": "a", "name": called, "arguments": arguments},
            {"type": "function_call_output", "call_id": "a", "output": result},
        ],
        "tools": [{"type": "function", "name": called, "description": description, "parameters": schema}],
    }
    assert count_request(request, dialect=openai_responses, model="gpt-4o").tokens == billed


def test_a_result_that_names_no_call_is_priced_like_one_that_does() -> None:
    named = chat_price(QUESTION, asking("a"), tool_message(tool_call_id="a"))
    assert chat_price(QUESTION, asking("a"), tool_message()) == named
    assert chat_price(QUESTION, asking("a"), tool_message(tool_call_id=None)) == named


def test_a_result_without_its_call_is_still_refused() -> None:
    with pytest.raises(ConversationError, match="tool_call_id"):
        Assembler(dialect=openai_chat).add_messages([QUESTION, asking("a"), tool_message()]).build()


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-5"])
@pytest.mark.parametrize("beside", [{}, {"audio": {"id": "a"}}, {"refusal": "no"}])
def test_an_answer_whose_reasoning_was_cleared_costs_what_it_costs_the_request(
    model: str, beside: dict[str, Any]
) -> None:
    """It was bounded as a refusal may cost, because it once held a field of Chat's own."""
    history = [QUESTION, {"role": "assistant", "content": "a", "reasoning_content": "hm " * 50, **beside}, QUESTION]
    whole = Assembler(Budget(10**6, model=model)).add_messages(history).build().count
    tight = Assembler(Budget(whole.upper - 1, model=model), on_overflow=ClearReasoning(keep=0))
    context = tight.add_messages(history).build()
    assert context.count == count_request(context.request(), dialect=openai_chat, model=model)
    assert beside or context.count.upper == context.count.tokens


@pytest.mark.parametrize("role", ["user", "assistant", "system"])
def test_a_message_without_content_is_priced_as_its_envelope(role: str) -> None:
    empty: dict[str, Any] = {"role": role, "content": None}
    assert chat_price(QUESTION, empty, QUESTION).tokens == chat_price(QUESTION, QUESTION).tokens + 4
    for spelled in ({}, {"content": ""}, {"content": []}):
        assert chat_price(QUESTION, {"role": role, **spelled}, QUESTION) == chat_price(QUESTION, empty, QUESTION)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "refusal"])
def test_a_message_with_fields_beside_its_content_is_read_as_it_is(field: str) -> None:
    answer = {"role": "assistant", "content": None, field: "word"}
    assert list(as_billed([answer, {"role": "assistant", field: None}])) == [answer, {"role": "user", "content": ""}]


def test_the_name_on_a_result_is_free() -> None:
    bare = chat_price(QUESTION, asking("a"), tool_message(tool_call_id="a"))
    assert chat_price(QUESTION, asking("a"), tool_message(tool_call_id="a", name="look")) == bare


def test_a_name_on_a_legacy_result_is_counted() -> None:
    long, short = ({"role": "function", "name": name, "content": "sunny"} for name in ("look_up_the_weather", "look"))
    assert chat_price(QUESTION, long).tokens - chat_price(QUESTION, short).tokens == count("look_up_the_weather") - 1


@pytest.mark.parametrize(("model", "envelope"), [("gpt-4o", 4), ("gpt-5", 0)])
def test_calls_beside_a_text_are_a_message_of_their_own(model: str, envelope: int) -> None:
    silent, with_text = asking("a"), {**asking("a"), "content": "Looking."}
    answer = tool_message(tool_call_id="a")
    spoken = (
        chat_price({"role": "assistant", "content": "Looking."}, model=model).tokens
        - chat_price({"role": "user", "content": ""}, model=model).tokens
    )
    difference = chat_price(with_text, answer, model=model).tokens - chat_price(silent, answer, model=model).tokens
    assert difference == spoken + envelope


@given(st.lists(st.sampled_from(["5", "sunny", '{"a":1}', "a\nb", "72°F"]), min_size=1, max_size=4))
def test_results_of_one_step_cost_the_plan_what_they_cost_the_request(texts: list[str]) -> None:
    ids = [f"c{place}" for place in range(len(texts))]
    answers = [tool_message(tool_call_id=it, content=text) for it, text in zip(ids, texts, strict=True)]
    plan = Assembler(Budget(10**6, model="gpt-5")).add_messages([QUESTION, asking(*ids), *answers]).build()
    assert plan.count == count_request(plan.request(), dialect=openai_chat, model="gpt-5")


def test_a_plain_field_that_openai_ignores_costs_no_token() -> None:
    plain = chat_price({**QUESTION, "charset": "UTF-8"})
    assert plain.tokens == chat_price(QUESTION).tokens
    assert plain.upper > plain.tokens


# ── Responses

PARAMETERS: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FLAT: dict[str, Any] = {"type": "function", "name": "look", "description": "Look.", "parameters": PARAMETERS}


def item_price(*items: dict[str, Any], model: str = "gpt-4.1", **options: Any) -> Count:
    return count_request({"input": list(items), **options}, dialect=openai_responses, model=model)


def test_responses_reads_a_tool_in_chats_form_by_its_own_fields_alone() -> None:
    both = {"type": "function", "name": "look", "function": {key: FLAT[key] for key in ("name", "parameters")}}
    bare = {"type": "function", "name": "look"}
    assert item_price(QUESTION, tools=[both]) == item_price(QUESTION, tools=[bare])
    assert item_price(QUESTION, tools=[FLAT]).tokens > item_price(QUESTION, tools=[bare]).tokens


def called(**fields: Any) -> list[dict[str, Any]]:
    call = {"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}", **fields}
    return [call, {"type": "function_call_output", "call_id": "a", "output": "sunny"}]


@pytest.mark.parametrize(
    ("model", "more"), [("gpt-4o", 3), ("gpt-4.1-mini", 3), ("gpt-5", 0), ("gpt-5.4", 0), ("o4-mini", 0)]
)
def test_a_call_replayed_as_the_server_sent_it_costs_more_with_gpt_4o(model: str, more: int) -> None:
    fresh = item_price(QUESTION, *called(), model=model)
    replayed = item_price(QUESTION, *called(id="fc_1", status="completed"), model=model)
    assert replayed.tokens - fresh.tokens == more
    assert item_price(QUESTION, *called(id="fc_1"), model=model) == fresh


@pytest.mark.parametrize(
    ("model", "choice"), [("gpt-4o", "required"), ("gpt-4.1", {"type": "function", "name": "look"})]
)
def test_a_tool_that_must_be_called_costs_its_address_on_responses(model: str, choice: Any) -> None:
    free = item_price(QUESTION, model=model, tools=[FLAT])
    forced = item_price(QUESTION, model=model, tools=[FLAT], tool_choice=choice)
    assert forced.tokens - free.tokens == count("functions.look") + 6


def test_one_of_several_required_tools_is_free_on_responses() -> None:
    tools = [FLAT, {**FLAT, "name": "hear"}]
    assert item_price(QUESTION, tools=tools, tool_choice="required") == item_price(QUESTION, tools=tools)


# ── families


@pytest.mark.parametrize("model", ["o1", "o3-mini", "o4-mini"])
def test_o_series_get_no_preamble_with_tools(model: str) -> None:
    tool = {"type": "function", "function": {"name": "look", "parameters": PARAMETERS}}
    with_tool, gpt_5 = (chat_price(QUESTION, model=name, tools=[tool]).tokens for name in (model, "gpt-5"))
    assert gpt_5 - with_tool == 81


def test_gpt_5_pays_one_token_less_for_tools_beside_a_system_message() -> None:
    tool = {"type": "function", "function": {"name": "look", "parameters": PARAMETERS}}
    rules = {"role": "system", "content": "Be brief."}
    alone = chat_price(QUESTION, model="gpt-5", tools=[tool]).tokens - chat_price(QUESTION, model="gpt-5").tokens
    beside = chat_price(rules, QUESTION, model="gpt-5", tools=[tool]).tokens
    assert beside - chat_price(rules, QUESTION, model="gpt-5").tokens == alone - 1


@pytest.mark.parametrize(
    ("model", "more"), [("gpt-5", 2), ("gpt-5.4", 2), ("o4-mini", 2), ("o3-mini", 0), ("gpt-4o", 0)]
)
def test_an_answer_opens_a_channel_in_some_generations(model: str, more: int) -> None:
    answered, asked = ({"role": role, "content": "Fine."} for role in ("assistant", "user"))
    assert chat_price(answered, QUESTION, model=model).tokens - chat_price(asked, QUESTION, model=model).tokens == more


def test_gpt_5_chat_is_framed_as_gpt_4o() -> None:
    assert chat_price(QUESTION, model="gpt-5-chat-latest") == chat_price(QUESTION, model="gpt-4o")


@pytest.mark.parametrize("model", ["gpt-4o-mini", "gpt-5.4", "o4-mini"])
def test_azure_forwards_the_bill(model: str) -> None:
    tool = {"type": "function", "function": {"name": "look", "parameters": PARAMETERS}}
    steps = [QUESTION, asking("a", "b"), tool_message(tool_call_id="a"), tool_message(tool_call_id="b")]
    assert chat_price(*steps, model=f"azure/{model}", tools=[tool]) == chat_price(*steps, model=model, tools=[tool])


@pytest.mark.parametrize("model", ["gpt-4o-search-preview", "gpt-5-search-api"])
def test_the_result_of_a_legacy_call_costs_a_model_without_envelopes_nothing_less_than_0(model: str) -> None:
    called = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    history = [{"role": "user", "content": "q"}, called, {"role": "function", "name": "f", "content": None}]
    assert count_request({"messages": history}, dialect=openai_chat, model=model).tokens >= 0


@pytest.mark.parametrize("dialect", [openai_chat, openai_responses])
def test_the_bound_includes_a_description_that_is_repeated_for_each_of_two_types(dialect: Any) -> None:
    text = 'Time zone to display the current time in. Defaults to `"UTC"`.'

    def priced(kind: str | list[str]) -> Count:
        schema = {"type": "object", "properties": {"tz": {"type": kind, "description": text}}, "required": ["tz"]}
        tool = {
            "type": "function",
            "name": "now",
            "function": {"name": "now", "parameters": schema},
            "parameters": schema,
        }
        asked = [{"role": "user", "content": "When?"}]
        return count_request({"messages": asked, "input": asked, "tools": [tool]}, dialect=dialect, model="gpt-4.1")

    one, several = priced("string"), priced(["string", "null"])
    assert one.upper - one.tokens < 5
    assert several.upper - several.tokens >= 2 * (count(text) + 1)  # 34 tokens in six recordings


@pytest.mark.parametrize(("model", "room"), [("gpt-4o-mini", 18), ("gpt-4.1", 0), ("gpt-5", 0)])
def test_the_bound_of_gpt_4o_on_responses_includes_the_server_of_march_2025(model: str, room: int) -> None:
    request: dict[str, Any] = {"input": [{"role": "user", "content": "weather?"}]}
    bound = count_request(request, dialect=openai_responses, model=model)
    assert room <= bound.upper - bound.tokens <= room + 1
    tooled = request | {"tools": [{"type": "function", "name": "look", "parameters": {"type": "object"}}]}
    beside = count_request(tooled, dialect=openai_responses, model=model)
    assert beside.upper - beside.tokens < 18
