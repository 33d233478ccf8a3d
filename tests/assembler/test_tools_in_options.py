"""A provider's tools and prompts that a request asks for outside its list of tools have a bound."""

from __future__ import annotations

from typing import Any

import pytest

from assembler import Assembler, count_request, fit_request
from assembler.dialects import openai_chat
from budgets import Budget, Grade
from budgets.errors import AssemblyError

SAID = [{"role": "user", "content": "q"}]
SERVER = {"type": "url", "url": "https://mcp.example", "name": "tickets"}


@pytest.mark.parametrize(
    ("dialect", "model", "asked", "least"),
    [
        ("openai_chat", "gpt-4o", {"web_search_options": {}}, 1_000),
        ("anthropic", "claude-sonnet-4-5", {"mcp_servers": [SERVER]}, 5_000),
        ("anthropic", "claude-sonnet-4-5", {"mcp_servers": [SERVER, {**SERVER, "name": "wiki"}]}, 10_000),
        ("mistral", "mistral-large-latest", {"safe_prompt": True}, 50),
        ("mistral", "magistral-medium-latest", {"prompt_mode": "reasoning"}, 300),
    ],
)
def test_a_provider_tool_requested_by_an_option_has_a_bound(
    dialect: str, model: str, asked: dict[str, Any], least: int
) -> None:
    bare = count_request({"messages": SAID}, dialect=dialect, model=model)
    with_it = count_request({"messages": SAID, **asked}, dialect=dialect, model=model)
    assert with_it.upper >= bare.upper + least
    assert with_it.tokens > bare.tokens
    assert with_it.grade is Grade.ESTIMATED


@pytest.mark.parametrize("off", [{"web_search_options": None}, {"mcp_servers": []}, {"safe_prompt": False}])
def test_an_option_that_asks_for_nothing_is_free(off: dict[str, Any]) -> None:
    for dialect in ("openai_chat", "anthropic", "mistral"):
        bare = count_request({"messages": SAID}, dialect=dialect)
        assert count_request({"messages": SAID, **off}, dialect=dialect) == bare


def test_a_server_that_a_toolset_names_is_priced_once() -> None:
    def upper(*tools: dict[str, Any], **more: Any) -> int:
        body = {"messages": SAID, "tools": list(tools), **more}
        return count_request(body, dialect="anthropic", model="claude-sonnet-4-5").upper

    toolset = {"type": "mcp_toolset", "mcp_server_name": "tickets"}
    assert upper(toolset, mcp_servers=[SERVER]) == upper(toolset)
    assert upper(toolset, mcp_servers=[SERVER, {**SERVER, "name": "wiki"}]) > upper(toolset)


def test_a_body_that_asks_for_a_search_fits_with_it_or_is_refused() -> None:
    body: dict[str, Any] = {"model": "gpt-4o", "messages": SAID, "web_search_options": {}}
    roomy = Assembler(Budget.for_model("gpt-4o", context_window=4_000, max_output_tokens=100))
    assert fit_request(body, dialect=openai_chat, assembler=roomy) == body
    tight = Assembler(Budget.for_model("gpt-4o", context_window=1_000, max_output_tokens=100))
    with pytest.raises(AssemblyError):
        fit_request(body, dialect=openai_chat, assembler=tight)
