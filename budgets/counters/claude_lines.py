"""Counts Claude's tokens line by line and remembers them.

No piece crosses white space, so the count of a text is the sum of its lines, and that of a line the sum of its
stretches. There are three bounded memories, each emptied when it is full.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Generic, TypeAlias, TypeVar

import attrs

from budgets.count import Tokens
from budgets.counters.claude_marks import ODD_BLANKS, ODD_BLANKS_AND_QUOTES, add_marks, normalise_text
from budgets.counters.claude_pieces import Tiling, tiling
from budgets.forking import ForkedLock
from budgets.vocabularies.claude import CAPITALS, END, SHIFT, WORD

MAX_LINES, LONGEST_LINE = 2**15, 256
MAX_STRETCHES, LONGEST_STRETCH = 2**16, 48
"""Bounds of the memories: at worst 8 MB of ASCII lines and 3 MB of stretches."""

_WHITE = re.compile("([ \t\u3000]+)")
_ALIKE = re.compile(r"(.)\1*")
_BREAKS = re.compile("\n+")
_LONGEST_CHEAP_BREAK = 16
"""Up to so many line breaks are one token in both vocabularies."""


@attrs.frozen
class Generation:
    """Models that count alike."""

    name: str
    vocabulary: str
    read_as: Mapping[str, str]
    """Characters that are read as another: unusual blanks, and in older models curly quotes."""
    capitals_from: int | None
    """Words of at least so many capitals are marked as capitals; None means never."""
    opened_by_blank: bool
    """Whether a message begins as if after a blank. Text that cannot absorb the blank costs a token more."""


GENERATIONS = {
    "claude-3": Generation("claude-3", "claude-3", ODD_BLANKS_AND_QUOTES, 4, True),
    "claude-4.7": Generation("claude-4.7", "claude-4.7", ODD_BLANKS, None, True),
    "claude-4.8": Generation("claude-4.8", "claude-4.7", ODD_BLANKS, None, False),
}
"""Claude 3 to 4.6; Claude 4.7; Claude 4.8 and later."""

Value = TypeVar("Value")


class _Remembered(dict[str, Value], Generic[Value]):
    """Values by text, all removed when there are too many. Thread-safe, since each step is one call."""

    def keep(self, text: str, value: Value, most: int) -> Value:
        if len(self) >= most:
            self.clear()
        self[text] = value
        return value


Stretch: TypeAlias = tuple[Tokens, bool, bool]
"""The text between white space: its tokens, and whether a single blank before it and after it is free."""


class _Stretches(_Remembered[Stretch]):
    """Stretches by their text, which includes a neighbouring blank before or after it."""

    def __init__(self, generation: Generation, tiles: Tiling) -> None:
        self.generation, self.tiles = generation, tiles

    def __missing__(self, spaced: str) -> Stretch:
        marks = add_marks(spaced, capitals_from=self.generation.capitals_from)
        found = self.tiles.tokens(marks), marks.lstrip(SHIFT + CAPITALS)[0] == WORD, marks[-1] == END
        return found if len(spaced) > LONGEST_STRETCH else self.keep(spaced, found, MAX_STRETCHES)


class _Whites(_Remembered[Tokens]):
    """Tokens of runs of blanks and tabs. No piece mixes the two."""

    def __init__(self, tiles: Tiling) -> None:
        self.tiles = tiles

    def __missing__(self, run: str) -> Tokens:
        tokens = sum(self.tiles.run(same[1], len(same[0])) for same in _ALIKE.finditer(run))
        return tokens if len(run) > LONGEST_STRETCH else self.keep(run, tokens, MAX_STRETCHES)


class Lines(_Remembered[Tokens]):
    """Tokens of lines inside a text, without line breaks. A WORD before a line means that it begins a message."""

    def __init__(self, generation: Generation) -> None:
        self.generation = generation
        self.tiles = tiling(generation.vocabulary)
        self.stretches = _Stretches(generation, self.tiles)
        self.whites = _Whites(self.tiles)

    def __missing__(self, line: str) -> Tokens:
        tokens = self._count_line(line[1:], " ") if line[:1] == WORD else self._count_line(line, "")
        return tokens if len(line) > LONGEST_LINE else self.keep(line, tokens, MAX_LINES)

    def _count_line(self, line: str, white: str) -> Tokens:
        """Tokens of a line. `white` is the message's own blank before it, if any, which is free if absorbed."""
        body = line.lstrip(" ")
        if white or not body or body[-1] == " " or "  " in body or "\t" in body or "\u3000" in body:
            return self._count_spread_line(line, white)
        indent = len(line) - len(body)
        spaced = [f" {stretch} " for stretch in body.split(" ")]
        tokens, closed = len(spaced) - 1, False
        if indent:
            tokens += self.whites[line[:indent]]
        else:
            spaced[0] = spaced[0][1:]
        spaced[-1] = spaced[-1][:-1]
        for cost, opens, closes in map(self.stretches.__getitem__, spaced):
            tokens += cost - (closed and opens)
            closed = closes
        return tokens

    def _count_spread_line(self, line: str, white: str) -> Tokens:
        """`_count_line` for any white space."""
        parts = _WHITE.split(line)
        parts.append("")
        stretches, whites = self.stretches, self.whites
        tokens, closed = 0, white == " "
        for chunk, after in zip(parts[::2], parts[1::2], strict=True):
            opens = closes = False
            if chunk:
                before = " " if white[-1:] == " " else ""
                behind = " " if after == " " or (after[:1] == " " and after[1] != " ") else ""
                cost, opens, closes = stretches[before + chunk + behind]
                tokens += cost
            if white == " ":
                tokens += not (closed and opens)
            elif white:
                tokens += whites[white]
            white, closed = after, closes
        return tokens

    def _count_first_line(self, line: str, text: str) -> Tokens:
        """Tokens of the first line of the original `text`, in which a blank may have been another character."""
        if not self.generation.opened_by_blank:
            return self[line]
        if text[0] == " " == line[:1] != line[1:2]:
            line = line[1:]
        if not line:
            return 1
        if line[0] in "\t\u3000":
            return 1 + self[line]
        return self[line] if line[0] == " " else self[WORD + line]

    def forget(self) -> None:
        """Empty all memories, for benchmarks."""
        for memory in (self, self.stretches, self.whites):
            memory.clear()
        self.tiles.forget()

    def text(self, text: str) -> Tokens:
        """Tokens of a whole text, which must not be empty or hold a lone surrogate."""
        plain = normalise_text(text, self.generation.read_as)
        body = plain.rstrip("\n")
        # The message ends with two line breaks of its own, one token, which may merge with those of the text.
        tail = 0 if len(body) == len(plain) else self.tiles.run("\n", len(plain) - len(body) + 2) - 1
        lines = body.split("\n")
        first = self._count_first_line(lines[0], text)
        if len(lines) == 1:
            return first + tail
        return first + tail + sum(map(self.__getitem__, lines[1:])) + self._count_breaks(body, lines)

    def _count_breaks(self, body: str, lines: list[str]) -> Tokens:
        if "\n" * (_LONGEST_CHEAP_BREAK + 1) in body:
            return sum(self.tiles.run("\n", len(run)) for run in _BREAKS.findall(body))
        inner_and_empty = lines.count("") - (not lines[0])
        return len(lines) - 1 - inner_and_empty


_loading = ForkedLock()


@functools.cache
def _make_lines(name: str) -> Lines:
    return Lines(GENERATIONS[name])


def lines_of(name: str) -> Lines:
    """The engine of a generation, built once per process, also with threads. The first call takes 0.1 s."""
    with _loading:
        return _make_lines(name)
