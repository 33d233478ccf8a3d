"""Cuts a rendered prompt into pieces: the words of its template, and a piece for each document.

A template may do anything with its documents, so pieces are found in the text. The words are what the prompt has in
common with the one without documents, at its start and at its end. What is between belongs to the documents, and is cut
after the line in which a document's text ends. Only line breaks after which counts add are cut at, so that a piece is
counted once, in whatever prompt it stands. Documents that no such line break separates share a piece.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

import attrs

from assembler.pricing.pricer import Piece

_SEAM = re.compile(r"\n(?=[^\n\r \t/])")
"""A line break after which counts add: none but a letter or a mark follows."""

_OPENING = 40
"""How many first characters of a document show where it stands if the template shortens it."""


@attrs.frozen
class Titled:
    """A document that may be in the text: its name in reports, and its own text."""

    name: str
    text: str


def cut_prompt(text: str, bare: str, documents: Sequence[Titled], words: str) -> list[Piece]:
    """The pieces of a prompt, or of its part before or after the question. Joined, they are `text`.

    `bare` is the same text without documents, `words` the name of the template's own pieces. O(characters) of the text,
    and as many again for each document that is not found in it.
    """
    before = _count_alike(text, bare)
    after = min(_count_alike(text[::-1], bare[::-1]), len(text) - before, len(bare) - before)
    start, stop = _find_seam_before(text, before), _find_seam_after(text, len(text) - after)
    if before + after == len(text):
        start = stop = len(text)
    inner = _cut_documents(text, start, stop, documents)
    pieces = [Piece("instruction", words, text[:start]), *inner, Piece("instruction", words, text[stop:])]
    return [piece for piece in pieces if piece.text]


def not_found(text: str, documents: Sequence[str]) -> list[int]:
    """The indexes of the documents that a text does not hold in their order, as they are, escaped or shortened."""
    cursor, missing = 0, list[int]()
    for index, document in enumerate(documents):
        at, length = _find_document(text, document, cursor, len(text))
        if at < 0:
            missing.append(index)
        else:
            cursor = at + length
    return missing


def join_where_counts_do_not_add(pieces: Iterable[Piece]) -> list[Piece]:
    """The pieces, where those that meet elsewhere than after a line break are one."""
    joined: list[Piece] = []
    for piece in pieces:
        if joined and not _SEAM.match(joined[-1].text[-1:] + piece.text[:1]):
            last = joined.pop()
            region = "knowledge" if "knowledge" in (last.region, piece.region) else piece.region
            name = last.name if last.name == piece.name else f"{last.name}, {piece.name}"
            piece = Piece(region, name, last.text + piece.text)
        joined.append(piece)
    return joined


def _cut_documents(text: str, start: int, stop: int, documents: Sequence[Titled]) -> list[Piece]:
    """The text from `start` to `stop`, cut after each document that is found, in order."""
    cuts: list[tuple[list[str], int]] = []
    cursor, names = start, list[str]()
    for document in documents:
        names.append(document.name)
        at, length = _find_document(text, document.text, cursor, stop)
        if at < 0:
            continue
        cursor = at + length
        if cuts and at < cuts[-1][1]:
            names = [*cuts.pop()[0], *names]
        cuts.append((names, _find_seam_after(text, cursor)))
        names = []
    if not cuts:
        return [Piece("knowledge", _name_documents(names), text[start:stop])]
    cuts[-1] = ([*cuts[-1][0], *names], stop)
    edges = [start, *(cut for _, cut in cuts)]
    return [
        Piece("knowledge", _name_documents(names), text[edges[place] : edges[place + 1]])
        for place, (names, _) in enumerate(cuts)
    ]


def _find_document(text: str, document: str, start: int, stop: int) -> tuple[int, int]:
    """Where a document stands in a text, and the length that was found: all of it, or how it begins; -1 if neither.

    Blanks around it, and whether it was escaped, make no difference.
    """
    plain = document.strip()
    escaped = html.escape(plain)
    for words in dict.fromkeys((plain, escaped, plain[:_OPENING], escaped[:_OPENING])):
        at = text.find(words, start, stop)
        if at >= 0:
            return at, len(words)
    return -1, 0


def _name_documents(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} documents"


def _find_seam_before(text: str, place: int) -> int:
    """The last place up to this one at which the text can be cut; 0 if there is none."""
    while (place := text.rfind("\n", 0, place) + 1) and not _SEAM.match(text, place - 1):
        place -= 1
    return place


def _find_seam_after(text: str, place: int) -> int:
    """The first place from this one on at which the text can be cut; its end if there is none."""
    found = _SEAM.search(text, max(place - 1, 0))
    return len(text) if found is None else found.end()


def _count_alike(text: str, other: str) -> int:
    """How many first characters two texts have in common. O(characters · log), in C."""
    alike, most = 0, min(len(text), len(other))
    while alike < most:
        middle = (alike + most + 1) // 2
        if text[alike:middle] == other[alike:middle]:
            alike = middle
        else:
            most = middle - 1
    return alike
