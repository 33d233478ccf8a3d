"""`FittedTemplate`: your own prompt template, rendered with the question and the best documents that fit."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Sequence
from typing import cast

import attrs

from assembler.errors import PromptError
from assembler.prompts.prompt import Prompt
from assembler.prompts.template import ValidatedPromptTemplate
from assembler.prompts.values import plain_or_text
from assembler.prompts.work_limit import PromptTooLongError
from assembler.regions.knowledge import SEPARATOR, Document
from assembler.regions.regions import Regions
from assembler.strategies.run_that_fits import run_that_fits
from assembler.strategies.sources.ordering import Order, ReadingOrder, an_order, order_sources
from assembler.strategies.sources.pieces import Titled, cut_prompt, join_where_counts_do_not_add, not_found
from assembler.strategies.sources.source import Source, ranked_sources
from assembler.strategies.strategy import Around, Needs, Omitted, Rendered, Space, document_name, instruction_pieces
from assembler.text.checked import checked_text
from assembler.validation import A_TEXT, Does, wrong
from budgets import BudgetError, Tokens

UNFITTING = "does not fit"
UNPRINTED = "not printed by the template"


def _read_template(given: ValidatedPromptTemplate | str) -> ValidatedPromptTemplate:
    if isinstance(given, ValidatedPromptTemplate):
        return given
    if not isinstance(cast(object, given), str):
        raise BudgetError(wrong("FittedTemplate: template", "a text or a ValidatedPromptTemplate", given))
    return ValidatedPromptTemplate((given.name if isinstance(given, Prompt) else None) or "prompt", given)


def _find_template(strategy: FittedTemplate) -> ValidatedPromptTemplate:
    return cast(ValidatedPromptTemplate, strategy.template)  # the converter made one of a text


def _takes_variable(template: ValidatedPromptTemplate, variable: str) -> bool:
    return variable in template.input_variables or variable in template.optional_variables


@attrs.frozen
class FittedTemplate:
    """Renders a template of your own, Jinja or f-string, with the question and the best documents that fit.

    `template` is a text or a `ValidatedPromptTemplate`, whose `partial` gives other variables their values. `question`
    and `documents` are the names of its two variables. A Jinja template gets a list of documents, with `text`, `type`,
    `source`, `score`, `trusted` and their metadata; an f-string gets their texts, joined by blank lines. `fields` is a
    function from a document to what the template gets in its place: plain data, or a text for an f-string. `order` is
    the order in which the documents are printed, as in `CitedSources`.

    What is rendered becomes the text of the question's message, exactly, even if it has the question twice. It is the
    system text instead, after the instruction, if the template has no variable for the question or does not print it as
    it was asked, or if the question is not a single text. The variable is then empty if there is no such text.

    A template may print anything, so each choice is rendered and priced as a whole. No document that is left out would
    still fit with those that stay, but a better one is never exchanged for others. That takes about 2·log2(documents)
    renderings for those that stay, and one or two for each that is left out; each line is counted once. A document
    without which the prompt is the same is left out too. The template must render without documents.

    Raises `PromptError` for a template that has no variable for documents, or others without a value. A build raises it
    for whatever fails in the template, with the line.
    """

    template: ValidatedPromptTemplate | str = attrs.field(converter=_read_template)
    question: str = attrs.field(default="question", validator=A_TEXT)
    documents: str = attrs.field(default="documents", validator=A_TEXT)
    order: Order | ReadingOrder = attrs.field(default=Order.SCORE, validator=an_order)
    fields: Callable[[Document], object] | None = attrs.field(
        default=None, validator=attrs.validators.optional(Does("__call__", "a function from a document to plain data"))
    )

    def __attrs_post_init__(self) -> None:
        template = _find_template(self)
        name = template.name
        if not _takes_variable(template, self.documents) or self.documents == self.question:
            raise PromptError(
                f"template {name!r} has no variable {self.documents!r} for the documents: name it with documents=…",
                name=name,
            )
        missing = [each for each in template.input_variables if each not in (self.question, self.documents)]
        if missing:
            raise PromptError(
                f"template {name!r} needs a value for: {', '.join(missing)}; bind each with template.partial(…)",
                name=name,
            )

    @property
    def needs(self) -> Needs:
        """The question, and the tokens left."""
        return Needs.QUESTION

    def in_order(self, order: ReadingOrder) -> FittedTemplate:
        """A copy with another reading order."""
        return attrs.evolve(self, order=order)

    def render(self, regions: Regions) -> Rendered:
        """Put the prompt with every document that the template prints, and no question, into the system text."""
        return self._lay_out_chosen(_Prompts(self, regions, None), ranked_sources(regions.documents, {}), {})

    def choose(self, regions: Regions, space: Space) -> Rendered:
        """Keep the best documents with which the whole rendering fits."""
        prompts = _Prompts(self, regions, space.question)
        ranked = ranked_sources(regions.documents, {})
        if space.left(prompts.laid_out(())) is None:
            return self._lay_out_chosen(prompts, ranked, {})

        def left(chosen: Sequence[Source]) -> Tokens | None:
            try:
                return space.left(prompts.laid_out(chosen))
            except PromptTooLongError:
                return None

        chosen, costs = _choose_best_that_fit(ranked, left)
        if not chosen and prompts.asks_nothing:  # an empty message cannot be sent, so what it needs is a document
            chosen = _choose_cheapest(ranked, left)
        return self._lay_out_chosen(
            prompts, chosen, {source: cost for source, cost in costs.items() if source not in chosen}
        )

    def _lay_out_chosen(
        self, prompts: _Prompts, chosen: Sequence[Source], unfitting: dict[Source, Tokens | None]
    ) -> Rendered:
        printed, unprinted = prompts.printed(chosen)
        omitted = [
            *(Omitted(_name_source(source), cost, UNFITTING) for source, cost in unfitting.items()),
            *(Omitted(_name_source(source), 0, UNPRINTED) for source in unprinted),
        ]
        return attrs.evolve(prompts.laid_out(printed), omitted=tuple(omitted))


def _choose_best_that_fit(
    ranked: Sequence[Source], left: Callable[[Sequence[Source]], Tokens | None]
) -> tuple[list[Source], dict[Source, Tokens | None]]:
    """The sources to send, and the others with what each would add to the cost.

    First the longest run that doubling and bisection find. Then each other source is tried, best first, until none of
    those that are left fits beside the chosen ones.
    """

    def fits(count: int) -> bool:
        after = left(ranked[:count])
        return after is not None and after >= 0

    run = run_that_fits(len(ranked), fits)
    chosen, untaken, costs = [*ranked[:run]], deque(ranked[run:]), dict[Source, Tokens | None]()
    now, refused = left(chosen), 0
    while refused < len(untaken):
        source = untaken.popleft()
        after = left([*chosen, source])
        if after is not None and after >= 0:
            chosen.append(source)
            now, refused = after, 0
            continue
        costs[source] = None if after is None or now is None else max(0, now - after)
        untaken.append(source)
        refused += 1
    left_out = set(untaken)
    return chosen, {source: costs[source] for source in ranked if source in left_out}


def _choose_cheapest(ranked: Sequence[Source], left: Callable[[Sequence[Source]], Tokens | None]) -> list[Source]:
    """The source with which most tokens are left; an empty list if the template can print none."""
    after = {source: left([source]) for source in ranked}
    known = [source for source in ranked if after[source] is not None]
    return [max(known, key=lambda source: after[source] or 0)] if known else []


@attrs.define(eq=False)
class _Prompts:
    """Renders the template with any of the documents, and lays it out. What each document is, is computed once."""

    strategy: FittedTemplate
    regions: Regions
    question: str | None
    _values: dict[Source, object] = attrs.field(init=False, factory=dict[Source, object])
    _bare: Prompt = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._bare = self._render_ordered(())

    @property
    def asks_nothing(self) -> bool:
        """Whether the message of the question is blank without documents."""
        return self._find_question(self._bare) is not None and not self._bare.text.strip()

    def laid_out(self, chosen: Sequence[Source]) -> Rendered:
        """The rendering in the message of the question, if it prints the question; else in the system text."""
        ordered = order_sources(chosen, self.strategy.order)
        prompt = self._render_ordered(ordered) if ordered else self._bare
        documents = [Titled(_name_source(source), source.document.text) for source in ordered]
        words = " ".join(f"template {prompt.name}".split())
        sources = tuple(source.document for source in ordered)
        place = self._find_question(prompt)
        text, bare = prompt.text, self._bare.text
        own = instruction_pieces(self.regions)
        if place is None:
            if text:
                own = tuple(attrs.evolve(piece, text=piece.text + SEPARATOR) for piece in own)
            pieces = join_where_counts_do_not_add([*own, *cut_prompt(text, bare, documents, words)])
            return Rendered(tuple(pieces), sources=sources)
        start, stop = place
        bare_start, bare_stop = self._find_question(self._bare) or (len(bare), len(bare))
        before = cut_prompt(text[:start], bare[:bare_start], documents, words)
        after = cut_prompt(text[stop:], bare[bare_stop:], documents, words)
        around = Around(tuple(before), tuple(after)) if before or after else None
        return Rendered(own, around=around, sources=sources)

    def printed(self, chosen: Sequence[Source]) -> tuple[list[Source], list[Source]]:
        """Those that the template prints, and those without which the prompt is the same.

        A document that is found in the prompt is printed. For each other one the prompt is rendered without it.
        """
        kept, ordered = [*chosen], order_sources(chosen, self.strategy.order)
        prompt = self._render_ordered(ordered)
        missing = {ordered[at] for at in not_found(prompt.text, [source.document.text for source in ordered])}
        unprinted: list[Source] = []
        for source in reversed([source for source in chosen if source in missing]):
            fewer = [each for each in kept if each is not source]
            if self._render_ordered(order_sources(fewer, self.strategy.order)) == prompt:
                kept = fewer
                unprinted.insert(0, source)
        return kept, unprinted

    def _render_ordered(self, ordered: Sequence[Source]) -> Prompt:
        values = {self.strategy.documents: self._write_sources(ordered)}
        if self._takes_question:
            values[self.strategy.question] = self.question or ""
        return self._own_template.format(**values)

    def _write_sources(self, ordered: Sequence[Source]) -> object:
        listed = [self._list_fields_of(source) for source in ordered]
        if self._is_jinja:
            return listed
        return SEPARATOR.join(checked_text(text, field="fields of a document") for text in listed)

    def _list_fields_of(self, source: Source) -> object:
        if source not in self._values:
            write = self.strategy.fields or (_list_fields if self._is_jinja else _find_text)
            self._values[source] = plain_or_text(write(source.document))
        return self._values[source]

    def _find_question(self, prompt: Prompt) -> tuple[int, int] | None:
        """Where the prompt has the question as a value, the last time on its own if there is such a place."""
        question, text = self.question, prompt.text
        if question is None or not self._takes_question:
            return None
        alone = (span[0] for span in reversed(prompt.values) if text[slice(*span)] == question)
        within = (place for span in prompt.values if (place := text.find(question, *span)) >= 0)
        start = next(itertools.chain(alone, within), None)
        return None if start is None else (start, start + len(question))

    @property
    def _own_template(self) -> ValidatedPromptTemplate:
        return _find_template(self.strategy)

    @property
    def _is_jinja(self) -> bool:
        return self._own_template.template_format == "jinja2"

    @property
    def _takes_question(self) -> bool:
        return _takes_variable(self._own_template, self.strategy.question)


def _find_text(document: Document) -> str:
    return document.text


def _list_fields(document: Document) -> dict[str, object]:
    """What a Jinja template can print of a document: its metadata, and its own fields, which come first."""
    own = {"source": document.source, "score": document.score}
    known = {name: value for name, value in own.items() if value is not None}
    always = {"text": document.text, "type": document.type, "trusted": document.trusted}
    return {**own, **(document.metadata or {}), **known, **always}


def _name_source(source: Source) -> str:
    return document_name(source.document, source.place)
