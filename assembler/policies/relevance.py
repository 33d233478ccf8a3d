"""Scores how relevant each turn is to the question: by words, by meaning, or by the caller's function."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, cast

import attrs

from assembler.policies.argument_checks import a_plain_function
from assembler.validation import as_tuple, finite, must_be
from budgets import BudgetError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

T = TypeVar("T", bound=Sized)


class Score(Protocol):
    """Scores how relevant texts are to a question. Pure: the same texts get the same scores in every process."""

    def __call__(self, question: str, texts: Sequence[str], /) -> Sequence[float]:
        """One finite number for each text, in order. Higher means more relevant."""
        ...


_REMEMBERED = 2**22
"""The most characters of text for which a score remembers words or vectors: a session of a million tokens."""
_NUMBERS = 2**24
"""The most numbers of vectors that a score remembers: 128 MB, such as 10,922 vectors of 1,536. Short texts have vectors
that are far longer than they are.
"""


@attrs.define(eq=False)
class _Remembered(Generic[T]):
    """A cache of results by text; pickled empty.

    Emptied when the texts exceed `_REMEMBERED` characters, or the results `_NUMBERS` numbers or words.
    """

    _found: dict[str, T] = attrs.field(factory=dict[str, T], init=False)
    _characters: int = attrs.field(default=0, init=False)
    _numbers: int = attrs.field(default=0, init=False)

    def of(self, texts: Sequence[str], find: Callable[[list[str]], Sequence[T]]) -> list[T]:
        """The result for each text. Calls `find` once, with all texts that are new."""
        known = {text: self._found[text] for text in texts if text in self._found}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, find(new), strict=True))
            self._keep_results({text: known[text] for text in new})
        return [known[text] for text in texts]

    def _keep_results(self, found: Mapping[str, T]) -> None:
        longer, more = sum(map(len, found)), sum(map(len, found.values()))
        if self._characters + longer > _REMEMBERED or self._numbers + more > _NUMBERS:
            self._found, self._characters, self._numbers = {}, 0, 0
        if longer <= _REMEMBERED and more <= _NUMBERS:
            self._found.update(found)
            self._characters += longer
            self._numbers += more

    def __reduce__(self) -> tuple[type[_Remembered[T]], tuple[()]]:
        return _Remembered, ()


def _a_weight(score: object, field: attrs.Attribute[float], value: object) -> None:
    number = finite(f"BM25.{field.name}", cast("float", value))
    if number < 0 or (field.name == "b" and number > 1):
        raise BudgetError(f"BM25: {field.name} is {number}; k1 is 0 or more, and b is between 0 and 1")


@attrs.frozen
class BM25:
    """Relevance by words: how many the question and a text share; rare words count more, long texts less.

    Words are runs of letters and digits, and case does not matter. In scripts without blanks between words, every two
    neighbouring characters are a word. Nothing is stemmed and no language is assumed. The weights are those of
    Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009), with the idf of Lucene's
    BM25Similarity, which is never below 0. The defaults are Lucene's too (read 2026-11).

    O(characters) of texts that it has not seen, and O(texts · words of the question).
    """

    k1: float = attrs.field(default=1.2, validator=_a_weight)
    b: float = attrs.field(default=0.75, validator=_a_weight)
    _counted: _Remembered[Mapping[str, int]] = attrs.field(
        factory=_Remembered[Mapping[str, int]], init=False, eq=False, repr=False
    )

    def __call__(self, question: str, texts: Sequence[str], /) -> list[float]:
        """One score for each text; 0 if it shares no word with the question."""
        question, *texts = _check_texts(question, texts)
        documents = self._counted.of(texts, _count_words)
        lengths = [sum(document.values()) for document in documents]
        mean = sum(lengths) / max(len(lengths), 1)
        scores = [0.0] * len(documents)
        for word in sorted(set(words(question))):
            holding = [(place, document[word]) for place, document in enumerate(documents) if word in document]
            rarity = math.log1p((len(documents) - len(holding) + 0.5) / (len(holding) + 0.5))
            for place, times in holding:
                weight = self.k1 * (1 - self.b + self.b * lengths[place] / mean)
                scores[place] += rarity * times * (self.k1 + 1) / (times + weight)
        return scores


def _count_words(texts: list[str]) -> list[Mapping[str, int]]:
    return [Counter(words(text)) for text in texts]


def _check_texts(question: str, texts: Sequence[str]) -> list[str]:
    """The question and the texts, in one list. Raises `BudgetError` unless all are texts."""
    asked = [question, *as_tuple("texts", texts, "texts")]
    for place, text in enumerate(asked):
        must_be(f"texts[{place - 1}]" if place else "question", text, (str,), "a text (str)")
    return cast("list[str]", asked)


_WORD = re.compile(r"[^\W_]+")
_UNSPACED = (
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Thai, Lao, Burmese, Khmer, kana and Han: scripts without blanks between words (Unicode Annex 14, class SA; ID)."""
_STRETCH = re.compile(f"{_UNSPACED}+|[^{_UNSPACED[1:-1]}]+")


def words(text: str) -> Iterator[str]:
    """The words of a text, case-folded. O(characters)."""
    for word in _WORD.findall(text.casefold()):
        if word.isascii():
            yield word
            continue
        for stretch in _STRETCH.findall(word):
            if len(stretch) > 2 and re.match(_UNSPACED, stretch):
                yield from map("".join, itertools.pairwise(stretch))
            else:
                yield stretch


Embedder = Callable[[Sequence[str]], "ArrayLike"]
"""A function from texts to one vector for each, as clients of embedding models offer."""


@attrs.frozen
class Cosine:
    """Relevance by meaning: the cosine between the question's vector and each text's, as `embed` returns them.

    `embed` takes a list of texts and returns a vector for each. One build calls it once, for all texts that are new.
    The vectors of older texts are remembered, up to 16,777,216 numbers in all (128 MB); beyond that all are forgotten.
    A vector of zeros is relevant to nothing. Raises `BudgetError` unless the vectors have one length and finite
    numbers.
    """

    embed: Embedder = attrs.field(repr=False, validator=a_plain_function)
    _embedded: _Remembered[Sequence[float]] = attrs.field(
        factory=_Remembered[Sequence[float]], init=False, eq=False, repr=False
    )

    def __call__(self, question: str, texts: Sequence[str], /) -> list[float]:
        """One cosine for each text, from -1 to 1."""
        import numpy as np

        vectors = np.asarray(self._embedded.of(_check_texts(question, texts), self._embed_texts), dtype=np.float64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        units = vectors / np.where(lengths > 0, lengths, 1.0)
        return cast("list[float]", (units[1:] @ units[0]).tolist())

    def _embed_texts(self, texts: list[str]) -> Sequence[Sequence[float]]:
        import numpy as np

        embedded = self.embed([*texts])  # what it raises is not about vectors
        try:
            vectors = np.asarray(embedded, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise BudgetError("Cosine: embed must return vectors of one length") from error
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise BudgetError(
                f"Cosine: embed gave {vectors.shape} for {len(texts)} texts; return a vector of finite numbers for each"
            )
        return cast("Sequence[Sequence[float]]", list(vectors))
