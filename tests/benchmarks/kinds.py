"""Ten kinds of session, generated: what arrives before each model call. A character stands for a token.

Sizes are what matters to a policy that cuts, so texts are filler of a drawn length, each with a number of its own. An
image stands as a text of what the published formulas bill for 1,024 × 1,024 pixels in high detail.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

Message: TypeAlias = dict[str, Any]
Arrivals: TypeAlias = list[list[Message]]
"""The messages that are new at each call, in order."""

HISTORY = 150_000
"""Tokens of each session, about: ten windows of 15,000."""
IMAGE = 765

Turn: TypeAlias = tuple[int, list[tuple[int, ...]], int]
"""Tokens of the question, of the results of each step, and of the answer."""


def _chatty(draw: random.Random) -> Iterator[Turn]:
    while True:
        yield draw.randint(10, 120), [], draw.randint(60, 400)


def _tool_heavy(draw: random.Random) -> Iterator[Turn]:
    while True:
        steps = [tuple(draw.randint(80, 500) for _ in range(draw.choice([1, 1, 2]))) for _ in range(draw.randint(1, 3))]
        yield draw.randint(20, 150), steps, draw.randint(60, 250)


def _one_giant_result(draw: random.Random) -> Iterator[Turn]:
    for turn in range(10_000):
        steps = [(8_000,)] if turn == 60 else [(draw.randint(80, 400),)]
        yield draw.randint(20, 150), steps, draw.randint(60, 300)


def _small_steps(draw: random.Random) -> Iterator[Turn]:
    while True:
        yield (
            draw.randint(40, 200),
            [(draw.randint(20, 160),) for _ in range(draw.randint(8, 30))],
            draw.randint(60, 300),
        )


def _images(draw: random.Random) -> Iterator[Turn]:
    while True:
        yield draw.randint(10, 80) + IMAGE * draw.choice([0, 0, 1, 1, 2]), [], draw.randint(60, 300)


def _documents_in_each_turn(draw: random.Random) -> Iterator[Turn]:
    while True:
        yield draw.randint(900, 2_200), [], draw.randint(100, 400)


def _long_answers(draw: random.Random) -> Iterator[Turn]:
    while True:
        yield draw.randint(30, 200), [], draw.randint(800, 3_000)


def _growing(draw: random.Random) -> Iterator[Turn]:
    for turn in range(10_000):
        size = 40 + 6 * turn
        yield draw.randint(10, 100), [(draw.randint(size, 2 * size),)], draw.randint(50, 300)


def _bursts(draw: random.Random) -> Iterator[Turn]:
    for turn in range(10_000):
        burst = turn % 25 > 19
        yield draw.randint(10, 120), [(draw.randint(600, 1_800),)] * (4 if burst else 0), draw.randint(50, 300)


def _reading_files(draw: random.Random) -> Iterator[Turn]:
    while True:
        steps = [(draw.choice([150, 300, 1_200, 2_500]),) for _ in range(draw.randint(1, 4))]
        yield draw.randint(30, 200), steps, draw.randint(100, 500)


KINDS: dict[str, Callable[[random.Random], Iterator[Turn]]] = {
    "chatty": _chatty,
    "tool-heavy": _tool_heavy,
    "one giant result": _one_giant_result,
    "many small steps": _small_steps,
    "images": _images,
    "documents in each turn": _documents_in_each_turn,
    "long answers": _long_answers,
    "growing results": _growing,
    "bursts of tools": _bursts,
    "reading files": _reading_files,
}


def arrivals(kind: str, seed: int = 7, tokens: int = HISTORY) -> Arrivals:
    """The session of a kind, the same for the same seed."""
    draw = random.Random(f"{kind} {seed}")
    filler = _Filler()
    calls: Arrivals = []
    pending: list[Message] = []
    for question, steps, answer in KINDS[kind](draw):
        pending.append({"role": "user", "content": filler.text(question)})
        for step in steps:
            calls.append(pending)
            pending = _step(step, filler)
        calls.append(pending)
        pending = [{"role": "assistant", "content": filler.text(answer)}]
        if filler.spent >= tokens:
            return calls
    raise AssertionError(f"{kind} ended before {tokens:,} tokens")


def _step(results: tuple[int, ...], filler: _Filler) -> list[Message]:
    ids = [f"call_{filler.number()}" for _ in results]
    asked = [
        {"id": one, "type": "function", "function": {"name": "look", "arguments": '{"path":"a/b.py"}'}} for one in ids
    ]
    answers = [
        {"role": "tool", "tool_call_id": one, "content": filler.text(size)}
        for one, size in zip(ids, results, strict=True)
    ]
    return [{"role": "assistant", "content": None, "tool_calls": asked}, *answers]


class _Filler:
    """Texts of a length, no two alike, and how much was written."""

    def __init__(self) -> None:
        self.spent = 0
        self._numbers = 0

    def number(self) -> int:
        self._numbers += 1
        return self._numbers

    def text(self, length: int) -> str:
        self.spent += length
        return f"{self.number()} ".ljust(length, ".")[:length]
