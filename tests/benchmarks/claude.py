"""How fast Claude's counter is, beside tiktoken and, where it is installed, the package of its vocabularies.

    python -m tests.benchmarks.claude [ROUNDS]

Prints MB/s of CPU time on 1 MB of English documentation and Python source in one text and on 10,000 chat-sized
messages: in a process that has counted nothing (cold), again (seen), and with new lines of known words (known words).
"""

from __future__ import annotations

import importlib
import statistics
import sys
from collections.abc import Callable, Sequence
from typing import Any

from budgets import claude_counter, tiktoken_counter
from budgets.counters.claude import GENERATIONS
from budgets.counters.claude_lines import lines_of
from tests.benchmarks.engines import MEGABYTE, megabyte, messages, seconds

Count = Callable[[str], int]


def speed(count: Count, texts: Sequence[str], rounds: int, forget: Callable[[], None]) -> float:
    """MB/s, the median of the rounds; `forget` runs before each."""
    size = sum(len(text.encode()) for text in texts)
    taken: list[float] = []
    for _ in range(rounds):
        forget()
        taken.append(seconds(count, texts)[0])
    return size / MEGABYTE / statistics.median(taken)


def line(name: str, texts: Sequence[str], rounds: int) -> str:
    """One generation's row."""
    lines, count = lines_of(name), claude_counter(name)
    shown = {"cold": lines.forget, "known words": lines.clear, "seen": lambda: None}
    return "   ".join(f"{kind} {speed(count, texts, rounds, forget):6.1f}" for kind, forget in shown.items())


def main(rounds: int = 5) -> None:
    """Print the table."""
    for kind, texts in {"1 MB in one text": [megabyte()], "chat messages": messages()}.items():
        print(f"\n{kind}, MB/s")
        for name in GENERATIONS:
            print(f"  {name:12} {line(name, texts, rounds)}")
        print(f"  {'tiktoken':12} {speed(tiktoken_counter(), texts, rounds, lambda: None):6.1f}")
        try:
            package: Any = importlib.import_module("ctok")
        except ImportError:
            print("  ctok is not installed")
        else:
            print(f"  {'ctok':12} {speed(package.token_count, texts, 1, lambda: None):6.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
