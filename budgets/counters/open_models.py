"""Counters with the bundled vocabularies of open models. Imports no tokenizer.

Gemma's vocabulary, which Google publishes and Gemini bills by, consists of characters, but tiktoken merges bytes. The
packed vocabulary merges the bytes of each character first, so that both give the same pieces. The rest is done here: a
character without a piece costs as many tokens as it has bytes, and each HTML tag is one token.
"""

from __future__ import annotations

import functools
import re
from typing import TypeAlias

import attrs

from budgets.count import Grade, Tokens
from budgets.counters.guard import Guarded, refuse_surrogates
from budgets.counters.tiktoken import OPEN_MODELS, TiktokenCounter
from budgets.errors import TokenCountError
from budgets.lazy_patterns import compile_later
from budgets.models.families import open_vocabulary_of

GEMMA = "gemma"
BLANK = "▁"
"""The character that Gemma uses for a blank. In a text it counts as a blank."""

_TAG = compile_later(
    r"</?(?:table|caption|thead|tbody|tfoot|tr|th|td|h[1-6]|blockquote|strong|em|b|i|u|s|sub|sup|code|a|html|body|img"
    r"|span|bbox|ul|li|div|iframe|footer)>"
)


@attrs.frozen
class GemmaCounter(Guarded):
    """Counts what Gemma 3's own tokenizer counts, with control tokens as plain text."""

    @property
    def name(self) -> str:
        """`tiktoken:gemma`, the engine and the vocabulary."""
        return _BYTES.name

    @property
    def grade(self) -> Grade:
        """Bounded: it is Gemma's own vocabulary, and recordings show that Gemini uses it."""
        return Grade.BOUNDED

    def __call__(self, text: str, /) -> Tokens:
        """Tokens of `text`. Raises TokenCountError for a lone surrogate, or if the vocabulary is damaged."""
        if not isinstance(text, str) or text.isascii():  # pyright: ignore[reportUnnecessaryIsInstance]  # refused there
            return _count_tagged(text)
        refuse_surrogates(self.name, text)
        text = text.replace(BLANK, " ")
        strange = "".join(
            sorted(each for each in set(text) if not each.isascii() and each not in _find_known_characters())
        )
        if not strange:
            return _count_tagged(text)
        parts = re.split(f"([{re.escape(strange)}])", text)
        return sum(map(_count_tagged, parts[::2])) + sum(len(each.encode()) for each in parts[1::2])


def _count_tagged(text: str) -> Tokens:
    """Tokens of a text, with one token for each tag."""
    if not isinstance(text, str) or "<" not in text:  # pyright: ignore[reportUnnecessaryIsInstance]  # refused there
        return _BYTES(text)
    parts = _TAG.split(text)
    return sum(map(_BYTES, filter(None, parts))) + len(parts) - 1


@functools.cache
def _find_known_characters() -> frozenset[str]:
    """The non-ASCII characters that are pieces."""
    from budgets.vocabularies import mergeable_ranks

    found: set[str] = set()
    for piece in mergeable_ranks(GEMMA):
        if 1 < len(piece) < 5:
            spelled = piece.decode(errors="ignore")
            if len(spelled) == 1 and len(spelled.encode()) == len(piece):
                found.add(spelled)
    return frozenset(found)


_BYTES = TiktokenCounter(GEMMA)


OpenModelCounter: TypeAlias = TiktokenCounter | GemmaCounter


def open_model_counter(model: str) -> OpenModelCounter:
    """An offline counter for a model by name, or a vocabulary: deepseek, gemma, qwen or tekken.

    Such models are `deepseek-v3`, `gemini-2.5-pro` (Gemini bills by Gemma's vocabulary), `qwen3-32b` and
    `mistral-large-latest`. Loads nothing until its first count (0.3 s, once per process and vocabulary). Raises
    `TokenCountError` for another.
    """
    name = model if model in OPEN_MODELS else open_vocabulary_of(model)
    if name is None:
        raise TokenCountError(
            "open_model_counter", f"has no such vocabulary: name a model of theirs, or {', '.join(OPEN_MODELS)}"
        )
    return GemmaCounter() if name == GEMMA else TiktokenCounter(name)
