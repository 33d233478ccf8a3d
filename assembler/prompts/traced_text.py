"""Texts that know which of their characters came from values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

Spans: TypeAlias = tuple[tuple[int, int], ...]
"""Half-open offsets in characters, ascending and disjoint. An empty one is the place of an empty value."""


class Traced(str):
    """Rendered text with the spans of its values. A template engine's own `str(…)` keeps the type.

    Internal to rendering. Any operation of a template (a filter, a slice) returns a plain `str`, which counts as a
    value. So lost spans can only turn a tag into text, never text into a tag.
    """

    __slots__ = ("values",)
    values: Spans

    def __new__(cls, text: str, values: Spans) -> Traced:
        """Make a text with spans, without checks."""
        traced = super().__new__(cls, text)
        traced.values = values
        return traced

    def __str__(self) -> str:
        return self


def owned(text: str) -> Traced:
    """Mark a text as the template author's."""
    return Traced(text, ())


def foreign(text: str) -> Traced:
    """Mark a text as a value's."""
    return Traced(text, ((0, len(text)),))


def join_traced(pieces: Iterable[str]) -> Traced:
    """Join texts; a plain `str` counts as a value. O(characters)."""
    texts: list[str] = []
    spans: list[tuple[int, int]] = []
    offset = 0
    for piece in pieces:
        for start, stop in piece.values if isinstance(piece, Traced) else ((0, len(piece)),):
            if spans and spans[-1][1] == offset + start:
                spans[-1] = (spans[-1][0], offset + stop)
            else:
                spans.append((offset + start, offset + stop))
        texts.append(piece)
        offset += len(piece)
    return Traced("".join(texts), tuple(spans))
