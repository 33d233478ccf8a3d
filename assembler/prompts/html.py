"""Turns HTML into text: removes tags and comments, and decodes entities.

`<` opens a tag only before a letter, `/`, `!` or `?`: `a < b` stays. A comment or tag that is never closed is text. The
standard library's parser is not used: before its fix (python/cpython#135462, read 2026-11) it was quadratic on unclosed
markup. Here every scan is linear: a tag never extends over another `<`, and the end of a comment is not searched again
after a search without a result.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from assembler.prompts.marked_text import VALUE, Marked

_NAME = r"<(?:[!?]|/?[A-Za-z])"
_TAG = re.compile(rf"""{_NAME}(?:[^<>"']|"[^"<]*+"|'[^'<]*+')*+>|{_NAME}[^<>]*+>""")
"""A tag, in which `>` may be in quotes; with unbalanced quotes, up to the first `>`."""
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}+(?![0-9])|#[xX][0-9a-fA-F]{1,6}+(?![0-9a-fA-F])|[A-Za-z][A-Za-z0-9]{1,31}+);?")
"""Bounded, because `html.unescape` raises on a number of more than 4,300 digits. The longest name has 31 letters."""


def text_of(marked: Marked) -> Marked:
    """The text without tags and comments, with entities decoded once. O(characters)."""
    return _decode_entities(marked.keep(_find_prose(marked.text)))


def _find_prose(text: str) -> Iterator[tuple[int, int]]:
    kept = 0
    comments = True
    start = text.find("<")
    while start != -1:
        end = -1
        if comments and text.startswith("<!--", start):
            end = text.find("-->", start + 2)
            comments = end != -1
        if end != -1:
            stop = end + len("-->")
        else:
            tag = _TAG.match(text, start)
            stop = tag.end() if tag else start
        if stop > start:
            yield kept, start
            kept = stop
        start = text.find("<", max(stop, start + 1))
    yield kept, len(text)


def _decode_entities(marked: Marked) -> Marked:
    texts: list[str] = []
    masks: list[bytes] = []
    kept = 0
    for entity in _ENTITY.finditer(marked.text):
        start, stop = entity.span()
        character = html.unescape(entity.group())
        mark = max(marked.mask[start:stop], key=lambda mark: mark == VALUE)
        texts += (marked.text[kept:start], character)
        masks += (marked.mask[kept:start], bytes((mark,)) * len(character))
        kept = stop
    return Marked("".join(texts) + marked.text[kept:], b"".join(masks) + marked.mask[kept:])
