"""Prints to the terminal in its encoding, in colour for people and without for programs."""

from __future__ import annotations

import json
import os
import shutil
import sys
from typing import Annotated

from cyclopts import Parameter

from assembler.report.terminal import WIDTH, make_printable

AsJson = Annotated[bool, Parameter(name="--json", negative="", show_default=False)]
"""The option of a command to print its result as JSON instead of a table."""


def width() -> int:
    """The terminal's columns, or without a terminal those of `COLUMNS`, or 80."""
    return shutil.get_terminal_size((WIDTH, 24)).columns


def show_json(value: object) -> None:
    """Print a value as ASCII JSON, which is the same in every encoding."""
    show(json.dumps(value, indent=2, allow_nan=False))


def show(text: str) -> None:
    """Print a text. Characters that the terminal's encoding lacks become `#` in bars, or question marks.

    In colour on a terminal, unless `NO_COLOR` is set to anything (the convention of the site no-color, read 2026-11).
    """
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]  # a process started with it closed
        return
    safe = make_printable(text, getattr(sys.stdout, "encoding", None))
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
        from rich.console import Console

        from assembler.report.rich_text import colour_report

        Console(file=sys.stdout, highlight=False, soft_wrap=True).print(colour_report(safe))
    else:
        print(safe)


def warn(text: str) -> None:
    """Print a text on stderr, if it is open. For a closed one `print` would take stdout."""
    if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison]
        print(text, file=sys.stderr)
