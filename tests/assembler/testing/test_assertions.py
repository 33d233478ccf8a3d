"""The assertions pass for a valid request that fits, and otherwise state places and numbers and quote nothing."""

from __future__ import annotations

from typing import Any

import pytest

from assembler.dialects import anthropic, openai_chat
from assembler.testing import assert_fits, assert_valid
from budgets import Budget, BudgetError, Grade, UnknownModelError

CANARY = "canary-7f3a"
TOOL = {"type": "function", "function": {"name": "look", "description": CANARY, "parameters": {"type": "object"}}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


def request(**more: Any) -> dict[str, Any]:
    head = {"role": "system", "content": CANARY}
    return {"messages": [head, {"role": "user", "content": f"{CANARY} " * 40}], **more}


def test_a_request_at_the_limit_fits_and_with_one_token_less_does_not() -> None:
    cost = assert_fits(request(), model="gpt-4o").upper
    assert assert_fits(request(), budget=Budget(cost, model="gpt-4o")).grade is Grade.EXACT
    with pytest.raises(AssertionError, match=f"costs {cost} tokens, but only {cost - 1} are free") as caught:
        assert_fits(request(), budget=Budget(cost - 1, model="gpt-4o"))
    assert "1 too many" in str(caught.value)
    assert CANARY not in str(caught.value)


def test_the_table_lists_the_most_expensive_first_and_adds_up() -> None:
    body = request(tools=[TOOL])
    cost = assert_fits(body, model="gpt-4o").upper
    with pytest.raises(AssertionError) as caught:
        assert_fits(body, budget=Budget(10, model="gpt-4o"))
    rows = str(caught.value).splitlines()[2:-1]
    assert [row.split()[0] for row in rows] == ["messages[1]", "1", "messages[0]", "framing"]
    assert sum(int(row.split()[-1]) for row in rows) == cost


def test_cheap_messages_among_many_share_a_line() -> None:
    many = [{"role": "user", "content": f"{CANARY} " * (1 + place % 3)} for place in range(40)]
    with pytest.raises(AssertionError, match="28 more items"):
        assert_fits({"messages": many}, budget=Budget(10, model="gpt-4o"))


def test_a_bounded_count_is_held_to_its_upper_bound_and_says_so() -> None:
    body = {"system": CANARY, "messages": [{"role": "user", "content": f"{CANARY} " * 40}], "tools": []}
    del body["tools"]
    with pytest.raises(AssertionError, match=r"at most \d+ tokens \(bounded\)") as caught:
        assert_fits(body, budget=Budget(10, model="claude-sonnet-4-5"))
    assert "system" in str(caught.value)


def test_the_reserve_for_the_answer_is_taken_from_the_window() -> None:
    with pytest.raises(AssertionError, match="128000 context_window - 16000 max_output_tokens"):
        assert_fits(
            {"messages": [{"role": "user", "content": "a b " * 60_000}]}, model="gpt-4o", max_output_tokens=16_000
        )


def test_the_model_may_be_named_by_the_body() -> None:
    assert assert_fits(request(model="gpt-4o")) == assert_fits(request(), model="gpt-4o", dialect=openai_chat)
    assert assert_fits(request(model="gpt-4o"), dialect="openai_chat") == assert_fits(request(), model="gpt-4o")


def test_without_a_model_and_a_budget_the_assertion_refuses() -> None:
    with pytest.raises(TypeError, match="needs model="):
        assert_fits(request())
    with pytest.raises(BudgetError, match="no dialect: pass dialect="):
        assert_fits(request(), budget=Budget(9))
    with pytest.raises(UnknownModelError):
        assert_fits(request(), model="gpt-77")


def test_a_valid_request_passes_by_value_by_name_and_by_model() -> None:
    assert_valid(request(), dialect=openai_chat)
    assert_valid(request(), dialect="openai_chat")
    assert_valid(request(), model="gpt-4o")
    assert_valid(request(model="gpt-4o"))
    assert_valid({"messages": [{"role": "user", "content": "a"}]}, dialect=anthropic)


def test_each_breach_is_a_row_and_no_row_holds_a_text() -> None:
    messages = [
        {"role": "user", "content": CANARY},
        {"role": "assistant", "content": CANARY, "tool_calls": [CALL]},
        {"role": "user", "content": [{"type": "input_text", "text": CANARY}]},
    ]
    with pytest.raises(AssertionError) as caught:
        assert_valid({"messages": messages}, dialect=openai_chat)
    lines = str(caught.value).splitlines()
    assert lines[0] == "the request is not valid for openai_chat: 2 breaches"
    assert [line.split()[0] for line in lines[1:]] == ["S4", "O2", "the"]
    assert "the API says: An assistant message with 'tool_calls' must be followed" in lines[-1]
    assert CANARY not in str(caught.value)


def test_one_breach_is_reported_in_the_singular() -> None:
    with pytest.raises(AssertionError, match="anthropic: 1 breach\n"):
        assert_valid({"messages": []}, model="claude-sonnet-4-5")


def test_the_error_for_a_request_that_is_not_an_object_names_its_place() -> None:
    with pytest.raises(AssertionError, match="messages"):
        assert_valid({}, dialect="openai_chat")
    with pytest.raises(BudgetError, match="no dialect"):
        assert_valid({"model": "gpt-77-unheard-of"})
