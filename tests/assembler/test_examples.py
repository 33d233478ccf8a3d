"""The examples run, and what they claim is true."""

from __future__ import annotations

import ast
import json
import re
import runpy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from assembler.cli import main
from budgets import tiktoken_counter

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def conversation() -> list[dict[str, Any]]:
    lines = (EXAMPLES / "support_bot/conversation.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture
def support_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main(["build", str(EXAMPLES / "support_bot.yaml"), "-o", str(tmp_path / "out.json")]) == 0
    request: dict[str, Any] = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    request["report"] = capsys.readouterr().out
    return request


def test_the_support_case_is_cut_to_its_newest_turns(
    support_request: dict[str, Any], conversation: list[dict[str, Any]]
) -> None:
    kept = [message for message in support_request["messages"] if message["role"] != "system"]
    assert 8 <= len(kept) < len(conversation)
    assert kept == conversation[-len(kept) :]
    assert kept[0]["role"] == "user"
    assert "dropped" in support_request["report"]


def test_the_support_case_is_cut_and_leaves_tokens_for_the_conversation(
    support_request: dict[str, Any], conversation: list[dict[str, Any]]
) -> None:
    count = tiktoken_counter("o200k_base")
    system = next(message for message in support_request["messages"] if message["role"] == "system")
    fixed = count(system["content"]) + count(json.dumps(support_request["tools"], separators=(",", ":")))
    assert 3_800 <= fixed <= 4_600
    assert 6_500 <= sum(count(json.dumps(message, ensure_ascii=False)) for message in conversation) <= 11_000


def test_the_support_case_shows_what_a_real_one_has(conversation: list[dict[str, Any]]) -> None:
    assert len(conversation) >= 60
    assert {message.get("name") for message in conversation if message["role"] == "user"} == {"ines", "jonah"}
    assert any(isinstance(message["content"], list) for message in conversation)
    assert sum(len(message.get("tool_calls", ())) > 1 for message in conversation) >= 2


def test_every_call_of_the_support_case_is_answered_once_with_json(conversation: list[dict[str, Any]]) -> None:
    calls = [call for message in conversation for call in message.get("tool_calls", ())]
    answers = [message for message in conversation if message["role"] == "tool"]
    assert [call["id"] for call in calls] == [answer["tool_call_id"] for answer in answers]
    assert {call["function"]["name"] for call in calls} == {"find_orders", "track_shipment", "create_return"}
    for call, answer in zip(calls, answers, strict=True):
        assert isinstance(json.loads(call["function"]["arguments"]), dict)
        assert isinstance(json.loads(answer["content"]), dict)


def test_every_number_in_the_support_desks_answers_comes_from_a_tool_or_a_customer(
    conversation: list[dict[str, Any]],
) -> None:
    number = re.compile(r"\b(?:HM-\d{5}|R-\d{5}|NP\d{9}|VC-\d{4}-\d{4}|AK5-\d{4}-\d{5})\b")
    seen: set[str] = set()
    for message in conversation:
        named = set(number.findall(json.dumps(message, ensure_ascii=False)))
        if message["role"] == "assistant":
            assert named <= seen
        seen |= named


def test_the_documents_are_five_of_five_types_and_one_is_trusted(support_request: dict[str, Any]) -> None:
    count = tiktoken_counter("o200k_base")
    system = next(message["content"] for message in support_request["messages"] if message["role"] == "system")
    tags = re.findall(r'<context type="(\w+)" source="([^"]+)" trusted="(\w+)">\n(.*?)\n</context>', system, re.S)
    assert len({kind for kind, *_ in tags}) == len({source for _, source, *_ in tags}) == len(tags) == 5
    assert Counter(trusted for _, _, trusted, _ in tags) == {"true": 1, "false": 4}
    assert all(count(text) >= 500 for *_, text in tags)


def test_the_order_service_does_what_the_conversation_says() -> None:
    from datetime import date
    from decimal import Decimal

    orders = runpy.run_path(str(EXAMPLES / "support_bot/order_service.py"))
    line, reason = orders["Line"], orders["Reason"]
    auk = line("AUK-500", Decimal("499.00"), date(2026, 6, 9), battery=True)
    tent = line("PTARMIGAN-2", Decimal("348.00"), date(2026, 6, 2))
    panel = line("TERN-40", Decimal("129.00"), date(2026, 6, 2))
    order = orders["Order"]("HM-48213", (auk, panel, tent), Decimal("9.90"), date(2026, 6, 4))
    today = date(2026, 6, 22)
    assert orders["may_swap"](auk, today)
    assert orders["may_return"](tent, date(2026, 8, 1), reason.CHANGED_MIND)
    assert not orders["may_return"](tent, date(2026, 8, 2), reason.CHANGED_MIND)
    assert orders["is_late"](order)
    assert orders["refund"](order, [(tent, reason.CHANGED_MIND)]) == Decimal("343.10") + Decimal("9.90")


def test_the_quickstart_runs_and_keeps_everything(capsys: pytest.CaptureFixture[str]) -> None:
    names = runpy.run_path(str(EXAMPLES / "quickstart.py"))
    assert names["messages"] == names["history"]
    assert all(out is put for out, put in zip(names["messages"], names["history"], strict=True))
    assert [tool["function"]["name"] for tool in names["request"]["tools"]] == ["search_orders", "RefundTool", "lookup"]
    assert capsys.readouterr().out == f"{names['context'].report}\n"


@pytest.fixture(scope="module")
def agent() -> dict[str, Any]:
    names = runpy.run_path(str(EXAMPLES / "agent_loop.py"))
    calls, history = names["play"](names["ERRANDS"])
    return {**names, "calls": calls, "history": history}


def test_the_agent_never_overflows_and_fills_the_window(agent: dict[str, Any]) -> None:
    calls = agent["calls"]
    assert len(calls) >= 40
    assert all(call.prompt_tokens <= call.limit for call in calls)
    assert max(call.prompt_tokens for call in calls) > 0.9 * calls[0].limit


def test_the_agent_is_cut_seldom_and_deeply(agent: dict[str, Any]) -> None:
    calls = agent["calls"]
    cuts = [n for n in range(1, len(calls)) if calls[n].dropped != calls[n - 1].dropped]
    assert 2 <= len(cuts) <= len(calls) // 10
    assert all(calls[n].dropped > calls[n - 1].dropped for n in cuts)
    assert all(calls[n].prompt_tokens < 0.65 * calls[n].limit for n in cuts)


def test_the_agent_finishes_every_errand_whatever_was_cut(agent: dict[str, Any]) -> None:
    answers = [m["content"] for m in agent["history"] if m["role"] == "assistant" and "tool_calls" not in m]
    assert len(answers) == len(agent["ERRANDS"])
    half = len(answers) // 2
    assert answers[:half] == answers[half:]
    calls = [message["tool_calls"] for message in agent["history"] if "tool_calls" in message]
    assert sum(len(parallel) > 1 for parallel in calls) >= 10
    assert {call["function"]["name"] for parallel in calls for call in parallel} == set(agent["TOOLS"])


def test_the_chart_has_a_line_a_call_and_a_mark_a_cut(agent: dict[str, Any]) -> None:
    lines = agent["chart"](agent["calls"]).splitlines()
    assert len(lines) == len(agent["calls"]) + 1
    cut = sum(int(line.split("✂ ")[1].split()[0]) for line in lines if "✂" in line)
    assert cut == agent["calls"][-1].dropped
    assert max(map(len, lines)) <= 80
    assert f"{len(agent['calls'])} model calls" in agent["totals"](agent["calls"], agent["history"])


@pytest.mark.parametrize("name", ["quickstart.py", "agent_loop.py"])
def test_an_example_imports_nothing_that_the_bare_package_lacks(name: str) -> None:
    tree = ast.parse((EXAMPLES / name).read_text(encoding="utf-8"))
    imported = {
        (node.module or "").partition(".")[0] if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert imported <= {
        "__future__",
        "assembler",
        "attrs",
        "budgets",
        "collections",
        "itertools",
        "json",
        "pydantic",
        "typing",
    }
