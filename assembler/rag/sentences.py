"""Where the sentences and the direct quotes of an answer begin and end, and whether a source says a quote.

A rule of thumb: a sentence ends at a line break, at `。！？`, or at `.!?` before white space unless a small letter
follows. Markers that stand between two sentences belong to the one before. Linear in the answer.
A quote is found where its words stand in the source in a row, white space and the shape of quotation marks apart.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]

# One try for each run of marks: the look-behind keeps a long run from being read from each of its places.
_ENDS = re.compile(r"(?<![.!?])[.!?]++[\"'”’»)]*+(?=\s|$)|[。！？]++[」』”]*+|\n\s*+")
_BLANK = re.compile(r"\s*+")
_SAME_LINE = re.compile(r"[ \t]*+")
_LETTER = re.compile(r"[^\W\d_]")


def sentence_spans(answer: str, markers: Sequence[Span], quotes: Sequence[Span] = ()) -> list[Span]:
    """The spans of the sentences in characters, without the white space around them.

    `markers` and `quotes` are in order; no sentence ends inside of one. What holds no letter is no sentence.
    """
    spans: list[Span] = []
    start = 0
    for end in [*_ends(answer, markers, quotes), len(answer)]:
        begin = _skipped(_BLANK, answer, start, end)
        stop = begin + len(answer[begin:end].rstrip())
        if _LETTER.search(answer, begin, stop):
            spans.append((begin, stop))
        start = max(start, end)
    return spans


def _ends(answer: str, markers: Sequence[Span], quotes: Sequence[Span]) -> Iterator[int]:
    """Where each sentence ends: after its last mark, and after the markers that follow it."""
    marker = quote = 0
    for mark in _ENDS.finditer(answer):
        while marker < len(markers) and markers[marker][1] <= mark.start():
            marker += 1
        while quote < len(quotes) and quotes[quote][1] < mark.end():
            quote += 1
        if _inside(mark.start(), markers, marker) or _inside(mark.start(), quotes, quote):
            continue
        if mark[0].startswith("\n"):
            yield mark.end()
            continue
        end = _past_markers(answer, mark.end(), markers, marker)
        if not _small_letter_follows(answer, end):
            yield end
        elif end > mark.end():  # the markers are the subject of what follows: "[Source 2] says …"
            yield mark.end()


def _inside(place: int, spans: Sequence[Span], at: int) -> bool:
    return at < len(spans) and spans[at][0] <= place


def _past_markers(answer: str, end: int, markers: Sequence[Span], at: int) -> int:
    """The end of the markers that follow on the same line, white space between them."""
    while at < len(markers) and markers[at][0] == _skipped(_SAME_LINE, answer, end):
        end = markers[at][1]
        at += 1
    return end


def _skipped(blank: re.Pattern[str], answer: str, at: int, end: int = sys.maxsize) -> int:
    found = blank.match(answer, at, end)
    return found.end() if found else at


def _small_letter_follows(answer: str, at: int) -> bool:
    place = _skipped(_BLANK, answer, at)
    return answer[place : place + 1].islower()


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
