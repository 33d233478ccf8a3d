"""Shows the progress of a command on a terminal, after its first second. Prints nothing without a terminal."""

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
"""The seconds before anything is shown."""


def _is_watched() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()  # pyright: ignore[reportUnnecessaryComparison]


@contextlib.contextmanager
def working(what: str) -> Generator[None]:
    """Show a line on stderr during the work, and remove it at the end."""
    if not _is_watched():
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
    """Show the progress of rows: a bar with the rate and the remaining time."""
    if not _is_watched():
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
            bar.start()  # does nothing if it is started

    try:
        yield seen
    finally:
        bar.stop()
