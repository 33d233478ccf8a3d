"""Text to the terminal, whatever it can draw: in colour where somebody looks, as it is where a program reads."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from typing import Annotated

from cyclopts import Parameter

from assembler.report.terminal import WIDTH, printable

_STYLES = (
    (re.compile(r"^(?:instruction|capability|knowledge|conversation|framing)$", re.MULTILINE), "bold"),
    (re.compile(r"[▏▎▍▌▋▊▉█]+"), "color(30)"),
    (re.compile(r"(?<=  )dropped\b.*"), "color(161)"),
    (re.compile(r"(?<=  )shortened\b.*"), "color(130)"),
    (re.compile(r"^(?:note|volatile|invisible):", re.MULTILINE), "color(130)"),
    (re.compile(r"^ {6}.*|^(?:region|item) .*", re.MULTILINE), "color(243)"),
)
"""What a report's lines say, and how it is drawn. The words stay: colour says nothing that they do not.

Numbers of the palette of 256, not the eight named colours, which each theme paints as it likes: yellow cannot be read
on white, nor blue on black. These have a contrast of at least 4 to both.
"""


AsJson = Annotated[bool, Parameter(name="--json", negative="")]
"""The argument with which a command prints its result as JSON, for programs, in place of a table."""


def width() -> int:
    """Columns of the terminal that somebody looks at; 80 where a program reads."""
    looked = sys.stdout is not None and sys.stdout.isatty()  # pyright: ignore[reportUnnecessaryComparison]
    return shutil.get_terminal_size((WIDTH, 24)).columns if looked else WIDTH


def show_json(value: object) -> None:
    """Print a value as JSON, with ASCII characters alone: it is the same in every encoding."""
    show(json.dumps(value, indent=2, allow_nan=False))


def show(text: str) -> None:
    """Print a text; what the terminal's encoding lacks becomes bars of `#` and question marks.

    In colour on a terminal, unless `NO_COLOR` is set to anything (the convention of the site no-color, read 2026-11).
    """
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]  # a process started with it closed
        return
    safe = printable(text, getattr(sys.stdout, "encoding", None))
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
        _coloured(safe)
    else:
        print(safe)


def _coloured(text: str) -> None:
    from rich.console import Console
    from rich.text import Text

    drawn = Text(text)
    for pattern, style in _STYLES:
        drawn.highlight_regex(pattern, style)
    Console(file=sys.stdout, highlight=False, soft_wrap=True).print(drawn)
