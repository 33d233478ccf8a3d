"""What a strategy is: it chooses knowledge and lays it out."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

import attrs

from assembler.pricing.pricer import Piece
from assembler.regions.knowledge import Document
from assembler.regions.regions import Regions
from assembler.validation import Is
from budgets import Tokens


class Placement(enum.Enum):
    """Where knowledge stands."""

    SYSTEM = "in the system text, after the instruction"
    QUESTION = "in the message of the newest question, before its text"
    TOOL = "in the tool result that the conversation ends with, before its text"


A_PLACEMENT = Is((Placement,), "a Placement such as Placement.QUESTION")


@attrs.frozen
class Continued(Piece):
    """A piece that goes on with the item of the piece before it: priced apart, one row of the report with it."""


@attrs.frozen
class Around:
    """Pieces that share a message with its own text: what is read before it, and what after.

    The message is that of the newest question, or the newest tool result for a strategy placed there.
    """

    before: tuple[Piece, ...] = ()
    after: tuple[Piece, ...] = ()

    def text(self, question: str) -> str:
        """The message: all of it, in order, the question's own text in the middle."""
        return "".join([*(piece.text for piece in self.before), question, *(piece.text for piece in self.after)])


@attrs.frozen
class Omitted:
    """A document that was left out: what reports call it, what it would have cost if that was found, and why."""

    name: str
    tokens: Tokens | None
    reason: str


@attrs.frozen
class Rendered:
    """What is sent of instruction and knowledge, in pieces that a region owns each.

    `pieces` joined in order are the system text; `around` stands in a message of the conversation. `sources` are the
    documents that went in, in the order in which they are read; `omitted` are the others, each with its reason.
    """

    pieces: tuple[Piece, ...] = ()
    around: Around | None = None
    sources: tuple[Document, ...] = ()
    omitted: tuple[Omitted, ...] = ()

    @property
    def system(self) -> str | None:
        """The system text, or None where there is none."""
        return "".join(piece.text for piece in self.pieces) or None

    @property
    def every_piece(self) -> tuple[Piece, ...]:
        """The pieces of the system text, then those before the question, then those after it."""
        around = self.around
        return self.pieces if around is None else (*self.pieces, *around.before, *around.after)


class Strategy(Protocol):
    """Chooses which knowledge goes in, in what order, and how it is written. Pure; order of its pieces is final.

    Contract: two pieces meet only where one ends with a line break and the next begins with a tag, so that the sum of
    their counts is the count of the whole (see `assembler.pricing.price_pieces`).

    A strategy that must know its room or the question has a second method, `choose`, which the pipeline then calls
    instead of this one (see `ChoosingStrategy`). Where `choose` is None, it is as if there was none.
    """

    def render(self, regions: Regions) -> Rendered:
        """The system text of these regions."""
        ...


class Space(Protocol):
    """What a strategy may ask while it chooses. Pure: the same question always gets the same answer."""

    @property
    def question(self) -> str | None:
        """The text of the newest question; None where there is none that text can be put around.

        For a strategy whose `placement` is `Placement.TOOL` it is the text of the tool result that the conversation
        ends with.
        """
        ...

    def price(self, pieces: Sequence[Piece]) -> list[Tokens]:
        """What each piece costs on its own, at most. Each text is counted once."""
        ...

    def left(self, rendered: Rendered) -> Tokens | None:
        """What the request leaves of the budget with this rendering and the least conversation; below 0 is too much.

        Where the budget limits knowledge and that leaves less, what it leaves.
        None without a budget. Exact: it is the price that the plan will be held to.
        """
        ...


class ChoosingStrategy(Strategy, Protocol):
    """A strategy that chooses under a room.

    Contract: whenever less can be left in, what `choose` returns leaves 0 or more; with nothing left to leave out it
    may return what does not fit, and the pipeline raises `ContextLengthError`. Seams where counts do not add (see
    `assembler.pipeline.choose`) are priced as one text, so any seam is right, and one after a line break is cheap.
    """

    def choose(self, regions: Regions, space: Space) -> Rendered:
        """What goes in, laid out."""
        ...


@runtime_checkable
class NotingStrategy(Strategy, Protocol):
    """A strategy with something to say about a request that was laid out: each text is a note of the report."""

    def notes(self, rendered: Rendered, answers: Iterable[str]) -> tuple[str, ...]:
        """What its owner should know of it. `answers` are the texts of the assistant that stay, oldest first."""
        ...
