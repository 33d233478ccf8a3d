"""Counts the first texts of a process in Python, because making and dropping tiktoken's engine takes 0.3 s.

This is byte-pair encoding with tiktoken's own tokens. A text is split by the published pattern. In each piece that is
not a token itself, the neighbours that form the token of the lowest rank are merged, leftmost first, until no two form
one. Only ASCII is counted here, where Python's `re` and tiktoken's engine agree if the Unicode classes of the pattern
are replaced by their ASCII characters.

Measured for o200k_base over English and Python source, 2026-11: a microsecond a character, eight times as slow as the
engine.
"""

from __future__ import annotations

import functools
import itertools
import re

from budgets.count import Tokens
from budgets.lazy_patterns import compile_later

ENCODINGS = frozenset({"cl100k_base", "o200k_base", "o200k_harmony"})
"""The encodings for which tests/budgets/test_first_texts.py proves that the counts agree."""

CHARACTERS = 2**13
"""The most characters to count here for an encoding, all texts together: 8 ms. The engine takes 300 ms to make."""

LONGEST_PIECE = 64
"""The most bytes of a piece to merge here, since merging is quadratic."""

_BLANKS = r"\t\n\x0b\x0c\r "
_CLASSES = {
    r"\p{L}": "A-Za-z",
    r"\p{Lu}": "A-Z",
    r"\p{Ll}": "a-z",
    r"\p{Lt}": "",
    r"\p{Lm}": "",
    r"\p{Lo}": "",
    r"\p{M}": "",
    r"\p{N}": "0-9",
    r"\s": _BLANKS,
}
"""The ASCII characters in the classes of the published patterns. None is title case or a mark."""

_CLASS = re.compile(r"\\p\{\w+\}|\\s")
_OPERAND = re.compile(rf"\[[^]]*\]|{_CLASS.pattern}|\\S|\$")


def in_ascii(published: str) -> str:
    """A published split pattern in the syntax of Python's `re`. It splits ASCII texts in the same way."""

    def spell_operand(found: re.Match[str]) -> str:
        match found[0]:
            case "$":
                return r"\Z"  # Python's `$` is also before a line break at the end
            case r"\S":
                return f"[^{_BLANKS}]"
            case operand if operand.startswith("["):
                return _CLASS.sub(lambda inner: _CLASSES[inner[0]], operand)
            case operand:
                return f"[{_CLASSES[operand]}]"

    return _OPERAND.sub(spell_operand, published)


class FirstTexts:
    """The first texts of one encoding. Threads get equal counts; only the number of texts counted here may differ."""

    def __init__(self, pattern: str, ranks: dict[bytes, int], characters: int = CHARACTERS) -> None:
        self._pattern = compile_later(in_ascii(pattern), re.ASCII)
        self.ranks = ranks
        """Every token and its rank, for the engine that counts later texts."""
        self._left = characters

    def count(self, text: str) -> Tokens | None:
        """Tokens of `text`; None if it is too long or not ASCII, or if enough texts were counted."""
        if not text.isascii() or len(text) > self._left:
            return None
        self._left -= len(text)
        tokens, ranks = 0, self.ranks
        for piece in self._pattern.findall(text):
            spelled = piece.encode()
            if spelled in ranks:
                tokens += 1
            elif len(spelled) <= LONGEST_PIECE:
                tokens += _count_merged(spelled, ranks)
            else:
                return None
        return tokens


def _count_merged(piece: bytes, ranks: dict[bytes, int]) -> Tokens:
    """The number of tokens of a piece. O(bytes squared)."""
    parts = [piece[place : place + 1] for place in range(len(piece))]
    while True:
        made = (ranks.get(left + right) for left, right in itertools.pairwise(parts))
        known = ((rank, place) for place, rank in enumerate(made) if rank is not None)
        _, place = min(known, default=(0, None))
        if place is None:
            return len(parts)
        parts[place : place + 2] = [parts[place] + parts[place + 1]]


@functools.cache
def first_texts(encoding: str) -> FirstTexts:
    """The `FirstTexts` of an encoding. Reads its vocabulary once per process: 0.08 s for o200k_base."""
    from budgets.vocabularies import mergeable_ranks, vocabulary_of

    return FirstTexts(vocabulary_of(encoding).pattern, mergeable_ranks(encoding))
