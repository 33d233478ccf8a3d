"""Finds the sentences and direct quotes of an answer, and whether a source contains a quote.

A sentence ends at a line break, at `。！？`, or at `.!?` before white space unless a lower-case letter follows. This is
a rule of thumb. Markers between two sentences belong to the first. Linear in the answer. A source contains a quote if
its words are there in a row, ignoring white space, the kind of quotation marks and hyphens, and the form of accents. A
number counts only as a whole.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]

# The look-behind makes the pattern match each run of marks only from its start, so that a long run costs linear time.
_ENDS = re.compile(r"(?<![.!?])[.!?]++[\"'”’»)]*+(?=\s|$)|[。！？]++[」』”]*+|\n\s*+")
_BLANK = re.compile(r"\s*+")
_SAME_LINE = re.compile(r"[ \t]*+")
_LETTER = re.compile(r"[^\W\d_]")


def sentence_spans(answer: str, markers: Sequence[Span], quotes: Sequence[Span] = ()) -> list[Span]:
    """The spans of the sentences in characters, without white space around them.

    `markers` and `quotes` are in order; no sentence ends inside one. A span without a letter is not a sentence.
    """
    spans: list[Span] = []
    start = 0
    for end in [*_find_ends(answer, markers, quotes), len(answer)]:
        begin = _skip_blank(_BLANK, answer, start, end)
        stop = begin + len(answer[begin:end].rstrip())
        if _LETTER.search(answer, begin, stop):
            spans.append((begin, stop))
        start = max(start, end)
    return spans


def _find_ends(answer: str, markers: Sequence[Span], quotes: Sequence[Span]) -> Iterator[int]:
    """The end of each sentence: after its last mark, and after the markers that follow it."""
    marker = quote = 0
    for mark in _ENDS.finditer(answer):
        while marker < len(markers) and markers[marker][1] <= mark.start():
            marker += 1
        while quote < len(quotes) and quotes[quote][1] < mark.end():
            quote += 1
        if _is_inside(mark.start(), markers, marker) or _is_inside(mark.start(), quotes, quote):
            continue
        if mark[0].startswith("\n"):
            yield mark.end()
            continue
        end = _skip_markers(answer, mark.end(), markers, marker)
        if not _is_followed_by_small_letter(answer, end):
            yield end
        elif end > mark.end():  # the markers are the subject of what follows: "[Source 2] says …"
            yield mark.end()


def _is_inside(place: int, spans: Sequence[Span], at: int) -> bool:
    return at < len(spans) and spans[at][0] <= place


def _skip_markers(answer: str, end: int, markers: Sequence[Span], at: int) -> int:
    """The end of the markers that follow on the same line, separated by white space."""
    while at < len(markers) and markers[at][0] == _skip_blank(_SAME_LINE, answer, end):
        end = markers[at][1]
        at += 1
    return end


def _skip_blank(blank: re.Pattern[str], answer: str, at: int, end: int = sys.maxsize) -> int:
    found = blank.match(answer, at, end)
    return found.end() if found else at


def _is_followed_by_small_letter(answer: str, at: int) -> bool:
    place = _skip_blank(_BLANK, answer, at)
    return answer[place : place + 1].islower()


_QUOTED = re.compile(r"\"([^\"\n]*)\"|“([^“”\n]*)”|«([^«»\n]*)»|「([^「」\n]*)」|„([^„“”\n]*)[“”]")
_MARKS = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "\u00a0": " ", "\u2010": "-", "\u2011": "-"})
_ELISION = re.compile(r"\[?(?:\.\.\.|…)\]?")
_EDGES = " .,;:!?"

SHORTEST = 12
"""The least characters of a quote. A shorter text in quotation marks is a name or a word."""


def quote_spans(answer: str) -> Iterator[Span]:
    """The spans of quotes of `SHORTEST` characters or more, without the marks. Linear."""
    for match in _QUOTED.finditer(answer):
        group = match.lastindex or 0
        if match.end(group) - match.start(group) >= SHORTEST:
            yield match.span(group)


_NUMBER = re.compile(r"\d++(?:[.,]\d++)*+")
_WHOLE = "\x1e\\g<0>\x1e"
"""A number between marks, so that no other number contains it. `str.split` has removed the mark from the text."""


def plain_words(text: str) -> str:
    """Normalise a text to compare quotes: single blanks, plain marks, composed letters, lower case, marked numbers."""
    composed = unicodedata.normalize("NFC", text.translate(_MARKS))
    return _NUMBER.sub(_WHOLE, " ".join(composed.split()).casefold())


def says(source: str, quote: str) -> bool:
    """Whether a source, in the form of `plain_words`, has the quote; with an ellipsis, all its parts in order."""
    at = 0
    for part in _ELISION.split(plain_words(quote)):
        wanted = part.strip(_EDGES)
        found = source.find(wanted, at)
        if found < 0:
            return False
        at = found + len(wanted)
    return True
