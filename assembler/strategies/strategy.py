"""The contract of a strategy, which chooses knowledge and lays it out."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

import attrs

from assembler.errors import WrongTypeError
from assembler.pricing.pricer import Piece, Region
from assembler.regions.knowledge import Document
from assembler.regions.regions import Regions
from assembler.validation import Is, wrong
from budgets import BudgetError, Tokens
from budgets.value import Value

if TYPE_CHECKING:
    from assembler.strategies.source_block import SourceBlock


class Placement(enum.Enum):
    """Where knowledge is put."""

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
    """A piece that continues the one before it: priced separately, but in the same row of the report."""


@attrs.frozen(eq=False, repr=False)
class Around(Value):
    """Pieces before and after the text of a message.

    The message is that of the newest question, or the newest tool result for a strategy placed there. `blocks` are sent
    before the whole text, each as a block of the API's own for a source.
    """

    before: tuple[Piece, ...] = ()
    after: tuple[Piece, ...] = ()
    blocks: tuple[SourceBlock, ...] = ()

    def text(self, question: str) -> str:
        """The whole text of the message, with the question's own text in the middle."""
        return "".join([*(piece.text for piece in self.before), question, *(piece.text for piece in self.after)])


@attrs.frozen(eq=False, repr=False)
class Omitted(Value):
    """A document that was left out: its name in reports, what it would have cost if that is known, and why.

    Limits also leave out tools: these are of the region "capability".
    """

    name: str
    tokens: Tokens | None
    reason: str
    region: Region = "knowledge"


@attrs.frozen(eq=False, repr=False)
class Rendered(Value):
    """The instruction and the knowledge as they are sent, in pieces that belong to one region each.

    `pieces` joined in order are the system text; `around` is put into a message of the conversation. `sources` are the
    documents that are sent, in reading order; `omitted` are the others, each with its reason.
    """

    pieces: tuple[Piece, ...] = ()
    around: Around | None = None
    sources: tuple[Document, ...] = ()
    omitted: tuple[Omitted, ...] = ()

    @property
    def system(self) -> str | None:
        """The system text, or None."""
        return "".join(piece.text for piece in self.pieces) or None

    @property
    def every_piece(self) -> tuple[Piece, ...]:
        """The pieces of the system text, then the blocks, then the pieces before the question, then those after it."""
        around = self.around
        return self.pieces if around is None else (*self.pieces, *around.blocks, *around.before, *around.after)


class Strategy(Protocol):
    """Chooses which knowledge is sent, in what order, and how it is written. Pure; the order of its pieces is final.

    Contract: two pieces meet only where one ends with a line break and the next begins with a tag, so that the sum of
    their counts is the count of the whole (see `assembler.pricing.price_pieces`).

    Every document is among `sources` or `omitted`, and no name and no reason quotes a text. If all documents are gone,
    or the instruction with all else, the build raises `BudgetError`. A strategy that must know the question, or how
    many tokens are left, declares `needs` and has a second method (see `ChoosingStrategy`).
    `assembler.testing.check_strategy` holds a strategy to all of this.
    """

    def render(self, regions: Regions) -> Rendered:
        """The system text of these regions."""
        ...


class Space(Protocol):
    """What a strategy may ask while it chooses. Pure: the same question always gets the same answer."""

    @property
    def question(self) -> str | None:
        """The text of the newest question; None if there is none around which text can be put.

        For a strategy that declares `Needs.RESULT` it is the text of the tool result that the conversation ends with.
        """
        ...

    @property
    def takes_blocks(self) -> bool:
        """Whether `Around` may have `blocks`: the API has blocks for sources, and takes them for this model."""
        ...

    def price(self, pieces: Sequence[Piece]) -> list[Tokens]:
        """The upper bound of what each piece costs on its own. Each text is counted once.

        A `SourceBlock` costs what it does beside another. The first may cost more, for a prompt on citations.
        """
        ...

    def left(self, rendered: Rendered) -> Tokens | None:
        """The tokens left with this rendering and the smallest conversation. Negative if it does not fit.

        At most what the budget's limits leave for knowledge. None without a budget. The plan uses the same price, so
        what is 0 or more fits, and what is negative does not. Where the API joins messages and prices are estimated, a
        number above 0 may be a few tokens too low, because each price is rounded up. Beside a template that is counted
        as a whole, numbers far from 0 are estimates.
        """
        ...


class ChoosingStrategy(Strategy, Protocol):
    """A strategy that chooses what fits into the tokens left.

    Contract: put text `around` the question only if `Space.question` is not None. What `choose` returns must fit
    (`Space.left` is 0 or more) as long as anything can be left out; otherwise the pipeline raises `ContextLengthError`.
    Pieces around the question may meet anywhere: if counts do not add, the message is priced as one text. Pieces that
    end with a line break are faster to price.
    """

    @property
    def needs(self) -> Needs:
        """The same at every call. With `Needs.REGIONS` only `render` is called."""
        ...

    def choose(self, regions: Regions, space: Space) -> Rendered:
        """Choose what is sent, and lay it out."""
        ...


def instruction_pieces(regions: Regions) -> tuple[Piece, ...]:
    """The instruction as a piece; an empty tuple if there is none."""
    return (Piece("instruction", regions.opening, regions.instruction),) if regions.instruction else ()


def document_name(document: Document, place: int) -> str:
    """The name of a document in reports: where it is from, else its type and its place among the documents given."""
    return document.shown or f"{document.type} {place}"


def chooser(strategy: object) -> ChoosingStrategy | None:
    """The strategy if it declares that it needs more than the regions, else None.

    Raises `BudgetError` for anything but a strategy, for wrong `needs`, and for a `choose` that would never be called.
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


def laid_out_by(strategy: object, answer: object, regions: Regions) -> Rendered:
    """The layout that a strategy returned. Raises `WrongTypeError` for anything else, and `BudgetError` if it lost all
    documents or the whole text without a word.
    """
    name = type(strategy).__name__
    if not isinstance(answer, Rendered):
        raise WrongTypeError(f"strategy {name}: it laid the regions out as {type(answer).__name__}; return a Rendered")
    given, pieces = len(regions.documents), answer.every_piece
    accounted = answer.sources or answer.omitted or any(piece.region == "knowledge" for piece in pieces)
    if given and not accounted:
        raise BudgetError(
            f"strategy {name}: it lost {given} document(s) without a word; return those that are sent in sources, and "
            "the others in omitted"
        )
    if regions.instruction and not pieces:
        raise BudgetError(f"strategy {name}: it lost the instruction; return it as a piece")
    return answer


@runtime_checkable
class OrderedStrategy(Strategy, Protocol):
    """A strategy whose order of documents can be set."""

    def in_order(self, order: Callable[[Sequence[Document]], Iterable[Document]]) -> Strategy:
        """A copy with another order: a function from the documents, best first, to the reading order."""
        ...


@runtime_checkable
class NotingStrategy(Strategy, Protocol):
    """A strategy that adds notes to the report."""

    def notes(self, rendered: Rendered, answers: Iterable[str]) -> tuple[str, ...]:
        """The notes on a request. `answers` are the assistant's texts that stay, oldest first."""
        ...
