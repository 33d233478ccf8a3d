"""What Responses forwards to Claude costs by its parts what it costs as it is sent, so that what fits is not cut."""

from __future__ import annotations

from typing import Any

import pytest

from assembler import Assembler, Truncate, count_request
from assembler.dialects import openai_responses
from budgets import Budget

MODEL = "openrouter/anthropic/claude-sonnet-4-5"
ASKED = {"type": "tool_use", "id": "toolu_0", "name": "look", "input": {"note": "a note " * 9}}
ANSWER = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_0", "content": "found"}]}
SEARCH = [
    {"type": "server_tool_use", "id": "srvtoolu_2", "name": "web_search", "input": {}},
    {
        "type": "web_search_tool_result",
        "tool_use_id": "srvtoolu_2",
        "content": [{"type": "web_search_result", "title": "A page", "url": "https://x.test/"}],
    },
]
HISTORIES: dict[str, list[dict[str, Any]]] = {
    "another API's search, which is sent as a text": [
        {"role": "user", "content": "Which one?"},
        {"role": "assistant", "content": [ASKED, *SEARCH]},
        ANSWER,
    ],
    "a part of an unknown type": [
        {"role": "user", "content": [{"type": "text", "text": "Which one?"}, {"type": "mystery", "say": "this one"}]},
        {"role": "assistant", "content": [ASKED]},
        ANSWER,
    ],
}


@pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES)
def test_a_history_that_fits_as_it_is_forwarded_is_not_cut(history: list[dict[str, Any]]) -> None:
    def built(window: int) -> Any:
        tools = [{"name": "look", "parameters": {"type": "object", "properties": {"note": {"type": "string"}}}}]
        budget = Budget(window, model=MODEL)
        made = Assembler(budget, dialect=openai_responses, on_overflow=Truncate(2)).add_capability(tools)
        return made.add_messages(history).build()

    whole = built(10**6)
    assert whole.count == count_request(whole.request(), dialect=openai_responses, model=MODEL)
    fitting = built(whole.count.upper)
    assert (fitting.request(), fitting.count) == (whole.request(), whole.count)
