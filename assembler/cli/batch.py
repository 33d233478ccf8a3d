"""`assemble batch`: assembles a file of rows to a file of requests."""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from cyclopts import Parameter

from assembler.batch.finish import finish, log_of, refuse_strangers
from assembler.batch.formats import FORMATS, OWN, Format
from assembler.batch.journal import journal_of
from assembler.batch.lines import FAILED
from assembler.batch.run import Progress, run
from assembler.cli.progress import rows_bar
from assembler.cli.request_file.gather import assembler_of
from assembler.cli.terminal import AsJson, show, show_json, warn
from assembler.files.place import Place
from assembler.files.reading import STANDARD, standard_input
from assembler.files.writing import is_standard_output, same_file, standard_output

COMMAND_LINE = "assemble batch"

Order: TypeAlias = Literal["given", "shared"]


def batch(
    rows: Path,
    output: Path,
    /,
    *,
    spec: Annotated[Path, Parameter(name=["--spec", "-s"])],
    spelling: Annotated[Literal["rows", "openai", "anthropic", "gemini"], Parameter(name="--format")] = "rows",
    order: Order = "given",
    workers: Annotated[int, Parameter(name=["--workers", "-w"])] = 1,
    as_json: AsJson = False,
) -> int:
    """Assemble a request for every row of ROWS, and write a line for each to OUTPUT.

    A run that was interrupted continues where it stopped when you start it again. The exit code is 1 when no row has a
    request.

    Parameters
    ----------
    rows
        JSON lines, gzipped if the name ends with .gz. Each is an object: its messages, instruction and tools replace
        those of --spec, and its knowledge is added. With - they are read from standard input.
    output
        JSON lines: {"row", "request", "tokens", "upper", "grade", "dropped"}, or {"row", "error"}. With - they are
        printed.
    spec
        A YAML file, as for `assemble build`, with what all rows have in common.
    spelling
        The format of ROWS and OUTPUT: rows as above, or a provider's own batch file. For the latter,
        OUTPUT.rows.jsonl holds the tokens and the errors.
    order
        The order of the requests and of their sources: as given, or shared, so that neighbouring requests begin alike.
    workers
        The number of processes.
    as_json
        Print the summary as JSON.
    """
    _refuse_arguments(rows, output, spec, workers)
    kind = FORMATS[spelling]
    try:
        with _find_files(rows, output) as (source, target):
            ended = _assemble_rows(source, target, spec, kind, order, workers)
            if output == STANDARD:
                with target.open("rb") as file:
                    shutil.copyfileobj(file, standard_output(Place(COMMAND_LINE, "OUTPUT")))
                _warn_of_failures(ended, target if _is_its_own_log(kind, order) else log_of(target))
                return _choose_exit_code(ended)
    except BrokenPipeError:  # the reader of standard output went away, which is no fault of a file
        raise
    except OSError as error:
        again = "" if output == STANDARD else "; mend that and run again to go on: what is written stays"
        raise Place(str(error.filename or output)).error(
            f"expected a file to read or write: {error.strerror}{again}"
        ) from None
    if as_json:
        done = ended.done - ended.failed
        show_json({"rows": ended.total, "requests": done, "errors": ended.failed, "resumed": ended.resumed})
    else:
        show(_write_summary(ended, None if _is_its_own_log(kind, order) else log_of(output)))
    return _choose_exit_code(ended)


def _refuse_arguments(rows: Path, output: Path, spec: Path, workers: int) -> None:
    if workers < 1:
        raise Place(COMMAND_LINE, "--workers").error(f"expected at least 1, got {workers}")
    written = (output, log_of(output), journal_of(output), journal_of(log_of(output)))
    for other in (rows, spec):
        if any(same_file(one, other) for one in written):
            raise Place(COMMAND_LINE, "OUTPUT").error("expected a file other than those that are read")
    if output.is_file() and is_standard_output(output):  # the summary would be written over the first lines
        raise Place(COMMAND_LINE, "OUTPUT").error("expected a file other than standard output, which is - here")
    if rows == spec == STANDARD:
        raise Place(COMMAND_LINE, "ROWS").error("expected a file, as the spec is read from standard input")
    if output == STANDARD:
        standard_output(Place(COMMAND_LINE, "OUTPUT"))  # before all rows are assembled in vain
    if rows != STANDARD and not rows.is_file():
        found = "a pipe or a folder" if rows.exists() else "none"
        raise Place(str(rows)).error(f"expected a file of rows, or - for standard input; found {found}")


@contextlib.contextmanager
def _find_files(rows: Path, output: Path) -> Generator[tuple[Path, Path]]:
    """The files to read and write; temporary ones for standard streams, because a run reads its rows twice."""
    if STANDARD not in (rows, output):
        yield rows, output
        return
    with tempfile.TemporaryDirectory() as folder:
        source, target = rows, output
        if rows == STANDARD:
            source = Path(folder, "rows.jsonl")
            with source.open("wb") as file:
                shutil.copyfileobj(standard_input(Place(COMMAND_LINE, "ROWS")), file)
        if output == STANDARD:
            target = Path(folder, "output.jsonl")
        yield source, target


def _assemble_rows(source: Path, target: Path, spec: Path, kind: Format, order: Order, workers: int) -> Progress:
    base, places = assembler_of(spec), None
    if order == "shared":
        if kind is not OWN:
            raise Place(COMMAND_LINE, "--order").error("expected given: a provider's own requests have no documents")
        from assembler.batch.shared_order import shared_order  # most runs keep the order

        base, places = shared_order(source, base)
    if _is_its_own_log(kind, order):
        with rows_bar() as seen:
            return _watch_run(run(source, target, base, workers=workers), seen)
    refuse_strangers(target)
    with rows_bar() as seen:
        ended = _watch_run(run(source, log_of(target), base, workers=workers, kind=kind), seen)
    finish(target, kind, places)
    return ended


def _is_its_own_log(kind: Format, order: Order) -> bool:
    return kind is OWN and order == "given"


def _warn_of_failures(ended: Progress, log: Path) -> None:
    """Report rows without a request on stderr, since the output may have no line for them."""
    if not ended.failed:
        return
    with log.open("rb") as lines:
        first = json.loads(next(line for line in lines if FAILED.match(line)))
    first_error = f"row {first['row']}: {first['error']['kind']}: {first['error']['message']}"
    warn(f"{COMMAND_LINE}: {ended.failed:,} of {ended.total:,} rows have no request; {first_error}")


def _choose_exit_code(ended: Progress) -> int:
    return 1 if 0 < ended.total == ended.failed else 0


def _watch_run(steps: Generator[Progress, None, None], seen: Callable[[Progress], None]) -> Progress:
    progress = next(steps)
    seen(progress)
    for progress in steps:
        seen(progress)
    return progress


def _write_summary(ended: Progress, log: Path | None) -> str:
    resumed = f"\nresumed  {ended.resumed:,} were there" if ended.resumed else ""
    errors = f"\nlog      {log}" if log is not None and ended.failed else ""
    counted = f"rows     {ended.total:,}\nrequests {ended.done - ended.failed:,}\nerrors   {ended.failed:,}"
    return f"{counted}{resumed}{errors}"
