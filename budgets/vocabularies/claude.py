"""Claude's two vocabularies as reconstructed by PyPI's ctok, as data in the wheel. Does not count.

Anthropic publishes none. Sander Land found these pieces by sending probes to the count endpoint (ctok 1.3.0, MIT,
https://pypi.org/project/ctok/, read 2026-11). It was measured that each piece is one token, but not that none is
missing.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

import attrs

from budgets.vocabularies.loading import checked_packed

WORD, END, SHIFT, CAPITALS = "\x01", "\x02", "\x03", "\x04"
"""Marks in pieces: begin and end of a word, first letter in upper case, all letters in upper case."""


@attrs.frozen
class Reconstruction:
    """One packed vocabulary."""

    file: str
    packed_sha256: str


RECONSTRUCTED: Mapping[str, Reconstruction] = {
    "claude-3": Reconstruction("claude_3.xz", "4b2face922c01ffb37883d5765e8e6e0c653ae9f2610fa2338ea07c0a973e68b"),
    "claude-4.7": Reconstruction("claude_4_7.xz", "0b36af718e58bb7c78893aec1659b3f196791f4d0e8b0373ed8775e093a47974"),
}
"""By the first model that was measured with it: Claude 3 to 4.6, and Claude 4.7 and later."""


@attrs.frozen
class Pieces:
    """The pieces of one token: texts in Claude's marks, and beginnings of characters in UTF-8."""

    whole: frozenset[str]
    beginnings: frozenset[bytes]


@functools.cache
def claude_pieces(name: str) -> Pieces:
    """The pieces of a vocabulary, 0.03 s. Raises `TokenCountError` if its file is missing or damaged."""
    listed = RECONSTRUCTED[name]
    packed = checked_packed(name, listed.file, listed.packed_sha256)
    import lzma  # three times as slow to import as the rest of this module

    whole, beginnings = lzma.decompress(packed).decode().split("\x00\x00")
    return Pieces(frozenset(whole.split("\x00")), frozenset(map(bytes.fromhex, beginnings.split("\x00"))))
