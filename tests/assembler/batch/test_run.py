"""A killed run over a file resumes without losing or repeating a row. A changed input is refused."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler
from assembler.batch import BatchError, workers
from assembler.batch import run as running
from assembler.batch.formats import OWN
from assembler.batch.journal import Written, journal_of, rows_from, survey
from assembler.batch.journal import read_written as there
from assembler.batch.lines import answer
from assembler.cli import main
from budgets import MissingExtraError
from tests.assembler.batch.made import base, deadly, lacking
from tests.scaled import scaled

ROOT = Path(__file__).parents[3]
SPEC = """
budget: {context_window: 120}
dialect: plain
instruction: Be kind.
on_overflow: trim_oldest
"""


def a_row(number: int) -> dict[str, Any]:
    words = "word " * (number * 7 % 30)
    row = {"id": number, "messages": [("user", words), ("assistant", "yes"), ("user", f"and {number}?")]}
    return row if number % 9 else {"id": number, "messages": number}


def written_rows(path: Path, number: int) -> Path:
    path.write_text("".join(json.dumps(a_row(n)) + "\n" + "\n" * (n % 4 == 3) for n in range(number)))
    return path


def finished(source: Path, output: Path, made: Assembler | None = None, workers: int = 1) -> running.Progress:
    *_, last = running.run(source, output, made or base(), workers=workers)
    return last


def expected(number: int) -> bytes:
    return b"".join(answer(base(), n, json.dumps(a_row(n)).encode()) for n in range(number))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return written_rows(tmp_path / "in.jsonl", 20)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "out.jsonl"


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "ROWS", 3)


def test_every_row_has_its_line_in_order(source: Path, output: Path, small_chunks: None) -> None:
    steps = list(running.run(source, output, base()))
    assert output.read_bytes() == expected(20)
    assert [step.done for step in steps] == [0, *range(3, 19, 3), 20]
    assert steps[-1] == running.Progress(total=20, done=20, failed=3, resumed=0)


class Killed(BaseException):
    """Simulates SIGKILL: no code runs after it, not even a `finally`."""


@given(st.data())
@scaled(0.5)
def test_a_run_that_is_killed_anywhere_resumes_to_the_same_bytes(data: st.DataObject) -> None:
    """Each attempt is killed after some more bytes, perhaps in the middle of a line; the last one runs to its end."""
    number = data.draw(st.integers(0, 9))
    whole = expected(number)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(workers, "ROWS", data.draw(st.integers(1, 4)))
        source, output = written_rows(Path(folder, "in.jsonl"), number), Path(folder, "out.jsonl")
        for _ in range(data.draw(st.integers(0, 4))):
            left = data.draw(st.integers(0, len(whole)))

            def append(file: Any, content: bytes) -> None:
                nonlocal left
                file.write(content[: max(left, 0)])
                left -= len(content)
                if left < 0:
                    raise Killed

            with pytest.MonkeyPatch.context() as dying:
                dying.setattr(running, "_append_bytes", append)
                try:
                    finished(source, output)
                except Killed:
                    assert whole.startswith(output.read_bytes())
        last = finished(source, output)
        assert output.read_bytes() == whole
        assert (last.total, last.failed) == (number, len([n for n in range(number) if n % 9 == 0]))


DYING = """
import os, signal, sys
from assembler.batch import run as running
from assembler.batch import workers
from assembler.cli import main
left, workers.ROWS = int(sys.argv[1]), 4
def append(file, content):
    global left
    file.write(content[:left])
    left -= len(content)
    if left <= 0:
        os.kill(os.getpid(), signal.SIGKILL)
running._append_bytes = append
if __name__ == "__main__":
    sys.exit(main(sys.argv[2:]))
"""


def test_a_run_that_is_killed_during_a_write_can_be_resumed(tmp_path: Path) -> None:
    """SIGKILL, once alone and once with two workers, which end too: their pipes are closed."""
    source = written_rows(tmp_path / "in.jsonl", 60)
    (tmp_path / "spec.yaml").write_text(SPEC)
    dying = tmp_path / "dying.py"
    dying.write_text(DYING)
    command = ["batch", str(source), "out.jsonl", "--spec", "spec.yaml"]
    for written, more in ((1_001, []), (2_503, ["--workers", "2"])):
        done = subprocess.run(
            [sys.executable, str(dying), str(written), *command, *more],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            timeout=60,
        )
        assert done.returncode == -signal.SIGKILL, done.stderr
    killed = (tmp_path / "out.jsonl").read_bytes()
    assert not killed.endswith(b"\n")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path)
        assert main(command) == 0
        assert main([command[0], command[1], "whole.jsonl", *command[3:]]) == 0
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert (tmp_path / "whole.jsonl").read_bytes().startswith(killed[: killed.rindex(b"\n") + 1])


def test_a_finished_run_has_nothing_more_to_do(source: Path, output: Path) -> None:
    finished(source, output)
    before = output.stat()
    assert finished(source, output) == running.Progress(total=20, done=20, failed=3, resumed=20)
    assert output.stat().st_mtime_ns == before.st_mtime_ns


def half_done(source: Path, output: Path) -> bytes:
    finished(source, output)
    half = output.read_bytes()[:900]
    output.write_bytes(half)
    return half


def test_a_changed_input_is_refused_and_nothing_is_touched(source: Path, output: Path) -> None:
    half = half_done(source, output)
    source.write_bytes(source.read_bytes().replace(b"and 7", b"and 8"))
    with pytest.raises(BatchError, match="rows are of another run: input was ") as caught:
        finished(source, output)
    assert [one.place for one in caught.value.differences] == ["input"]
    assert output.read_bytes() == half


@pytest.mark.parametrize(
    ("made", "place"),
    [(base(300), "budget.context_window"), (base().add_instruction("Be brief."), "instruction"),
     (base().add_knowledge("a", type="b"), "number of knowledge")],
)  # fmt: skip
def test_a_changed_spec_is_refused_and_named(made: Assembler, place: str, source: Path, output: Path) -> None:
    half = half_done(source, output)
    with pytest.raises(BatchError, match="Restore what changed to continue, or move out") as caught:
        finished(source, output, made)
    assert place in [one.place for one in caught.value.differences]
    assert output.read_bytes() == half


def test_another_version_of_the_library_is_refused(source: Path, output: Path) -> None:
    half_done(source, output)
    journal = json.loads(journal_of(output).read_text())
    journal["versions"]["context-assembler"] = "0.0.1"
    journal_of(output).write_text(json.dumps(journal))
    with pytest.raises(BatchError, match=r"context-assembler was 0\.0\.1, is "):
        finished(source, output)


def test_a_run_whose_output_was_moved_away_starts_over_whatever_else_changed(source: Path, output: Path) -> None:
    half_done(source, output)
    output.unlink()
    finished(source, output, base(300))
    assert len(output.read_bytes().splitlines()) == 20


@pytest.mark.parametrize("content", [b"mine\n", b'{"row":0,"id":1}\n', b"no line"])
def test_a_file_of_another_program_is_never_written(content: bytes, source: Path, output: Path) -> None:
    output.write_bytes(content)
    with pytest.raises(BatchError, match="move"):
        finished(source, output)
    assert output.read_bytes() == content


def test_a_line_of_another_program_in_the_output_is_found(source: Path, output: Path) -> None:
    half_done(source, output)
    output.write_bytes(output.read_bytes().replace(b'{"row":2,', b'{"row":3,'))
    with pytest.raises(BatchError, match="line 3 is not of this run"):
        finished(source, output)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"[" * 5000 + b"]" * 5000, b'{"a":' * 500 + b"1" + b"}" * 500])
def test_a_damaged_journal_is_refused(content: bytes, source: Path, output: Path) -> None:
    half_done(source, output)
    journal_of(output).write_bytes(content)
    with pytest.raises(BatchError, match="expected the journal of a run"):
        finished(source, output)


def test_an_output_with_more_rows_than_the_input_is_refused(source: Path, output: Path) -> None:
    finished(source, output)
    content = output.read_bytes() + b'{"row":20,"error":{}}\n'
    output.write_bytes(content)
    with pytest.raises(BatchError, match="21 rows, and the input has 20"):
        finished(source, output)
    assert output.read_bytes() == content


def test_a_file_of_another_program_is_not_read(source: Path, output: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(_: Path) -> None:
        raise AssertionError

    output.write_bytes(b"mine\n")
    monkeypatch.setattr(running, "read_written", read)
    with pytest.raises(BatchError, match="no run wrote it"):
        finished(source, output)


@pytest.mark.timeout(20)
def test_a_device_or_a_pipe_is_refused_as_the_output(source: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (Path("/dev/zero"), Path("/dev/full"), tmp_path / "pipe"):
        with pytest.raises(BatchError, match="not a file"):
            finished(source, place)


def test_the_lock_of_a_dead_process_with_the_same_number_blocks_nobody(source: Path, output: Path) -> None:
    for name in (output.name, journal_of(output).name):
        output.with_name(f".{name}.{os.getpid()}.part").write_text("torn")
    finished(source, output)
    assert output.read_bytes() == expected(20)


def test_only_the_beginning_of_an_endless_line_is_kept_in_memory(
    source: Path, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished(source, output)
    monkeypatch.setattr("assembler.batch.journal.PIECE", 40)
    content = output.read_bytes()
    assert max(map(len, content.splitlines())) > 80
    assert there(output) == Written(20, 3, len(content))
    output.write_bytes(content[:-1])
    assert there(output).rows == 19


def test_two_runs_never_write_one_file(source: Path, output: Path) -> None:
    first = running.run(source, output, base())
    next(first)
    with pytest.raises(BatchError, match="another run is writing it"):
        finished(source, output)
    list(first)
    assert output.read_bytes() == expected(20)


def test_a_run_works_on_a_system_without_file_locks(
    source: Path, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    finished(source, output)
    assert output.read_bytes() == expected(20)


def test_an_input_that_changes_under_a_run_is_noticed(source: Path, output: Path) -> None:
    steps = running.run(source, output, base())
    next(steps)
    source.write_bytes(source.read_bytes() + b"{}\n")
    with pytest.raises(BatchError, match="changed while it was read"):
        list(steps)


def test_a_journal_that_cannot_be_written_leaves_nothing(
    source: Path, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        finished(source, output)
    assert sorted(path.name for path in source.parent.iterdir()) == ["in.jsonl", "out.jsonl"]
    assert output.read_bytes() == b""


FULL = """
import resource, sys
from assembler.batch import workers
from assembler.cli import main
workers.ROWS = 4
resource.setrlimit(resource.RLIMIT_FSIZE, (2_003, resource.RLIM_INFINITY))
sys.exit(main(sys.argv[1:]))
"""
"""A run that no file may let grow beyond 2,003 bytes, as on a disk that is full by then."""


def test_a_run_whose_disk_is_full_says_what_to_do_and_goes_on_there(tmp_path: Path) -> None:
    pytest.importorskip("resource")
    source = written_rows(tmp_path / "in.jsonl", 60)
    (tmp_path / "spec.yaml").write_text(SPEC)
    command = ["batch", str(source), "out.jsonl", "--spec", "spec.yaml"]
    done = subprocess.run(
        [sys.executable, "-c", FULL, *command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(
        "out.jsonl: expected a file to read or write: File too large; mend that and run again"
    )
    assert 0 < (tmp_path / "out.jsonl").stat().st_size <= 2_003
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path)
        assert main(command) == 0
        assert main([command[0], command[1], "whole.jsonl", *command[3:]]) == 0
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_a_partial_write_loses_nothing() -> None:
    class Slow(io.BytesIO):
        def write(self, content: Any, /) -> int:
            return super().write(bytes(content)[:3])

    file = Slow()
    running._append_bytes(file, b"0123456789")
    assert file.getvalue() == b"0123456789"


# ── what is read


@given(st.lists(st.sampled_from([b"{}", b"[1, 2]", b"", b"  ", b"\xc3\xa9" * 9]), max_size=9), st.booleans(), st.data())
@scaled(0.5)
def test_a_survey_finds_the_rows_that_a_reader_finds(lines: list[bytes], ends: bool, data: st.DataObject) -> None:
    content = b"".join(line + b"\n" for line in lines) + b"[7]" * ends
    rows = [line for line in content.split(b"\n") if line.strip()]
    done = data.draw(st.integers(0, len(rows)))
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr("assembler.batch.journal.PIECE", data.draw(st.integers(1, 9)))
        path = Path(folder, "in.jsonl")
        path.write_bytes(content)
        found = survey(path, done)
        assert (found.size, found.rows) == (len(content), len(rows))
        with path.open("rb") as file:
            file.seek(found.offset)
            assert list(rows_from(file)) == rows[done:]


def test_only_the_beginning_of_an_endless_row_is_kept_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assembler.batch.journal.LONGEST", 8)
    monkeypatch.setattr("assembler.batch.journal.PIECE", 5)
    rows = list(rows_from(io.BytesIO(b"x" * 100 + b"\nnext\r\n" + b"y" * 100)))
    assert rows == [b"x" * 10, b"next", b"y" * 10]


@pytest.mark.parametrize(("end", "rows"), [(b"{}", 2), (b" ", 1)])
def test_a_row_that_begins_with_more_blanks_than_are_kept_in_memory_is_counted_and_read_alike(
    end: bytes, rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The survey counted it, and the reader did not: later rows had a wrong number, and a new run repeated one."""
    monkeypatch.setattr("assembler.batch.journal.LONGEST", 8)
    monkeypatch.setattr("assembler.batch.journal.PIECE", 5)
    path = tmp_path / "in.jsonl"
    path.write_bytes(b" " * 30 + end + b"\n{}\n")
    assert survey(path, 0).rows == rows
    with path.open("rb") as file:
        assert len(list(rows_from(file))) == rows


# ── chunks and workers


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(1, 4), st.integers(1, 12))
def test_chunks_are_the_rows_and_none_is_larger_than_asked(sizes: list[int], most: int, size: int) -> None:
    rows = [b"x" * length for length in sizes]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(workers, "ROWS", most)
        patched.setattr(workers, "BYTES", size)
        bundles = list(workers.split_rows(rows, 5))
    assert list(itertools.chain(*bundles)) == list(enumerate(rows, 5))
    for bundle in bundles:
        assert 1 <= len(bundle) <= most
        assert len(bundle) == 1 or sum(len(line) for _, line in bundle) <= size


def test_workers_give_what_one_process_gives(tmp_path: Path, output: Path, small_chunks: None) -> None:
    source = written_rows(tmp_path / "in.jsonl", 100)
    finished(source, output, workers=2)
    assert output.read_bytes() == expected(100)


class Acting:
    """A stub of a worker that `wait` reports as ready when a test says so."""

    def __init__(self) -> None:
        self.pipe = self
        self.chunks: list[workers.Chunk] = []
        self.reading, self.writing = os.pipe()

    def fileno(self) -> int:
        return self.reading

    def send(self, chunk: workers.Chunk) -> None:
        self.chunks.append(chunk)

    def ready(self) -> None:
        os.write(self.writing, b".")

    def answer(self) -> list[bytes]:
        os.read(self.reading, 1)
        return [line for _, line in self.chunks[-1]]

    def end(self) -> None:
        os.close(self.reading)
        os.close(self.writing)


def test_while_one_worker_is_slow_few_chunks_are_in_memory() -> None:
    slow, quick = Acting(), Acting()
    most = workers.AHEAD * 2
    taken = 0

    def send(chunk: workers.Chunk) -> None:
        quick.chunks.append(chunk)
        quick.ready()

    def answer() -> list[bytes]:
        if len(quick.chunks) == most - 1:
            slow.ready()  # not before all is answered that may be read
        return Acting.answer(quick)

    def bundles() -> Iterator[workers.Chunk]:
        nonlocal taken
        for taken in range(1, 31):
            yield [(taken, b"%d" % taken)]

    quick.send, quick.answer = send, answer  # type: ignore[method-assign]
    given_back: list[bytes] = []
    try:
        for lines in workers._share_out([quick, slow], bundles()):  # type: ignore[list-item]
            assert taken - len(given_back) <= most
            given_back += lines
            if len(given_back) == most:
                break
    finally:
        slow.end()
        quick.end()
    assert given_back == [b"%d" % number for number in range(1, most + 1)]


class Scripted:
    """One end of a pipe that sends the given messages and then closes."""

    def __init__(self, *chunks: workers.Chunk) -> None:
        self.chunks = list(chunks)
        self.heard: list[Any] = []

    def recv(self) -> workers.Chunk:
        if not self.chunks:
            raise EOFError
        return self.chunks.pop(0)

    def send(self, found: Any, /) -> None:
        self.heard.append(found)

    def close(self) -> None:
        pass


def test_a_worker_answers_until_its_parent_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    ignored: list[Any] = []
    monkeypatch.setattr(signal, "signal", lambda *which: ignored.append(which))
    lines = [json.dumps(a_row(n)).encode() for n in range(3)]
    pipe = Scripted([(0, lines[0]), (1, lines[1])], [(2, lines[2])])
    workers._serve_chunks(pipe, base(), OWN)
    assert b"".join(itertools.chain(*pipe.heard)) == expected(3)
    assert ignored == [(signal.SIGINT, signal.SIG_IGN)]
    longest = json.dumps({"messages": [["user", "w" * 300]]}).encode()
    pipe = Scripted([(0, longest)])
    workers._serve_chunks(pipe, lacking(), OWN)
    assert isinstance(pipe.heard[0], MissingExtraError)


def test_a_worker_that_dies_ends_the_run_and_the_next_run_resumes_it(
    tmp_path: Path, output: Path, small_chunks: None
) -> None:
    source = written_rows(tmp_path / "in.jsonl", 20)
    with pytest.raises(BatchError, match=r"exit code 9\); what is written stays: run again"):
        finished(source, output, base(counter=deadly), workers=2)
    rows = [json.loads(line)["row"] for line in output.read_bytes().splitlines()]
    assert rows == list(range(len(rows)))
    assert len(rows) <= 12


def test_a_missing_package_ends_the_run_in_any_process(source: Path, output: Path) -> None:
    for number in (1, 2):
        with pytest.raises(MissingExtraError):
            finished(source, output, lacking(), workers=number)


def test_a_number_of_workers_below_one_is_refused(source: Path, output: Path) -> None:
    with pytest.raises(BatchError, match="workers is 0"):
        finished(source, output, workers=0)


# ── the command


@pytest.fixture
def folder(source: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(source.parent)
    Path("spec.yaml").write_text(SPEC)
    return source.parent


COMMAND = ["batch", "in.jsonl", "out.jsonl", "--spec", "spec.yaml"]


def test_the_command_says_what_it_did(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(COMMAND) == 0
    assert capsys.readouterr() == ("rows     20\nrequests 17\nerrors   3\n", "")
    assert main(COMMAND) == 0
    assert capsys.readouterr().out.endswith("resumed  20 were there\n")


def test_the_progress_bar_is_written_to_a_terminal_only(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr("assembler.cli.progress.PATIENCE", 0)  # by default the bar waits a second
    assert main(COMMAND) == 0
    out, err = capsys.readouterr()
    assert out == "rows     20\nrequests 17\nerrors   3\n"
    assert "20/20" in err


REFUSALS = {
    "no workers": ([*COMMAND, "-w", "0"], "assemble batch: --workers: expected at least 1, got 0"),
    "no rows": (["batch", "gone.jsonl", *COMMAND[2:]], "gone.jsonl: expected a file of rows"),
    "a folder": (["batch", ".", *COMMAND[2:]], "expected a file of rows"),
    "input is output": (["batch", "in.jsonl", "./in.jsonl", *COMMAND[3:]], "expected a file other than those"),
    "spec is output": (["batch", "in.jsonl", "spec.yaml", *COMMAND[3:]], "expected a file other than those"),
    "no folder": (["batch", "in.jsonl", "gone/out.jsonl", *COMMAND[3:]], "gone/out.jsonl: expected a file to read or"),
    "no spec": (COMMAND[:3], "--spec"),
    "another's file": (["batch", "in.jsonl", "mine.txt", *COMMAND[3:]], "mine.txt: "),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_run_that_cannot_start_prints_one_line_and_exits_with_2(
    case: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mine.txt").write_text("mine")
    argv, expected = REFUSALS[case]
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert not out
    assert expected in err
    assert err.count("\n") == 1


def test_the_page_shows_what_the_command_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "batches.md").read_text()
    monkeypatch.chdir(tmp_path)
    for language, name in (("yaml", "spec.yaml"), ("json", "rows.jsonl")):
        [text] = re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
        Path(name).write_text(text)
    [line] = re.findall(r"^assemble (batch .*)$", page, re.MULTILINE)
    assert main([*line.split()[:-1], "1"]) == 0
    shown = re.findall(r'^\{"row":.*$', page, re.MULTILINE)
    for line, pattern in zip(Path("requests.jsonl").read_text().splitlines(), shown, strict=True):
        assert re.fullmatch(".*".join(map(re.escape, pattern.split("…"))), line), line


def test_a_gzipped_input_gives_the_lines_of_the_plain_one_and_resumes_where_it_stopped(
    source: Path, output: Path, small_chunks: None
) -> None:
    packed = source.with_name("in.jsonl.gz")
    packed.write_bytes(gzip.compress(source.read_bytes()))
    steps = running.run(packed, output, base())
    next(steps), next(steps), steps.close()
    assert finished(packed, output).resumed == 3
    assert output.read_bytes() == expected(20)


@pytest.mark.parametrize("cut", [0, 10, -10])
def test_a_truncated_gzip_input_is_refused(source: Path, output: Path, cut: int) -> None:
    packed = source.with_name("in.jsonl.gz")
    packed.write_bytes(gzip.compress(source.read_bytes())[:cut] or b"no gzip")
    with pytest.raises(BatchError, match="gzip"):
        finished(packed, output)


def test_without_flock_a_second_run_is_refused_by_the_lock_of_windows(
    source: Path, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: set[int] = set()

    class Windows:
        LK_NBLCK = 2

        @staticmethod
        def locking(number: int, mode: int, size: int) -> None:
            place = os.fstat(number).st_ino
            if place in held:
                raise PermissionError
            held.add(place)

    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", Windows)
    steps = running.run(source, output, base())
    next(steps)
    with pytest.raises(BatchError, match="another run"):
        finished(source, output)
    assert sum(1 for _ in steps) > 0
    assert output.read_bytes() == expected(20)
