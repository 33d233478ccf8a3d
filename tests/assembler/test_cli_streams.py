"""The command works in pipelines: JSON output, `-` for a file, any encoding, any width."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from assembler import Assembler, TrimOldest
from assembler.cli import main, progress
from assembler.report import rich_text
from assembler.report.terminal import NARROWEST
from budgets import Budget

ROOT = Path(__file__).parents[2]
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
def _work_among_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_rows_come_from_standard_input_and_requests_go_to_standard_output(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    given(monkeypatch, '{"id": 7, "messages": [{"role": "user", "content": "Hi"}]}\n7\n')
    assert main(["batch", "-", "-", "--spec", "bot.yaml"]) == 0
    out, err = capfdbinary.readouterr()
    first, second = (json.loads(line) for line in out.splitlines())
    assert (first["id"], second["error"]["kind"]) == (7, "RowError")
    assert err.startswith(b"assemble batch: 1 of 2 rows have no request; row 1: RowError: ")


def test_a_batch_whose_reader_went_away_ends_in_silence(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("rows.jsonl").write_text('{"messages": [{"role": "user", "content": "Hi"}]}\n' * 100)  # more than a buffer
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", encoding="utf-8") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        assert main(["batch", "rows.jsonl", "-", "--spec", "bot.yaml"]) == 128 + signal.SIGPIPE
        monkeypatch.undo()
    assert capfd.readouterr().err == ""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends a process without asking it")
def test_a_batch_that_is_terminated_leaves_no_copy_of_its_rows(tmp_path: Path) -> None:
    copies = tmp_path / "copies"
    copies.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(copies)}
    command = [sys.executable, "-m", "assembler.cli", "batch", "-", "out.jsonl", "--spec", "bot.yaml"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=environment) as process:
        until = time.monotonic() + 60
        while not any(copies.rglob("rows.jsonl")) and time.monotonic() < until:  # then it waits for more rows
            time.sleep(0.01)
        process.terminate()
    assert process.returncode == 128 + signal.SIGTERM
    assert list(copies.iterdir()) == []


def test_a_spec_and_its_rows_are_not_both_read_from_standard_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["batch", "-", "out.jsonl", "--spec", "-"]) == 2
    assert "ROWS: expected a file, as the spec is read from standard input" in capsys.readouterr().err


def test_recorded_bills_come_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given(monkeypatch, '{"model": "m"}\n')
    assert main(["calibrate", "-"]) == 2
    assert "api: expected" in capsys.readouterr().err


class Looked:
    """A stream that claims to be a terminal."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass


@pytest.mark.parametrize("patience", [0.0, 60.0])
def test_progress_is_shown_on_a_terminal_and_only_where_something_takes_long(
    patience: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = Looked()
    monkeypatch.setattr(progress, "PATIENCE", patience)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    assert main(["batch", "rows.jsonl", "out.jsonl", "--spec", "bot.yaml"]) == 0
    assert ("1/1" in stream.text) == (patience == 0)
    with progress.working("counting"):
        time_out = threading.Event()
        time_out.wait(0.05 if patience == 0 else 0)
    assert ("counting" in stream.text) == (patience == 0)


def test_every_colour_can_be_read_on_white_and_on_black() -> None:
    from rich.color import Color

    def light(channel: int) -> float:
        share = channel / 255
        return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)

    for _, style in rich_text._STYLES:
        if style == "bold":
            continue
        red, green, blue = (light(channel) for channel in Color.parse(style).get_truecolor())
        luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue  # WCAG 2.2, "relative luminance"
        assert min(1.05 / (luminance + 0.05), (luminance + 0.05) / 0.05) >= 3.8, style


@pytest.mark.parametrize(("variable", "coloured"), [("", True), ("1", False), ("0", False)])
def test_no_colour_is_printed_where_none_is_wanted(
    variable: str, coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = Looked()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", variable)
    assert main(["build", "bot.yaml"]) == 0
    assert ("\x1b[" in stream.text) == coloured


def test_a_page_without_a_path_gets_an_error_that_says_how_to_name_one(capsys: pytest.CaptureFixture[str]) -> None:
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


def test_a_report_in_a_pipe_is_as_wide_as_columns_says_or_80(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bot.yaml").write_text("knowledge: [{type: note, text: x, source: " + "s" * 50 + "}]\n" + "messages: []\n")
    for columns, whole in (("200", True), ("60", False), ("", False)):
        monkeypatch.setenv("COLUMNS", columns)
        assert main(["build", "bot.yaml"]) == 0
        assert ("s" * 50 in capsys.readouterr().out) == whole


def test_the_help_of_view_names_its_files_and_the_option_that_it_needs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", "--help"]) == 0
    assert "Usage: assemble view --output PATH [OPTIONS] [FILE...]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "closed", "named"),
    [
        (["build", "-"], "<&-", "-: expected an open standard input"),
        (["check", "-", "--dialect", "openai_chat"], "<&-", "-: expected an open standard input"),
        (["batch", "-", "out.jsonl", "--spec", "bot.yaml"], "<&-", "ROWS: expected an open standard input"),
        (["build", "bot.yaml", "-o", "-"], ">&-", "-: expected an open standard output"),
        (["view", "bot.yaml", "-o", "-"], ">&-", "-: expected an open standard output"),
        (["batch", "rows.jsonl", "-", "--spec", "bot.yaml"], ">&-", "OUTPUT: expected an open standard output"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_stream_that_a_hyphen_names_and_that_is_closed_is_a_wrong_file(
    words: list[str], closed: str, named: str
) -> None:
    ended = run_in_shell([*words], closed)
    assert ended.returncode == 2
    assert named in ended.stderr
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "words", [["build", "none.yaml"], ["batch", "bad.jsonl", "-", "--spec", "bot.yaml"]], ids=" ".join
)
def test_what_is_said_on_a_closed_stderr_is_not_said_on_stdout(words: list[str]) -> None:
    Path("bad.jsonl").write_text("no JSON\n")
    ended = run_in_shell(words, "2>&-")
    assert ended.returncode in (1, 2)
    assert all(json.loads(line)["row"] == 0 for line in ended.stdout.splitlines())


@pytest.mark.parametrize("named", ["/dev/stdout", "out.jsonl"])
def test_a_batch_writes_no_summary_over_its_lines(named: str) -> None:
    ended = run_in_shell(["batch", "rows.jsonl", named, "--spec", "bot.yaml"], "> out.jsonl")
    assert ended.returncode == 2
    assert "which is - here" in ended.stderr
    assert not Path("out.jsonl").read_text()


def run_in_shell(words: list[str], closed: str) -> subprocess.CompletedProcess[str]:
    command = ["sh", "-c", f'"$@" {closed}', "sh", sys.executable, "-m", "assembler.cli", *words]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
