"""`check_strategy` finds every seeded fault, and the library's strategies pass it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any, cast

import attrs
import pytest

from assembler import Assembler
from assembler.pricing.pricer import Piece
from assembler.regions.regions import Regions
from assembler.strategies import Around, Document, Needs, Omitted, Rendered, Space, Strategy
from assembler.testing import ContractError, check_strategy
from budgets import BudgetError
from tests.assembler.strategies import EVERY

ticks = itertools.count()


def lines(regions: Regions, *, around: bool = False) -> Rendered:
    """Each document on a line of its own, without a tag."""
    given = [Piece("knowledge", f"document {at}", f"{each.text}\n") for at, each in enumerate(regions.documents)]
    head = [Piece("instruction", "instruction", f"{regions.instruction}\n")] if regions.instruction else []
    if around:
        return Rendered(tuple(head), around=Around(tuple(given)), sources=regions.documents)
    return Rendered((*head, *given), sources=regions.documents)


@attrs.frozen
class Odd:
    """Lines, with one fault in the layout."""

    wrong: Callable[[Regions, Rendered], Any]

    def render(self, regions: Regions) -> Rendered:
        return cast(Rendered, self.wrong(regions, lines(regions)))


@attrs.frozen
class OddChoice:
    """As many of the first documents as fit, with one fault in the choice."""

    wrong: Callable[[Regions, Space, Rendered], Any] = lambda _regions, _space, rendered: rendered
    needs: Any = Needs.QUESTION

    def render(self, regions: Regions) -> Rendered:
        return lines(regions)

    def choose(self, regions: Regions, space: Space) -> Rendered:
        chosen = first_that_fit(regions, space)
        return cast(Rendered, self.wrong(regions, space, chosen))


def first_that_fit(regions: Regions, space: Space) -> Rendered:
    for number in range(len(regions.documents), -1, -1):
        gone = tuple(Omitted(f"document {at}", None, "full") for at in range(number, len(regions.documents)))
        rendered = lines(attrs.evolve(regions, documents=regions.documents[:number]))
        rendered = attrs.evolve(rendered, omitted=gone)
        left = space.left(rendered)
        if left is None or left >= 0:
            break
    return rendered


def with_pieces(rendered: Rendered, change: Callable[[Piece], Piece]) -> Rendered:
    return attrs.evolve(rendered, pieces=tuple(map(change, rendered.pieces)))


def scribbled(regions: Regions, rendered: Rendered) -> Rendered:
    for document in regions.documents:
        cast("dict[str, Any]", document.metadata or {})["seen"] = True
    return rendered


def without_the_last(regions: Regions, rendered: Rendered) -> Rendered:
    kept = regions.documents[:-1]
    return lines(attrs.evolve(regions, documents=kept))


def quoted(regions: Regions, rendered: Rendered) -> Rendered:
    return attrs.evolve(
        without_the_last(regions, rendered),
        omitted=tuple(Omitted(document.text, None, "full") for document in regions.documents[-1:]),
    )


class Changeable:
    """Needs something else each time."""

    @property
    def needs(self) -> Needs:
        return (Needs.QUESTION, Needs.RESULT)[next(ticks) % 2]

    def render(self, regions: Regions) -> Rendered:
        return lines(regions)

    def choose(self, regions: Regions, space: Space) -> Rendered:
        return first_that_fit(regions, space)


class Noting(Odd):
    """Its notes quote the system text."""

    seen = ""

    def render(self, regions: Regions) -> Rendered:
        Noting.seen = (regions.documents[0].text if regions.documents else "") or ""
        return lines(regions)

    def notes(self, rendered: Rendered, answers: Iterable[str]) -> tuple[str, ...]:
        return (f"first: {self.seen}",) if self.seen else ()


def failing(regions: Regions, rendered: Rendered) -> Rendered:
    if not regions.documents:
        raise IndexError
    return rendered


@attrs.define
class Keeping(OddChoice):
    """Chooses as it chose for these regions at first."""

    chosen: list[tuple[Regions, Rendered]] = attrs.field(factory=list)

    def choose(self, regions: Regions, space: Space) -> Rendered:
        for known, rendered in self.chosen:
            if known == regions:
                return rendered
        self.chosen.append((regions, first_that_fit(regions, space)))
        return self.chosen[-1][1]


def tagged(regions: Regions, rendered: Rendered) -> Rendered:
    return with_pieces(rendered, lambda p: attrs.evolve(p, text=f"<doc>{p.text.strip()}</doc>\n"))


def kept_where(regions: Regions, keep: Callable[[Any], bool]) -> Rendered:
    return lines(attrs.evolve(regions, documents=tuple(filter(keep, regions.documents))))


FAULTS: dict[str, tuple[str, Strategy]] = {
    "a repeated document is lost": (
        "among `omitted`",
        Odd(
            lambda regions, _: lines(
                attrs.evolve(regions, documents=tuple({d.text: d for d in regions.documents}.values()))
            )
        ),
    ),
    "documents of another type are lost": (
        "among `omitted`",
        Odd(lambda r, _: kept_where(r, lambda d: d.type == "rag")),
    ),
    "documents without a source are lost": ("among `omitted`", Odd(lambda r, _: kept_where(r, lambda d: d.source))),
    "documents with vectors are lost": ("among `omitted`", Odd(lambda r, _: kept_where(r, lambda d: not d.embedding))),
    "the second line is lost": (
        "among `omitted`",
        Odd(lambda _, rendered: with_pieces(rendered, lambda p: attrs.evolve(p, text=p.text.split("\n")[0] + "\n"))),
    ),
    "a text closes its tag": ("close the tag.*escape it", Odd(tagged)),
    "it lays out nothing": (
        "in some case",
        Odd(
            lambda regions, _: attrs.evolve(
                kept_where(regions, lambda _: False),
                omitted=tuple(Omitted(f"document {at}", None, "no") for at, _ in enumerate(regions.documents)),
            )
        ),
    ),
    "it chooses as it did at first": ("the same layout|the least", Keeping()),
    "a document is lost": ("among `omitted`", Odd(without_the_last)),
    "the instruction is lost": (
        "the instruction is laid out",
        Odd(lambda regions, _: lines(attrs.evolve(regions, instruction=None))),
    ),
    "what is laid out is said to be omitted": (
        "is not laid out",
        Odd(lambda _, rendered: attrs.evolve(rendered, omitted=(Omitted("document", None, "full"),))),
    ),
    "sources that are not sent": (
        "each of `sources` is laid out",
        Odd(lambda regions, rendered: attrs.evolve(quoted(regions, rendered), sources=regions.documents)),
    ),
    "no sources": ("among `sources`", Odd(lambda _, rendered: attrs.evolve(rendered, sources=()))),
    "it counts its calls": (
        "the same layout",
        Odd(lambda _, rendered: with_pieces(rendered, lambda p: attrs.evolve(p, name=f"{p.name} {next(ticks)}"))),
    ),
    "documents are changed": ("changes nothing", Odd(scribbled)),
    "a text for a layout": ("returns a Rendered", Odd(lambda _, rendered: rendered.system)),
    "a piece of the conversation": (
        "of the instruction or of knowledge",
        Odd(lambda _, rendered: with_pieces(rendered, lambda p: attrs.evolve(p, region="conversation"))),
    ),
    "no line break between two pieces": (
        "meet after a line break",
        Odd(lambda _, rendered: with_pieces(rendered, lambda p: attrs.evolve(p, text=p.text.strip()))),
    ),
    "a blank after the line break": (
        "meet after a line break",
        Odd(lambda _, rendered: with_pieces(rendered, lambda p: attrs.evolve(p, text=f" {p.text}"))),
    ),
    "a name quotes": ("quote no text", Odd(quoted)),
    "a note quotes": ("quote no text", Noting(lambda _, rendered: rendered)),
    "no documents, no layout": ("lays out any regions", Odd(failing)),
    "it renders around a question": ("render puts nothing", Odd(lambda regions, _: lines(regions, around=True))),
    "it chooses around no question": (
        "around a question that there is",
        OddChoice(lambda regions, _, rendered: lines(regions, around=True)),
    ),
    "it chooses what does not fit": (
        "the least that it lays out",
        OddChoice(lambda regions, space, rendered: rendered if (space.left(Rendered()) or 0) < 0 else lines(regions)),
    ),
    "it is off by one": (
        "the least that it lays out",
        OddChoice(lambda regions, space, rendered: first_that_fit(regions, OneMore(space))),
    ),
    "its choice drops the instruction": (
        "the instruction is laid out",
        OddChoice(lambda regions, space, _: first_that_fit(attrs.evolve(regions, instruction=None), space)),
    ),
    "needs are a word": ("declares what it needs", OddChoice(needs="question")),
    "needs are missing": ("declares what it needs", OddChoice(needs=None)),
    "needs come and go": ("declares what it needs", Changeable()),
}


@attrs.frozen
class OneMore:
    """A space that leaves a token more than there is."""

    space: Space

    @property
    def question(self) -> str | None:
        return self.space.question

    @property
    def takes_blocks(self) -> bool:
        return self.space.takes_blocks

    def price(self, pieces: Any) -> list[int]:
        return self.space.price(pieces)

    def left(self, rendered: Rendered) -> int | None:
        left = self.space.left(rendered)
        return None if left is None else left + 1


@pytest.mark.usefixtures("unshrunk")
@pytest.mark.parametrize("fault", FAULTS)
def test_a_seeded_fault_of_a_strategy_is_found(fault: str) -> None:
    breach, strategy = FAULTS[fault]
    with pytest.raises(ContractError, match=breach) as raised:
        check_strategy(strategy, max_examples=40)
    assert raised.value.subject == type(strategy).__name__


@pytest.mark.parametrize("strategy", [Odd(lambda _, rendered: rendered), OddChoice()], ids=["renders", "chooses"])
def test_a_strategy_without_a_fault_passes(strategy: Strategy) -> None:
    check_strategy(strategy, max_examples=10)


@pytest.mark.parametrize("name", EVERY)
def test_the_library_s_own_strategies_keep_the_contract(name: str) -> None:
    check_strategy(EVERY[name], max_examples=10)


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        (OddChoice(needs=None), "declares no needs; add needs = Needs.QUESTION"),
        (OddChoice(needs="question"), "expected a Needs such as Needs.QUESTION, got str"),
        (attrs.make_class("Mute", {}, bases=(Odd,), class_body={"needs": Needs.RESULT})(lines), "has no method choose"),
        (Odd, "expected a strategy such as"),
    ],
)
def test_an_assembler_refuses_a_strategy_that_does_not_declare_what_it_needs(strategy: Any, expected: str) -> None:
    with pytest.raises(BudgetError, match=expected):
        Assembler(strategy=strategy)


def test_a_strategy_with_choose_that_needs_the_regions_alone_is_rendered() -> None:
    class Never(OddChoice):
        def choose(self, regions: Regions, space: Space) -> Rendered:
            raise AssertionError

    context = Assembler(strategy=Never(needs=Needs.REGIONS)).add_knowledge("a document", type="rag").build()
    assert context.system == "a document\n"


class OfTables:
    """Lays out tables alone, and loses the last one."""

    def render(self, regions: Regions) -> Rendered:
        tables = [each for each in regions.documents if each.text.startswith("| ")]
        others = [
            Omitted(f"document {at}", None, "no table")
            for at, each in enumerate(regions.documents)
            if each not in tables
        ]
        rendered = lines(attrs.evolve(regions, documents=tuple(tables[:1])))
        return attrs.evolve(rendered, omitted=tuple(others))


TABLES = ["| one |", "| two |", "| three |"]


@pytest.mark.usefixtures("unshrunk")
@pytest.mark.parametrize(
    "given",
    [{"texts": TABLES}, {"documents": [Document(text, type="rag") for text in TABLES]}],
    ids=lambda given: next(iter(given)),
)
def test_a_fault_with_texts_of_a_form_is_found_in_those_that_are_given(given: dict[str, Any]) -> None:
    with pytest.raises(ContractError, match="nothing was checked"):
        check_strategy(OfTables(), max_examples=10)
    with pytest.raises(ContractError, match="among `omitted`"):
        check_strategy(OfTables(), max_examples=30, **given)


@pytest.mark.usefixtures("unshrunk")
def test_texts_that_are_given_stand_together_in_some_case_whatever_is_drawn() -> None:
    with pytest.raises(ContractError, match="among `omitted`"):
        check_strategy(OfTables(), max_examples=1, texts=TABLES)


def test_a_class_in_place_of_its_object_is_refused() -> None:
    with pytest.raises(BudgetError, match=r"OfTables is a class.*call it"):
        check_strategy(OfTables)  # type: ignore[arg-type]
