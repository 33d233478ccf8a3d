"""The respelled split patterns against the published ones, in tiktoken itself: the ids of every text must be the same.

    python -m tests.benchmarks.fuzz_splitting [SECONDS] [--journal FILE]

Texts come in blocks. The first blocks hold every text of up to five characters out of fifteen, one of each class that
the patterns tell apart; those after them are drawn, each block by its number. A journal of finished blocks lets the
next run go on where this one ended. SECONDS are CPU seconds (default 60). Exits 1 at the first difference.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import tiktoken

from budgets.vocabularies import PUBLISHED, mergeable_ranks
from budgets.vocabularies.splitting import find_faster_pattern
from tests.benchmarks.fuzz_toktok import drawn

ENCODINGS = ("o200k_base", "cl100k_base", "r50k_base")
CLASSES = " \t\n\r/';1aAsſ中\u0301\u3000"
"""Blanks, line breaks, a slash, an apostrophe, a mark, a digit; letters with and without case, and of contractions."""
LONGEST = 5
BLOCK = 50_000
JOURNAL = Path(".search/splitting.jsonl")

Encode = Callable[[str], list[int]]


def every_short_text() -> Iterator[str]:
    """All texts of 1 to LONGEST characters of CLASSES."""
    for length in range(1, LONGEST + 1):
        yield from map("".join, itertools.product(CLASSES, repeat=length))


SHORT_BLOCKS = -(-sum(len(CLASSES) ** length for length in range(1, LONGEST + 1)) // BLOCK)


def block(number: int) -> Iterable[str]:
    """The texts of a block, the same in every run."""
    if number < SHORT_BLOCKS:
        return itertools.islice(every_short_text(), number * BLOCK, (number + 1) * BLOCK)
    return drawn(BLOCK, number)


def engines(encoding: str) -> tuple[Encode, Encode]:
    """tiktoken with the published pattern, and with ours, over the same tokens."""
    pattern, ranks = PUBLISHED[encoding].pattern, mergeable_ranks(encoding)
    theirs, ours = (
        tiktoken.Encoding(encoding, pat_str=spelled, mergeable_ranks=ranks, special_tokens={})
        for spelled in (pattern, find_faster_pattern(pattern))
    )
    return theirs.encode_ordinary, ours.encode_ordinary


def first_difference(texts: Iterable[str], pairs: dict[str, tuple[Encode, Encode]]) -> tuple[str, str] | None:
    """The encoding and the text that two patterns split in two ways."""
    for text in texts:
        for encoding, (theirs, ours) in pairs.items():
            if theirs(text) != ours(text):
                return encoding, text
    return None


def finished(journal: Path) -> int:
    """How many blocks the journal lists."""
    return len(journal.read_text().splitlines()) if journal.exists() else 0


def main() -> int:
    """Go on from the journal for so many seconds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("seconds", type=float, nargs="?", default=60)
    parser.add_argument("--journal", type=Path, default=JOURNAL)
    options = parser.parse_args()
    options.journal.parent.mkdir(parents=True, exist_ok=True)
    pairs = {encoding: engines(encoding) for encoding in ENCODINGS}
    number, started = finished(options.journal), time.process_time()
    while time.process_time() - started < options.seconds:
        found = first_difference(block(number), pairs)
        if found is not None:
            print(f"{found[0]} parts at {found[1]!a} in block {number}")
            return 1
        with options.journal.open("a") as lines:
            lines.write(json.dumps({"block": number, "texts": BLOCK, "encodings": len(ENCODINGS)}) + "\n")
        number += 1
    print(f"{number * BLOCK:,} texts in {number} blocks, each under {len(ENCODINGS)} vocabularies: no difference")
    return 0


if __name__ == "__main__":
    sys.exit(main())
