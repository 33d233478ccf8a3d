"""Exact counts with tiktoken and the bundled vocabularies. Only this file imports tiktoken.

It needs no network, cache folder or environment variable: the engine is built from the package's own data, after the
first short texts were counted without it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

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
"""The vocabularies of open models, for `open_model_counter`."""

_ADDITIVE_AT_TAG_SEAMS = frozenset({"cl100k_base", "o200k_base", "o200k_harmony", "deepseek", "qwen", "tekken"})
"""Their patterns match line breaks as pieces of their own, or together with the punctuation before them. r50k_base
separates the last of several line breaks before a text."""

_WHOLE = r"(?s:.+)"
"""A split pattern that does not split: the whole text is one piece."""

_loading = ForkedLock()


@functools.cache
def _build_engine(encoding: str, pattern: str | None) -> tiktoken.Encoding:
    from budgets.vocabularies import mergeable_ranks, vocabulary_of
    from budgets.vocabularies.splitting import find_faster_pattern

    vocabulary = vocabulary_of(encoding)
    pattern = pattern or find_faster_pattern(vocabulary.pattern)
    ranks = first_texts(encoding).ranks if encoding in ENCODINGS else mergeable_ranks(encoding)
    specials = dict(vocabulary.specials)
    try:
        import tiktoken
    except RuntimeError:  # the main thread has ended, and the package imports a pool of threads
        return _load_core()(ranks, specials, pattern)
    return tiktoken.Encoding(encoding, pat_str=pattern, mergeable_ranks=ranks, special_tokens=specials)


def _load_core() -> Callable[..., tiktoken.Encoding]:
    """Load the compiled part of tiktoken alone, which counts the same and needs no threads.

    In exit handlers, and in threads that outlive the main one, Python loads no pool of threads any more.
    """
    import importlib.util
    from importlib.machinery import PathFinder
    from types import ModuleType

    package: Any = importlib.util.find_spec("tiktoken")
    spec: Any = PathFinder.find_spec("tiktoken._tiktoken", package.submodule_search_locations)
    compiled: ModuleType = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(compiled)
    core: Callable[..., tiktoken.Encoding] = compiled.CoreBPE
    return core


def _load_engine(encoding: str, pattern: str | None = None) -> tiktoken.Encoding:
    """The engine of a bundled encoding, built once per process, also with threads. The first call takes 0.3 s."""
    with _loading:
        return _build_engine(encoding, pattern)


_NO_CONTROL_TOKENS: frozenset[str] = frozenset()
_BYTES_OF_A_TOKEN = 4
"""tiktoken's tokens are unsigned integers of 32 bits."""


def _make_count(engine: tiktoken.Encoding) -> Callable[[str], Tokens]:
    """A function that counts the tokens of a text with an engine.

    The function behind `encode_to_numpy` makes no Python int for each token, which saves a tenth of the time. It is not
    public, so without it the length of the list is used.
    """
    packed = getattr(getattr(engine, "_core_bpe", None), "encode_to_tiktoken_buffer", None)
    if packed is None:
        encode = engine.encode_ordinary
        return lambda text: len(encode(text))
    return lambda text: memoryview(packed(text, _NO_CONTROL_TOKENS)).nbytes // _BYTES_OF_A_TOKEN


_starting = set(ENCODINGS)
"""The encodings whose engine has not counted yet."""


def _count_first_text(encoding: str, text: str) -> Tokens | None:
    """The tokens of one of the first short texts; None if the engine must count it, and from then on all others."""
    with _loading:
        first = first_texts(encoding)
    tokens = first.count(text)
    if tokens is None:
        _starting.discard(encoding)
    return tokens


@attrs.frozen
class TiktokenCounter(Guarded):
    """Counts exactly what tiktoken counts. Text that looks like a control token counts as plain text."""

    encoding: str

    @property
    def name(self) -> str:
        """`tiktoken:` and the encoding."""
        return f"tiktoken:{self.encoding}"

    @property
    def vocabulary_sha256(self) -> str:
        """The hash of the bundled vocabulary."""
        from budgets.vocabularies import vocabulary_of

        return vocabulary_of(self.encoding).sha256

    @property
    def additive_at_tag_seams(self) -> bool:
        """Whether the counts add up there: for most encodings, as a property test checks."""
        return self.encoding in _ADDITIVE_AT_TAG_SEAMS

    @functools.cached_property
    def _count(self) -> Callable[[str], Tokens]:
        # The engine cannot panic here, because the blank runs that cause it are cut out before.
        return _make_count(_load_engine(self.encoding))

    def __call__(self, text: str, /) -> Tokens:
        """Tokens of `text`. Raises TokenCountError for a lone surrogate, or if the vocabulary is damaged."""
        try:
            if not text.isascii():
                refuse_surrogates(self.name, text)
            if len(text) >= BLOCK and may_overflow(text):  # the length is checked first to save a call
                return self._count_around_blank_runs(text)
            if self.encoding in _starting and (tokens := _count_first_text(self.encoding, text)) is not None:
                return tokens
            return self._count(text)
        except BaseException as failure:  # panics are BaseExceptions
            raise failure_of(self.name, failure, text)  # noqa: B904 - chained there, unless it is the failure itself

    def _count_around_blank_runs(self, text: str) -> Tokens:
        runs = LINE_BREAKS_AS_BLANKS if self.encoding == "r50k_base" else LINE_BREAKS_APART
        whole = _load_engine(self.encoding, _WHOLE).encode_ordinary
        return sum(self._count(ordinary) + len(whole(run)) for ordinary, run in cut_at_blank_runs(text, runs))


def tiktoken_counter(encoding: str = "o200k_base") -> TiktokenCounter:
    """An exact, offline counter: o200k_base, cl100k_base, o200k_harmony or r50k_base (= gpt2).

    Loads nothing until its first count (0.1 s), and its engine after the first short texts (0.3 s), once per process
    and encoding. Raises `TokenCountError` for another name.
    """
    if not isinstance(encoding, str) or encoding not in BUNDLED:  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may pass anything
        shown = encoding if isinstance(encoding, str) else type(encoding).__name__
        raise TokenCountError(
            f"tiktoken:{shown}", f"has no bundled vocabulary: choose {', '.join(BUNDLED)}, or pass any callable"
        )
    return TiktokenCounter(encoding)
