"""Finds the fewest pieces that make up a text in Claude's marks.

Every piece costs one token, and the count is that of the shortest cut. A character without a piece costs its UTF-8
bytes, cut the same way.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Mapping

import attrs

from budgets.count import Tokens
from budgets.vocabularies.claude import claude_pieces

MAX_WORDS, LONGEST_WORD = 2**16, 24
"""The most words of several pieces to remember: at worst 4 MB of ASCII."""

# No piece continues after the end of a word, or holds the start of a word except at its own start.
_WORDS = re.compile("[\x03\x04]?\x01[^\x01-\x04]*\x02?|[^\x01-\x04]+\x02?|[\x01-\x04]")


@attrs.frozen(eq=False)
class Tiling:
    """The shortest cut of any text, over one vocabulary."""

    whole: frozenset[str]
    beginnings: frozenset[bytes]
    lengths: Mapping[str, tuple[int, ...]]
    """The possible lengths of pieces of two or more characters, by their first two: usually one or two lengths."""
    _words: dict[str, Tokens] = attrs.field(factory=dict, init=False, repr=False)
    _characters: dict[str, Tokens] = attrs.field(factory=dict, init=False, repr=False)

    def forget(self) -> None:
        """Empty the memory, for benchmarks."""
        self._words.clear()

    def tokens(self, marked: str) -> Tokens:
        """Tokens of a marked text: O(its length)."""
        whole = self.whole
        if marked in whole:
            return 1
        tokens = 0
        for word in _WORDS.findall(marked):
            tokens += 1 if word in whole else self._words.get(word) or self._count_word(word)
        return tokens

    def run(self, character: str, length: int) -> Tokens:
        """Tokens of one character repeated `length` times. O(1) in the length."""
        if character * length in self.whole:
            return 1
        longest = max(self.lengths.get(character * 2, (1,)))
        # Among any `longest` shorter pieces, some add up to a multiple of the longest, and that costs no more.
        surplus = max(0, length - longest * longest) // longest
        return surplus + self.tokens(character * (length - surplus * longest))

    def _count_word(self, word: str) -> Tokens:
        tokens = self._find_fewest(word)
        if len(word) <= LONGEST_WORD:
            if len(self._words) >= MAX_WORDS:
                self._words.clear()
            self._words[word] = tokens
        return tokens

    def _find_fewest(self, word: str) -> Tokens:
        size = len(word)
        fewest = [0, *[size * 4] * size]
        whole, lengths = self.whole, self.lengths
        for at, character in enumerate(word):
            here = fewest[at] + 1
            alone = here if character in whole else here - 1 + self._count_character(character)
            if alone < fewest[at + 1]:
                fewest[at + 1] = alone
            for length in lengths.get(word[at : at + 2], ()):
                end = at + length
                if end <= size and here < fewest[end] and word[at:end] in whole:
                    fewest[end] = here
        return fewest[size]

    def _count_character(self, character: str) -> Tokens:
        tokens = self._characters.get(character)
        if tokens is None:
            tokens = self._characters[character] = self._count_octets(character.encode())
        return tokens

    def _count_octets(self, octets: bytes) -> Tokens:
        fewest = [0]
        for end in range(1, len(octets) + 1):
            starts = (at for at in range(end) if end - at == 1 or octets[at:end] in self.beginnings)
            fewest.append(1 + min(fewest[at] for at in starts))
        return fewest[-1]


@functools.cache
def tiling(vocabulary: str) -> Tiling:
    """The tiling of a reconstructed vocabulary, 0.1 s. Raises `TokenCountError` if its file is damaged."""
    pieces = claude_pieces(vocabulary)
    lengths: defaultdict[str, set[int]] = defaultdict(set)
    for piece in pieces.whole:
        if len(piece) > 1:
            lengths[piece[:2]].add(len(piece))
    characters = frozenset(piece.encode() for piece in pieces.whole if len(piece) == 1)
    return Tiling(
        pieces.whole,
        pieces.beginnings | characters,
        {head: tuple(sorted(found)) for head, found in lengths.items()},
    )
