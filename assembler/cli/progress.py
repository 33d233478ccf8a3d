"""How far a command is, on a terminal that somebody looks at, once a second has passed. Nothing anywhere else."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

from assembler.batch.run import Progress

if TYPE_CHECKING:
    from rich.progress import Task
    from rich.text import Text

PATIENCE = 1.0
"""Seconds that pass before anything is shown."""


def _looked_at() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()  # pyright: ignore[reportUnnecessaryComparison]


@contextlib.contextmanager
def working(what: str) -> Generator[None]:
    """Say what is done while it is done, on stderr; the line is gone when it is."""
    if not _looked_at():
        yield
        return
    from rich.console import Console

    status = Console(stderr=True).status(what)
    timer = threading.Timer(PATIENCE, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        status.stop()


@contextlib.contextmanager
def rows_bar() -> Generator[Callable[[Progress], None]]:
    """What shows the progress of rows: a bar with the rate and the time that is left."""
    if not _looked_at():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text("" if task.speed is None else f"{task.speed:,.0f} rows/s")

    bar = Bar(BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn(), console=Console(stderr=True))
    task = bar.add_task("", total=None)
    begun = time.monotonic()

    def seen(progress: Progress) -> None:
        bar.update(task, total=progress.total, completed=progress.done)
        if time.monotonic() - begun >= PATIENCE:
            bar.start()  # again is nothing

    try:
        yield seen
    finally:
        bar.stop()
