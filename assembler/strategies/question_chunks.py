"""`QuestionChunks`: one prompt for an encoder, with a role, the question, and as many of the first chunks as fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from assembler.pricing.pricer import Piece
from assembler.regions.knowledge import Document
from assembler.regions.regions import Regions
from assembler.strategies.run_that_fits import run_that_fits
from assembler.strategies.strategy import Around, Needs, Omitted, Rendered, Space, document_name, instruction_pieces

ROLE_LINE = "You are a helpful QA system."
QUESTION_LINE = "The user asks: "
CONTEXT_HEADER = "Below is relevant context filtered from a larger document:"
ENDING_LINE = "Please provide the best possible answer."
PLACEHOLDER = "No additional context was deemed novel."
"""The published literals of the greedy prompt builder, which must not change."""

_UNFITTING, _LATER = "does not fit", "comes after one that does not fit"

JOIN_SLACK = 64
"""A chunk may make a prompt cost fewer tokens, if a token joins it with the text before. So a prompt may exceed the
limit although a longer one fits. Prompts within so many tokens of it are tried one by one. Seen so far: at most 5."""


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
        """The question: its message becomes the prompt."""
        return Needs.QUESTION

    def render(self, regions: Regions) -> Rendered:
        """Put every chunk into the system text, without a question."""
        return _place_in_system(regions, _add_ending(_write_lines(regions.documents)), regions.documents)

    def choose(self, regions: Regions, space: Space) -> Rendered:
        """Keep the first chunks, up to the first that does not fit."""
        documents = regions.documents
        lines, lay = _write_lines(documents), _place_in_system if space.question is None else _place_at_question

        def laid(count: int) -> Rendered:
            return lay(regions, _add_ending(lines[:count]), documents[:count])

        blank = [not document.text.strip() for document in documents]
        kept = _count_first_that_fit(blank, lambda count: space.left(laid(count)))
        left_out = tuple(
            Omitted(document_name(document, place), None, _UNFITTING if place == kept else _LATER)
            for place, document in enumerate(documents[kept:], kept)
        )
        return attrs.evolve(laid(kept), omitted=left_out)


def _count_first_that_fit(blank: Sequence[bool], left_with: Callable[[int], int | None]) -> int:
    """The largest number of first chunks such that these, and any fewer of them, fit.

    `left_with(n)` is the tokens left with n chunks, None for no limit; `blank` says which chunks are only white space.
    Doubling and bisection find how many surely fit; after that, each is tried. If a row of blank chunks together costs
    nothing, each of them is assumed to cost nothing, so that the whole prompt is not counted for each.
    """
    count = len(blank)
    if count == 0 or left_with(0) is None:
        return count

    def surely(runs: int) -> bool:
        left = left_with(runs)
        return left is None or left >= JOIN_SLACK

    sure = run_that_fits(count, surely)
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


def _place_at_question(regions: Regions, lines: Sequence[Piece], chunks: Sequence[Document]) -> Rendered:
    opening = Piece("instruction", "role line", f"{ROLE_LINE}\n{QUESTION_LINE}")
    header = Piece("instruction", "context header", f"\n{CONTEXT_HEADER}\n")
    return Rendered(instruction_pieces(regions), around=Around((opening,), (header, *lines)), sources=tuple(chunks))


def _place_in_system(regions: Regions, lines: Sequence[Piece], chunks: Sequence[Document]) -> Rendered:
    instruction = (Piece("instruction", regions.opening, f"{regions.instruction}\n"),) if regions.instruction else ()
    # One piece, because counts may not add between two chunks.
    prompt = f"{ROLE_LINE}\n{CONTEXT_HEADER}\n" + "".join(piece.text for piece in lines)
    return Rendered((*instruction, Piece("knowledge", "prompt", prompt)), sources=tuple(chunks))


def _write_lines(chunks: Sequence[Document]) -> list[Piece]:
    return [Piece("knowledge", document_name(chunk, place), f"{chunk.text}\n") for place, chunk in enumerate(chunks)]


def _add_ending(lines: Sequence[Piece]) -> list[Piece]:
    """The lines of the chunks, or the placeholder, and the ending line, which begins with the line break before it."""
    last = lines[-1] if lines else Piece("knowledge", "placeholder", f"{PLACEHOLDER}\n")
    last = attrs.evolve(last, text=last.text.removesuffix("\n"))
    return [*lines[:-1], last, Piece("instruction", "ending line", f"\n{ENDING_LINE}")]
