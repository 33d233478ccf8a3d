"""Calls of a Chat message that have their name and arguments side by side, under any usual key."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assembler import Assembler, ClearToolResults
from assembler.dialects import openai_chat
from budgets import Budget

GIVEN = {"city": "Oslo " * 60}


def history(key: str, given: object) -> list[dict[str, Any]]:
    call = {"id": "c1", "name": "weather", key: given}
    return [
        {"role": "user", "content": "What is the weather?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "rain " * 40},
        {"role": "assistant", "content": "It rains."},
        {"role": "user", "content": "Thanks!"},
    ]


@pytest.mark.parametrize("given", [GIVEN, json.dumps(GIVEN)], ids=["object", "text"])
@pytest.mark.parametrize("key", ["args", "arguments", "input", "parameters"])
class TestKeys:
    def test_the_arguments_are_sent(self, key: str, given: object) -> None:
        context = Assembler(dialect=openai_chat).set_messages(history(key, given)).build()
        (call,) = context.request()["messages"][1]["tool_calls"]
        assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == ("weather", GIVEN)
        assert context.notes() == ()

    def test_a_cleared_call_has_its_arguments_where_they_were(self, key: str, given: object) -> None:
        budget = Budget(60, model="gpt-4o")
        context = Assembler(budget, on_overflow=ClearToolResults(keep=0)).set_messages(history(key, given)).build()
        (call,) = context.messages[1]["tool_calls"]
        assert call == {"id": "c1", "name": "weather", key: {} if isinstance(given, dict) else "{}"}
