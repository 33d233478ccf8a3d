"""A history of 100,000 messages and a 128k window: what a cold build costs, how it grows, and what it holds in memory.

    python tests/benchmarks/huge.py [--rounds 5]

Questions and answers of about 60 tokens, cut from the standard library's own sources, each a text and a dict of its
own. Times are CPU seconds, each figure a median of rounds in which everything is measured once, one after the other.
Memory is that of fresh processes: `peak` is the most that was resident while the library worked.
"""

from __future__ import annotations

import argparse
import functools
import gc
import itertools
import json
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from session import sources

from assembler import Assembler, TrimOldest
from budgets import Budget, memoised, tiktoken_counter

Message = dict[str, Any]

WINDOW = 128_000
SMALL = 32_000
"""A window that 1,000 messages outgrow too: so both histories are cut, and leave the same."""
RESERVE = 4_096
MESSAGES = 100_000
SIZES = (25_000, 50_000, 100_000, 200_000)
APPENDS = 200
CHARACTERS = 230
"""About 60 tokens of Python source."""


def history(length: int, seed: int = 11) -> list[Message]:
    """Questions and answers in turn."""
    draw = random.Random(seed)
    texts = [text for _, text in sources() if len(text) > 2 * CHARACTERS]
    made: list[Message] = []
    for index in range(length):
        text = draw.choice(texts)
        start = draw.randrange(len(text) - CHARACTERS)
        role = "assistant" if index % 2 else "user"
        made.append({"role": role, "content": f"{index}: {text[start : start + CHARACTERS]}"})
    return made


def assembler_for(low_water: float | None = None, window: int = WINDOW) -> Assembler:
    # A counter of its own: nothing is remembered from the run before.
    budget = Budget(window, max_output_tokens=RESERVE, model="gpt-4o", counter=memoised(tiktoken_counter()))
    return Assembler(budget, on_overflow=TrimOldest(low_water=low_water))


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of `work`, with no garbage of others to collect."""
    gc.collect()
    start = time.process_time()
    work()
    return time.process_time() - start


def cold(messages: list[Message], low_water: float | None = None) -> Any:
    return assembler_for(low_water).add_messages(messages).build()


def appended(assembler: Assembler) -> float:
    """CPU seconds of one `add_message` and `build` on a history that was built before."""
    assembler.build()

    def live() -> None:
        for index in range(APPENDS):
            role = "assistant" if index % 2 else "user"
            assembler.add_message({"role": role, "content": f"{index}: and what follows from it?"}).build()

    return cpu(live) / APPENDS


def kept_part(messages: list[Message], rounds: int) -> None:
    bare = tiktoken_counter()
    kept = [message["content"] for message in cold(messages).messages]
    tokens = sum(map(bare, kept))
    pairs = [(cpu(lambda: [bare(text) for text in kept]), cpu(lambda: cold(messages))) for _ in range(rounds)]
    once, build = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(build / once for once, build in pairs)
    print(f"{len(messages):,} messages into {WINDOW:,}, cold, TrimOldest(): {len(kept):,} kept, {tokens:,} tokens")
    print(f"  {build * 1e3:.0f} ms CPU, {ratio:.2f} x tokenising the kept part ({once * 1e3:.0f} ms)")


def growth(messages: list[Message], rounds: int) -> None:
    for low_water in (None, 0.5):
        taken: dict[int, list[float]] = {size: [] for size in SIZES}
        for _ in range(rounds if low_water is None else 1):
            for size in SIZES:
                taken[size].append(cpu(functools.partial(cold, messages[:size], low_water)))
        medians = [statistics.median(times) for times in taken.values()]
        shown = ", ".join(f"{size:,}: {at * 1e3:.0f} ms" for size, at in zip(SIZES, medians, strict=True))
        factors = [after / before for before, after in itertools.pairwise(medians)]
        print(f"cold builds, low_water={low_water}: {shown}; largest factor per doubling {max(factors):.2f}")


def one_more(messages: list[Message], rounds: int) -> None:
    for low_water in (None, 0.5):
        times: list[tuple[float, float]] = []
        for _ in range(rounds if low_water is None else 1):
            few, many = (assembler_for(low_water, SMALL).add_messages(messages[:size]) for size in (1_000, MESSAGES))
            times.append((appended(few), appended(many)))
        few_time, many_time = (statistics.median(column) for column in zip(*times, strict=True))
        ratio = statistics.median(many / few for few, many in times)
        print(
            f"add_message and build, {SMALL:,} window, low_water={low_water}: {few_time * 1e6:.0f} µs after 1,000, "
            f"{many_time * 1e6:.0f} µs after {MESSAGES:,} messages: {ratio:.2f} x"
        )


def resident() -> int:
    """Bytes of this process that are in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def measured(low_water: float | None) -> None:
    """In a process of its own: the history and the tokenizer, then the most that a build holds beside them."""
    messages = history(MESSAGES)
    tiktoken_counter()("load the vocabulary")
    gc.collect()
    before = resident()
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew: proc(5), Linux 4.0
    context = cold(messages, low_water)
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    peak = int(status["VmHWM"].split()[0]) * 1024
    print(json.dumps({"before": before, "peak": peak, "kept": len(context.messages)}))


def memory() -> None:
    if not Path("/proc/self/clear_refs").exists():
        print("memory: needs /proc of Linux")
        return
    for low_water in (None, 0.5):
        command = [sys.executable, __file__, "--measure-memory", str(low_water or 0)]
        answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        before, peak = answer["before"], answer["peak"]
        print(
            f"memory, low_water={low_water}: interpreter, history and tokenizer {before / 1e6:.0f} MB, "
            f"peak of the build {peak / 1e6:.0f} MB: {peak / before:.2f} x"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--measure-memory", type=float, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.measure_memory is not None:
        measured(chosen.measure_memory or None)
        return
    messages = history(max(SIZES))
    kept_part(messages[:MESSAGES], chosen.rounds)
    growth(messages, chosen.rounds)
    one_more(messages, chosen.rounds)
    memory()


if __name__ == "__main__":
    main()
