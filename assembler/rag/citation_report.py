"""Reports what an answer cites, sentence by sentence, and checks its quotes against the sources."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from operator import itemgetter
from typing import Any, TypeAlias, TypeVar, cast

import attrs

from assembler.context import Context
from assembler.errors import PromptError, WrongTypeError
from assembler.rag.citations import Citation, parse_citations
from assembler.rag.native_citations import Numbers, Passage, blocks_of, numbers_in, read_answer
from assembler.rag.prompt_builder import PromptComponents
from assembler.rag.sentences import Span, plain_words, quote_spans, says, sentence_spans
from assembler.validation import must_be, name_of_value
from budgets.errors import OfTheCaller

_T = TypeVar("_T")

Cited: TypeAlias = PromptComponents | Context[Any] | Mapping[int, str]
"""The sources of an answer: a prompt, a context of `CitedSources`, or the texts by their numbers."""


@attrs.frozen
class Quote:
    """A direct quote: its span without the marks, and the sources that contain it.

    `confirmed` are cited sources that contain it, or any sources if its sentence cites none. `elsewhere` are other
    sources that contain it; they are only searched if no cited one does.
    """

    start: int
    end: int
    confirmed: tuple[int, ...]
    elsewhere: tuple[int, ...] = ()


@attrs.frozen
class Sentence:
    """One sentence: its span in characters, its markers, and its quotes."""

    start: int
    end: int
    citations: tuple[Citation, ...] = ()
    quotes: tuple[Quote, ...] = ()

    @property
    def sources(self) -> tuple[int, ...]:
        """The cited sources, each once, in order."""
        return tuple(dict.fromkeys(number for one in self.citations for number in one.sources))


@attrs.frozen
class CitationReport:
    """Every sentence of an answer with its citations. Holds spans and numbers, no text."""

    sentences: tuple[Sentence, ...]
    unused: tuple[int, ...]
    """The sources that no sentence cites."""

    @property
    def used(self) -> tuple[int, ...]:
        """The cited sources, in order of their numbers."""
        return tuple(sorted({number for sentence in self.sentences for number in sentence.sources}))

    @property
    def uncited(self) -> tuple[Sentence, ...]:
        """The sentences that cite no issued source."""
        return tuple(sentence for sentence in self.sentences if not sentence.sources)

    @property
    def suspect(self) -> tuple[Citation, ...]:
        """The markers with a number that was not issued, or without a readable number."""
        every = dict.fromkeys(one for sentence in self.sentences for one in sentence.citations)
        return tuple(one for one in every if one.unknown or one.unread)

    @property
    def unconfirmed(self) -> tuple[Quote, ...]:
        """The quotes that no source cited in their sentence contains."""
        return tuple(quote for sentence in self.sentences for quote in sentence.quotes if not quote.confirmed)


def citation_report(answer: object, prompt: Cited) -> CitationReport:
    """Map every sentence to the sources that it cites, with spans.

    `answer` is a text, whose markers are read, or the message of an answer, as a dict or the SDK's object: then the
    citations of the API are read too, if it has any. Each counts for all sentences of the passage that it stands at.
    The spans are in `answer_text(answer)`. Without a `Context`, the first block for a source is number 1.

    Linear in the answer, plus one search of each cited source for each different quote. Raises TypeError for a `prompt`
    of another type, and PromptError for an answer or a source that is not a text, and for a key that is no number.
    """
    read = read_answer(answer)
    texts = {number: plain_words(text) for number, text in sources_of(prompt).items()}
    # No number was shown to the model if the sources were blocks.
    shown = () if isinstance(prompt, Context) and blocks_of(prompt) else texts.keys()
    markers = parse_citations(read.text, shown)
    quoted = list(quote_spans(read.text))
    spans = sentence_spans(read.text, [(one.start, one.end) for one in markers], quoted)
    citations = _group_by_sentence(spans, [(one.start, one) for one in markers])
    if read.passages:
        numbers = numbers_in(prompt) if isinstance(prompt, Context) else Numbers(0, texts.keys())
        for passage, citation in numbers.cited(read.passages):
            for at in _find_sentences(passage, spans):
                citations.setdefault(at, []).append(citation)
    quotes = _group_by_sentence(spans, [(span[0], span) for span in quoted])
    search = _Search(read.text, texts)
    sentences = tuple(
        _make_sentence(span, citations.get(at, []), quotes.get(at, []), search) for at, span in enumerate(spans)
    )
    cited = {number for sentence in sentences for number in sentence.sources}
    return CitationReport(sentences, tuple(number for number in texts if number not in cited))


def _find_sentences(passage: Passage, spans: Sequence[Span]) -> list[int]:
    """The sentences that a passage is a part of, or the one before it if it is in none."""
    first = max(bisect_right(spans, passage.start, key=itemgetter(0)) - 1, 0)
    last = bisect_left(spans, passage.end, lo=first, key=itemgetter(0))
    return [at for at in range(first, last) if spans[at][1] > passage.start] or [first]


def sources_of(prompt: Cited) -> dict[int, str]:
    """The text of each source by its number, as the model saw it but without escapes."""
    if isinstance(prompt, Mapping):
        with OfTheCaller("prompt", PromptError):
            texts = dict(prompt.items())
        for place, (number, text) in enumerate(texts.items()):
            if not isinstance(cast(object, number), Real):
                found = name_of_value(number)
                raise PromptError(
                    f"prompt: expected a mapping from numbers of sources to texts, got the key of a {found}; out of "
                    "JSON, pass {int(number): text for number, text in found.items()}"
                )
            must_be(f"prompt: text {place} of the mapping", text, (str,), "a text", PromptError)
        return texts
    if not isinstance(cast(object, prompt), PromptComponents | Context):
        raise WrongTypeError(f"expected PromptComponents, a Context or a mapping, got {type(prompt).__name__}")
    if isinstance(prompt, PromptComponents) and len(prompt.sources) != prompt.source_count:
        raise PromptError("these PromptComponents hold no sources: pass the texts by their numbers, {1: text}")
    return {number: source.text for number, source in enumerate(prompt.sources, 1)}


@attrs.frozen(eq=False)
class _Search:
    answer: str
    texts: Mapping[int, str]
    known: dict[tuple[str, int], bool] = attrs.field(factory=dict[tuple[str, int], bool])

    def among(self, quote: str, numbers: Sequence[int]) -> tuple[int, ...]:
        return tuple(number for number in numbers if self._contains(number, quote))

    def _contains(self, number: int, quote: str) -> bool:
        key = (quote, number)
        if key not in self.known:
            self.known[key] = says(self.texts[number], quote)
        return self.known[key]


def _make_sentence(span: Span, citations: Sequence[Citation], quotes: Sequence[Span], search: _Search) -> Sentence:
    sentence = Sentence(*span, citations=tuple(citations))
    cited = sentence.sources or tuple(search.texts)
    return attrs.evolve(sentence, quotes=tuple(_check_quote(quote, cited, search) for quote in quotes))


def _check_quote(span: Span, cited: Sequence[int], search: _Search) -> Quote:
    text = search.answer[slice(*span)]
    confirmed = search.among(text, cited)
    if confirmed:
        return Quote(*span, confirmed=confirmed)
    others = search.among(text, sorted(search.texts.keys() - set(cited)))
    return Quote(*span, confirmed=(), elsewhere=others)


def _group_by_sentence(spans: Sequence[Span], items: Iterable[tuple[int, _T]]) -> dict[int, list[_T]]:
    """Group the items by the sentence in which they begin. One before the first sentence belongs to the first."""
    starts = [start for start, _ in spans]
    grouped: dict[int, list[_T]] = {}
    for place, item in items:
        grouped.setdefault(max(bisect_right(starts, place) - 1, 0), []).append(item)
    return grouped
