"""A provider's own tools are sent unchanged to its API and have a price."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from assembler import Assembler, ToolError, TrimOldest, count_request, verify
from assembler.dialects import DIALECTS
from budgets import Budget, Grade

Dict = dict[str, Any]

ASK: Dict = {"name": "ask", "description": "Asks.", "parameters": {"type": "object", "properties": {}}}

OWN: dict[str, list[Dict]] = {
    "openai_responses": [
        {"type": "web_search"},
        {"type": "web_search_preview_2025_03_11", "search_context_size": "low"},
        {"type": "file_search", "vector_store_ids": ["vs_1"]},
        {"type": "code_interpreter", "container": {"type": "auto"}},
        {"type": "image_generation"},
        {"type": "mcp", "server_label": "docs", "server_url": "https://a.example", "require_approval": "never"},
        {"type": "custom", "name": "sql", "description": "Runs SQL."},
        {"type": "shell"},
        {"type": "local_shell"},
        {"type": "apply_patch"},
        {"type": "computer"},
        {"type": "tool_search"},
        {"type": "namespace", "name": "crm", "description": "x", "tools": [{"type": "function", "name": "a"}]},
        {"type": "programmatic_tool_calling"},
        {"type": "novelty"},
    ],
    "anthropic": [
        {"type": "web_search_20260318", "name": "web_search", "max_uses": 3},
        {"type": "web_fetch_20260318", "name": "web_fetch"},
        {"type": "code_execution_20260521", "name": "code_execution"},
        {"type": "bash_20250124", "name": "bash"},
        {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"},
        {"type": "memory_20250818", "name": "memory"},
        {"type": "computer_20251124", "name": "computer", "display_width_px": 800, "display_height_px": 600},
        {"type": "mcp_toolset", "mcp_server_name": "docs"},
        {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"},
        {"type": "novelty_20270101", "name": "novelty", "cache_control": {"type": "ephemeral"}},
    ],
    "gemini": [
        {"google_search": {}},
        {"codeExecution": {}},
        {"url_context": {}},
        {"googleMaps": {"enable_widget": True}},
        {"file_search": {"file_search_store_names": ["s"]}},
    ],
    "bedrock": [{"systemTool": {"name": "nova_grounding"}}],
    "openai_chat": [{"type": "custom", "custom": {"name": "sql", "description": "Runs SQL."}}],
}
EVERY = [pytest.param(name, tool, id=f"{name}-{i}") for name, tools in OWN.items() for i, tool in enumerate(tools)]


def tools_in(request: Dict) -> list[Dict]:
    holder = request.get("config") or request.get("toolConfig") or request
    return holder.get("tools") or []


BILLED_APART = {"google_search", "googleMaps", "url_context"}
"""Gemini's, whose tokens are none of the prompt's (Gemini API, UsageMetadata, read 2026-11)."""


@pytest.mark.parametrize(("name", "tool"), EVERY)
def test_a_provider_tool_is_sent_unchanged_and_bounded(name: str, tool: Dict) -> None:
    dialect = DIALECTS[name]
    assembler = Assembler(dialect=dialect).add_message({"role": "user", "content": "q"})
    bare = assembler.build().count
    context = assembler.add_capability([ASK, tool]).build()
    assert tool in tools_in(context.request())
    assert len(tools_in(context.request())) == 2
    assert context.tool_classes == [ASK, tool]
    assert context.count.grade is Grade.ESTIMATED
    alone = assembler.add_capability([tool]).build()
    assert alone.count.tokens > bare.tokens or BILLED_APART & tool.keys()
    assert alone.count.upper > max(alone.count.tokens, bare.upper)
    assert verify(context.request(), dialect=dialect) == []
    body = context.request()
    assert count_request(body, dialect=dialect).upper == context.count.upper


NOBODY_S: Dict = {"type": "novelty"}
"""Nothing in it says whose it is: given to an assembler of an API that cannot have it, it goes to none."""


@pytest.mark.parametrize(
    ("name", "tool"), [case for case in EVERY if cast("Dict", case.values[1]).get("type") != "custom"]
)
def test_a_provider_tool_is_not_sent_to_another_api_and_the_report_says_so(name: str, tool: Dict) -> None:
    other = "bedrock" if name != "bedrock" else "gemini"
    context = Assembler(dialect=DIALECTS[other]).add_capability([ASK, tool]).add_message(("user", "q")).build()
    assert len(tools_in(context.request())) == 1
    assert "1 tool(s) of another provider left out" in " ".join(str(context.report).split())
    without = Assembler(dialect=DIALECTS[other]).add_capability([ASK]).add_message(("user", "q")).build()
    assert context.count == without.count
    home = context.request(DIALECTS[name])
    assert (tool in tools_in(home)) == (tool != NOBODY_S)


def test_a_call_of_bash_is_defined_called_answered_and_trimmed_like_any_other() -> None:
    bash = {"type": "bash_20250124", "name": "bash"}
    history: list[Dict] = []
    for turn in range(4):
        use = {"type": "tool_use", "id": f"toolu_{turn}", "name": "bash", "input": {"command": "ls"}}
        answer = {"type": "tool_result", "tool_use_id": f"toolu_{turn}", "content": "a.txt " * 40}
        history += [
            {"role": "user", "content": "list"},
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [answer]},
            {"role": "assistant", "content": "done"},
        ]
    history.append({"role": "user", "content": "again"})
    model = "claude-sonnet-4-5"
    whole = Assembler(Budget.for_model(model)).add_capability([bash]).add_messages(history).build().count.upper
    budget = Budget.for_model(model, context_window=whole - 200, max_output_tokens=0)
    context = Assembler(budget, on_overflow=TrimOldest()).add_capability([bash]).add_messages(history).build()
    assert 0 < len(context.dropped) < len(history)
    assert verify(context.request(), dialect="anthropic") == []
    assert context.request()["tools"] == [bash]


def test_a_gemini_tool_may_hold_functions_and_a_search() -> None:
    both: Dict = {"function_declarations": [{"name": "ask", "description": "Asks."}], "google_search": {}}
    context = Assembler(dialect="gemini").add_capability([both]).add_message(("user", "q")).build()
    assert context.request()["config"]["tools"] == [both]


@pytest.mark.parametrize("wrong", [{}, {"x": 1}, {"type": 5}, {"type": "function"}])
def test_a_value_that_is_not_a_tool_is_still_refused(wrong: Dict) -> None:
    with pytest.raises(ToolError):
        Assembler().add_capability([wrong])


@pytest.mark.parametrize("dialect", ["openai_chat", "openai_responses"])
@pytest.mark.parametrize("model", ["openai/gpt-4o", "anthropic/claude-sonnet-4-5", "qwen/qwen3-32b", "nobody/knows-it"])
def test_a_search_that_the_models_name_asks_for_costs_what_its_plugin_does(dialect: str, model: str) -> None:
    asked = Assembler(Budget(10_000, model=f"{model}:online"), dialect=dialect).add_message(("user", "Any news?"))
    request = asked.build().request()
    plugin = count_request({**request, "plugins": [{"id": "web"}]}, dialect=dialect, model=model)
    assert asked.build().count == count_request(request, dialect=dialect, model=f"{model}:online") == plugin
    assert plugin.grade is Grade.ESTIMATED


def test_a_setting_that_is_null_costs_nothing() -> None:
    search = {"type": "web_search_20250305", "name": "web_search"}
    costs = [
        Assembler(dialect="anthropic")
        .add_capability([tool])
        .add_message({"role": "user", "content": "q"})
        .build()
        .count
        for tool in (search, {**search, "max_uses": None, "allowed_domains": None})
    ]
    assert costs[0] == costs[1]


SQL: Dict = {"type": "custom", "name": "sql", "description": "Runs SQL."}
SQL_IN_CHAT: Dict = {"type": "custom", "custom": {"name": "sql", "description": "Runs SQL."}}
QUERY = 'select "a" from b; -- é'
CUSTOM: dict[str, tuple[Dict, list[Dict]]] = {
    "openai_responses": (
        SQL,
        [
            {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c1", "name": "sql", "input": QUERY},
            {"type": "custom_tool_call_output", "call_id": "c1", "output": "1"},
        ],
    ),
    "openai_chat": (
        SQL_IN_CHAT,
        [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "type": "custom", "custom": {"name": "sql", "input": QUERY}}],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "1"},
        ],
    ),
}


@pytest.mark.parametrize("home", CUSTOM)
@pytest.mark.parametrize("away", ["openai_chat", "openai_responses", "anthropic", "gemini", "bedrock", "mistral"])
def test_a_custom_tool_is_a_function_of_one_text_in_any_other_api(home: str, away: str) -> None:
    tool, called = CUSTOM[home]
    asked = {"role": "user", "content": "q"}
    context = Assembler(dialect=home).add_capability([tool]).add_messages([asked, *called, asked]).build()
    request = context.request(away)
    assert verify(request, dialect=away) == []
    spelled = json.dumps(request, ensure_ascii=False).replace("\\", "")
    if home == away:
        assert request["tools"] == [tool]
        assert '"input": {"type": "string"}' not in spelled
    else:
        assert "custom" not in spelled
        assert spelled.count('"sql"') >= 2
        assert '"input": "select "a" from b; -- é"' in spelled


CHOICES: list[tuple[str, Dict, str, Any]] = [
    ("openai_responses", {"type": "web_search"}, "web_search", {"type": "web_search"}),
    ("openai_responses", SQL, "sql", {"type": "custom", "name": "sql"}),
    ("openai_responses", {"type": "mcp", "server_label": "docs"}, "docs", {"type": "mcp", "server_label": "docs"}),
    ("openai_chat", SQL_IN_CHAT, "sql", {"type": "custom", "custom": {"name": "sql"}}),
    ("anthropic", {"type": "bash_20250124", "name": "bash"}, "bash", {"type": "tool", "name": "bash"}),
]


@pytest.mark.parametrize(("dialect", "tool", "name", "choice"), CHOICES)
def test_a_provider_s_own_tool_is_chosen_as_its_api_names_it(dialect: str, tool: Dict, name: str, choice: Dict) -> None:
    assembler = Assembler(dialect=dialect).add_capability([tool], choice=name)
    request = assembler.add_message({"role": "user", "content": "q"}).build().request()
    assert request["tool_choice"] == choice
    assert verify(request, dialect=dialect) == []


@pytest.mark.parametrize(
    ("kind", "sent"), [("image_generation", True), ("web_search", False), ("code_interpreter", False)]
)
def test_mistral_gets_a_tool_of_openai_s_where_its_chat_api_takes_it(kind: str, sent: bool) -> None:
    assembler = Assembler(dialect="mistral").add_capability([{"type": kind}])
    context = assembler.add_message({"role": "user", "content": "q"}).build()
    assert context.request().get("tools") == ([{"type": kind}] if sent else None)
    assert verify(context.request(), dialect="mistral") == []


@pytest.mark.parametrize("home", CUSTOM)
@pytest.mark.parametrize("own", ["anthropic", "bedrock", "gemini", "mistral"])
def test_a_custom_tool_costs_in_another_api_what_is_sent_there(home: str, own: str) -> None:
    tool, called = CUSTOM[home]
    asked = {"role": "user", "content": "q"}
    context = Assembler(dialect=own).add_capability([tool]).add_messages([asked, *called, asked]).build()
    sent = count_request(context.request(), dialect=own)
    assert sent.tokens <= context.count.upper
    assert context.count.tokens <= sent.upper
    assert "custom tool(s) of OpenAI sent as functions" in " ".join(str(context.report).split())


@pytest.mark.parametrize(
    ("kind", "published", "most"),
    [
        ("bash_20250124", 325 + 286, 325 + 675),
        ("computer_toolset_20260801", 4_590, 4_590),
        ("browser_toolset_20260801", 6_670, 6_670 + 880),
    ],
)
def test_a_tool_of_anthropics_costs_about_what_is_published_for_it_and_no_more_than_its_bound(
    kind: str, published: int, most: int
) -> None:
    """Claude API docs, Pricing, "Specific tool pricing", read 2026-11."""
    request: Dict = {"messages": [{"role": "user", "content": "q"}]}
    plain = count_request(request, dialect="anthropic", model="claude-opus-5")
    asked = count_request(
        {**request, "tools": [{"type": kind, "name": "own"}]}, dialect="anthropic", model="claude-opus-5"
    )
    assert asked.tokens - plain.tokens == pytest.approx(published, rel=0.15)
    assert asked.upper - plain.upper >= most
