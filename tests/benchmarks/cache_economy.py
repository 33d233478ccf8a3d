"""How ladders use a prefix cache and how full they keep the window, on ten kinds of session.

    python -m tests.benchmarks.cache_economy [--kind NAME] [--marks]

For each ladder and kind: the mean fill of the window, the tokens outside the cache as a share of those of keeping as
many messages as fit at each call (what langchain-core's trim_messages does), and the share that the cache serves. The
cache serves whole blocks of 128 tokens from 1,024 on, of what a request and the one before begin with in common. The
referee reads the emitted requests and prices them by itself. `--marks` compares fixed low-water marks.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from assembler import Assembler, ClearToolResults, TrimOldest, first_user
from assembler.dialects import plain
from budgets import Budget
from tests.benchmarks.kinds import KINDS, Arrivals, Message, arrivals

ROOM = 15_000
INSTRUCTION = "i" * 400
BLOCK, LEAST = 128, 1_024
MARKS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7)
BEGINNING = 4_500
"""Tokens: three tenths of the room."""

Ladder = Callable[[Arrivals], Any]
"""A policy or several, for a session."""

LADDERS: dict[str, Ladder] = {
    "TrimOldest()": lambda _: TrimOldest(),
    "TrimOldest(low_water=0.5)": lambda _: TrimOldest(low_water=0.5),
    "[ClearToolResults(keep=3), TrimOldest(low_water=0.5)]": lambda _: [
        ClearToolResults(keep=3),
        TrimOldest(low_water=0.5),
    ],
    "TrimOldest(low_water=0.5, pins=first_user)": lambda _: TrimOldest(low_water=0.5, pins=first_user),
    'TrimOldest(low_water="auto")': lambda _: TrimOldest(low_water="auto"),
    "TrimOldest(low_water=0.6, pins=beginning)": lambda calls: TrimOldest(low_water=0.6, pins=beginning(calls)),
    'TrimOldest(low_water="auto", pins=beginning)': lambda calls: TrimOldest(low_water="auto", pins=beginning(calls)),
}
"""`beginning`: the first messages, of at most BEGINNING tokens and at least one."""


def beginning(calls: Arrivals) -> frozenset[int]:
    """The indexes of the first messages."""
    spent = itertools.accumulate(_tokens(message) for messages in calls for message in messages)
    return frozenset({0, *(index for index, total in enumerate(spent) if total <= BEGINNING)})


class Ledger:
    """What was sent, as a bill: prompt tokens, those outside the cache, and how full each window was."""

    def __init__(self) -> None:
        self.prompt = self.outside = self.cuts = 0
        self.fills: list[float] = []
        self._before: list[Message] = []

    def judge(self, messages: list[Message]) -> None:
        """One request more."""
        sizes = [_tokens(message) for message in messages]
        total = len(INSTRUCTION) + sum(sizes)
        shared = len(INSTRUCTION) if self._before else 0
        for old, new, size in zip(self._before, messages, sizes, strict=False):
            if old != new:
                self.cuts += 1
                break
            shared += size
        served = shared // BLOCK * BLOCK if shared >= LEAST else 0
        self.prompt += total
        self.outside += total - served
        self.fills.append(total / ROOM)
        self._before = messages

    @property
    def fill(self) -> float:
        """Of the window, on average over the calls."""
        return statistics.mean(self.fills)

    @property
    def served(self) -> float:
        """The share of all prompt tokens that the cache serves."""
        return 1 - self.outside / self.prompt


def _tokens(message: Message) -> int:
    called = (one["function"] for one in message.get("tool_calls", ()))
    return len(message["content"] or "") + sum(len(one["name"]) + len(one["arguments"]) for one in called)


def run_session(calls: Arrivals, ladder: Any) -> Ledger:
    """The session under a ladder."""
    ledger = Ledger()
    assembler = Assembler(Budget(ROOM, counter=len), dialect=plain, on_overflow=ladder).add_instruction(INSTRUCTION)
    for messages in calls:
        for message in messages:
            assembler.add_message(message)
        ledger.judge(assembler.build().request()["messages"])
    return ledger


def kept_at_each_call(calls: Arrivals) -> Ledger:
    """The newest messages that fit, from a question on: trim_messages(strategy="last", start_on="human")."""
    ledger, history = Ledger(), list[Message]()
    for messages in calls:
        history += messages
        kept, room = len(history), ROOM - len(INSTRUCTION)
        while kept and _tokens(history[kept - 1]) <= room:
            kept -= 1
            room -= _tokens(history[kept])
        while kept < len(history) and history[kept]["role"] != "user":
            kept += 1
        ledger.judge(history[kept:])
    return ledger


def line_of(name: str, ledgers: Sequence[tuple[Ledger, Ledger]]) -> str:
    """A row: means over the sessions."""
    fill = statistics.mean(ours.fill for ours, _ in ledgers)
    outside = sum(ours.outside for ours, _ in ledgers) / sum(theirs.outside for _, theirs in ledgers)
    served = statistics.mean(ours.served for ours, _ in ledgers)
    cuts = sum(ours.cuts for ours, _ in ledgers)
    return f"{name:<58} {fill:6.1%} {outside:8.3f} {served:8.1%} {cuts:6}"


def table(kinds: Iterable[str], ladders: dict[str, Ladder]) -> None:
    """Each kind, then all of them together."""
    print(f"{'':<58} {'fill':>6} {'outside':>8} {'served':>8} {'cuts':>6}")
    every: dict[str, list[tuple[Ledger, Ledger]]] = {name: [] for name in ladders}
    for kind in kinds:
        calls = arrivals(kind)
        theirs = kept_at_each_call(calls)
        print(f"{kind}: {len(calls)} calls, kept at each call: fill {theirs.fill:.1%}, served {theirs.served:.1%}")
        for name, ladder in ladders.items():
            pair = run_session(calls, ladder(calls)), theirs
            every[name].append(pair)
            print(line_of(f"  {name}", [pair]), flush=True)
    print("all kinds")
    for name, pairs in every.items():
        print(line_of(name, pairs))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--marks", action="store_true")
    options = parser.parse_args()
    marked = {f"TrimOldest(low_water={mark})": (lambda _, mark=mark: TrimOldest(low_water=mark)) for mark in MARKS}
    table([options.kind] if options.kind else KINDS, marked if options.marks else LADDERS)


if __name__ == "__main__":
    main()
