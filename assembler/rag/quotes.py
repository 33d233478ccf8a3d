"""Direct quotes of an answer, and whether a source says them.

A quote is found where its words stand in the source in a row, white space and the shape of quotation marks apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assembler.rag.sentences import Span

_QUOTED = re.compile(r"\"([^\"\n]*)\"|“([^“”\n]*)”|«([^«»\n]*)»|「([^「」\n]*)」|„([^„“”\n]*)[“”]")
_MARKS = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "\u00a0": " "})
_ELISION = re.compile(r"\[?(?:\.\.\.|…)\]?")
_EDGES = " .,;:!?"

SHORTEST = 12
"""Characters. Shorter quotation marks hold a name or a word, and say nothing about a source."""


def quote_spans(answer: str) -> Iterator[Span]:
    """Where the quotes of `SHORTEST` characters or more stand, marks excluded. Linear."""
    for match in _QUOTED.finditer(answer):
        group = match.lastindex or 0
        if match.end(group) - match.start(group) >= SHORTEST:
            yield match.span(group)


def plain_words(text: str) -> str:
    """A text as quotes are compared: one blank for white space, straight marks, small letters."""
    return " ".join(text.translate(_MARKS).split()).casefold()


def says(source: str, quote: str) -> bool:
    """Whether a source, as `plain_words`, holds the quote: every part of it, in order, where the quote leaves out."""
    at = 0
    for part in _ELISION.split(plain_words(quote)):
        wanted = part.strip(_EDGES)
        found = source.find(wanted, at)
        if found < 0:
            return False
        at = found + len(wanted)
    return True
