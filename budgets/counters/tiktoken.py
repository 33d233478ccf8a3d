"""Exact counts by tiktoken over the bundled vocabularies. The only file that imports tiktoken.

No network, no cache folder, no environment variable: the engine is built from the package's own data, once the first
short texts were counted without it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs

from budgets.count import Tokens
from budgets.counters.blank_runs import BLOCK, LINE_BREAKS_APART, LINE_BREAKS_AS_BLANKS, cut_at_blank_runs, may_overflow
from budgets.counters.first_texts import ENCODINGS, first_texts
from budgets.counters.guard import Guarded, failure_of, refuse_surrogates
from budgets.errors import TokenCountError
from budgets.forking import ForkedLock

if TYPE_CHECKING:
    import tiktoken

BUNDLED = ("cl100k_base", "o200k_base", "o200k_harmony", "r50k_base")
"""The encodings that need no download."""

OPEN_MODELS = ("deepseek", "gemma", "qwen", "tekken")
"""The vocabularies of open models, which `open_model_counter` names by their models."""

_ADDITIVE_AT_TAG_SEAMS = frozenset({"cl100k_base", "o200k_base", "o200k_harmony", "deepseek", "qwen", "tekken"})
"""Their patterns take line breaks as pieces of their own, or whole with the punctuation before them. r50k_base's takes
the last line break of several apart when a text follows."""

_WHOLE = r"(?s:.+)"
"""A split pattern that does not split: the whole text is one piece."""

_loading = ForkedLock()


@functools.cache
def _build(encoding: str, pattern: str | None) -> tiktoken.Encoding:
    import tiktoken

    from budgets.vocabularies import mergeable_ranks, vocabulary_of
    from budgets.vocabularies.splitting import splitting

    vocabulary = vocabulary_of(encoding)
    return tiktoken.Encoding(
        encoding,
        pat_str=pattern or splitting(vocabulary.pattern),
        mergeable_ranks=first_texts(encoding).ranks if encoding in ENCODINGS else mergeable_ranks(encoding),
        special_tokens=dict(vocabulary.specials),
    )


def _engine(encoding: str, pattern: str | None = None) -> tiktoken.Encoding:
    """The engine of a bundled encoding, built once per process however many threads ask. First call 0.3 s."""
    with _loading:
        return _build(encoding, pattern)


_NO_CONTROL_TOKENS: frozenset[str] = frozenset()
_BYTES_OF_A_TOKEN = 4
"""tiktoken's tokens are unsigned integers of 32 bits."""


def _counting(engine: tiktoken.Encoding) -> Callable[[str], Tokens]:
    """How many tokens an engine finds in a text.

    What `encode_to_numpy` wraps makes no number of Python's for each token, which is a tenth of the time. It has no
    public name, so an engine without it counts the list.
    """
    packed = getattr(getattr(engine, "_core_bpe", None), "encode_to_tiktoken_buffer", None)
    if packed is None:
        encode = engine.encode_ordinary
        return lambda text: len(encode(text))
    return lambda text: memoryview(packed(text, _NO_CONTROL_TOKENS)).nbytes // _BYTES_OF_A_TOKEN


_starting = set(ENCODINGS)
"""Those of which no text was yet left to the engine."""


def _at_first(encoding: str, text: str) -> Tokens | None:
    """The tokens of one of the first short texts; None where it is the engine's, as are all from then on."""
    with _loading:
        first = first_texts(encoding)
    tokens = first.count(text)
    if tokens is None:
        _starting.discard(encoding)
    return tokens


@attrs.frozen
class TiktokenCounter(Guarded):
    """Counts exactly what tiktoken counts, text that looks like a control token as the text that it is."""

    encoding: str

    @property
    def name(self) -> str:
        """`tiktoken:` and the encoding."""
        return f"tiktoken:{self.encoding}"

    @property
    def vocabulary_sha256(self) -> str:
        """That of the bundled vocabulary."""
        from budgets.vocabularies import vocabulary_of

        return vocabulary_of(self.encoding).sha256

    @property
    def additive_at_tag_seams(self) -> bool:
        """True of most: a property test holds them to it."""
        return self.encoding in _ADDITIVE_AT_TAG_SEAMS

    @functools.cached_property
    def _count(self) -> Callable[[str], Tokens]:
        # The engine's panic cannot be reached from here: blank runs that provoke it are cut out before.
        return _counting(_engine(self.encoding))

    def __call__(self, text: str, /) -> Tokens:
        """Tokens of `text`. Raises TokenCountError for a lone surrogate, or if the vocabulary is damaged."""
        try:
            if not text.isascii():
                refuse_surrogates(self.name, text)
            if len(text) >= BLOCK and may_overflow(text):  # a text too short for it costs no call
                return self._count_around_blank_runs(text)
            if self.encoding in _starting and (tokens := _at_first(self.encoding, text)) is not None:
                return tokens
            return self._count(text)
        except BaseException as failure:  # panics are BaseExceptions
            raise failure_of(self.name, failure, text)  # noqa: B904 - chained there, unless it is the failure itself

    def _count_around_blank_runs(self, text: str) -> Tokens:
        runs = LINE_BREAKS_AS_BLANKS if self.encoding == "r50k_base" else LINE_BREAKS_APART
        whole = _engine(self.encoding, _WHOLE).encode_ordinary
        return sum(self._count(ordinary) + len(whole(run)) for ordinary, run in cut_at_blank_runs(text, runs))


def tiktoken_counter(encoding: str = "o200k_base") -> TiktokenCounter:
    """An exact, offline counter: o200k_base, cl100k_base, o200k_harmony or r50k_base (= gpt2).

    Loads nothing until its first count (0.1 s), and its engine when the first short texts are counted (0.3 s): once per
    process and encoding. Raises TokenCountError for another name.
    """
    if not isinstance(encoding, str) or encoding not in BUNDLED:  # pyright: ignore[reportUnnecessaryIsInstance]  # the language asks for it
        shown = encoding if isinstance(encoding, str) else type(encoding).__name__
        raise TokenCountError(
            f"tiktoken:{shown}", f"has no bundled vocabulary: choose {', '.join(BUNDLED)}, or pass any callable"
        )
    return TiktokenCounter(encoding)
