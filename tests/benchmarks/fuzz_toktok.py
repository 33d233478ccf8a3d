"""toktok against tiktoken: every assigned character in every frame, drawn texts, and texts as people write them.

    python -m tests.benchmarks.fuzz_toktok [STRINGS] [SEED]

STRINGS is how many texts to draw for each encoding (default 600,000, so 1,200,000 in all). Exits 1 at a difference.
"""

from __future__ import annotations

import random
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path

from budgets import tiktoken_counter, toktok_counter
from budgets.counters.settled_characters import all_settled

ENCODINGS = ("o200k_base", "cl100k_base")
FRAMES = ("{}", "{}'s", "{}123", ";;{}'s", " {} x", "A{}'S", "a{}B", "x'{}e", "\n{}\n", "  {}/\n", "{}  ", "\n\n {}")
CORPUS_BYTES = 24_000_000

_WHITE = " \t\n\r\x0b\x0c\x1c\x85\xa0\u1680\u2003\u2028\u202f\u3000"
_MARKS = ";.,'\"/<>|&!-_=(){}[]#*`~^%$@\\:+?"
_LETTERS = (
    "abcdeshtmlvrSTMLZ\u017f\u212aéßÄжЖ中あア한अकاب1٣²Ⅷǅʰ\u0301\u0940\u200d\u200b\ufe0f\U0001f600\U0001f468\U0001f1fa"
)
_WORDS = (
    "<|endoftext|>", "<|im_start|>", "<|fim_prefix|>", "[INST]", "Don't", "I'LL", "we've", "'S", "'re", " the", "://",
    "\r\n", "\n\n", "   ", "4711", "3.14", " été", "東京", "हिन्दी", "русский", "العربية", "한국어", "🇺🇦", "👨‍👩‍👧", "ﷺ",
)  # fmt: skip

_Drawn = Callable[[random.Random], str]


def _of(alphabet: str, longest: int) -> _Drawn:
    return lambda draw: "".join(draw.choices(alphabet, k=draw.randint(1, longest)))


def _any_unicode(draw: random.Random) -> str:
    points = (draw.randrange(0x110000) for _ in range(draw.randint(1, 12)))
    return "".join(chr(p) for p in points if not 0xD800 <= p < 0xE000)


def _old_unicode(draw: random.Random) -> str:
    points = (draw.randrange(0x3400) for _ in range(draw.randint(1, 16)))
    return "".join(chr(p) for p in points)


def _words(draw: random.Random) -> str:
    return "".join(draw.choices(_WORDS, k=draw.randint(1, 10)))


def _mixed(draw: random.Random) -> str:
    return "".join(draw.choice(_KINDS[:-1])(draw) for _ in range(draw.randint(2, 4)))


_KINDS: tuple[_Drawn, ...] = (
    _of(_WHITE, 12),
    _of(_WHITE + _MARKS, 24),
    _of(_WHITE[:4] + _MARKS + _LETTERS, 32),
    _of(_LETTERS, 24),
    _any_unicode,
    _old_unicode,
    _words,
    _mixed,
)


def drawn(strings: int, seed: int) -> Iterator[str]:
    """Texts of every kind in turn, the same for the same seed."""
    draw = random.Random(seed)
    for place in range(strings):
        yield _KINDS[place % len(_KINDS)](draw)


def framed() -> Iterator[str]:
    """Every code point but surrogates in every frame; of the vast ideograph and private blocks one in 64."""
    for point in range(0x110000):
        if 0xD800 <= point < 0xE000 or (_is_vast(point) and point % 64):
            continue
        for frame in FRAMES:
            yield frame.format(chr(point))


def _is_vast(point: int) -> bool:
    return 0x3400 <= point < 0xA000 or 0xAC00 <= point < 0xD7A0 or 0xE000 <= point < 0xF900 or point >= 0x20000


def corpus() -> Iterator[str]:
    """Python's own sources, tests in many scripts included, whole, by paragraph and by line."""
    read = 0
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*")):
        if "site-packages" in path.parts or path.suffix not in (".py", ".txt", ".rst", ".html", ".json", ".c", ".h"):
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        yield text
        yield from text.split("\n\n")
        yield from text.splitlines(keepends=True)[:200]
        read += len(text.encode())
        if read > CORPUS_BYTES:
            return


def differences(encoding: str, texts: Iterator[str]) -> tuple[int, int, list[str]]:
    """How many texts were compared, how many of them tiktoken counted for toktok, and those that differ."""
    ours, theirs = toktok_counter(encoding), tiktoken_counter(encoding)
    compared = routed = 0
    found: list[str] = []
    for text in texts:
        compared += 1
        routed += not (text.isascii() or all_settled(text))
        if ours(text) != theirs(text):
            found.append(text)
    return compared, routed, found


def main(strings: int = 600_000, seed: int = 1) -> int:
    """Compare everything under both encodings; 1 if any count differs."""
    failed = 0
    for encoding in ENCODINGS:
        for kind, texts in (("frames", framed()), ("drawn", drawn(strings, seed)), ("corpus", corpus())):
            compared, routed, found = differences(encoding, texts)
            print(
                f"{encoding} {kind}: {compared:,} texts, {routed:,} left to tiktoken, {len(found)} differ", flush=True
            )
            for text in found[:10]:
                print("   ", ascii(text[:80]))
            failed += len(found)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
