"""Knowledge as numbered sources that an answer can cite: without repeats, within a room, in an order that is read."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence

import attrs

from assembler.draft import Regions
from assembler.knowledge import SEPARATOR
from assembler.passages.duplicates import Duplicates, SameText, SimilarVectors
from assembler.passages.layout import PlainSources, SourceLayout
from assembler.passages.merging import MergeNeighbours
from assembler.passages.ordering import Order, ordered
from assembler.passages.passage import Passage, Reliability, of, passages_of
from assembler.passages.selection import Candidate, Greedy, Selection, capped
from assembler.passages.templates import SINGLE_HOP, QuestionTemplate
from assembler.pricing import Piece
from assembler.strategies.strategy import Around, Omitted, Rendered, Space
from assembler.text import checked_text
from budgets import Tokens
from budgets.numbers import whole_tokens

_EQUALLY: Mapping[str, float] = {}
_GREEDY = Greedy()
_PLAIN = PlainSources()

SOURCES = "SOURCES:\n"
END = "END OF SOURCES"

_OPENING, _END, _QUESTION = "opening", "end", "question frame"
FRAME = frozenset({_OPENING, _END, _QUESTION})
"""The names of the pieces that are words around the sources, and no source."""

REPEATS = "repeats"
UNFITTING = "does not fit"
CAPPED = "enough of its document"
COMPRESSED = "compressed"


class Placement(enum.Enum):
    """Where the sources stand."""

    SYSTEM = "in the system text, after the instruction"
    QUESTION = "in the message of the newest question, before its text, with the words of a template around both"


def _whole(_owner: object, field: attrs.Attribute[int | None], value: int | None) -> None:
    if value is not None:
        whole_tokens(value, field.name)


@attrs.frozen
class CitedSources:
    """Sources numbered from 1 in the order in which they are read: `[Source 1]`, with document, section and page.

    Steps: duplicates → selection → merging → order → numbers. `reliability` multiplies scores; `per_document` sources
    of one document at most; `max_tokens` for all sources together, the words around them apart. `compress` is asked
    for a shorter text of each source where not all fit, and believed only where the result costs less. A question that
    is more than one text, or none, leaves the sources in the system text.

    A source costs its whole block, number and rule included. Each body is counted once. The room that merging frees is
    not filled again.
    """

    duplicates: Sequence[Duplicates] = (SameText(), SimilarVectors())
    selection: Selection = _GREEDY
    order: Order = Order.EDGES_FIRST
    merging: MergeNeighbours | None = None
    reliability: Reliability = _EQUALLY
    per_document: int | None = attrs.field(default=None, validator=_whole)
    max_tokens: Tokens | None = attrs.field(default=None, validator=_whole)
    layout: SourceLayout = _PLAIN
    template: QuestionTemplate = SINGLE_HOP
    placement: Placement = Placement.SYSTEM
    compress: Callable[[str], str] | None = None

    def render(self, regions: Regions) -> Rendered:
        """Every document as a source, in the order given, in the system text."""
        given = [Passage(document, place, 0.0) for place, document in enumerate(regions.documents)]
        return self._in_system(regions, given, framed=bool(given))

    def choose(self, regions: Regions, space: Space) -> Rendered:
        """The sources that fit, laid out. O(n log n) beside counting, duplicates and the selection's own cost."""
        passages, repeats = self._distinct(passages_of(regions.documents, self.reliability))
        candidates = [self._candidate(passage, space) for passage in passages]
        allowed = list(range(len(passages))) if self.per_document is None else capped(candidates, self.per_document)
        room = self._room(regions, space)
        if room is None:
            chosen, rendered = allowed, self._laid(regions, [passages[at] for at in allowed], space)
        else:
            shelf = _Shelf(passages, candidates, allowed, lambda number: self._heading(number, space))
            if self.compress is not None and len(shelf.picked(self.selection, room)) < len(allowed):
                shelf = self._compressed(shelf, self.compress, space)
            chosen, rendered = self._fitted(regions, shelf, room, space)
        return attrs.evolve(rendered, omitted=(*repeats, *_left_out(passages, candidates, allowed, chosen)))

    def _distinct(self, passages: list[Passage]) -> tuple[list[Passage], list[Omitted]]:
        omitted: list[Omitted] = []
        for rule in self.duplicates:
            gone = rule.repeated(passages)
            omitted += [
                Omitted(_name(passages[at]), None, f"{REPEATS} {_name(passages[kept])}") for at, kept in gone.items()
            ]
            passages = [passage for at, passage in enumerate(passages) if at not in gone]
        return passages, omitted

    def _room(self, regions: Regions, space: Space) -> Tokens | None:
        """What the sources may cost together; None for any amount."""
        left = space.left(self._placed(regions, [], space, framed=True))
        return left if self.max_tokens is None else self.max_tokens if left is None else min(left, self.max_tokens)

    def _candidate(self, passage: Passage, space: Space) -> Candidate:
        body = self.layout.body(passage.document)
        cost = space.price(Piece("knowledge", "source", body))
        return Candidate(cost, passage.score, passage.origin, passage.document.embedding)

    def _heading(self, number: int, space: Space) -> Tokens:
        return space.price(Piece("knowledge", "source", self.layout.heading(number)))

    def _fitted(self, regions: Regions, shelf: _Shelf, room: Tokens, space: Space) -> tuple[list[int], Rendered]:
        """The choice, and its layout. Chosen again in less room while the whole costs more than its pieces promised."""
        picked = shelf.picked(self.selection, room)
        while True:
            rendered = self._laid(regions, [shelf.passages[at] for at in picked], space)
            left = space.left(rendered)
            if left is None or left >= 0 or not picked:
                return picked, rendered
            fewer = shelf.picked(self.selection, shelf.cost(picked) + left)
            if fewer == picked:  # a selection that leaves nothing out
                return picked, rendered
            picked = fewer

    def _compressed(self, shelf: _Shelf, compress: Callable[[str], str], space: Space) -> _Shelf:
        """Each source with its shorter text, where that costs less."""
        passages, candidates = list(shelf.passages), list(shelf.candidates)
        for at in shelf.allowed:
            document = passages[at].document
            text = checked_text(compress(document.text), field="compressed text")
            metadata = {**(document.metadata or {}), COMPRESSED: True}
            shorter = attrs.evolve(passages[at], document=attrs.evolve(document, text=text, metadata=metadata))
            candidate = self._candidate(shorter, space)
            if candidate.cost < candidates[at].cost:
                passages[at], candidates[at] = shorter, candidate
        return attrs.evolve(shelf, passages=passages, candidates=candidates)

    def _laid(self, regions: Regions, chosen: Sequence[Passage], space: Space) -> Rendered:
        """The chosen in their order, neighbours merged unless that would not fit where the parts do."""
        if self.merging is not None:
            merged = self._placed(regions, ordered(self.merging.merge(chosen), self.order), space)
            if (left := space.left(merged)) is None or left >= 0:
                return merged
        return self._placed(regions, ordered(chosen, self.order), space)

    def _placed(self, regions: Regions, passages: Sequence[Passage], space: Space, *, framed: bool = False) -> Rendered:
        if self.placement is Placement.QUESTION and space.question is not None:
            return self._at_question(regions, passages, framed=framed or bool(passages))
        return self._in_system(regions, passages, framed=framed or bool(passages))

    def _in_system(self, regions: Regions, passages: Sequence[Passage], *, framed: bool) -> Rendered:
        pieces = [Piece("instruction", "instruction", regions.instruction)] if regions.instruction else []
        if framed:
            pieces = [attrs.evolve(piece, text=piece.text + SEPARATOR) for piece in pieces]
            opening, end = Piece("knowledge", _OPENING, SOURCES), Piece("knowledge", _END, END)
            pieces += [opening, *self._sources(passages), end]
        return Rendered(tuple(pieces), sources=tuple(passage.document for passage in passages))

    def _at_question(self, regions: Regions, passages: Sequence[Passage], *, framed: bool) -> Rendered:
        words = self.template
        opening = Piece("knowledge", _OPENING, words.opening if framed else words.unsourced)
        before = (opening, *self._sources(passages), Piece("knowledge", _QUESTION, words.question))
        return Rendered(
            (Piece("instruction", "instruction", regions.instruction),) if regions.instruction else (),
            around=Around(before, (Piece("knowledge", _QUESTION, words.closing),)),
            sources=tuple(passage.document for passage in passages),
        )

    def _sources(self, passages: Sequence[Passage]) -> list[Piece]:
        """Two pieces a source under one name, so that a body is priced whatever its number."""
        pieces: list[Piece] = []
        for number, passage in enumerate(passages, 1):
            name = f"[Source {number}] {_name(passage)}"
            pieces.append(Piece("knowledge", name, self.layout.heading(number)))
            pieces.append(Piece("knowledge", name, self.layout.body(passage.document)))
        return pieces


@attrs.frozen(eq=False)
class _Shelf:
    """The passages that may be chosen, with what a rule of choice sees of them."""

    passages: Sequence[Passage]
    candidates: Sequence[Candidate]
    allowed: Sequence[int]
    heading: Callable[[int], Tokens]

    def picked(self, selection: Selection, room: Tokens) -> list[int]:
        """The choice in a room, as indexes of passages."""
        return [
            self.allowed[at] for at in selection.pick([self.candidates[at] for at in self.allowed], room, self.heading)
        ]

    def cost(self, picked: Sequence[int]) -> Tokens:
        """What they cost by their pieces."""
        return sum(self.candidates[at].cost + self.heading(number) for number, at in enumerate(picked, 1))


def _left_out(
    passages: Sequence[Passage], candidates: Sequence[Candidate], allowed: Sequence[int], chosen: Sequence[int]
) -> list[Omitted]:
    kept, may = set(chosen), set(allowed)
    return [
        Omitted(_name(passage), candidates[at].cost, UNFITTING if at in may else CAPPED)
        for at, passage in enumerate(passages)
        if at not in kept
    ]


def _name(passage: Passage) -> str:
    """What reports call a passage: its source and its place among the documents given."""
    suffix = " (compressed)" if of(passage.document, COMPRESSED) else ""
    return f"{passage.document.source or passage.document.type} #{passage.place}{suffix}"
