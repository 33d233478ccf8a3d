"""Assembles a file of rows to a file of requests, in one run or in several.

IN.jsonl ─survey─► what is still to do ─rows─► chunks ─workers─► lines ─► OUT.jsonl, appended, in order
"""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import Any, BinaryIO

import attrs

from assembler.assembler import Assembler
from assembler.batch.errors import BatchError
from assembler.batch.formats import OWN, Format
from assembler.batch.journal import (
    names_of,
    open_output,
    open_rows,
    read_beginning,
    read_state,
    read_written,
    rows_from,
    settle,
    survey,
)
from assembler.batch.lines import FAILED
from assembler.batch.workers import in_order
from assembler.report.manifest import gathered_of


@attrs.frozen
class Progress:
    """The progress of a run: all rows, finished rows, those without a request, and those of earlier runs."""

    total: int
    done: int
    failed: int
    resumed: int


def run(
    source: Path, output: Path, base: Assembler[Any], *, workers: int = 1, kind: Format = OWN
) -> Generator[Progress, None, None]:
    """Write the line of every row that has none yet, and yield the progress after each chunk.

    `kind` is the format of the rows. The output has the run's own format: a number, the request or the error, the
    tokens.

    A run that ended early for any reason continues where it stopped. Raises `BatchError` if input, spec or library have
    changed since, if another run is writing, or if a worker dies; `OSError` for files.
    """
    if workers < 1:
        raise BatchError(f"workers is {workers}: at least one is needed")
    with open_output(output) as file:
        size = os.fstat(file.fileno()).st_size
        before = read_beginning(output, size)
        there = read_written(output)
        began = read_state(source)
        rows = survey(source, there.rows)
        settle(output, there, before, {"input": rows.to_dict(), **_describe_run(base, kind)})
        if there.length < size:
            file.truncate(there.length)
        progress = Progress(rows.rows, there.rows, there.failed, there.rows)
        yield progress
        if there.rows < rows.rows:
            yield from _continue_run(source, file, base, workers, kind, progress, rows.offset)
            os.fsync(file.fileno())
        if read_state(source) != began:
            raise BatchError(f"{source}: changed while it was read; move {names_of(output)} away and start again")


def _describe_run(base: Assembler, kind: Format) -> dict[str, Any]:
    draft, settings = base.inside
    gathered = gathered_of(draft, draft.history.view(), settings)
    return gathered if kind is OWN else {**gathered, "format": kind.name}


def _continue_run(
    source: Path, file: BinaryIO, base: Assembler, workers: int, kind: Format, progress: Progress, offset: int
) -> Generator[Progress, None, None]:
    with open_rows(source) as given:
        given.seek(offset)
        for lines in in_order(base, rows_from(given), progress.done, workers, kind):
            _append_bytes(file, b"".join(lines))
            failed = sum(1 for line in lines if FAILED.match(line))
            progress = attrs.evolve(progress, done=progress.done + len(lines), failed=progress.failed + failed)
            yield progress


def _append_bytes(file: BinaryIO, content: bytes) -> None:
    """Write all of it: one call of an unbuffered file may write less than it is given."""
    rest = memoryview(content)
    while rest:
        rest = rest[file.write(rest) :]
