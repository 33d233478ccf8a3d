"""What a hidden tokenizer would count, from a shipped one.

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
    joint: float = 0.0
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
_ASCII = bytes(range(128))
_MARKS = bytes(code for code in range(33, 127) if code not in _LETTERS + _DIGITS + b"_")

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


def profile(text: str, tokens: int) -> tuple[int, ...]:
    """The stand-in's tokens and the characters of each class, in the order of `Weights`. Linear in the text."""
    octets = text.encode("utf-8", "surrogatepass")

    def having(these: bytes) -> int:
        return len(octets) - len(octets.translate(None, these))

    ascii_classes = (tokens, having(_LETTERS), having(_CAPITALS), having(_DIGITS), having(_MARKS))
    layout = (text.count("_"), text.count("\n"), text.count("\n ") + text.count("\n\t"))
    if text.isascii():
        return (*ascii_classes, *layout, *(0,) * (len(_SCRIPTS) + 1))
    foreign = octets.translate(None, _ASCII).decode("utf-8", "surrogatepass")
    scripts = [sum(map(len, script.findall(foreign))) for script in _SCRIPTS]
    return (*ascii_classes, *layout, *scripts, len(foreign) - sum(scripts))


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
#    token lettr capit digit  mark joint  line inden accen gr/cy semit other  kana   han hangu  symb  flat
GEMINI = _calibration(
    """
     0.878 0.028 0.000 0.627 0.060 0.894 0.580 0.622 0.151 0.049 0.084 0.000 0.000 0.000 0.085 0.232 0.000
     0.908 0.050 0.000 0.627 0.135 0.894 0.649 1.033 0.151 0.173 0.140 0.278 0.000 0.000 0.085 0.942 1.835
    """
)
"""Gemini, by the Gemma 3 vocabulary that it reproduces within a token."""

MISTRAL = _calibration(
    """
     0.942 0.014 0.118 0.562 0.026 0.124 0.103 0.000 0.116 0.049 0.018 0.111 0.000 0.221 0.055 0.361 0.000
     0.948 0.049 0.179 0.599 0.026 0.124 0.134 0.000 0.149 0.164 0.101 0.206 0.000 0.221 0.077 1.696 0.475
    """
)
"""Mistral, by Tekken."""

DEEPSEEK = _calibration(
    """
     0.962 0.013 0.066 0.017 0.030 0.305 0.094 0.073 0.646 0.109 0.104 0.258 0.000 0.000 0.172 0.028 0.000
     0.977 0.059 0.077 0.017 0.030 0.415 0.094 0.073 0.984 0.268 0.154 0.493 0.000 0.000 0.199 0.709 0.255
    """
)
"""DeepSeek V3 and V4."""

LLAMA = _calibration(
    """
     0.988 0.004 0.000 0.000 0.000 0.000 0.000 0.000 0.063 0.045 0.077 0.318 0.000 0.000 0.045 0.246 0.000
     0.988 0.061 0.000 0.009 0.000 0.000 0.000 0.000 0.756 0.356 0.743 1.767 0.000 0.000 0.045 0.944 0.061
    """
)
"""Llama 3."""

QWEN = _calibration(
    """
     0.946 0.014 0.000 0.567 0.009 0.000 0.000 0.036 0.678 0.161 0.104 0.781 0.000 0.000 0.139 0.024 0.000
     0.946 0.078 0.000 0.583 0.009 0.000 0.000 0.036 0.700 0.640 0.370 1.296 0.036 0.000 0.165 0.392 1.199
    """
)
"""Qwen 3."""
