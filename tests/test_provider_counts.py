"""The script that scores counts against recorded bills: what it counts, what it leaves out, what it never prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from budgets import Count, Grade
from tests.benchmarks import provider_counts as script

SECRET = "the text of a request"
PLAIN: dict[str, Any] = {}


def recorded(tmp_path: Path, *rows: dict[str, Any]) -> Path:
    base = {"provider": "openai", "api": "chat", "model": "gpt-4o", "input_tokens": 100, "source": "github:a/one@c:f"}
    request = {"messages": [{"role": "user", "content": SECRET}]}
    path = tmp_path / "rows.jsonl"
    lines = [json.dumps({**base, "request": request, "id": place, **row}) for place, row in enumerate(rows)]
    path.write_text("\n".join(lines), "utf-8")
    return path


@pytest.mark.parametrize(
    ("source", "family"),
    [
        ("github:crmne/ruby_llm@1:x.yml", "ruby_llm"),
        ("github:patvice/ruby_llm-mcp@1:x.yml", "ruby_llm"),
        ("github:DataDog/dd-trace-py@1:x.yml", "dd-trace"),
        ("github:llmrb/llm@1:x.yml", "llm"),
        ("openai-cookbook examples/a.ipynb", "openai-cookbook"),
    ],
)
def test_projects_that_share_code_are_one_repository(source: str, family: str) -> None:
    assert script.repository_family(source) == family


@pytest.mark.parametrize(
    ("request_", "kind"),
    [
        ({"messages": [{"role": "user", "content": "x"}]}, "text"),
        ({"toolConfig": {"tools": []}, "messages": []}, "tools"),
        ({"tools": [PLAIN], "input": [{"type": "function_call_output"}]}, "history"),
        ({"tools": [PLAIN], "contents": [{"parts": [{"functionCall": {"name": "f"}}]}]}, "history"),
        ({"messages": [{"role": "tool"}], "response_format": {"type": "json_schema"}}, "schema"),
    ],
)
def test_a_request_is_of_the_hardest_kind_that_it_holds(request_: dict[str, Any], kind: str) -> None:
    assert script.kind_of(request_) == kind


def test_no_project_decides_by_more_than_twelve_requests_of_a_kind(tmp_path: Path) -> None:
    path = recorded(tmp_path, *[PLAIN] * 40, *[{"source": "github:b/two@c:f"}] * 5)
    kept = script.fair(script.read([path]))
    assert len(kept) == 12 + 5
    assert script.fair(script.read([path])) == kept


def test_the_table_leaves_out_the_project_that_helps_most(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [*[PLAIN] * 3, *[{"source": "github:b/two@c:f", "input_tokens": 150}]]
    assert script.main([str(recorded(tmp_path, *rows)), "--markdown"], count=lambda _: Count(100)) == 0
    head, _, *lines = capsys.readouterr().out.splitlines()
    cells = {
        name.strip(): cell.strip() for name, cell in zip(head.split("|")[2:], lines[-1].split("|")[2:], strict=True)
    }
    assert (cells["rows"], cells["repos"], cells["exact"], cells["under"]) == ("4", "2", "75.0%", "25.0%")
    assert cells["lo1o"] == "0.0%"
    assert cells["wrong/EXACT"] == "1/4"


def test_uncountable_requests_are_listed_by_reason_and_no_text_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"api": "smoke", "provider": "signals"}, {"request": {"messages": [{"role": SECRET}]}}, {}]
    script.main([str(recorded(tmp_path, *rows)), "--worst", "9", "--under", "9", "--wrong", "9"])
    printed = capsys.readouterr().out
    assert "no dialect speaks smoke" in printed
    assert "unknown role" in printed
    assert SECRET not in printed


def test_rows_are_chosen_by_key_and_by_project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{}, {"api": "responses"}, {"source": "github:b/two@c:f"}]
    path = recorded(tmp_path, *rows)
    script.main([str(path), "--api", "chat", "--without", "two", "--by", "repository,kind", "--markdown"], _bounded)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("| repository kind |")
    assert [line.split("|")[1].strip() for line in printed[2:]] == ["one text", "all"]
    assert printed[2].split("|")[2].strip() == "1"


def _bounded(_: script.Recording) -> Count:
    return Count(90, Grade.BOUNDED, 110)
