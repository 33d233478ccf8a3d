"""`assemble batch`: a file of rows to a file of requests."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from assembler.batch.run import Progress, run
from assembler.cli.request_file.gather import assembler_of
from assembler.cli.terminal import AsJson, show, show_json
from assembler.files.place import Place
from assembler.files.writing import same_file

if TYPE_CHECKING:
    from rich.progress import Task
    from rich.text import Text

COMMAND_LINE = "assemble batch"


def batch(
    rows: Path,
    output: Path,
    /,
    *,
    spec: Annotated[Path, Parameter(name=["--spec", "-s"])],
    workers: Annotated[int, Parameter(name=["--workers", "-w"])] = 1,
    as_json: AsJson = False,
) -> int:
    """Assemble a request for every row of ROWS, and write one line for each to OUTPUT, in order.

    A run that was interrupted goes on where it stopped when it is started again. Ends with 1 where no row at all has a
    request.

    Parameters
    ----------
    rows
        JSON lines, packed where the name ends with .gz: objects with messages, knowledge, instruction, tools, laid
        over what SPEC says.
    output
        JSON lines: {"row", "request", "tokens", "upper", "grade", "dropped"}, or {"row", "error"}.
    spec
        A YAML file as for `assemble build`: what all rows have in common.
    workers
        Processes that assemble.
    as_json
        Print the summary as JSON.
    """
    if workers < 1:
        raise Place(COMMAND_LINE, "--workers").error(f"expected at least 1, got {workers}")
    for other in (rows, spec):
        if same_file(output, other):
            raise Place(COMMAND_LINE, "OUTPUT").error("expected another file than those that are read")
    if not rows.is_file():
        raise Place(str(rows)).error("expected a file of rows that can be read twice; a pipe or a folder cannot")
    base = assembler_of(spec)
    try:
        with _shown() as seen:
            ended = _last(run(rows, output, base, workers=workers), seen)
    except OSError as error:
        raise Place(str(error.filename or output)).error(
            f"expected a file to read or write: {error.strerror}"
        ) from None
    if as_json:
        done = ended.done - ended.failed
        show_json({"rows": ended.total, "requests": done, "errors": ended.failed, "resumed": ended.resumed})
    else:
        show(_summary(ended))
    return 1 if 0 < ended.total == ended.failed else 0


def _last(steps: Generator[Progress, None, None], seen: Callable[[Progress], None]) -> Progress:
    progress = next(steps)
    seen(progress)
    for progress in steps:
        seen(progress)
    return progress


def _summary(ended: Progress) -> str:
    resumed = f"\nresumed  {ended.resumed} were there" if ended.resumed else ""
    return f"rows     {ended.total}\nrequests {ended.done - ended.failed}\nerrors   {ended.failed}{resumed}"


@contextlib.contextmanager
def _shown() -> Generator[Callable[[Progress], None]]:
    """What shows progress: a bar with rate and remaining time on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text("" if task.speed is None else f"{task.speed:,.0f} rows/s")

    columns = (BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=None)
        yield lambda progress: bar.update(task, total=progress.total, completed=progress.done)
