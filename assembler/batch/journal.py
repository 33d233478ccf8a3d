"""The journal of a run, which lets a killed run continue.

Every complete line of the output belongs to one row, in order, and is written once. The output alone says how far a run
came. The journal next to it holds hashes of the run's inputs, and is written before the first line. So a run that is
killed at any point leaves complete lines and perhaps a torn last one, which the next run removes and writes again.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import attrs

from assembler.batch.errors import BatchError, not_of_a_run
from assembler.batch.lines import FAILED, LONGEST, begins
from assembler.files.json_text import parse_json
from assembler.files.writing import replace_text

if TYPE_CHECKING:
    from assembler.report.manifest import Difference

FORMAT = 1
"""The version of the journal's format."""

PIECE = 1024 * 1024
"""The bytes that are read at a time, if lines do not matter."""

SHOWN = 3
"""The most differences in an error."""

LOG = ".rows.jsonl"
"""The end of the name of a log: a run writes one beside an output that is only written at the end."""


@attrs.frozen
class Written:
    """The written part of the output: whole lines, those without a request, and their bytes."""

    rows: int = 0
    failed: int = 0
    length: int = 0


@attrs.frozen
class Input:
    """A file of rows: its size, hash and number of rows, and the offset of the first row to do."""

    size: int
    sha256: str
    rows: int
    offset: int

    def to_dict(self) -> dict[str, Any]:
        """The data that a later run compares."""
        return {"bytes": self.size, "sha256": self.sha256, "rows": self.rows}


def journal_of(output: Path) -> Path:
    """The path of an output's journal, next to it."""
    return output.with_name(f"{output.name}.run.json")


def names_of(output: Path) -> str:
    """The names of the files to move away, so that a run can begin again: the lines, and what was written from them."""
    whole = output.name.removesuffix(LOG)
    there = whole not in ("", output.name) and output.with_name(whole).exists()
    return f"{whole} and {output.name}" if there else output.name


@contextlib.contextmanager
def open_rows(source: Path) -> Generator[BinaryIO]:
    """Open a file of rows, unpacked if its name ends with `.gz`. Raises `BatchError` for an incomplete gzip file."""
    if source.suffix != ".gz":
        with source.open("rb") as file:
            yield file
        return
    import gzip  # most files are not packed
    import zlib

    try:
        with gzip.open(source) as unpacked:
            yield cast(BinaryIO, unpacked)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise BatchError(f"{source}: not a complete gzip file; unpack it, or fetch it again") from None


def read_state(source: Path) -> tuple[int, int, int]:
    """What differs after a file was written, without reading it: its size, its time, and which file it is."""
    found = source.stat()
    return found.st_size, found.st_mtime_ns, found.st_ino


def survey(source: Path, done: int) -> Input:
    """Hash a file and find its row number `done`. Blank lines do not count. One pass, O(bytes), bounded memory."""
    seen, size, rows, start, offset = hashlib.sha256(), 0, 0, 0, None
    blank = True
    with open_rows(source) as file:
        while piece := file.readline(PIECE):
            seen.update(piece)
            size += len(piece)
            blank = blank and not piece.strip()
            if not piece.endswith(b"\n"):
                continue
            if not blank:
                offset = start if rows == done else offset
                rows += 1
            start, blank = size, True
    if not blank:
        offset = start if rows == done else offset
        rows += 1
    return Input(size, seen.hexdigest(), rows, size if offset is None else offset)


def rows_from(file: BinaryIO) -> Iterator[bytes]:
    """The rows from here on, without line breaks. A row that is too long is cut, but still too long."""
    while line := file.readline(LONGEST + 2):
        rest, blank = line, not line.strip()
        while rest and not rest.endswith(b"\n"):
            rest = file.readline(PIECE)
            blank = blank and not rest.strip()
        if not blank:
            yield line.rstrip(b"\r\n")


def read_written(output: Path) -> Written:
    """The complete part of the output, without a torn last line. One pass, O(bytes), bounded memory.

    Raises `BatchError` for lines that are not a run's.
    """
    rows = failed = length = 0
    with output.open("rb") as file:
        while head := file.readline(PIECE):
            size, last = len(head), head
            while last and not last.endswith(b"\n"):
                last = file.readline(PIECE)
                size += len(last)
            if not last:
                break
            if not head.startswith(begins(rows)):
                raise BatchError(
                    f"{output}: line {rows + 1} is not of this run; move {names_of(output)} away to start again"
                )
            failed += FAILED.match(head) is not None
            rows, length = rows + 1, length + size
    return Written(rows, failed, length)


def read_beginning(output: Path, size: int) -> Mapping[str, Any] | None:
    """The journal of the run that left `size` bytes; None for 0. Raises `BatchError` for a foreign file."""
    if not size:
        return None
    found = _read_journal(output)
    if found is None:
        raise not_of_a_run(output)
    return found


def settle(output: Path, written: Written, begun: Mapping[str, Any] | None, asked: Mapping[str, Any]) -> None:
    """Compare the journal with the new run, or write a journal if there is none.

    Raises `BatchError` with the differences, and for an output that has more rows than the input.
    """
    if begun is None:
        replace_text(journal_of(output), json.dumps({"run": FORMAT, **asked}, indent=1))
        return
    found = _find_differences(begun, {"run": FORMAT, **asked})
    if found:
        more = f" (and {len(found) - SHOWN} more)" if len(found) > SHOWN else ""
        raise BatchError(
            f"{output}: {written.rows} rows are of another run: {'; '.join(map(str, found[:SHOWN]))}{more}. "
            f"Restore what changed to continue, or move {names_of(output)} away to start again.",
            differences=found,
        )
    if written.rows > asked["input"]["rows"]:
        raise BatchError(
            f"{output}: {written.rows} rows, and the input has {asked['input']['rows']}: others were added since; move "
            f"{names_of(output)} away to start again"
        )


def _find_differences(begun: Mapping[str, Any], asked: Mapping[str, Any]) -> tuple[Difference, ...]:
    """The differences: in `input`, then in the spec's items and settings, then in versions."""
    from assembler.report.manifest.replay import differences  # a first run has none

    parts = [*asked, *(part for part in begun if part not in asked)]
    named = {"items": "", "terms": "", "versions": ""}
    return tuple(d for part in parts for d in differences(named.get(part, part), begun.get(part), asked.get(part)))


def _read_journal(output: Path) -> Mapping[str, Any] | None:
    journal = journal_of(output)
    try:
        with journal.open("rb") as file:
            found: object = parse_json(file.read(LONGEST).decode())
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict):
        return cast("Mapping[str, Any]", found)
    raise BatchError(f"{journal}: expected the journal of a run; move it, and {names_of(output)}, away to start again")


@contextlib.contextmanager
def open_output(output: Path) -> Generator[BinaryIO]:
    """Open the output for this process alone. Raises `BatchError` if another one has it, and for a device or a pipe."""
    if output.exists() and not output.is_file():
        raise BatchError(f"{output}: not a file that a run can be continued in; name another")
    with output.open("a+b", buffering=0) as file:
        try:
            _lock_file(file)
        except (BlockingIOError, PermissionError):
            raise BatchError(f"{output}: another run is writing it; wait for its end") from None
        yield cast(BinaryIO, file)


_FAR = 2**40
"""The offset of the byte that is locked on Windows, where a lock prevents reading. No byte is ever written there."""


def _lock_file(file: Any) -> None:
    """Lock an open file for this process. Raises `OSError` if another process has it.

    On a system without such locks, the caller must not run twice at once.
    """
    try:
        import fcntl
    except ImportError:
        _lock_on_windows(file)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _lock_on_windows(file: Any) -> None:
    try:
        locking: Any = importlib.import_module("msvcrt")
    except ImportError:
        return
    place = file.tell()
    file.seek(_FAR)
    try:
        locking.locking(file.fileno(), locking.LK_NBLCK, 1)
    finally:
        file.seek(place)
