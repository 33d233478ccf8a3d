"""Cases for the check of strategies: regions, a question, and tokens left near the price of a layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from assembler.drawn.engine import DrawFn, SearchStrategy, st
from assembler.pricing.pricer import Piece
from assembler.regions.knowledge import Document
from assembler.regions.regions import Regions
from assembler.strategies.strategy import Rendered
from assembler.testing.conformance.checking import EDGE, WORDS, Texts
from budgets import Tokens


@attrs.frozen
class Case:
    """The regions, the text of the question, and the distance of the tokens left from the drawn edge."""

    regions: Regions
    question: str | None
    share: float
    """The place of the edge: 0 for the smallest layout, 1 for the largest."""
    nudge: Tokens
    answered: bool
    """Whether the conversation ends with the result of a tool."""
    seam: Tokens
    blocks: bool = False
    """Whether the API has blocks for sources."""

    def space(self, tokens: Tokens | None) -> _Characters:
        """The `Space` in which the strategy has this many tokens left; None without a budget."""
        return _Characters(self.question, tokens, self.seam, self.blocks and self.question is not None)

    def __str__(self) -> str:
        return f"{self.regions}, {[document.text for document in self.regions.documents]}, question {self.question!r}"

    @property
    def texts(self) -> list[str]:
        """Every text that no name, reason or note may quote."""
        given = [document.text for document in self.regions.documents]
        return [text for text in (self.regions.instruction, self.question, *given) if text]


_SEAMS = st.sampled_from((0, 1))
TEXTS = WORDS | st.builds("{}\n{}".format, WORDS, WORDS) | st.builds("{} {}".format, WORDS, WORDS)
"""Words, and texts of two lines or two words."""
_MOST_DOCUMENTS = 5
_VECTORS = ((1.0, 0.0), (0.0, 1.0))


@st.composite
def draw_case(draw: DrawFn, texts: SearchStrategy[str]) -> Case:
    """Draw documents of these texts, sometimes with one that is found twice, and a case around them."""
    given = _drop_contained(draw(st.lists(texts, max_size=_MOST_DOCUMENTS, unique=True)))
    if draw(st.booleans()):
        given = [*given, *given[:1]]  # as by two searches
    documents = [
        Document(
            text,
            type=draw(st.sampled_from(("rag", "entity", "page"))),
            trusted=draw(st.booleans()),
            source=draw(st.sampled_from(("crm.json", "notes.md", "book.pdf", None))),
            score=draw(st.sampled_from((None, 0.25, 1.0))),
            embedding=draw(st.sampled_from((None, *_VECTORS))),
            metadata=draw(st.sampled_from(({"chunk_index": place}, None))),
        )
        for place, text in enumerate(given)
    ]
    return draw(draw_case_around(documents))


def _drop_contained(texts: Sequence[str]) -> list[str]:
    """The texts but those whose words all stand in another: one that is left out would look laid out."""
    return [text for text in texts if not any(holds_words(other, text) for other in texts if other != text)]


@st.composite
def draw_case_around(draw: DrawFn, documents: Sequence[Document]) -> Case:
    """Draw a case with exactly these documents."""
    regions = Regions(draw(st.none() | WORDS), documents=tuple(documents))
    share = draw(st.sampled_from((0.0, 0.25, 0.5, 0.75, 1.0)))
    nudge = draw(st.integers(-EDGE, EDGE))
    return Case(regions, draw(st.none() | WORDS), share, nudge, draw(st.booleans()), draw(_SEAMS))


def draw_case_of(texts: Texts) -> SearchStrategy[Case]:
    """Draw cases whose documents are texts of the caller's alone."""
    if isinstance(texts, SearchStrategy):
        return draw_case(texts.filter(str.strip))
    distinct = _drop_contained(list(dict.fromkeys([texts] if isinstance(texts, str) else texts)))
    few = st.sampled_from(range(0, len(distinct), _MOST_DOCUMENTS)).map(lambda at: distinct[at : at + _MOST_DOCUMENTS])
    return few.flatmap(lambda chosen: draw_case_around([Document(text, type="rag") for text in chosen]))


@attrs.frozen
class _Characters:
    """The `Space` of a strategy in which a token is a character."""

    question: str | None
    tokens: Tokens | None
    seam: Tokens
    """What two neighbouring pieces cost more than each alone, as with a tokenizer whose counts do not add."""
    takes_blocks: bool = False

    def price(self, pieces: Sequence[Piece]) -> list[Tokens]:
        return [len(piece.text) for piece in pieces]

    def left(self, rendered: Rendered) -> Tokens | None:
        return None if self.tokens is None else self.tokens - price_layout(rendered, self.seam)


def price_layout(rendered: Rendered, seam: Tokens) -> Tokens:
    """The characters of a layout, and `seam` for each place where two of its pieces meet."""
    pieces = rendered.every_piece
    return sum(len(piece.text) for piece in pieces) + seam * len(pieces[1:])


def holds_words(written: str, text: str) -> bool:
    """Whether the words of a text are laid out. A layout may indent its lines."""
    return all(word in written for word in text.split())


LOOK_UP: Mapping[str, Any] = {
    "name": "look_up",
    "description": "Looks up a word.",
    "parameters": {"type": "object", "properties": {}},
}
"""The tool that `write_conversation` calls."""


def write_conversation(case: Case) -> list[dict[str, Any]]:
    """An older turn, the question, and perhaps a tool's answer to it."""
    talk: list[dict[str, Any]] = [
        {"role": "user", "content": "older"},
        {"role": "assistant", "content": "answer"},
        {"role": "user", "content": case.question or "question"},
    ]
    if case.answered:
        call = {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
        talk.append({"role": "assistant", "content": None, "tool_calls": [call]})
        talk.append({"role": "tool", "tool_call_id": "call_1", "content": "found"})
    return talk
