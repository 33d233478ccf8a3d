"""Compares Claude's counter with the package it was taken from, over drawn and found texts, and prints differences.

Run by `make test-claude [TEXTS=…]`: 100,000 texts unless another number is given, each by the three generations. The
texts are other ones in every run, and the seed is printed.
"""

from __future__ import annotations

import importlib
import itertools
import random
import sys
from typing import Any

from budgets import claude_counter
from tests.budgets.claude_texts import CHOSEN, drawn, found

FRAMES = {"claude-3": ("3.0", 7), "claude-4.7": ("4.7", 11), "claude-4.8": ("4.8", 6)}
"""The version that the package is asked for, and what it counts around one message."""


def differing(text: str, ctok: Any) -> list[str]:
    """The generations that count a text in another way."""
    frames = FRAMES.items()
    return [
        name
        for name, (version, frame) in frames
        if claude_counter(name)(text) != ctok.token_count(text, version) - frame
    ]


def main(texts: int = 100_000, seed: int = 0) -> int:
    """How many texts differ."""
    ctok: Any = importlib.import_module("ctok")
    seed = seed or random.randrange(2**32)
    print(f"{texts:,} texts, seed {seed}", flush=True)
    both = itertools.chain.from_iterable(zip(drawn(seed), drawn(seed + 1), drawn(seed + 2), found(seed), strict=True))
    differ = 0
    for text in itertools.chain(CHOSEN, itertools.islice(both, texts)):
        if names := differing(text, ctok):
            differ += 1
            print(f"{', '.join(names)}: {text!a}")
    print(f"{differ} differ")
    return differ


if __name__ == "__main__":
    sys.exit(min(main(*map(int, sys.argv[1:])), 1))
