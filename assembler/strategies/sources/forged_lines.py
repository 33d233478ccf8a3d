"""Escapes lines of a text that a reader could take for ours: a heading, a rule, a label. Checks each line on its own.

A line is compared without blanks and invisible characters, decomposed (NFKD), without accents and case, and with
lookalikes replaced by Latin letters. Decoration before the first letter (`>`, `**`, `-`) is ignored.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

from assembler.text.invisible import UNSEEN

LABELS = ("QUESTION:", "ANSWER:", "STEPS:", "SOURCES:", "END OF SOURCES")
"""Our own lines around sources, in all built-in templates."""

_REST = 64
"""Characters to read from the first letter on: more than any heading or label has."""
_SEEN = re.compile(rf"[^{UNSEEN}\s\x00-\x1f\x7f-\x9f]{{1,16}}+")
_LOOKALIKES = {
    ord(other): latin
    for latin, others in {
        "a": "\u0430\u03b1\u1d00",
        "c": "\u0441\u1d04",
        "d": "\u0501\u1d05",
        "e": "\u0435\u03b5\u1d07",
        "f": "\u0584\ua730",
        "i": "\u0131\u0456\u03b9\u026a",
        "n": "\u03bd\u0578\u0274",
        "o": "\u043e\u03bf\u0585\u1d0f",
        "q": "\u051b\u0566",
        "r": "\u0433\u0280",
        "s": "\u0455\u057d\ua731",
        "t": "\u0442\u03c4\u1d1b",
        "u": "\u03c5\u1d1c",
        "w": "\u051d\u0461\u1d21",
        "-": "\u2212\u2500\u2501",
        "--": "\u2e3a",
        "---": "\u2e3b",
    }.items()
    for other in others
}
"""Letters of other scripts that look like Latin ones in our words, from confusables.txt of Unicode Technical Standard
39 (read 2026-11), and strokes that look like dashes."""
_FIRST = re.compile(r"[ !-/:-@\[-`{-~]*+([0-9A-Za-z])")
"""The first letter or digit of an ASCII line, which is enough to dismiss most lines."""
_HEADING = re.compile(r"sources?[\W_]*\d")
_WHOLE_HEADING = re.compile(r"sources?[\W_]*\d+[\W_]*")
_CLOSED_NUMBER = re.compile(r"\d+\]")
_NUMBER = re.compile(r"\d+[\W_]*")
_BEHIND_NUMBERS = re.compile(r"(?:\d+[\W_]+)+sources?[\W_]*\d")
_COLON = re.compile(r"[\W_]*?[:꞉∶ː׃։]|[\W_]*$")
_QUOTES = "(„‚"
"""Opening marks by category that also come before prose."""


def escape_forgeries(text: str, labels: Sequence[str] = LABELS) -> str:
    """`text` with a backslash before each line that could be taken for one of ours. O(characters).

    A line that already begins with backslashes gets one more, so that different texts stay different.
    """
    ours = _OwnLines.of(tuple(labels))
    lines = text.splitlines(keepends=True)
    found = [place for place, line in enumerate(lines) if ours.says(line)]
    for place in found:
        lines[place] = f"\\{lines[place]}"
    return "".join(lines) if found else text


class _OwnLines:
    """Our own lines, in the form in which lines are compared."""

    __slots__ = ("_initials", "_labels")

    def __init__(self, labels: tuple[str, ...]) -> None:
        folded = ["".join(_fold_line(label))[:_REST] for label in labels]
        self._labels = [(label.rstrip(":"), label.endswith(":")) for label in folded if label.rstrip(":")]
        self._initials = {*"s0123456789", *(label[0] for label, _ in self._labels)}

    @staticmethod
    @lru_cache(maxsize=16)
    def of(labels: tuple[str, ...]) -> _OwnLines:
        return _OwnLines(labels)

    def says(self, line: str) -> bool:
        first = _FIRST.match(line)
        if first and first[1].lower() not in self._initials:
            return False
        lead: list[str] = []
        rest = ""
        for character in _fold_line(line):
            if rest or character.isalnum():
                rest += character
                if rest[0] not in self._initials:
                    return False
                if len(rest) == _REST:
                    break
            else:
                lead.append(character)
        if not rest:
            return [character for character in lead if character != "\\"] == ["-", "-", "-"]
        return _is_heading(lead, rest) or self._is_label(rest)

    def _is_label(self, rest: str) -> bool:
        return any(
            rest.startswith(label) and (not colon or _COLON.match(rest, len(label)) is not None)
            for label, colon in self._labels
        )


def _is_heading(lead: Sequence[str], rest: str) -> bool:
    """Whether a line is a heading: in square brackets any `source`, or numbers; elsewhere a numbered source, or a
    number before a closing bracket.
    """
    square = any(unicodedata.category(mark) == "Ps" and mark not in _QUOTES for mark in lead)
    if square:
        return rest.startswith("source") or any((_NUMBER.fullmatch(rest), _BEHIND_NUMBERS.match(rest)))
    if "(" in lead and _HEADING.match(rest):
        return True
    return any((_WHOLE_HEADING.fullmatch(rest), _CLOSED_NUMBER.fullmatch(rest)))


def _fold_line(line: str) -> Iterator[str]:
    """The characters by which a line is compared, in order, computed as they are read."""
    for piece in _SEEN.finditer(line):
        if piece[0].isascii():
            yield from piece[0].lower()
            continue
        plain = unicodedata.normalize("NFKD", piece[0]).casefold().translate(_LOOKALIKES)
        for character in plain:
            kind = unicodedata.category(character)
            if kind == "Pd":
                yield "-"
            elif kind[0] not in "MCZ":
                yield character
