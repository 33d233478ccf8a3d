"""Writes the output from the lines of a run: a provider's batch file, or the lines in another order.

The run keeps its own lines, with errors and tokens, in a log next to the output. So a stopped run can continue, and the
output is written whole at the end, or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

from assembler.batch.errors import BatchError, not_of_a_run
from assembler.batch.formats import Format, ProviderRows
from assembler.batch.journal import LOG
from assembler.batch.lines import FAILED
from assembler.batch.rows import as_utf_8, write_line
from assembler.files.json_text import parse_json
from assembler.files.writing import replacing


def log_of(output: Path) -> Path:
    """The path of the run's log, next to the output."""
    return output.with_name(f"{output.name}{LOG}")


def refuse_strangers(output: Path) -> None:
    """Raise `BatchError` if the output exists and is not a run's."""
    if output.exists() and not log_of(output).exists():
        raise not_of_a_run(output)


def finish(output: Path, kind: Format, places: Sequence[int] | None = None) -> None:
    """Write the output from the lines of its run, in the order of `places`, or in their own.

    A row without a request has no line in a provider's file. Raises `BatchError` if two rows have the same id, which
    the provider would refuse, and `OSError` for files. Memory: a number and an id for each row.
    """
    with log_of(output).open("rb") as log, replacing(output.resolve()) as file:
        lines = _read_lines(log, places)
        file.writelines(_write_provider_lines(lines, kind) if isinstance(kind, ProviderRows) else lines)


def _read_lines(log: BinaryIO, places: Sequence[int] | None) -> Iterator[bytes]:
    if places is None:
        yield from log
        return
    offsets, offset = list[int](), 0
    for line in log:
        offsets.append(offset)
        offset += len(line)
    for place in places:
        log.seek(offsets[place])
        yield log.readline()


def _write_provider_lines(lines: Iterator[bytes], kind: ProviderRows) -> Iterator[bytes]:
    named: dict[str, int] = {}
    for line in lines:
        if FAILED.match(line):
            continue
        written = cast("dict[str, Any]", parse_json(line.decode()))
        row = named.setdefault(written[kind.id], written["row"])
        if row != written["row"]:
            raise BatchError(
                f"rows {row} and {written['row']} have the same {kind.id}, which {kind.name} refuses: name them apart"
            )
        yield as_utf_8(write_line(kind.line(written))) + b"\n"
