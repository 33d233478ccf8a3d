"""Deferred tools: which ones are deferred, how each API is told, and what they still cost."""

from __future__ import annotations

import json
from bisect import bisect_left
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, Defer, ToolError, ToolSearch, TrimOldest, verify
from assembler.regions.tools import read_tools
from assembler.telemetry import attributes
from budgets import Budget, BudgetError, Limit

Dict = dict[str, Any]


def tool(name: str, about: str = "Does it.") -> Dict:
    schema = {"type": "object", "properties": {"reason": {"type": "string", "description": "Why. " * 20}}}
    return {"name": name, "description": about, "parameters": schema}


TOOLS = [tool(f"tool_{number}", f"Handles case {number}.") for number in range(12)]
MODELS = {"openai_chat": "gpt-4o", "openai_responses": "gpt-5.4", "anthropic": "claude-sonnet-4-5"}


def called(name: str, number: int = 0, result: str = "done") -> list[Dict]:
    call = {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": "{}"}}
    return [
        {"role": "user", "content": f"Do {number}."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": result},
    ]


def bot(dialect: str, defer: Defer, tools: list[Dict] = TOOLS) -> Assembler:
    limits = {"capability": Limit(select=defer)}
    budget = Budget(60_000, max_output_tokens=500, model=MODELS[dialect], limits=limits)
    assembler = Assembler(budget, dialect=dialect, on_overflow=TrimOldest()).add_capability(tools)
    return assembler.add_message({"role": "user", "content": "Hello"})


def names(request: Dict) -> list[str]:
    return [str((tool.get("function") or tool).get("name", tool.get("type"))) for tool in request["tools"]]


def waiting(request: Dict) -> set[str]:
    return {tool["name"] for tool in request["tools"] if tool.get("defer_loading")}


@pytest.mark.parametrize("cap", [200, 0.005])
def test_the_report_says_by_how_much_the_tools_that_are_always_sent_exceed_their_cap(cap: float) -> None:
    limits = {"capability": Limit(cap=cap, select=Defer(100, ToolSearch(read_tools(TOOLS))))}
    assembler = Assembler(Budget(40_000, limits=limits), dialect="plain", on_overflow=TrimOldest())
    unused = assembler.add_capability(TOOLS[:8]).add_message({"role": "user", "content": "Hello"}).build()
    assert unused.costs.capability < 200
    assert not any("above their cap" in note for note in unused.report.notes)
    history = [message for number in range(4) for message in called(f"tool_{number}", number)]
    context = assembler.add_messages([*history, {"role": "user", "content": "Thanks"}]).build()
    (note,) = (note for note in context.report.notes if "above their cap" in note)
    assert f"{context.costs.capability - 200} above their cap of 200" in note


@pytest.mark.parametrize("dialect", ["anthropic", "openai_responses"])
@pytest.mark.parametrize("off", [-1, 0, 1])
def test_no_tool_is_deferred_up_to_the_threshold_and_every_unused_one_above_it(dialect: str, off: int) -> None:
    whole = bot(dialect, Defer(1.0)).build().costs.capability
    every = range(whole, 4 * whole)
    most = every[bisect_left(every, True, key=lambda n: not waiting(bot(dialect, Defer(n)).build().request()))]
    assert len(waiting(bot(dialect, Defer(most + off)).build().request())) == (0 if off >= 0 else len(TOOLS))


@pytest.mark.parametrize("dialect", ["anthropic", "openai_responses"])
def test_the_provider_searches_the_deferred_tools(dialect: str) -> None:
    context = bot(dialect, Defer(100)).build()
    request = context.request()
    assert waiting(request) == {tool["name"] for tool in TOOLS}
    assert [tool["type"] for tool in request["tools"] if "search" in str(tool.get("type"))]
    assert verify(request, dialect=dialect) == []
    assert "deferred until it is found" in str(context.report)


def test_a_deferred_tool_on_anthropic_costs_nothing_until_it_is_found() -> None:
    few, many = (bot("anthropic", Defer(100), TOOLS[:count]).build().costs.capability for count in (3, 12))
    assert few == many


def test_a_deferred_tool_on_responses_costs_its_name_and_description() -> None:
    bare = [{**tool, "parameters": {"type": "object", "properties": {}}} for tool in TOOLS]
    context = bot("openai_responses", Defer(100)).build()
    alone = bot("openai_responses", Defer(1.0), bare).build()
    assert 0 < context.costs.capability - alone.costs.capability < 400


@given(st.lists(st.sampled_from(range(12)), max_size=5), st.sampled_from([*MODELS]))
def test_no_tool_that_the_history_calls_is_deferred(used: list[int], dialect: str) -> None:
    search = None if dialect != "openai_chat" else ToolSearch(TOOLS)
    assembler = bot(dialect, Defer(100, search=search))
    for place, number in enumerate(used):
        for message in called(f"tool_{number}", place):
            assembler.add_message(message)
    request = assembler.add_message({"role": "user", "content": "Go on."}).build().request()
    for number in used:
        assert f"tool_{number}" in names(request)
        assert f"tool_{number}" not in waiting(request)
    assert verify(request, dialect=dialect) == []


def test_a_forced_tool_and_the_providers_own_are_never_deferred() -> None:
    own = {"type": "web_search_20250305", "name": "web_search"}
    assembler = bot("anthropic", Defer(100)).add_capability([*TOOLS, own], choice="tool_3")
    assert waiting(assembler.build().request()) == {tool["name"] for tool in TOOLS} - {"tool_3"}


def test_a_tool_that_the_server_found_is_no_longer_deferred() -> None:
    found = {
        "type": "tool_search_tool_search_result",
        "tool_references": [{"type": "tool_reference", "tool_name": "tool_7"}],
    }
    content = [
        {"type": "server_tool_use", "id": "s1", "name": "tool_search_tool_bm25", "input": {"query": "seven"}},
        {"type": "tool_search_tool_result", "tool_use_id": "s1", "content": found},
        {"type": "text", "text": "Found."},
    ]
    assembler = bot("anthropic", Defer(100)).add_message({"role": "assistant", "content": content})
    request = assembler.add_message({"role": "user", "content": "Do it."}).build().request()
    assert "tool_7" not in waiting(request)


def test_the_librarys_search_tool_replaces_the_deferred_tools_and_brings_those_that_it_found() -> None:
    search = ToolSearch([*TOOLS, tool("refund_order", "Refunds an order to the customer.")])
    tools = [*TOOLS, tool("refund_order", "Refunds an order to the customer.")]
    assembler = bot("openai_chat", Defer(100, search=search), tools)
    assert names(assembler.build().request()) == ["search_tools"]
    for message in called("search_tools", 0, json.dumps(search("refund the order"))):
        assembler.add_message(message)
    assert names(assembler.build().request()) == ["refund_order", "search_tools"]


@pytest.mark.parametrize(
    "answer",
    [
        json.dumps([TOOLS[7]]),
        json.dumps([TOOLS[7]], separators=(",", ":")),
        json.dumps({"result": json.dumps([TOOLS[7]])}),
        json.dumps({"content": [{"type": "text", "text": json.dumps({"result": json.dumps([TOOLS[7]])})}]}),
        str([TOOLS[7]]),
    ],
)
def test_a_tool_that_the_search_found_is_sent_however_its_answer_is_packed(answer: str) -> None:
    """A function of Gemini answers with an object, whose text is the JSON; some frameworks send Python's repr."""
    assembler = bot("openai_chat", Defer(100, search=ToolSearch(TOOLS)))
    for message in called("search_tools", 0, answer):
        assembler.add_message(message)
    assert names(assembler.build().request()) == ["tool_7", "search_tools"]


def test_an_api_without_a_tool_search_is_refused_with_the_next_step() -> None:
    with pytest.raises(ToolError, match=r"search=ToolSearch\(tools\)"):
        bot("openai_chat", Defer(100)).build()


def test_the_best_match_shares_the_rarest_words() -> None:
    search = ToolSearch([tool("list_orders", "Lists orders."), tool("refundOrder", "Pays back."), tool("ping")], most=2)
    assert [found["name"] for found in search("refund an order")] == ["refundOrder", "list_orders"]
    assert search("") == search("weather") == []
    assert read_tools(search("refund"))[0].name == "refundOrder"


@pytest.mark.parametrize("threshold", [-1, 1.5, True, "10%"])
def test_a_threshold_is_tokens_or_a_share(threshold: Any) -> None:
    with pytest.raises(BudgetError, match="threshold"):
        Defer(threshold)


def test_the_report_names_each_tool_that_waits_and_says_why() -> None:
    """They were listed among the documents."""
    context = bot("anthropic", Defer(100)).build()
    rows = [row for row in context.report.rows if row.region == "capability"]
    gone = {row.name: row.reason for row in rows if row.outcome == "dropped"}
    assert gone == {tool["name"]: "deferred until it is found" for tool in TOOLS}
    whole = bot("anthropic", Defer(1.0)).build().report.rows
    prices = {row.name: row.before for row in whole if row.region == "capability"}
    assert all(row.before == prices[row.name] > 0 for row in rows if row.outcome == "dropped")
    assert attributes(context)["context_assembler.documents.dropped"] == 0


def test_documents_keep_within_their_cap_beside_deferred_tools() -> None:
    limits = {"capability": Limit(select=Defer(100)), "knowledge": Limit(cap=160)}
    budget = Budget(60_000, model="claude-sonnet-4-5", limits=limits)
    assembler = Assembler(budget, dialect="anthropic", on_overflow=TrimOldest()).add_capability(TOOLS)
    for number in range(4):
        assembler.add_knowledge(f"Fact {number}. " * 8, type="rag", source=f"d{number}", score=number)
    context = assembler.add_message(("user", "Hello")).build()
    assert 80 < context.costs.knowledge <= 160
    assert waiting(context.request()) == {tool["name"] for tool in TOOLS}
