"""Colours a report for terminals, with rich."""

from __future__ import annotations

import re

from rich.text import Text

_STYLES = (
    (re.compile(r"^(?:instruction|capability|knowledge|conversation|framing)$", re.MULTILINE), "bold"),
    (re.compile(r"[▏▎▍▌▋▊▉█]+"), "color(30)"),
    (re.compile(r"(?<=  )dropped\b.*"), "color(160)"),
    (re.compile(r"(?<=  )shortened\b.*"), "color(130)"),
    (re.compile(r"^(?:note|volatile|invisible):", re.MULTILINE), "color(130)"),
    (re.compile(r"^ {6}.*|^(?:region|item) .*", re.MULTILINE), "color(243)"),
)
"""The colours of a report's lines. Colour adds no information to the words.

They are numbers of the 256-colour palette, because themes change the eight named colours: yellow is unreadable on
white, and blue on black. These have a contrast of at least 3.8 to both.
"""


def colour_report(text: str) -> Text:
    """A report's text with colours. Markup in a name is not interpreted."""
    drawn = Text(text)
    for pattern, style in _STYLES:
        drawn.highlight_regex(pattern, style)
    return drawn
