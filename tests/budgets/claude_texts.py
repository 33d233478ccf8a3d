"""Texts that reach the rules of Claude's marks: seeded, the same everywhere."""

from __future__ import annotations

import random
import sysconfig
from collections.abc import Iterator
from pathlib import Path

CHOSEN = (
    "hello, world",
    " one blank before",
    "  two blanks before",
    "\tfor tab in tabs:\n\t\tprint(tab)\n",
    "it's John's, they're ours, x's 'quoted' 's 'S 1's",
    "NASA likes tokenizers; McDonald's, IDs, HTTPServer2, A I",
    "def add(a: int, b: int) -> int:\n    return a + b\n",
    '{"type": "object", "properties": {"city": {"type": "string"}}}',
    "1234567 12 3 4.5e-10 0x1F 1,000",
    "line\r\nline\r\n\r\n",
    "\u201ccurly\u201d \u2018quotes\u2019 and \u2026",
    "non\u00a0breaking\u00a0blanks, \u2003wide ones\u2028",
    "日本語のテキスト、です。 中文 한국어 1。？ 1",
    "Привет, мир! ΣΊΣΥΦΟΣ Straße STRASSE ẞ İstanbul ISTANBUL",
    "नमस्ते दुनिया ๆ กำ ก\u0e4d\u0e32 ελληνικά",
    "e\u0301 \u0301a ½ ² x² ٣١ १२ ⓐ's Ⅳ Ⅳ's",
    "😀👍🏽 ⚖️ a\u200db \ufeff \ufdd0",
    "\x00a\x01b\x7fc\ue000d",
    "ab" * 200,
    "na " * 300,
    "=" * 77 + "-" * 33 + "#" * 5,
    "trailing" + "\n" * 30,
    " " * 40 + "deep" + "\t" * 20,
    "\n" * 3,
    " ",
)
"""Each is there for a rule."""

_ALPHABETS = (
    "abcdefgh XYZ'.,12\n ",
    "'st lre ve.d'X \"",
    "ABCDabc'\u2019 \u00a0\t\n\u3000 ",
    "日本語テスト々。？、 abc1",
    "é\u0301\u0300a \u0308b'½²٣١1. ",
    "\x01\x00\r\n \x7fa\ue000b\ufdd0",
    "İIıẞßΣσςǅϴ ABC",
    "😀\ufe0f⚖ \ufe0fa'.\u200d ",
    "कर्म नमस्ते ॥ ",
    "ⓐⒷⅣ's ᛮ Ⅳ",
    "\u0710\u0711\u0730\u0740 a",
    "ก\u0e4d\u0e32 ำ",
    "=-=*#  \n\n\n(){}[]\t\t",
    "«»—°→…＂（）【】",
)
_PLANES = ((32, 127), (0x80, 0x3000), (0x3000, 0xD7FF), (0xE000, 0x10000), (0x10000, 0x20000), (10, 11))


def drawn(seed: int) -> Iterator[str]:
    """Short texts without end, out of small alphabets and of all of Unicode; none is empty."""
    draw = random.Random(seed)
    while True:
        if draw.random() < 0.3:
            text = "".join(chr(draw.randrange(*draw.choice(_PLANES))) for _ in range(draw.randrange(1, 12)))
        else:
            letters = draw.choice(_ALPHABETS) + (draw.choice(_ALPHABETS) if draw.random() < 0.4 else "")
            text = "".join(draw.choice(letters) for _ in range(draw.randrange(1, 40)))
        yield text


def found(seed: int) -> Iterator[str]:
    """Stretches of one to twenty lines of Python's own library without end, from anywhere in it."""
    draw = random.Random(seed)
    paths = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    while True:
        lines = draw.choice(paths).read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
        for _ in range(20):
            start = draw.randrange(len(lines) or 1)
            text = "".join(lines[start : start + draw.randrange(1, 20)])[draw.randrange(3) :]
            if text:
                yield text
