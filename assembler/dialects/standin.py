"""What a hidden tokenizer would count, from a shipped one. Knows texts and weights; knows no message and no provider.

A model whose vocabulary is not at hand is priced by a stand-in: the tokens of `o200k_base`, corrected by what kind of
characters the text is made of. A smaller vocabulary splits rare words, capitals, digits and other scripts further, so
each class of character adds its own share. The weights were fitted to 2,162 texts (English, code, JSON, numbers, 33
other languages), each counted by the model's own tokenizer or by its published reconstruction; none is negative, and a
ceiling's weight is never under the typical one. How they were found and how far they err: docs/how-it-counts-others.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from operator import add, mul
from typing import NamedTuple

import attrs

from budgets.count import Count, Grade, TokenCounter


class Weights(NamedTuple):
    """Tokens per token of the stand-in and per character of each class; `flat` is added once per estimate."""

    token: float = 0.0
    letter: float = 0.0
    capital: float = 0.0
    digit: float = 0.0
    mark: float = 0.0
    line: float = 0.0
    indent: float = 0.0
    accented: float = 0.0
    greek_cyrillic: float = 0.0
    semitic: float = 0.0
    other_script: float = 0.0
    kana: float = 0.0
    han: float = 0.0
    hangul: float = 0.0
    symbol: float = 0.0
    flat: float = 0.0


@attrs.frozen
class Calibration:
    """How one hidden tokenizer differs from `o200k_base`: a typical price, and a ceiling that few texts exceed.

    Of the calibration texts 2 in 100 lie above the ceiling, counted one by one; sums of several texts fewer, because
    ceilings add up while errors partly cancel.
    """

    typical: Weights
    ceiling: Weights


_CAPITALS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LETTERS = _CAPITALS + _CAPITALS.lower()
_DIGITS = b"0123456789"
_MARKS = bytes(code for code in range(33, 127) if code not in _LETTERS + _DIGITS)

# Unicode block ranges, in the order of the fields of Weights.
_SCRIPTS = tuple(
    re.compile(f"[{ranges}]+")
    for ranges in (
        "\u00c0-\u024f\u1e00-\u1eff",  # Latin with diacritics
        "\u0370-\u052f",  # Greek, Cyrillic
        "\u0590-\u08ff",  # Hebrew, Arabic and their neighbours
        "\u0530-\u058f\u0900-\u10ff\u1200-\u1dff",  # Armenian, India, Thai, Georgian, Ethiopic, …
        "\u3040-\u30ff",  # kana
        "\u3400-\u9fff",  # Han
        "\u1100-\u11ff\uac00-\ud7af",  # hangul
    )
)
_NON_ASCII = re.compile(r"[^\x00-\x7f]+")


def _characters(pattern: re.Pattern[str], text: str) -> int:
    return sum(map(len, pattern.findall(text)))


def profile(text: str, tokens: int) -> tuple[int, ...]:
    """The stand-in's tokens and the characters of each class, in the order of `Weights`. Linear in the text."""
    octets = text.encode("utf-8", "surrogatepass")

    def having(these: bytes) -> int:
        return len(octets) - len(octets.translate(None, these))

    ascii_classes = (tokens, having(_LETTERS), having(_CAPITALS), having(_DIGITS), having(_MARKS))
    layout = (text.count("\n"), text.count("\n ") + text.count("\n\t"))
    if text.isascii():
        return (*ascii_classes, *layout, *(0,) * (len(_SCRIPTS) + 1))
    scripts = [_characters(script, text) for script in _SCRIPTS]
    return (*ascii_classes, *layout, *scripts, _characters(_NON_ASCII, text) - sum(scripts))


def price_texts(texts: Iterable[str], count: TokenCounter, calibration: Calibration | None) -> Count:
    """The price of several texts that a message keeps apart: each is counted alone, the sum is estimated once.

    `calibration` None says that `count` is the model's own tokenizer: its numbers are taken at their word and graded
    exact. Otherwise `count` must be `o200k_base`; the result is estimated, rounded to the nearest token, and the
    ceiling rounded up. No text, or only empty ones, costs nothing.
    """
    tallies = [(text, count(text)) for text in texts if text]
    if calibration is None:
        return Count(sum(tokens for _, tokens in tallies))
    if not tallies:
        return Count(0)
    whole: tuple[int, ...] = (0,) * (len(Weights._fields) - 1)
    for text, tokens in tallies:
        whole = tuple(map(add, whole, profile(text, tokens)))
    typical = round(sum(map(mul, calibration.typical, whole)))
    ceiling = math.ceil(sum(map(mul, calibration.ceiling, (*whole, 1))))
    return Count(typical, Grade.ESTIMATED, upper=max(typical, ceiling))


def _calibration(table: str) -> Calibration:
    """The two lines of a table: the typical weights, the ceiling's."""
    typical, ceiling = (Weights(*map(float, line.split())) for line in table.split("\n") if line.strip())
    return Calibration(typical, ceiling)


# The columns, in the order of Weights:
#        token letter capitl  digit   mark   line indent accent gr/cyr  semit  other   kana    han hangul symbol   flat
CLAUDE_3 = _calibration(
    """
         1.012  0.016  0.047  0.005  0.081  0.407  0.853  0.898  0.152  0.417  0.528  0.095  0.356  0.724  0.861  0.000
         1.031  0.083  0.232  0.005  0.111  0.407  2.037  1.126  0.370  0.459  0.629  0.095  0.380  0.742  1.219  2.628
    """
)
"""Claude 3 to 4.6."""

CLAUDE_4_7 = _calibration(
    """
         0.923  0.128  0.475  0.062  0.268  0.574  0.652  1.120  0.178  0.447  0.563  0.138  0.394  0.776  1.177  0.000
         0.923  0.259  0.475  0.062  0.268  0.574  2.080  1.120  0.399  0.485  0.655  0.138  0.394  0.776  2.527  3.252
    """
)
"""Claude 4.7 and later: a smaller vocabulary, about a third more tokens."""

GEMINI = _calibration(
    """
         0.872  0.031  0.000  0.628  0.084  0.644  0.658  0.152  0.052  0.087  0.000  0.000  0.000  0.094  0.342  0.000
         0.872  0.054  0.039  0.628  0.235  0.644  0.876  0.152  0.182  0.162  0.293  0.000  0.000  0.094  0.930  2.186
    """
)
"""Gemini, by the Gemma 3 vocabulary that it reproduces within a token."""

MISTRAL = _calibration(
    """
         0.939  0.015  0.125  0.562  0.030  0.109  0.000  0.120  0.050  0.020  0.112  0.000  0.226  0.057  0.360  0.000
         0.943  0.051  0.178  0.603  0.030  0.109  0.000  0.148  0.166  0.105  0.208  0.000  0.226  0.083  1.709  0.527
    """
)
"""Mistral, by Tekken."""

DEEPSEEK = _calibration(
    """
         0.956  0.015  0.076  0.018  0.040  0.099  0.093  0.651  0.112  0.107  0.261  0.000  0.000  0.178  0.062  0.000
         0.971  0.061  0.076  0.018  0.040  0.099  0.093  0.992  0.271  0.152  0.497  0.000  0.000  0.204  0.597  0.647
    """
)
"""DeepSeek V3 and V4."""

LLAMA = _calibration(
    """
         0.988  0.004  0.000  0.000  0.000  0.000  0.000  0.063  0.045  0.077  0.318  0.000  0.000  0.045  0.246  0.000
         0.988  0.061  0.000  0.009  0.000  0.000  0.000  0.756  0.356  0.743  1.767  0.000  0.000  0.045  0.944  0.061
    """
)
"""Llama 3."""

QWEN = _calibration(
    """
         0.948  0.013  0.000  0.565  0.007  0.000  0.032  0.674  0.160  0.103  0.780  0.000  0.000  0.137  0.013  0.000
         0.948  0.076  0.000  0.581  0.007  0.000  0.032  0.699  0.639  0.368  1.294  0.032  0.000  0.162  0.418  1.265
    """
)
"""Qwen 3."""
