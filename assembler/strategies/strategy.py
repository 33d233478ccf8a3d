"""The contract of a strategy: it chooses knowledge and lays it out."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, cast, runtime_checkable

import attrs

from assembler.pricing.pricer import Piece
from assembler.regions.knowledge import Document
from assembler.regions.regions import Regions
from assembler.validation import Is, wrong
from budgets import BudgetError, Tokens
from budgets.value import Value


class Placement(enum.Enum):
    """Where knowledge stands."""

    SYSTEM = "in the system text, after the instruction"
    QUESTION = "in the message of the newest question, before its text"
    TOOL = "in the tool result that the conversation ends with, before its text"


A_PLACEMENT = Is((Placement,), "a Placement such as Placement.QUESTION")


class Needs(enum.Enum):
    """What a strategy must know before it lays out knowledge. It declares one of these as its attribute `needs`."""

    REGIONS = "the regions alone: `render` is called"
    QUESTION = "the tokens left, and the text of the newest question: `choose` is called"
    RESULT = "the tokens left, and the text of the tool result that the conversation ends with: `choose` is called"


@attrs.frozen(eq=False, repr=False)
class Continued(Piece):
    """A piece that goes on with the item of the piece before it: priced apart, one row of the report with it."""


@attrs.frozen(eq=False, repr=False)
class Around(Value):
    """Pieces that share a message with its own text: what is read before it, and what after.

    The message is that of the newest question, or the newest tool result for a strategy placed there.
    """

    before: tuple[Piece, ...] = ()
    after: tuple[Piece, ...] = ()

    def text(self, question: str) -> str:
        """The message: all of it, in order, the question's own text in the middle."""
        return "".join([*(piece.text for piece in self.before), question, *(piece.text for piece in self.after)])


@attrs.frozen(eq=False, repr=False)
class Omitted(Value):
    """A document that was left out: what reports call it, what it would have cost if that was found, and why."""

    name: str
    tokens: Tokens | None
    reason: str


@attrs.frozen(eq=False, repr=False)
class Rendered(Value):
    """The instruction and the knowledge as they are sent, in pieces that belong to one region each.

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

    Every document is among `sources` or `omitted`, and no name and no reason quotes a text. A strategy that must know
    the question, or how many tokens are left, declares `needs` and has a second method (see `ChoosingStrategy`).
    `assembler.testing.check_strategy` holds a strategy to all of this.
    """

    def render(self, regions: Regions) -> Rendered:
        """The system text of these regions."""
        ...


class Space(Protocol):
    """What a strategy may ask while it chooses. Pure: the same question always gets the same answer."""

    @property
    def question(self) -> str | None:
        """The text of the newest question; None where there is none that text can be put around.

        For a strategy that declares `Needs.RESULT` it is the text of the tool result that the conversation ends with.
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
    """A strategy that chooses what fits into the tokens left.

    Contract: text stands `around` the question only where `Space.question` is a text. Whenever less can be left in,
    what `choose` returns leaves 0 or more; with nothing left to leave out it may return what does not fit, and the
    pipeline raises `ContextLengthError`. Around the question any seam is right: where counts do not add, the message is
    priced as one text. A seam after a line break is cheap.
    """

    @property
    def needs(self) -> Needs:
        """The same at every call. `Needs.REGIONS` says that `render` knows enough."""
        ...

    def choose(self, regions: Regions, space: Space) -> Rendered:
        """What goes in, laid out."""
        ...


def instruction_pieces(regions: Regions) -> tuple[Piece, ...]:
    """The instruction as a piece; none where there is no instruction."""
    return (Piece("instruction", regions.opening, regions.instruction),) if regions.instruction else ()


def chooser(strategy: object) -> ChoosingStrategy | None:
    """The strategy, where it declares that the regions alone do not say enough; else None.

    Raises `BudgetError` for what is no strategy, for `needs` that are none, and for a `choose` that is never called.
    """
    if isinstance(strategy, type) or not callable(getattr(strategy, "render", None)):
        raise BudgetError(wrong("strategy", "a strategy such as ChatRegions()", strategy))
    needs: object = getattr(strategy, "needs", None)
    chooses = callable(getattr(strategy, "choose", None))
    name = type(strategy).__name__
    if needs is None and chooses:
        raise BudgetError(f"strategy: {name} has a method choose and declares no needs; add needs = Needs.QUESTION")
    if needs is not None and not isinstance(needs, Needs):
        raise BudgetError(wrong(f"strategy: needs of {name}", "a Needs such as Needs.QUESTION", needs))
    if needs is None or needs is Needs.REGIONS:
        return None
    if not chooses:
        raise BudgetError(f"strategy: {name} declares {needs} and has no method choose(regions, space); add one")
    return cast(ChoosingStrategy, strategy)


@runtime_checkable
class OrderedStrategy(Strategy, Protocol):
    """A strategy that lays its documents out in an order that it can be told."""

    def in_order(self, order: Callable[[Sequence[Document]], Iterable[Document]]) -> Strategy:
        """A copy with another order: a function of the documents, best first, to the reading order."""
        ...


@runtime_checkable
class NotingStrategy(Strategy, Protocol):
    """A strategy with something to say about a request that was laid out: each text is a note of the report."""

    def notes(self, rendered: Rendered, answers: Iterable[str]) -> tuple[str, ...]:
        """What its owner should know of it. `answers` are the texts of the assistant that stay, oldest first."""
        ...
