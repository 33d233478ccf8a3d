"""The command `assemble`: its output, its files and its exit codes."""

from __future__ import annotations

import atexit
import builtins
import contextlib
import inspect
import io
import json
import os
import pty
import re
import runpy
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assembler import Assembler, TrimOldest, count_request
from assembler.cli import main
from assembler.dialects import DIALECTS, openai_chat
from assembler.files.writing import permit_no_more
from assembler.report.manifest.writing import installed_version
from budgets import Budget

ROOT = Path(__file__).parents[2]

SPEC = """
model: gpt-4o
budget: {context_window: 1_000, max_output_tokens: 200, least_output_tokens: 100, reasoning_tokens: 10}
dialect: openai_chat
instruction: {file: rules.md}
tools: [{name: find, description: Find a thing., parameters: {type: object, properties: {id: {type: string}}}}]
knowledge:
- {type: note, text: The sky is blue & wide., source: sky.md, trusted: true}
- {type: note, file: sea.md, trusted: false, source: }
messages: {file: talk.jsonl}
on_overflow: [{trim_oldest: {low_water: 0.5, keep_turns: 2}}, refuse]
"""
TALK = [{"role": role, "content": f"{role} {n}: " + "wörd " * 60} for n in range(8) for role in ("user", "assistant")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    files = {
        "bot.yaml": SPEC,
        "rules.md": "\ufeffBe kind.",
        "sea.md": "The sea is deep.",
        "talk.jsonl": "\n".join(json.dumps(message, ensure_ascii=False) for message in TALK) + "\n\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def the_same_by_hand() -> Assembler:
    budget = Budget.for_model(
        "gpt-4o", context_window=1_000, max_output_tokens=200, least_output_tokens=100, reasoning_tokens=10
    )
    assembler = Assembler(budget=budget, on_overflow=TrimOldest(low_water=0.5, keep_turns=2))
    assembler.add_instruction("Be kind.")
    parameters = {"type": "object", "properties": {"id": {"type": "string"}}}
    assembler.add_capability([{"name": "find", "description": "Find a thing.", "parameters": parameters}])
    assembler.add_knowledge("The sky is blue & wide.", type="note", source="sky.md", trusted=True)
    assembler.add_knowledge("The sea is deep.", type="note")
    return assembler.add_messages(TALK)


def test_a_file_builds_what_the_same_calls_build(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "bot.yaml", "-o", "out.json"]) == 0
    context = the_same_by_hand().build()
    assert context.dropped
    assert json.loads(Path("out.json").read_text(encoding="utf-8")) == context.request()
    assert capsys.readouterr().out == f"{context.report}\n"


def test_the_output_file_is_utf_8_and_leaves_no_temporary_file(folder: Path) -> None:
    before = set(os.listdir(folder))
    assert main(["build", "bot.yaml", "--output", "out.json"]) == 0
    assert "wörd" in Path("out.json").read_bytes().decode("utf-8")
    assert set(os.listdir(folder)) - before == {"out.json"}


def test_a_picture_that_an_api_takes_as_bytes_is_written_as_the_base64_that_came_in(folder: Path) -> None:
    picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    parts = [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture}"}}]
    spec = {"model": "amazon.nova-pro-v1:0", "messages": [{"role": "user", "content": parts}]}
    Path("bedrock.yaml").write_text(json.dumps(spec), encoding="utf-8")
    assert main(["build", "bedrock.yaml", "-o", "out.json"]) == 0
    [message] = json.loads(Path("out.json").read_text(encoding="utf-8"))["messages"]
    assert [part["image"]["source"] for part in message["content"] if "image" in part] == [{"bytes": picture}]


def test_a_link_to_the_output_stays_a_link(folder: Path) -> None:
    Path("real.json").write_text("old")
    Path("out.json").symlink_to("real.json")
    assert main(["build", "bot.yaml", "-o", "out.json"]) == 0
    assert Path("out.json").is_symlink()
    assert json.loads(Path("real.json").read_text(encoding="utf-8"))["messages"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755])
def test_a_file_that_is_overwritten_keeps_its_permissions(folder: Path, mode: int) -> None:
    Path("out.json").write_text("old")
    Path("out.json").chmod(mode)
    assert main(["build", "bot.yaml", "-o", "out.json"]) == 0
    assert stat.S_IMODE(Path("out.json").stat().st_mode) == mode


def test_a_group_that_cannot_be_kept_gives_another_group_no_access(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = type("Found", (), {"st_mode": 0o100664, "st_gid": os.getgid() + 1})()
    Path("out.json").write_text("old")
    fresh = Path("fresh")
    fresh.write_text("")
    real = Path.stat

    def seen(path: Path, **how: bool) -> object:
        return there if path.name == "out.json" else real(path, **how)

    def refused(*_: object) -> None:
        raise PermissionError

    with monkeypatch.context() as patched:
        patched.setattr(Path, "stat", seen)
        patched.setattr(os, "chown", refused)
        permit_no_more(fresh, Path("out.json"))
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o604


def test_the_lock_of_a_dead_process_with_the_same_number_blocks_no_output(folder: Path) -> None:
    Path(f".out.json.{os.getpid()}.part").write_text("torn")
    assert main(["build", "bot.yaml", "-o", "out.json"]) == 0


def test_a_device_is_written_to_and_not_replaced(folder: Path) -> None:
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert main(["build", "bot.yaml", "-o", "pipe"]) == 0
        assert json.loads(os.read(reader, 1_000_000))["messages"]
    finally:
        os.close(reader)
    assert Path("pipe").is_fifo()


def test_a_write_that_fails_leaves_the_old_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    Path("out.json").write_text("old")
    before = set(os.listdir(folder))
    monkeypatch.setattr(os, "fsync", full)
    assert main(["build", "bot.yaml", "-o", "out.json"]) == 2
    assert capsys.readouterr().err == "out.json: expected a place to write to: No space left on device\n"
    assert Path("out.json").read_text() == "old"
    assert set(os.listdir(folder)) == before


@pytest.mark.parametrize("output", ["bot.yaml", "./bot.yaml", "link.yaml"])
def test_the_file_that_is_read_is_never_written(output: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("link.yaml").symlink_to("bot.yaml")
    assert main(["build", "bot.yaml", "-o", output]) == 2
    assert capsys.readouterr().err.startswith("assemble build: --output: expected a file other than")
    assert Path("bot.yaml").read_text() == SPEC


def test_an_output_in_no_folder_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "bot.yaml", "-o", "gone/out.json"]) == 2
    assert capsys.readouterr().err == "gone/out.json: expected a place to write to: No such file or directory\n"


@pytest.mark.parametrize("policy", ["refuse", "[refuse]", "{refuse: }"])
def test_an_overflow_under_refuse_shows_the_arithmetic_and_ends_3(
    policy: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bot.yaml").write_text(SPEC.partition("on_overflow")[0] + f"on_overflow: {policy}\n", encoding="utf-8")
    assert main(["build", "bot.yaml", "-o", "out.json"]) == 3
    out, err = capsys.readouterr()
    assert not out
    assert "only 890 are free (1000 context_window - 100 least_output_tokens - 10 reasoning_tokens)" in err
    assert "conversation" in err
    assert not Path("out.json").exists()


def test_the_smallest_file_builds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bot.yaml").write_text("messages: [[user, hello], {role: assistant, content: [{type: text, text: hi}]}]\n")
    assert main(["build", "bot.yaml", "-o", "out.json"]) == 0
    assert json.loads(Path("out.json").read_text())["messages"][0] == {"role": "user", "content": "hello"}


def test_a_window_needs_no_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bot.yaml").write_text("budget: {context_window: 100}\nmessages: [{role: user, content: hello}]\n")
    assert main(["build", "bot.yaml"]) == 0
    assert "100" in capsys.readouterr().out


def test_an_unknown_model_builds_once_the_window_that_its_refusal_asks_for_is_given(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "mine.yaml").write_text("model: my-llama\n")
    assert main(["build", "mine.yaml"]) == 2
    assert "give budget.context_window too" in capsys.readouterr().err
    (folder / "mine.yaml").write_text("model: my-llama\nbudget: {context_window: 1000}\nmessages: [[user, hi]]\n")
    assert main(["build", "mine.yaml"]) == 0


def test_dates_and_words_of_yaml_1_1_are_texts(folder: Path) -> None:
    Path("bot.yaml").write_text(
        "knowledge:\n- {text: no, type: on, source: 2026-01-31}\n- {text: 12:30:00, type: off, source: 0o17}\n"
        "messages: [{role: user, content: 1:30}]\n"
    )
    assert main(["build", "bot.yaml", "-o", "out.json"]) == 0
    system = json.loads(Path("out.json").read_text())["system"]
    assert '<context type="on" source="2026-01-31" trusted="false">\nno\n</context>' in system
    assert '<context type="off" source="0o17" trusted="false">\n12:30:00\n</context>' in system


def test_an_alias_is_replaced_by_its_value(folder: Path) -> None:
    Path("bot.yaml").write_text(
        "knowledge:\n- &first {text: same, type: note}\n- *first\n- {<<: *first, source: twin}\n"
        "messages: [{role: user, content: hello}]\n"
    )
    assert main(["build", "bot.yaml", "-o", "out.json"]) == 0
    assert json.loads(Path("out.json").read_text())["system"].count("same") == 3


# ── count


BODY: dict[str, Any] = {"model": "gpt-4o", "messages": [{"role": "user", "content": "How many tokens is this?"}]}


@pytest.mark.parametrize("arguments", [["--model", "gpt-4o"], [], ["--dialect", "openai_chat"]])
def test_count_prints_what_count_request_says(
    arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("body.json").write_text(json.dumps(BODY))
    assert main(["count", "body.json", *arguments]) == 0
    priced = count_request(BODY, dialect=openai_chat, model="gpt-4o")
    lines = dict(line.split() for line in capsys.readouterr().out.splitlines())
    assert lines == {"tokens": str(priced.tokens), "grade": str(priced.grade), "upper": str(priced.upper)}


COUNT_REFUSALS = {
    "no such file": ("gone.json", [], "gone.json: expected a file, found none\n"),
    "a list": ("list.json", [], "list.json: expected a request, a JSON object, got a list"),
    "no model": ("bare.json", [], "assemble count: --model: missing, and bare.json names no model"),
    "a model that is a number": ("number.json", [], "number.json: model: expected text, got 5"),
    "an unknown model": ("body.json", ["--model", "gtp-4o"], 'whose window is published, got "gtp-4o"'),
    "an unknown dialect": ("body.json", ["--dialect", "openai"], "--dialect: expected one of "),
    "no messages": ("number.json", ["--model", "gpt-4o"], "number.json: "),
    "bad JSON": ("bot.yaml", [], "bot.yaml: expected JSON, line 2, column 1: Expecting value"),
}  # fmt: skip


@pytest.mark.parametrize("case", COUNT_REFUSALS)
def test_count_refuses_in_one_line(case: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bodies = {"body": BODY, "list": [1], "bare": {"messages": BODY["messages"]}, "number": {"model": 5}}
    for name, body in bodies.items():
        Path(f"{name}.json").write_text(json.dumps(body))
    file, arguments, expected = COUNT_REFUSALS[case]
    assert main(["count", file, *arguments]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert expected in err
    assert err.count("\n") == 1


def test_count_asks_for_a_dialect_if_the_models_own_is_not_available(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("body.json").write_text(json.dumps(BODY))
    monkeypatch.setattr("assembler.cli.count.DIALECTS", {"plain": DIALECTS["plain"]})
    assert main(["count", "body.json"]) == 2
    assert "--dialect: missing; gpt-4o speaks openai_chat, expected one of " in capsys.readouterr().err


# ── the command line itself


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["build"], "FILE"),
        (["build", "a.yaml", "b.yaml"], "assemble build: expected no more arguments, got b.yaml"),
        (["build", "a.yaml", "--ouput", "b"], "--ouput"),
        (["buld", "a.yaml"], 'Did you mean "build"?'),
        (["build", "bot.yaml", "-o"], "-o"),
        (["build", "bot.yaml", "-o", "a\0b"], "without a null character"),
        (["batch", "rows\0", "out.jsonl", "--spec", "bot.yaml"], "without a null character"),
    ],
)
def test_a_wrong_command_line_is_one_line(argv: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    err = capsys.readouterr().err
    assert err.startswith("assemble")
    assert expected in err
    assert err.count("\n") == 1


def test_a_program_that_asks_for_json_gets_the_arithmetic_of_what_does_not_fit(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for window, needed in (("9", 0), ("3", 1)):
        Path("tight.yaml").write_text(
            f"budget: {{context_window: {window}}}\nmessages: [{{role: user, content: word word word word}}]\n"
        )
        assert main(["build", "tight.yaml", "--json"]) == (3 if needed else 0)
        out, err = capsys.readouterr()
        read = json.loads(out)
        assert ("shorten its messages by 1 token." in err) == bool(needed)
        if needed:
            assert (read["required"], read["available"], read["excess"], read["smallest_window"]) == (4, 3, 1, 4)
            assert read["regions"]["conversation"] == 4
            assert read["advice"] in err


@pytest.mark.parametrize("argv", [[], ["--help"]])
def test_help_lists_every_command(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 0
    out = capsys.readouterr().out
    assert "build" in out
    assert "count" in out


@pytest.mark.parametrize(("installed", "shown"), [("7.8.9", "7.8.9\n"), (None, "not installed")])
def test_the_version_is_that_of_the_distribution_or_says_that_none_is_installed(
    installed: str | None,
    shown: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if installed is not None:
        (tmp_path / f"context_assembler-{installed}.dist-info").mkdir()
    assert main(["--version"]) == 0  # what it imports is loaded from here on
    capsys.readouterr()
    installed_version.cache_clear()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert main(["--version"]) == 0
    installed_version.cache_clear()
    assert shown in capsys.readouterr().out


@pytest.mark.parametrize("package", ["cyclopts", "yaml"])
def test_a_missing_package_is_one_line_that_says_what_to_install(
    package: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.partition(".")[0] == package:
            raise ModuleNotFoundError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    code = main(["build", "bot.yaml"])
    monkeypatch.undo()
    assert code == 2
    err = capsys.readouterr().err
    assert "pip install 'context-assembler[cli]'" in err
    assert err.count("\n") == 1


def test_a_terminal_that_draws_no_bars_gets_question_marks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", narrow)
    assert main(["build", "bot.yaml"]) == 0
    narrow.seek(0)
    assert "conversation" in narrow.read()


def test_an_interrupt_is_silent(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def stopped(_: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("assembler.cli._run_command", stopped)
    assert main(["build", "bot.yaml"]) == 128 + signal.SIGINT
    assert capsys.readouterr() == ("", "")


def test_a_pipe_closed_by_its_reader_ends_the_command_in_silence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", encoding="utf-8") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        assert main(["build", "bot.yaml"]) == 128 + signal.SIGPIPE
        monkeypatch.undo()
    assert capsys.readouterr().err == ""


def run(*command: str, **options: Any) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [sys.executable, "-m", "assembler.cli", *command],
        check=False, capture_output=True, text=True, encoding="utf-8", env=environment, **options,
    )  # fmt: skip


def test_the_module_runs_as_the_command(folder: Path) -> None:
    done = run("build", "bot.yaml", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{the_same_by_hand().build().report}\n"


def test_a_closed_pipe_is_silent(folder: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    try:
        command = [sys.executable, "-m", "assembler.cli", "build", "bot.yaml"]
        done = subprocess.run(command, check=False, stdout=writing, stderr=subprocess.PIPE, cwd=folder, env=environment)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")


BUILT = [sys.executable, "-m", "assembler.cli", "build", str(ROOT / "examples" / "support_bot.yaml")]
SHELL = {**os.environ, "PYTHONUNBUFFERED": "", "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}


@pytest.fixture(scope="module")
def piped() -> str:
    return subprocess.run(BUILT, capture_output=True, check=True, env=SHELL).stdout.decode()


@pytest.mark.parametrize("no_color", ["", "1"])
def test_a_report_on_a_terminal_is_coloured_unless_no_color_is_set(no_color: str, piped: str, tmp_path: Path) -> None:
    """A pseudo-terminal reads it; without its escape sequences it is the text that a pipe gets, to the character."""
    ours, theirs = pty.openpty()
    env = {**SHELL, "TERM": "xterm-256color", "NO_COLOR": no_color}
    running = subprocess.Popen(BUILT, stdout=theirs, cwd=tmp_path, env=env)
    os.close(theirs)
    drawn = b""
    with contextlib.suppress(OSError):  # how a pseudo-terminal says that nobody writes any more
        while more := os.read(ours, 65_536):
            drawn += more
    assert running.wait() == 0
    os.close(ours)
    text = drawn.decode().replace("\r\n", "\n")
    assert ("\x1b[" in text) == (not no_color)
    assert re.sub(r"\x1b\[[0-9;]*m", "", text) == piped


def test_a_closed_output_is_not_written_to(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["build", "bot.yaml", "-o", "out.json"]) == 0
    assert Path("out.json").exists()
    assert main(["build", "nowhere.yaml"]) == 2


def test_a_full_device_is_one_line_and_no_violation(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A traceback would exit with 1, which `check` uses for a request that breaks a rule."""
    monkeypatch.chdir(folder)
    with open("/dev/full", "w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert main(["build", "bot.yaml"]) == 2
        monkeypatch.setattr(sys, "stdout", sys.__stdout__)
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("argv", [["build", "bot.yaml", "-o", "loop"], ["view", "bot.yaml", "-o", "loop"]])
def test_a_loop_of_links_is_one_line(
    argv: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    Path("loop").symlink_to("loop")
    assert main(argv) == 2
    assert main(["batch", "loop", "out.jsonl", "--spec", "bot.yaml"]) == 2
    assert capsys.readouterr().err.count("\n") == 2


def test_the_module_run_as_a_script_is_the_command_and_ends_with_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    handlers: list[str] = []
    monkeypatch.setattr(sys, "argv", ["assemble", "build", "no-such-file.yaml"])
    monkeypatch.setattr(os, "_exit", sys.exit)
    monkeypatch.setattr(atexit, "_run_exitfuncs", lambda: handlers.append("ran"))
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(Path(inspect.getfile(main)).with_name("__main__.py")), run_name="__main__")
    assert (ended.value.code, handlers) == (2, ["ran"])


@pytest.mark.parametrize(("file", "code"), [("bot.yaml", 0), ("nowhere.yaml", 2)])
def test_what_others_do_at_the_end_of_the_process_is_done(file: str, code: int, folder: Path) -> None:
    program = (
        "import atexit, sys; from assembler.cli import run; "
        "atexit.register(lambda: print('the end', flush=False)); sys.argv = ['assemble', 'build', sys.argv[1]]; run()"
    )
    done = subprocess.run([sys.executable, "-c", program, file], capture_output=True, text=True, cwd=folder, env=SHELL)
    assert (done.returncode, done.stdout.endswith("the end\n")) == (code, True)
