"""Rewrites a text as Claude's tokenizer does before it splits it, as PyPI's ctok measured it.

A word is put between marks for its start and end, capitals become marks before lower-case letters, and the blank
between two marked neighbours is left out. The sets of characters here were measured one by one (ctok 1.3.0,
`constants.py` and `normalize.py`, MIT, read 2026-11); no Unicode category reproduces them.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Mapping

import regex

from budgets.vocabularies.claude import CAPITALS, END, SHIFT, WORD

# ---- normalisation: C0 and C1 controls and private characters are free, unusual blanks count as blanks --------------

_PLAIN = bytes([9, 10, *range(32, 127)])
_FOLDED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\xa0\u0e4d\u1680\u2000-\u200a\u2018\u2019\u201c\u201d\u2028\u2029\u202f\u205f\ue000-\uf8ff]"
)
_FREE = re.compile("[\x01-\x08\x0b-\x1f\x7f-\x9f]")
_PRIVATE = re.compile("[\ue000-\uf8ff]")

ODD_BLANKS = dict.fromkeys("\x00\xa0\u1680\u2028\u2029\u202f\u205f" + "".join(map(chr, range(0x2000, 0x200B))), " ")
ODD_BLANKS_AND_QUOTES = ODD_BLANKS | {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'}
"""The characters that a generation reads as another, and that other one."""


def normalise_text(text: str, read_as: Mapping[str, str]) -> str:
    """The text as Claude reads it: composed, without controls and private characters, some `read_as` others.

    Linear. A text that needs no change takes a single pass over its bytes.
    """
    strange = _find_special(text)
    if any(map(_may_compose, strange)) and not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
        strange = _find_special(text)
    found = set(_FOLDED.findall("".join(strange)))
    if not found <= ODD_BLANKS_AND_QUOTES.keys():
        text = _FREE.sub("", text).replace("\u0e4d\u0e32", "\u0e33")  # Thai SARA AM is composed
        text = _PRIVATE.sub("", text)
    for character in found & read_as.keys():
        text = text.replace(character, read_as[character])
    return text


def _find_special(text: str) -> frozenset[str]:
    """The characters of a text other than printable ASCII, tabs and line breaks."""
    return frozenset(text.encode().translate(None, _PLAIN).decode())


@functools.lru_cache(maxsize=2**12)
def _may_compose(character: str) -> bool:
    """Whether a text with this character may need composing: marks and some vowels join the character before."""
    vowel = "\u1160" <= character <= "\u11ff" or character == "\U00016d67"  # of Hangul; of Kirat Rai, since Python 3.14
    return vowel or unicodedata.category(character)[0] == "M" or not unicodedata.is_normalized("NFC", character)


# ---- classes of characters ------------------------------------------------------------------------------------------

_LETTER, _LOOSE, _DIGIT, _SIGN = "w", "m", "d", "p"
"""A letter of a word; a mark that belongs to the letter before it or begins a word; a digit; a sign with pieces."""
_OTHER_SIGN, _NUMBER, _LONE, _SELECTOR = "q", "n", "l", "v"
"""Characters outside words: other signs, other numbers, letters of scripts without words, variation selectors."""

_SIGNS = frozenset(
    "\u2014\u00bb\u00ab\u2022\u00b0\u201e\u2013\u2212\u00a3\u00a7\u20ac\u2026"
    "\u221a\u2192\uff08\u2116\u2020\u2514\u2502\u0f0d\u00b7\u2500\u2550\u2588"
)
_IDEOGRAPHIC_SIGNS = frozenset("\u3004\u3012\u3013\u3020\u3036\u3037\u303e\u303f")
_CASED_SINCE = {"\u1c89": "\u1c8a", "\ua7cb": "\u0264"}
"""Letters with case since Unicode 16, which older Pythons do not know."""
_CASED_NOW = frozenset(_CASED_SINCE) | frozenset(_CASED_SINCE.values())
_LETTER_BLOCKS = ((0x16EE, 0x16F0), (0x2160, 0x2188), (0x24B6, 0x24E9), (0xA6E6, 0xA6EF))
"""Runic golden numbers, Roman numerals, circled letters, Bamum numbers: they form words."""
_LONE_BLOCKS = (
    (0x3005, 0x3006),  # iteration and closing marks
    (0x3031, 0x3035),
    (0x303B, 0x303C),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7A3),
    (0xF900, 0xFAFF),
    (0x10000, 0x10FFFF),
)
_ALPHABETIC = regex.compile(r"\p{Alphabetic}")
_MARK = regex.compile(r"\p{M}")


def _is_within(code: int, blocks: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in blocks)


@functools.lru_cache(maxsize=2**17)
def _find_class(character: str) -> str:
    """The class of one character, which must not be white space."""
    code, category = ord(character), unicodedata.category(character)
    if character in _CASED_NOW or _is_within(code, _LETTER_BLOCKS):
        return _LETTER
    if category == "Nd" and (code < 0x80 or 0x660 <= code <= 0x669 or 0x6F0 <= code <= 0x6F9):
        return _DIGIT
    if (code < 0x80 and category[0] in "PS") or character in _SIGNS:
        return _SIGN
    if 0xFE00 <= code <= 0xFE0F:
        return _SELECTOR
    if _MARK.match(character):
        if code >= 0x10000 or not _ALPHABETIC.match(character):
            return _find_kind_alone(character)
        syriac_vowel = code == 0x711 or 0x730 <= code <= 0x73F
        return _LOOSE if unicodedata.combining(character) and not syriac_vowel else _LETTER
    if category[0] == "L" and not _is_within(code, _LONE_BLOCKS):
        return _LETTER
    return _find_kind_alone(character)


def _find_kind_alone(character: str) -> str:
    code, category = ord(character), unicodedata.category(character)
    if code >= 0x10000:
        return _LONE
    if _MARK.match(character) and not _ALPHABETIC.match(character):
        return _OTHER_SIGN
    ideographic = 0x3001 <= code <= 0x303F and (category[0] == "P" or character in _IDEOGRAPHIC_SIGNS)
    if (category[0] in "PS" or category in ("Cf", "Cn")) and not ideographic:
        return _OTHER_SIGN
    return _NUMBER if category == "No" or (category == "Nd" and code >= 0x80) else _LONE


_ASCII_RUNS = re.compile("[A-Za-z]+|[0-9]+|[^A-Za-z0-9]+")

# A run of characters that are marked together. A variation selector belongs to the character before it.
_RUNS = re.compile("w[wm]*|m+|d+|p+|q[qv]*|n[nv]*|[lv]+")


# ---- case -----------------------------------------------------------------------------------------------------------


def _lower(text: str) -> str:
    return "".join(c if c == "\u03f4" else _CASED_SINCE.get(c, c.lower()) for c in text)


def _is_upper(character: str) -> bool:
    """Whether a letter is a capital with a different lower-case form."""
    if character == "\u03f4":  # a capital by Unicode, without case here
        return False
    return character in _CASED_SINCE or (character.isupper() and _lower(character) != character)


def _is_lower(character: str) -> bool:
    return character in _CASED_SINCE.values() or character.islower()


def _mark_ascii_case(word: str, capitals_from: int | None) -> tuple[str, str]:
    if word.islower():
        return "", word
    if capitals_from is not None and len(word) >= capitals_from and word.isupper():
        return CAPITALS, word.lower()
    if word[0].isupper() and (len(word) == 1 or word[1:].islower()):
        return SHIFT, word.lower()
    return "", word


def _mark_case(word: str, capitals_from: int | None) -> tuple[str, str]:
    """The mark for a word's case, and the word in lower case. A word of mixed case stays as it is.

    A word of at least `capitals_from` capitals gets one mark; None means never, as from 4.7 on.
    """
    if word.isascii():
        return _mark_ascii_case(word, capitals_from)
    head, tail = word[0], word[1:]
    if "\u1e9e" in word:  # capital sharp s
        return "", word
    if "\u0130" in word:  # dotted capital I has no lower form of one character
        if head == "\u0130" or not _is_upper(head) or any(_is_upper(c) for c in tail if c != "\u0130"):
            return "", word
        return SHIFT, "".join(c if c == "\u0130" else _lower(c) for c in word)
    in_capitals = any(map(_is_upper, word)) and all(map(_may_be_capital, word))
    if capitals_from is not None and len(word) >= capitals_from and in_capitals:
        return CAPITALS, _lower(word).replace("\u03c2", "\u03c3")
    if _is_upper(head) and not any(map(_is_upper, tail)):
        return SHIFT, _lower(word)
    return "", word


def _may_be_capital(character: str) -> bool:
    """Whether a character may be in a word of capitals: anything but a small letter or a letter without case."""
    if _is_upper(character):
        return True
    return not _is_lower(character) and unicodedata.category(character)[0] not in "LM"


# ---- marks ----------------------------------------------------------------------------------------------------------

_CONTRACTIONS = frozenset({"s", "t", "d", "m", "ll", "re", "ve"})


def add_marks(spaced: str, *, capitals_from: int | None) -> str:
    """A stretch of text in Claude's marks, ready to be cut. It has no white space but a blank on each side.

    Signs are marked on the side of a blank: a single one after them, or the last one before them. The start of the text
    counts as a blank up to 4.7.
    """
    chunk = spaced.strip(" ")
    if chunk.isascii():
        if chunk.isalpha():
            case, spelled = _mark_ascii_case(chunk, capitals_from)
            return case + WORD + spelled + END
        return _mark_ascii(spaced, _ASCII_RUNS.findall(chunk), capitals_from)
    classes = "".join(map(_find_class, chunk))
    runs = [(classes[run.start()], chunk[run.start() : run.end()]) for run in _RUNS.finditer(classes)]
    last = len(runs) - 1
    pieces: list[str] = []
    for place, (kind, body) in enumerate(runs):
        if kind == _LETTER:
            pieces.append(_write_word(runs, place, capitals_from))
        elif kind == _LOOSE:
            pieces.append(WORD + body + ("" if place < last and runs[place + 1][0] == _LETTER else END))
        else:
            begin = place == 0 and spaced[0] == " " and _is_marked_at(kind, body, 0) and not _opens_word(runs, place)
            end = place == last and spaced[-1] == " " and _is_marked_at(kind, body, -1)
            pieces.append((WORD if begin else "") + body + (END if end else ""))
    return "".join(pieces)


def _mark_ascii(spaced: str, runs: list[str], capitals_from: int | None) -> str:
    """`add_marks` for ASCII, which has only letters, digits and signs, so runs of signs are never adjacent."""
    pieces: list[str] = []
    before = ""
    for body in runs:
        if body.isalpha():
            case, spelled = _mark_ascii_case(body, capitals_from)
            begin = "" if before == "'" and body in _CONTRACTIONS else WORD
            pieces.append(f"{case}{begin}{spelled}{END}")
        else:
            pieces.append(body)
        before = body
    if spaced[-1] == " " and not before.isalnum():
        pieces[-1] += END
    if spaced[0] == " " and not runs[0].isalnum() and not (runs[0] == "'" and len(runs) > 1 and runs[1].isalpha()):
        pieces[0] = WORD + pieces[0]
    return "".join(pieces)


def _write_word(runs: list[tuple[str, str]], place: int, capitals_from: int | None) -> str:
    """A word in its marks. It gets no start mark after a loose mark, or after the apostrophe of a contraction."""
    body = runs[place][1]
    if place and runs[place - 1][0] == _LOOSE:
        return body + END
    case, spelled = _mark_case(body, capitals_from)
    return case + ("" if _is_contraction(runs, place) else WORD) + spelled + END


def _is_contraction(runs: list[tuple[str, str]], place: int) -> bool:
    """Whether a word is a contraction, as the `s` of `it's`: after a lone apostrophe that no marked sign precedes."""
    if runs[place][1] not in _CONTRACTIONS or not place or runs[place - 1][1] != "'":
        return False
    return place < 2 or not _is_marked_at(*runs[place - 2], -1)


def _opens_word(runs: list[tuple[str, str]], place: int) -> bool:
    return runs[place][1] == "'" and place + 1 < len(runs) and runs[place + 1][0] in (_LETTER, _LOOSE)


def _is_marked_at(kind: str, body: str, side: int) -> bool:
    """Whether a run that is not a word is marked at one of its ends. ASCII digits and lone letters never are."""
    if kind == _SIGN or _find_kind_alone(body[side]) == _OTHER_SIGN:
        return True
    if kind not in (_DIGIT, _NUMBER):
        return False
    categories = {unicodedata.category(character) for character in body}
    return len(categories) == 1 and _find_kind_alone(body[side]) == _NUMBER
