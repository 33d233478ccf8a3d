"""How the sources of one request are written, as text or as blocks of the API's, and what they cost there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import attrs

from assembler.pricing.pricer import Piece
from assembler.regions.knowledge import Document
from assembler.strategies.source_block import SourceBlock
from assembler.strategies.sources.layout import BlockLayout, SourceLayout
from assembler.strategies.sources.selection import Candidate
from assembler.strategies.sources.source import Source, metadata_of
from assembler.strategies.strategy import Continued, Rendered, Space
from budgets import Tokens

COMPRESSED = "compressed"


@attrs.frozen(eq=False)
class SourceWriter:
    """Writes sources as text: a heading with the number, and a body, which has one price whatever its number."""

    space: Space
    layout: SourceLayout

    def blocks(self, sources: Iterable[Source]) -> tuple[SourceBlock, ...] | None:
        """The sources as blocks, to be sent without words around them; None if they are text."""
        return None

    def can_write(self, text: str) -> bool:
        """Whether a source may have this text."""
        return True

    def candidates(self, sources: Sequence[Source]) -> list[Candidate]:
        """The sources for a selection, each with the price of its body."""
        costs = self.space.price([self._write_body(source.document, "source") for source in sources])
        return [
            Candidate(cost, source.score, source.origin, source.document.embedding)
            for cost, source in zip(costs, sources, strict=True)
        ]

    def heading(self, number: int) -> Tokens:
        """What the heading of a source costs."""
        return self.space.price([Piece("knowledge", "source", self.layout.heading(number))])[0]

    def cost(self, rendered: Rendered) -> Tokens:
        """What the sources of a layout cost, each by itself, without the words around them."""
        bodies = [self._write_body(document, "source") for document in rendered.sources]
        return sum(self.space.price(bodies)) + sum(map(self.heading, range(1, len(bodies) + 1)))

    def frame(self, sources: Sequence[Source]) -> Sequence[Source]:
        """The sources without which it is unknown what stands around the others: none, as the words are known."""
        return ()

    def _write_body(self, document: Document, name: str) -> Piece:
        return Piece("knowledge", name, self.layout.body(document))


@attrs.frozen(eq=False)
class BlockWriter(SourceWriter):
    """Writes each source as a block of the API's. The API numbers them itself, in this order."""

    def can_write(self, text: str) -> bool:
        """Whether the text is not blank, which the APIs refuse in a block."""
        return bool(text.strip())

    def heading(self, number: int) -> Tokens:
        """0: a block has no heading."""
        return 0

    def blocks(self, sources: Iterable[Source]) -> tuple[SourceBlock, ...]:
        """A block for each source."""
        return tuple([self._write_body(source.document, name_of(source)) for source in sources])

    def frame(self, sources: Sequence[Source]) -> Sequence[Source]:
        """The first: with it the API adds a prompt on citations."""
        return sources[:1]

    def _write_body(self, document: Document, name: str) -> SourceBlock:
        origin, title = cast(BlockLayout, self.layout).named(document)
        return SourceBlock("knowledge", name, document.text, origin, title)


def writer_for(space: Space, layout: SourceLayout) -> SourceWriter:
    """Blocks if the layout writes them and the API has them, else text."""
    if isinstance(layout, BlockLayout) and space.takes_blocks:
        return BlockWriter(space, layout)
    return SourceWriter(space, layout)


def pieces_of(layout: SourceLayout, sources: Iterable[Source]) -> list[Piece]:
    """Two pieces for each source, heading and body, so that a body has one price whatever its number."""
    pieces: list[Piece] = []
    for number, source in enumerate(sources, 1):
        name = f"[Source {number}] {name_of(source)}"
        pieces.append(Piece("knowledge", name, layout.heading(number)))
        pieces.append(Continued("knowledge", name, layout.body(source.document)))
    return pieces


def name_of(source: Source) -> str:
    """The name of a source in reports: where it is from, and its place among the documents given."""
    suffix = " (compressed)" if metadata_of(source.document, COMPRESSED) else ""
    return f"{source.document.shown or source.document.type} #{source.place}{suffix}"
