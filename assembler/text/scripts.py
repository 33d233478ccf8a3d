"""Decides whether a script needs invisible characters, from one run of them and its neighbours.

Sources: the Unicode Standard 16.0, chapters 9 (Arabic), 12 and 13 (Indic scripts, Mongolian), 16 (Khmer, word breaks),
18 (Hangul jamo), 23 (layout controls, variation selectors); RFC 5892, appendix A.1 and A.2 (joiners); Unicode Technical
Standard 51 (emoji sequences); all read 2026-11.
"""

from __future__ import annotations

import re
import unicodedata

from budgets.lazy_patterns import compile_later

_JOINING = (
    "\u0600-\u07ff\u0840-\u08ff\u1800-\u18af\ua840-\ua87f\ufb50-\ufdff\ufe70-\ufefc"
    "\U00010ac0-\U00010aff\U00010b80-\U00010baf\U00010d00-\U00010d3f\U00010f30-\U00010fff\U0001e900-\U0001e95f"
)
"""Scripts whose letters join, so that a joiner or non-joiner changes how they look: Arabic, Syriac, Mongolian …"""
_POINTS = "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
"""Hebrew points and accents, which joiners and U+034F place."""
_KHMER = "\u1780-\u17b3\u17b6-\u17ff"
_UNSPACED = "\u0e00-\u0eff\u0f00-\u109f\u1950-\u19df\u1a20-\u1aaf\uaa60-\uaadf" + _KHMER
"""Scripts without blanks between words, which mark line breaks: Thai, Lao, Tibetan, Burmese, Khmer …"""
_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf\u2900-\u297f"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
_STYLED = (
    "0\u1000-\u109f\u2018-\u201d\u2200-\u23ff\u25a0-\u26ff\u2a00-\u2aff\u3001\u3002\ua840-\ua877\uaa60-\uaa7f"
    f"\uff01-\uff1f\U00010ac0-\U00010aff\U00013000-\U0001342f{_IDEOGRAPHS}"
)
"""The characters for which the first three selectors are standardised (StandardizedVariants.txt 16.0)."""
_RIGHT_TO_LEFT = compile_later("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
_VIRAMA = 9
"""The canonical combining class of the signs that silence a letter's vowel, in every Indic script."""

_FORMS = compile_later(
    rf"""
      (?<=\U0001F3F4) [\U000E0020-\U000E007E]{{1,32}}+ \U000E007F   # a flag: black flag, tags, the tag that ends them
    | (?<=[{_EMOJI}]) [\uFE0E\uFE0F]
    | (?<=[#*0-9]) [\uFE0E\uFE0F] (?=\u20E3)                        # a keycap
    | (?<=[{_STYLED}]) [\uFE00-\uFE02]
    | (?<=[\U00013000-\U0001342F]) [\uFE03-\uFE06]
    | (?<=[{_IDEOGRAPHS}]) [\U000E0100-\U000E012F]                  # no registered form of an ideograph is beyond
    | (?<=[\u1807\u1820-\u18AA]) [\u180B-\u180D\u180F]
    """,
    re.VERBOSE,
)
"""Characters that select a form of the previous character."""
_ALONE = compile_later(
    rf"""
      (?<=[{_JOINING}]) \u200C (?=\S) | (?<=\S) \u200C (?=[{_JOINING}])
    | (?<=\u0647) \u200C                                            # the Kurdish vowel, as it was long typed
    | (?<=[{_JOINING}]) \u200D (?![{_JOINING}]) | (?<![{_JOINING}]) \u200D (?=[{_JOINING}])
    | (?<=[{_POINTS}]) [\u200C\u200D\u034F] | [\u200C\u200D] (?=[{_POINTS}])
    | (?<=[{_KHMER}]) [\u200C\u200D] (?=[{_KHMER}])
    | (?<=[{_UNSPACED}]) \u200B (?=[{_UNSPACED}])
    | (?<=[{_EMOJI}]) \u200D (?=[{_EMOJI}]) | (?<=[{_EMOJI}]\uFE0F) \u200D (?=[{_EMOJI}])
    | (?<=[\u1807\u1820-\u18AA]) \u180E (?=[\u1820\u1821])
    | \u115F (?=[\u1161-\u11A7\uD7B0-\uD7C6]) | (?<=[\u1100-\u115E\uA960-\uA97C]) \u1160
    | (?<=[\u2801-\u28FF]) \u2800++ | \u2800++ (?=[\u2801-\u28FF])
    """,
    re.VERBOSE,
)
"""Single characters that are needed between two visible ones."""


def count_needed(text: str, start: int, stop: int) -> int:
    """How many characters at the front of the run `text[start:stop]` its neighbours need."""
    form = _FORMS.match(text, start)
    after = start if form is None else min(form.end(), stop)
    if after == stop:
        return stop - start
    alone = _ALONE.match(text, after)
    if (
        (alone is not None and alone.end() == stop)
        or _is_beside_virama(text, after, stop)
        or _changes_direction(text, after, stop)
    ):
        return stop - start
    return after - start


def _is_beside_virama(text: str, start: int, stop: int) -> bool:
    """Whether a joiner follows a sign that silences a vowel (half or dead consonant), or precedes one (final form)."""
    if stop - start > 1 or text[start] not in "\u200c\u200d":
        return False
    return any(
        unicodedata.combining(neighbour) == _VIRAMA
        for neighbour in (text[start - 1 : start], text[stop : stop + 1])
        if neighbour
    )


def _changes_direction(text: str, start: int, stop: int) -> bool:
    """Whether it is one mark of direction next to a blank, a digit or a sign, near right-to-left letters."""
    if stop - start > 1 or text[start] not in "\u061c\u200e\u200f":
        return False
    if text[start - 1 : start].isalpha() and text[stop : stop + 1].isalpha():
        return False
    return _RIGHT_TO_LEFT.search(text, max(0, start - _NEAR), start) is not None or (
        _RIGHT_TO_LEFT.search(text, stop, stop + _NEAR) is not None
    )


_NEAR = 64
"""How many characters are near. A mark affects its whole line, but a bound keeps the search linear."""
