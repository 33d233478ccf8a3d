"""What programs and pipes need of the command: JSON for tables, `-` for a file, any encoding, any width."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from assembler import Assembler, TrimOldest
from assembler.cli import main
from assembler.report.terminal import NARROWEST
from budgets import Budget

SPEC = """
model: claude-sonnet-4-5
budget: {max_output_tokens: 100}
instruction: Be brief.
knowledge:
- {type: note, text: The shop opens at 9., source: a.md}
messages: [{role: user, content: When?}]
strategy: {cited_sources: {order: given, placement: question}}
cache_marks: {ttl: 1h}
output_schema: {title: answer, type: object, properties: {time: {type: string}}}
"""
BODY = {"model": "gpt-4o", "messages": [{"role": "tool", "tool_call_id": "x", "content": "gone"}]}


@pytest.fixture(autouse=True)
def _there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bot.yaml").write_text(SPEC)
    Path("body.json").write_text(json.dumps(BODY))
    Path("rows.jsonl").write_text('{"messages": [{"role": "user", "content": "Hi"}]}\n')


def given(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8"))


@pytest.mark.parametrize(
    ("words", "code", "keys"),
    [
        (["build", "bot.yaml"], 0, {"tokens", "rows", "regions"}),
        (["count", "body.json"], 0, {"tokens", "grade", "upper"}),
        (["check", "body.json"], 1, {"dialect", "violations"}),
        (["view", "bot.yaml", "-o", "page.html"], 0, {"output", "tokens", "upper"}),
        (["batch", "rows.jsonl", "out.jsonl", "--spec", "bot.yaml"], 0, {"rows", "requests", "errors", "resumed"}),
    ],
    ids=lambda words: words[0] if isinstance(words, list) else "",
)
def test_every_command_prints_json_where_a_program_asks_for_it(
    words: list[str], code: int, keys: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    if words[0] == "count":
        Path("body.json").write_text('{"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]}')
    assert main([*words, "--json"]) == code
    assert keys <= json.loads(capsys.readouterr().out).keys()


def test_a_request_goes_from_standard_input_to_standard_output(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    given(monkeypatch, SPEC)
    assert main(["build", "-", "-o", "-"]) == 0
    request = json.loads(capfdbinary.readouterr().out)
    assert request["output_config"]["format"]["schema"]["title"] == "answer"
    assert request["system"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert "[Source 1]" in request["messages"][0]["content"][0]["text"]


def test_a_body_is_counted_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given(monkeypatch, '{"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]}')
    assert main(["count", "-"]) == 0
    assert capsys.readouterr().out.startswith("tokens  8")


def test_a_page_without_a_place_is_told_how_to_get_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", "bot.yaml"]) == 2
    assert "--output: missing: say where to write the page, such as -o page.html" in capsys.readouterr().err


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "cp437", "utf-8"])
def test_a_report_prints_in_every_encoding(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    report = Assembler(Budget(900, model="gpt-4o")).add_knowledge("東京", type="n", source="東京.md").build().report
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
    print(report)
    sys.stdout.flush()
    text = written.getvalue().decode(encoding)
    assert f"{report.count.tokens:,} tokens" in text
    assert any(block in text for block in "█▏#")
    assert ("東京" in text) == (encoding == "utf-8")


@pytest.mark.parametrize("width", [20, NARROWEST - 1, NARROWEST, 79, 80, 81, 100, 140, 400])
def test_a_report_is_no_wider_than_asked_and_loses_no_figure(width: int) -> None:
    history = [("user" if turn % 2 == 0 else "assistant", f"word {turn} " * 40) for turn in range(13)]
    assembler = Assembler(Budget(700, max_output_tokens=99, model="gpt-4o"), on_overflow=TrimOldest(low_water=0.5))
    report = assembler.add_messages(history).add_knowledge("x", type="n", source="s" * 90).build().report
    text = report.text(width)
    assert max(map(len, text.split("\n"))) <= max(width, NARROWEST)
    together = "".join(text.split())
    for row in report.rows:
        assert f"{row.after:,}" in together
        assert "".join(row.reason.split()) in together
    for note in report.notes:
        assert "".join(note.split()) in together
