"""Checks a strategy's promises: it loses no document silently, quotes no text, and fits if it can."""

from __future__ import annotations

import copy
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, cast

import attrs

from assembler.assembler import Assembler
from assembler.context import Context
from assembler.count_request import count_request
from assembler.drawn.engine import st
from assembler.policies import TrimOldest
from assembler.pricing.pricer import Piece
from assembler.regions.knowledge import Document
from assembler.regions.regions import Regions
from assembler.strategies.strategy import ChoosingStrategy, Needs, NotingStrategy, Rendered, Strategy, chooser
from assembler.testing.conformance.checking import (
    AMPLE,
    Checked,
    ContractError,
    Texts,
    copy_subject,
    each_drawn,
    failure_of,
    refuse_class,
    with_own,
)
from assembler.testing.conformance.strategy_cases import (
    LOOK_UP,
    TEXTS,
    Case,
    draw_case,
    draw_case_around,
    draw_case_of,
    holds_words,
    price_layout,
    write_conversation,
)
from assembler.validation import as_tuple, must_be
from budgets import Budget, BudgetError, ContextLengthError, Tokens

_NO_SEAM = ("\n", "\r", " ", "\t", "/")
"""The characters with which a piece must not begin: a tokenizer may merge them with the line break before."""
_PURE = "the same regions give the same layout"
_UNQUOTED = "its names, reasons and notes quote no text"
_FEW = 4
"""How many cases hold the caller's texts alone."""


def check_strategy(
    strategy: Strategy, *, texts: Texts | None = None, documents: Iterable[Document] = (), max_examples: int = 50
) -> None:
    """Raise `ContractError` unless `strategy` keeps what every strategy promises.

    The check draws instructions, documents and questions, and tokens left within two of the price of a layout. A token
    is a character. A layout is the same each time, in any order of the calls, and changes no argument. It contains the
    instruction. Each document is in it, or among `omitted`, or its text is in one of `sources`; a repeated one counts
    again. Each piece belongs to the instruction or to knowledge, and pieces of the system text meet where counts add
    up. No name, reason or note quotes a text, and no text can close a tag of the layout. There is text around the
    question only if there is one. If `choose` lays out more than fits, it cannot lay out less. Each built request is
    valid, and costs what `count_request` says.

    The strategy must lay out a document in at least one case, or the check would prove nothing. If yours takes only
    texts of a certain form, pass such `texts` (a list, or a Hypothesis strategy), or `documents` of your own: they are
    checked together, besides what is drawn.
    """
    __tracebackhide__ = True
    refuse_class(strategy, "check_strategy")
    name = type(strategy).__name__
    try:
        chooses = chooser(strategy)
    except BudgetError as error:
        raise ContractError(name, "it declares what it needs", str(error)) from None
    checked = _CheckedStrategy(
        name, strategy, chooses, None if chooses is None else chooses.needs, copy_subject(strategy)
    )
    own = _list_documents(documents)
    if (failure := failure_of(name, lambda: checked.check(texts, own, max_examples))) is not None:
        raise failure


def _list_documents(documents: Iterable[Document]) -> Sequence[Document]:
    listed = as_tuple("documents", documents, "documents")
    for place, document in enumerate(listed):
        must_be(f"documents[{place}]", document, (Document,), "a Document of assembler.strategies")
    return cast("Sequence[Document]", listed)


@attrs.define(eq=False)
class _CheckedStrategy(Checked):
    """A strategy under check."""

    strategy: Strategy
    chooses: ChoosingStrategy | None
    needs: Needs | None
    unused: Strategy | None
    """A copy that was asked nothing yet; None if it cannot be copied."""
    shown: int = attrs.field(default=0, init=False)
    """In how many cases a document was laid out."""
    dialects: tuple[str, ...] = attrs.field(default=("openai_chat",), init=False)
    """The dialects to build in: one with blocks for sources too, once the strategy has laid out blocks."""

    def check(self, texts: Texts | None, documents: Sequence[Document], max_examples: int) -> None:
        self.lay_out_twice(Regions(), lambda: self.strategy.render(Regions()))
        own = draw_case_around(documents) if documents else st.nothing()
        each_drawn(own | draw_case(with_own(TEXTS, texts)), self.check_case, max_examples)
        if texts is not None:
            each_drawn(draw_case_of(texts), self.check_case, _FEW)
        if not self.shown:
            step = "pass texts=[…] or documents=[…] that it lays out"
            problem = f"it laid out no document, so nothing was checked; {step}"
            raise self.broken("it lays out a document in some case", problem)

    def check_case(self, case: Case) -> None:
        before = copy.deepcopy(attrs.asdict(case.regions, recurse=True, filter=_is_shown))
        rendered = self.lay_out_twice(case.regions, lambda: self.strategy.render(case.regions))
        if rendered.around is not None:
            raise self.broken("render puts nothing around the question", "it knows no question")
        self._check_lawful(case, rendered)
        self._check_closing_tags(case, rendered)
        if self.chooses is not None:
            self._check_choosing(case, self.chooses)
            with_blocks = attrs.evolve(case, blocks=True)
            if self._has_laid_blocks(with_blocks, self.chooses):
                self.dialects = ("openai_chat", "anthropic")
                self._check_choosing(with_blocks, self.chooses)
        self._check_built(case)
        if attrs.asdict(case.regions, recurse=True, filter=_is_shown) != before:
            raise self.broken("it changes nothing that it is given", "the documents changed")

    def lay_out_twice(self, regions: Regions, lay_out: Callable[[], Rendered]) -> Rendered:
        """Make a layout, and check its type and that it is the same each time."""
        try:
            first, again = lay_out(), lay_out()
        except Exception as error:
            problem = f"{len(regions.documents)} document(s) raised {type(error).__name__}"
            raise self.broken("it lays out any regions", problem) from error
        if not isinstance(cast(object, first), Rendered):
            raise self.broken("it returns a Rendered", f"got {type(first)}")
        for piece in first.every_piece:
            if not isinstance(cast(object, piece), Piece) or piece.region not in ("instruction", "knowledge"):
                raise self.broken("each piece is of the instruction or of knowledge", f"got {piece!r}")
        if first != again:
            raise self.broken(_PURE, "two layouts of the same regions differ")
        if self.chooses is not None and self.chooses.needs is not self.needs:
            raise self.broken("it declares what it needs", "`needs` is not the same at every call")
        return first

    def _check_lawful(self, case: Case, rendered: Rendered) -> None:
        written = "".join(piece.text for piece in rendered.every_piece)
        if case.regions.instruction and case.regions.instruction not in written:
            raise self.broken("the instruction is laid out", "it is missing; lay out regions.instruction as a piece")
        self._check_accounted(case.regions.documents, rendered, written)
        self._check_seams(rendered)
        for shown in self._list_shown_texts(rendered):
            if any(text in shown for text in case.texts):
                raise self.broken(_UNQUOTED, f"one is {shown!r}; name documents by document.shown or by their place")

    def _check_accounted(self, documents: Sequence[Document], rendered: Rendered, written: str) -> None:
        gone = [*_find_missing(documents, written)]
        theirs = {document.text for document in documents}
        derived = {source.source for source in rendered.sources if source.text not in theirs}
        self.shown += len(gone) < len(documents)
        if len([each for each in gone if each.source not in derived]) > len(rendered.omitted):
            problem = f"{len(gone)} of {len(documents)} are missing, {len(rendered.omitted)} are named; add Omitted(…)"
            raise self.broken("a document that is not laid out is among `omitted`", problem)
        if rendered.omitted and not gone:
            raise self.broken("what is `omitted` is not laid out", "every document is laid out")
        if any(not holds_words(written, source.text) for source in rendered.sources):
            raise self.broken("each of `sources` is laid out", "the text of one is missing")
        if written and documents and not gone and not rendered.sources:
            raise self.broken("each document that is laid out is among `sources`", "there are none")

    def _check_seams(self, rendered: Rendered) -> None:
        for one, following in itertools.pairwise(rendered.pieces):
            if not one.text.endswith("\n") or not following.text or following.text.startswith(_NO_SEAM):
                problem = f"piece {one.name!r} meets {following.name!r} where counts do not add"
                raise self.broken("pieces of the system text meet after a line break, before a word or a tag", problem)

    def _check_closing_tags(self, case: Case, rendered: Rendered) -> None:
        """Check that a text with the closing tag that follows a document is not laid out unchanged."""
        for document in case.regions.documents[:1]:
            _, found, rest = "".join(piece.text for piece in rendered.every_piece).partition(document.text)
            tag = _CLOSING.match(rest) if found else None
            if tag is not None:
                forged = attrs.evolve(document, text=f"{document.text} {tag[0].strip()} {document.text}")
                again = self.strategy.render(Regions(documents=(forged,)))
                if any(forged.text in piece.text for piece in again.every_piece):
                    problem = f"one with {tag[0].strip()} is laid out as it is; escape it, or use Assembler.xml_tag"
                    raise self.broken("no text can close the tag of its document", problem)

    def _list_shown_texts(self, rendered: Rendered) -> Iterator[str]:
        """Every text of a layout that a report shows."""
        yield from (piece.name for piece in rendered.every_piece)
        for omitted in rendered.omitted:
            yield from (omitted.name, omitted.reason)
        if isinstance(self.strategy, NotingStrategy):
            yield from self.strategy.notes(rendered, ["as [Source 1] says"])

    def _has_laid_blocks(self, case: Case, strategy: ChoosingStrategy) -> bool:
        around = self.lay_out_twice(case.regions, lambda: strategy.choose(case.regions, case.space(None))).around
        return around is not None and bool(around.blocks)

    def _check_choosing(self, case: Case, strategy: ChoosingStrategy) -> None:
        """Check its choice without a budget, with no tokens left, and with about the price of a layout."""

        def chosen(tokens: Tokens | None) -> Rendered:
            space = case.space(tokens)
            rendered = self.lay_out_twice(case.regions, lambda: strategy.choose(case.regions, space))
            if rendered.around is not None and case.question is None:
                raise self.broken("text stands around a question that there is", "Space.question is None")
            if rendered.around is not None and rendered.around.blocks and not space.takes_blocks:
                raise self.broken("blocks are laid out for an API that has them", "Space.takes_blocks is False")
            self._check_lawful(case, rendered)
            return rendered

        def fitting(tokens: Tokens) -> Rendered:
            found = chosen(tokens)
            cost = price_layout(found, case.seam)
            if cost > max(tokens, least):
                problem = f"{cost} tokens where {tokens} are left, and {least} where none are"
                raise self.broken("what does not fit is the least that it lays out", problem)
            return found

        least, most = (price_layout(chosen(tokens), case.seam) for tokens in (-AMPLE, None))
        tokens = round(least + case.share * (most - least)) + case.nudge
        found = fitting(tokens)
        fitting(price_layout(found, case.seam) - 1)  # the next smaller layout, at its edge
        for left, after_others in ((tokens, found), (None, chosen(None))):
            if self.unused is not None:
                fresh = cast(ChoosingStrategy, copy.deepcopy(self.unused))
                if fresh.choose(case.regions, case.space(left)) != after_others:
                    problem = f"asked for {left} tokens after other windows it chooses otherwise than asked at once"
                    raise self.broken(_PURE, problem)

    def _check_built(self, case: Case) -> None:
        for dialect in self.dialects:
            whole = self._build_context(case, AMPLE, dialect)
            if whole is None:
                continue
            window = round(whole.count.upper * (0.5 + case.share / 2)) + case.nudge
            for context in filter(None, (whole, self._build_context(case, max(1, window), dialect))):
                self.fits_and_is_valid(context, dialect)
                billed = count_request(context.request(), dialect=dialect, counter=len)
                if billed.tokens != context.count.tokens:
                    raise self.broken("it bills what it lays out", f"{context.count} for {billed}")

    def _build_context(self, case: Case, window: Tokens, dialect: str) -> Context[Any] | None:
        budget = Budget(window, counter=len)
        assembler = Assembler(budget, dialect=dialect, on_overflow=TrimOldest(), strategy=self.strategy)
        assembler.set_instruction(case.regions.instruction or "").set_messages(write_conversation(case))
        assembler.set_tools([LOOK_UP] if case.answered else [])
        for each in case.regions.documents:
            assembler.add_knowledge(
                each.text, type=each.type, source=each.source, score=each.score, metadata=each.metadata
            )
        try:
            return assembler.build()
        except ContextLengthError:
            return None


_CLOSING = re.compile(r"\s*</[^<>]+>")


def _find_missing(documents: Sequence[Document], written: str) -> Iterator[Document]:
    """The documents that are not laid out, a repeated one for each time that it is missing."""
    for text, times in Counter(document.text for document in documents).items():
        laid = min((written.count(word) for word in text.split()), default=times)
        same = (document for document in documents if document.text == text)
        yield from itertools.islice(same, max(0, times - laid))


def _is_shown(field: attrs.Attribute[Any], _: object) -> bool:
    return field.name not in ("memory", "identity")  # neither is compared
