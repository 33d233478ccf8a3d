"""`CitedSources`: sends knowledge as numbered sources that an answer can cite, without repeats, the best that fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

import attrs

from assembler.pricing.pricer import Piece
from assembler.regions.knowledge import SEPARATOR, Document
from assembler.regions.regions import Regions
from assembler.strategies.shelf import Shelf
from assembler.strategies.source_writer import SourceWriter, name_of, pieces_of, writer_for
from assembler.strategies.sources.duplicates import Duplicates, SameText, SimilarVectors
from assembler.strategies.sources.layout import BlockLayout, PlainSources, SourceLayout
from assembler.strategies.sources.merging import MergeNeighbours
from assembler.strategies.sources.ordering import Order, ReadingOrder, an_order, order_sources
from assembler.strategies.sources.selection import Candidate, Greedy, Selection, cap_per_document
from assembler.strategies.sources.source import Reliability, Source, ranked_sources
from assembler.strategies.sources.templates import A_TEMPLATE, SINGLE_HOP, QuestionTemplate
from assembler.strategies.strategy import (
    A_PLACEMENT,
    Around,
    Needs,
    Omitted,
    Placement,
    Rendered,
    Space,
    instruction_pieces,
)
from assembler.validation import Does, Is, as_int, iterates, wrong
from budgets import BudgetError, Tokens
from budgets.numbers import whole_tokens

_EQUALLY: Mapping[str, float] = {}
_GREEDY = Greedy()
_PLAIN = PlainSources()

SOURCES = "SOURCES:\n"
END = "END OF SOURCES"

_OPENING, _END = "words before the sources", "words after the sources"
_BEFORE, _AFTER = "words before the question", "words after the question"
FRAME = frozenset({_OPENING, _END, _BEFORE, _AFTER})
"""The names of the pieces that are not sources but words around them."""

REPEATS = "repeats"
UNFITTING = "does not fit"
CAPPED = "over per_document"
BEYOND = "beyond the top_k"
BLANK = "blank, and the API takes no blank source"

NO_HOST = "there is no question or tool result of a single text to put them next to"
NO_BLOCKS = "the API, its model, an output schema or the form of the tool result rules out blocks for sources"

_CITING = re.compile(r"[\[(\u3010\uff3b\uff08]\s*+sources?\s*+#?[0-9]", re.IGNORECASE)
"""A citation in an answer, in any spelling that `assembler.rag.citations` reads except the bare number."""


def _must_be_rules(_owner: object, _field: object, value: object) -> None:
    if isinstance(value, str) or not iterates(value):
        raise BudgetError(wrong("CitedSources: duplicates", "a list of rules such as SameText()", value))
    for place, rule in enumerate(cast("Iterable[object]", value)):
        if isinstance(rule, type) or not callable(getattr(rule, "repeated", None)):
            raise BudgetError(wrong(f"CitedSources: duplicates[{place}]", "a rule such as SameText()", rule))


def _must_be_weights(_owner: object, _field: object, value: object) -> None:
    if not isinstance(value, Mapping) and not callable(value):
        raise BudgetError(wrong("CitedSources: reliability", "a mapping from sources to weights, or a function", value))


def _must_be_place(owner: CitedSources, field: attrs.Attribute[Placement], value: Placement) -> None:
    A_PLACEMENT(owner, field, value)
    if value is Placement.SYSTEM and isinstance(owner.layout, BlockLayout):
        kind = type(owner.layout).__name__
        raise BudgetError(
            f"CitedSources: {kind} writes blocks, which no API takes in its system text; "
            "add placement=Placement.QUESTION or Placement.TOOL"
        )


def _must_be_whole(_owner: object, field: attrs.Attribute[int | None], value: int | None) -> None:
    if value is not None:
        whole_tokens(value, field.name)


@attrs.frozen
class CitedSources:
    """Sources numbered from 1 in the order in which they are read: `[Source 1]`, with document, section and page.

    The steps are duplicates → selection → merging → order → numbers. `reliability` multiplies the scores of a source.
    At most `per_document` sources come from one document, and then the `top_k` best of all stay. `max_tokens` limits
    all sources together, without the words around them. `order` may be a function: it gets the chosen documents, best
    first, and returns them in reading order. `compress` is asked for a shorter text of each source if not all fit, and
    its result is used only if it costs less.

    No source that is left out would still fit with those that stay. But `Greedy()`, the default selection, takes the
    best first and never exchanges one for two smaller ones; `Best()` does, if their scores add up to more.

    With `Placement.QUESTION`, the words of `template` surround sources and question. The sources stay in the system
    text if the question is not a single text, and with `Placement.TOOL` if the conversation does not end with a tool
    result of a single text.

    With `layout=NativeSources()` the sources are blocks of the API's own, without words around them, and the answer
    cites them through the API. An API without such blocks gets them as text, and the report says so.

    The price of a source includes its number and the rule after it. Each body is counted once. If merging frees tokens,
    the selection fills them again, as long as that only adds sources.
    """

    duplicates: Sequence[Duplicates] = attrs.field(default=(SameText(), SimilarVectors()), validator=_must_be_rules)
    selection: Selection = attrs.field(default=_GREEDY, validator=Does("pick", "a selection such as Greedy()"))
    order: Order | ReadingOrder = attrs.field(default=Order.EDGES_FIRST, validator=an_order)
    merging: MergeNeighbours | None = attrs.field(
        default=None, validator=Is((MergeNeighbours, type(None)), "MergeNeighbours() or None")
    )
    reliability: Reliability = attrs.field(default=_EQUALLY, validator=_must_be_weights)
    per_document: int | None = attrs.field(
        default=None, converter=attrs.converters.optional(as_int), validator=_must_be_whole
    )
    max_tokens: Tokens | None = attrs.field(
        default=None, converter=attrs.converters.optional(as_int), validator=_must_be_whole
    )
    layout: SourceLayout = attrs.field(default=_PLAIN, validator=Does("body", "a layout such as PlainSources()"))
    template: QuestionTemplate = attrs.field(default=SINGLE_HOP, validator=A_TEMPLATE)
    placement: Placement = attrs.field(default=Placement.SYSTEM, validator=_must_be_place)
    compress: Callable[[str], str] | None = attrs.field(
        default=None, validator=attrs.validators.optional(Does("__call__", "a function from text to text, or None"))
    )
    top_k: int | None = attrs.field(default=None, converter=attrs.converters.optional(as_int), validator=_must_be_whole)

    @property
    def needs(self) -> Needs:
        """It always needs to know the tokens left."""
        return Needs.RESULT if self.placement is Placement.TOOL else Needs.QUESTION

    def in_order(self, order: ReadingOrder) -> CitedSources:
        """A copy with another reading order."""
        return attrs.evolve(self, order=order)

    def render(self, regions: Regions) -> Rendered:
        """Put every document as a source into the system text, in the order given."""
        sources = [Source(document, place, 0.0) for place, document in enumerate(regions.documents)]
        return self._place_in_system(regions, sources or None)

    def choose(self, regions: Regions, space: Space) -> Rendered:
        """Choose the sources that fit and lay them out. O(n log n), plus counting, duplicates and the selection."""
        writer = writer_for(space, self.layout)
        sources, duplicates = self._drop_duplicates(ranked_sources(regions.documents, self.reliability), writer)
        candidates = writer.candidates(sources)
        capped = list(range(len(sources)))
        if self.per_document is not None:
            capped = cap_per_document(candidates, self.per_document)
        allowed = capped[: self.top_k]

        def lay_out(chosen: Sequence[Source]) -> Rendered:
            return self._lay_out_chosen(regions, chosen, writer)

        shelf = Shelf(sources, candidates, allowed, self.selection, writer, lay_out)
        tokens_left = self._find_tokens_left(regions, sources, writer)
        if tokens_left is None:
            chosen, rendered = allowed, shelf.layout_of(allowed)
        else:
            if self.compress is not None and len(shelf.pick(tokens_left)) < len(allowed):
                shelf = shelf.compress(self.compress)
            chosen, rendered = shelf.fit(tokens_left, self.max_tokens)
            if self.merging is not None:
                chosen, rendered = shelf.refill(tokens_left, chosen, rendered)
            if len(chosen) < len(allowed):
                whole = self._find_left_around(regions, shelf.sources, writer)
                chosen, rendered = shelf.complete(whole, self.max_tokens, chosen, rendered)
            if allowed and not chosen and self._asks_nothing(writer):  # such a message is only sent with a source
                chosen, rendered = shelf.choose_cheapest()
        reasons = {**dict.fromkeys(capped, BEYOND), **dict.fromkeys(allowed, UNFITTING)}
        return attrs.evolve(rendered, omitted=(*duplicates, *_list_omitted(sources, candidates, reasons, chosen)))

    def notes(self, rendered: Rendered, answers: Iterable[str]) -> tuple[str, ...]:
        """Notes on numbers in earlier answers that may now mean other sources, and on sources sent as text that the
        layout would write as blocks.
        """
        around = rendered.around
        if not rendered.sources or self.placement is Placement.SYSTEM or (around is not None and around.blocks):
            return ()
        notes: list[str] = []
        if isinstance(self.layout, BlockLayout):
            why = NO_HOST if around is None else NO_BLOCKS
            notes.append(f"{len(rendered.sources)} source(s) sent as text: {why}")
        if stale := sum(1 for answer in answers if _CITING.search(answer)):
            note = f"{stale} earlier answer(s) cite sources by numbers that may mean other documents in this request"
            notes.append(f"{note}: take the markers out of old answers, or keep their sources in the system text")
        return tuple(notes)

    def _drop_duplicates(self, sources: list[Source], writer: SourceWriter) -> tuple[list[Source], list[Omitted]]:
        blank = [source for source in sources if not writer.can_write(source.document.text)]
        omitted = [Omitted(name_of(source), None, BLANK) for source in blank]
        sources = [source for source in sources if source not in blank] if blank else sources
        kept_for: dict[int, Source] = {}
        dropped: list[Source] = []
        for rule in self.duplicates:
            repeated = rule.repeated(sources)
            kept_for |= {id(sources[at]): sources[kept] for at, kept in repeated.items()}
            dropped += [sources[at] for at in repeated]
            sources = [source for at, source in enumerate(sources) if at not in repeated]
        for source in dropped:
            kept = kept_for[id(source)]
            while id(kept) in kept_for:  # a later rule dropped it too
                kept = kept_for[id(kept)]
            omitted.append(Omitted(name_of(source), None, f"{REPEATS} {name_of(kept)}"))
        return sources, omitted

    def _asks_nothing(self, writer: SourceWriter) -> bool:
        """Whether the message of the question is blank without sources."""
        at_question = self.placement is Placement.QUESTION and writer.blocks(()) is not None
        return at_question and not (writer.space.question or "").strip()

    def _find_left_around(self, regions: Regions, sources: Sequence[Source], writer: SourceWriter) -> Tokens | None:
        """The tokens left for the prices of sources, besides what stands around them."""
        frame = self._place_sources(regions, writer.frame(sources), writer)
        left = writer.space.left(frame)
        return None if left is None else left + writer.cost(frame)

    def _find_tokens_left(self, regions: Regions, sources: Sequence[Source], writer: SourceWriter) -> Tokens | None:
        limits = (self._find_left_around(regions, sources, writer), self.max_tokens)
        return min((limit for limit in limits if limit is not None), default=None)

    def _lay_out_chosen(self, regions: Regions, chosen: Sequence[Source], writer: SourceWriter) -> Rendered:
        """Lay out the chosen sources in order. Neighbours are merged, unless the result would not fit."""
        if self.merging is not None:
            merged = self._place_sources(regions, order_sources(self.merging.merge(chosen), self.order) or None, writer)
            if (left := writer.space.left(merged)) is None or left >= 0:
                return merged
        return self._place_sources(regions, order_sources(chosen, self.order) or None, writer)

    def _place_sources(self, regions: Regions, sources: Sequence[Source] | None, writer: SourceWriter) -> Rendered:
        """Lay out the sources with the words around them in their place. None leaves out these words too."""
        if self.placement is Placement.SYSTEM or writer.space.question is None:
            return self._place_in_system(regions, sources)
        if (blocks := writer.blocks(sources or ())) is not None:
            around = Around(blocks=blocks) if blocks else None
            return Rendered(instruction_pieces(regions), around=around, sources=_list_documents(sources))
        lay = self._place_at_question if self.placement is Placement.QUESTION else self._place_at_result
        return lay(regions, sources)

    def _place_in_system(self, regions: Regions, sources: Sequence[Source] | None) -> Rendered:
        pieces = [*instruction_pieces(regions)]
        if sources is not None:
            pieces = [attrs.evolve(piece, text=piece.text + SEPARATOR) for piece in pieces]
            opening, end = Piece("knowledge", _OPENING, SOURCES), Piece("knowledge", _END, END)
            pieces += [opening, *pieces_of(self.layout, sources), end]
        return Rendered(tuple(pieces), sources=_list_documents(sources))

    def _place_at_question(self, regions: Regions, sources: Sequence[Source] | None) -> Rendered:
        words = self.template
        opening = Piece("knowledge", _OPENING, words.unsourced if sources is None else words.opening)
        before = (opening, *pieces_of(self.layout, sources or ()), Piece("knowledge", _BEFORE, words.question))
        after = (Piece("knowledge", _AFTER, words.closing),) if words.closing else ()
        return Rendered(instruction_pieces(regions), around=Around(before, after), sources=_list_documents(sources))

    def _place_at_result(self, regions: Regions, sources: Sequence[Source] | None) -> Rendered:
        if sources is None:
            return Rendered(instruction_pieces(regions))
        ends = Piece("knowledge", _END, END + SEPARATOR)
        return Rendered(
            instruction_pieces(regions),
            around=Around((Piece("knowledge", _OPENING, SOURCES), *pieces_of(self.layout, sources), ends)),
            sources=_list_documents(sources),
        )


def _list_omitted(
    sources: Sequence[Source], candidates: Sequence[Candidate], reasons: Mapping[int, str], chosen: Sequence[int]
) -> list[Omitted]:
    kept = set(chosen)
    return [
        Omitted(name_of(source), candidates[at].cost, reasons.get(at, CAPPED))
        for at, source in enumerate(sources)
        if at not in kept
    ]


def _list_documents(sources: Sequence[Source] | None) -> tuple[Document, ...]:
    return tuple(source.document for source in sources or ())
