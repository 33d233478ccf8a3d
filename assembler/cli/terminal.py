"""Text to the terminal, whatever it can draw: in colour where somebody looks, as it is where a program reads."""

from __future__ import annotations

import os
import re
import sys

_STYLES = (
    (re.compile(r"^(?:instruction|capability|knowledge|conversation|framing)$", re.MULTILINE), "bold"),
    (re.compile(r"[▏▎▍▌▋▊▉█]+"), "cyan"),
    (re.compile(r"(?<=  )dropped\b.*"), "red"),
    (re.compile(r"(?<=  )shortened\b.*"), "yellow"),
    (re.compile(r"^(?:note|volatile|invisible):", re.MULTILINE), "yellow"),
    (re.compile(r"^ {6}.*|^(?:region|item) .*", re.MULTILINE), "dim"),
)
"""What a report's lines say, and how it is drawn. The words stay: colour says nothing that they do not."""


def show(text: str) -> None:
    """Print a text; characters that the terminal's encoding lacks become question marks.

    In colour on a terminal, unless `NO_COLOR` is set to anything (the convention of the site no-color, read 2026-11).
    """
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]  # a process started with it closed
        return
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    safe = text.encode(encoding, errors="replace").decode(encoding)
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
