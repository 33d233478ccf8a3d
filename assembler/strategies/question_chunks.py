"""One prompt for an encoder: a role, the question, as many of the earliest chunks as fit, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from assembler.pricing.pricer import Piece
from assembler.regions.knowledge import Document
from assembler.regions.regions import Regions
from assembler.strategies.strategy import Around, Needs, Omitted, Rendered, Space, instruction_pieces

ROLE_LINE = "You are a helpful QA system."
QUESTION_LINE = "The user asks: "
CONTEXT_HEADER = "Below is relevant context filtered from a larger document:"
ENDING_LINE = "Please provide the best possible answer."
PLACEHOLDER = "No additional context was deemed novel."
"""The published literals of the greedy prompt builder: they stay as they are, to the letter."""

JOIN_SLACK = 64
"""Tokens. A chunk can make a prompt shorter only where it joins its last piece with the one before; a scan from this
far below the limit meets every prompt that such joins could lift over it. Seen in tokenizers: 5 at most."""


@attrs.frozen
class QuestionChunks:
    """Makes the message of the question the whole prompt, with as many chunks as fit, from the first one on.

    Chunks are the bare texts of the documents, joined by line breaks, in the order given. It stops at the first chunk
    that does not fit. If there is none, or none fits, a placeholder line takes its place. Every candidate prompt is
    counted as one text, so it fits whatever the tokenizer adds or merges. That takes about log2(chunks) counts of a
    text as long as the limit, and one for each chunk that ends within `JOIN_SLACK` tokens of it. A row of blank chunks
    that costs nothing is counted log2(its length) times. An instruction stays in the system text.
    """

    @property
    def needs(self) -> Needs:
        """The question, whose message becomes the prompt."""
        return Needs.QUESTION

    def render(self, regions: Regions) -> Rendered:
        """Every chunk, in the system text, without a question."""
        return _Layouts(regions, _lines(regions.documents), at_question=False).of(len(regions.documents))

    def choose(self, regions: Regions, space: Space) -> Rendered:
        """The longest run of first chunks that fits one by one."""
        documents = regions.documents
        lay = _Layouts(regions, _lines(documents), space.question is not None).of
        blank = [not document.text.strip() for document in documents]
        kept = _first_that_fit(blank, lambda count: space.left(lay(count)))
        left_out = tuple(
            Omitted(
                _name(document, place), None, "does not fit" if place == kept else "stands after one that does not fit"
            )
            for place, document in enumerate(documents[kept:], kept)
        )
        return attrs.evolve(lay(kept), omitted=left_out)


def _first_that_fit(blank: Sequence[bool], left_with: Callable[[int], int | None]) -> int:
    """How many first chunks there are such that each shorter run of them fits too, itself included.

    `left_with(n)` is what n chunks leave, or None for any amount; `blank` says which chunks are white space alone.
    Doubling, then halving, finds how many surely fit; from there on each is tried. Blank ones that leave together what
    was left before them are believed to have done so one by one, in growing steps: else many that cost nothing would
    each be a count of the whole prompt.
    """
    count = len(blank)
    if count == 0 or left_with(0) is None:
        return count

    def surely(runs: int) -> bool:
        left = left_with(runs)
        return left is None or left >= JOIN_SLACK

    sure, doubtful = 0, 1
    while doubtful <= count and surely(doubtful):
        sure, doubtful = doubtful, 2 * doubtful
    doubtful = min(doubtful, count + 1)
    while doubtful - sure > 1:
        middle = (sure + doubtful) // 2
        sure, doubtful = (middle, doubtful) if surely(middle) else (sure, middle)
    left, step = left_with(sure), 2
    while sure < count:
        many = all(blank[sure : sure + step]) and sure + step <= count
        if many and left_with(sure + step) == left:
            sure, step = sure + step, 2 * step
            continue
        tried = left_with(sure + 1)
        if tried is not None and tried < 0:
            break
        sure, left, step = sure + 1, tried, 2
    return sure


@attrs.frozen(eq=False)
class _Layouts:
    """The prompt with so many first chunks, its pieces made once: a layout costs no more than joining them."""

    regions: Regions
    lines: Sequence[Piece]
    at_question: bool

    def of(self, count: int) -> Rendered:
        lay = _at_question if self.at_question else _in_system
        return lay(self.regions, _ended(self.lines[:count]), self.regions.documents[:count])


def _at_question(regions: Regions, lines: Sequence[Piece], chunks: Sequence[Document]) -> Rendered:
    opening = Piece("instruction", "role line", f"{ROLE_LINE}\n{QUESTION_LINE}")
    header = Piece("instruction", "context header", f"\n{CONTEXT_HEADER}\n")
    return Rendered(instruction_pieces(regions), around=Around((opening,), (header, *lines)), sources=tuple(chunks))


def _in_system(regions: Regions, lines: Sequence[Piece], chunks: Sequence[Document]) -> Rendered:
    instruction = (Piece("instruction", regions.opening, f"{regions.instruction}\n"),) if regions.instruction else ()
    # One piece: between two chunks there is no seam where counts are sure to add.
    prompt = f"{ROLE_LINE}\n{CONTEXT_HEADER}\n" + "".join(piece.text for piece in lines)
    return Rendered((*instruction, Piece("knowledge", "prompt", prompt)), sources=tuple(chunks))


def _lines(chunks: Sequence[Document]) -> list[Piece]:
    return [Piece("knowledge", _name(chunk, place), f"{chunk.text}\n") for place, chunk in enumerate(chunks)]


def _ended(lines: Sequence[Piece]) -> list[Piece]:
    """The chunks' lines or the placeholder, and the ending; the line break between them belongs to the ending."""
    last = lines[-1] if lines else Piece("knowledge", "placeholder", f"{PLACEHOLDER}\n")
    last = attrs.evolve(last, text=last.text.removesuffix("\n"))
    return [*lines[:-1], last, Piece("instruction", "ending line", f"\n{ENDING_LINE}")]


def _name(document: Document, place: int) -> str:
    return document.shown or f"{document.type} {place}"
