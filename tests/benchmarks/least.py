"""The least that a session must do, promise by promise, in a program of its own that knows one form of messages.

    python -m tests.benchmarks.least [--rounds 7]

It lives the session of `session.py` for OpenAI's Chat. Each line adds one promise to those above it, and says what all
of them take together; the last lines are the library. The unit is the yardstick of `speed.py`: tiktoken with its
published split pattern over every text once. The difference between the last two kinds of lines is what the library
takes for everything else: other forms of messages and APIs, policies, errors with advice, the values that a plan and a
report are made of.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable
from typing import Any

import attrs

from assembler import TrimOldest
from budgets import fastest_counter, tiktoken_counter
from tests.benchmarks import session
from tests.benchmarks.speed import yardstick

Message = dict[str, Any]
ROOM = session.WINDOW - session.RESERVE - 500
"""Tokens for the turns, beside instruction and tools."""
LOW = ROOM // 2


@attrs.define
class Least:
    """One session. `promises` says how many of `PROMISES` it keeps, in their order."""

    count: Callable[[str], int]
    promises: int
    given: list[Message] = attrs.field(factory=list[Message])
    own: list[Message] = attrs.field(factory=list[Message])
    sizes: list[int] = attrs.field(factory=list[int])
    waiting: set[str] = attrs.field(factory=set[str])
    results: list[str] = attrs.field(factory=list[str])

    def add(self, message: Message) -> None:
        calls = message.get("tool_calls", ())
        content = message["content"]
        self.given.append(message)
        self.sizes.append(4 + self._size(content, calls) if self.promises < 4 else 4 + self._exact(message))
        if self.promises >= 3:
            self.own.append(fresh(message))
            if message["role"] == "tool":
                self.waiting.remove(message["tool_call_id"])
            elif self.waiting:
                raise ValueError("calls without results")
            self.waiting.update(call["id"] for call in calls)

    def _size(self, content: str | None, calls: Any) -> int:
        size = self.count(content) if content else 0
        for call in calls:
            size += self.count(call["function"]["name"]) + self.count(call["function"]["arguments"])
        return size

    def _exact(self, message: Message) -> int:
        """Calls as the compact JSON that the model sees, and parallel results as one list."""
        size, count = 0, self.count
        for call in message.get("tool_calls", ()):
            arguments = json.loads(call["function"]["arguments"])
            size += count(call["function"]["name"]) + count(json.dumps(arguments, separators=(",", ":")))
        content = message["content"]
        if message["role"] != "tool":
            self.results.clear()
            return size + (count(content) if content else 0)
        self.results.append(content)
        alone = count(content)
        if len(self.results) == 1:
            return alone
        together = count(json.dumps(self.results, separators=(",", ":"), ensure_ascii=False))
        return together - sum(self.sizes[-len(self.results) + 1 :])

    def request(self) -> Message:
        if self.promises >= 3 and self.given != self.own:
            raise ValueError("edited in place")
        if sum(self.sizes) > ROOM:
            self._cut()
        if self.promises < 2:
            return {"messages": [*self.given], "tools": session.TOOLS}
        messages = list(map(dict.copy, self.given))
        for message in messages:
            if "tool_calls" in message:
                message["tool_calls"] = [fresh_call(call) for call in message["tool_calls"]]
        return {"messages": messages, "tools": [copied(tool) for tool in session.TOOLS]}

    def _cut(self) -> None:
        start, left = len(self.sizes), LOW
        while start and self.sizes[start - 1] <= left:
            start -= 1
            left -= self.sizes[start]
        while start < len(self.given) and self.given[start]["role"] != "user":
            start += 1
        del self.given[:start], self.own[:start], self.sizes[:start]


def fresh_call(call: Message) -> Message:
    return {**call, "function": call["function"].copy()}


def fresh(message: Message) -> Message:
    own = message.copy()
    if "tool_calls" in own:
        own["tool_calls"] = [fresh_call(call) for call in own["tool_calls"]]
    return own


def copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: copied(inner) for key, inner in value.items()}
    return [*map(copied, value)] if isinstance(value, list) else value


PROMISES = (
    "each text is counted once, a cut to half",
    "a request has dicts of its own",
    "an edit in place is noticed, calls and results pair up",
    "the price is exact",
)


def lived(arrivals: list[list[Message]], count: Callable[[str], int], promises: int) -> None:
    least = Least(count, promises)
    for messages in arrivals:
        for message in messages:
            least.add(message)
        least.request()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=7)
    chosen = parser.parse_args()
    arrivals, published = session.session(), yardstick()
    every = [text for messages in arrivals for text in session.texts(messages)]
    policy = TrimOldest(low_water=0.5)
    ways: dict[str, Callable[[], object]] = {}
    for name, engine in (("tiktoken", tiktoken_counter), ("toktok", fastest_counter)):
        for number, promise in enumerate(PROMISES, 1):
            ways[f"{name}: {promise}"] = lambda n=number, e=engine: lived(arrivals, e(), n)
        ways[f"{name}: the library"] = lambda e=engine: session.replay(arrivals, policy, lambda _, __: None, e)
    ratios: dict[str, list[float]] = {name: [] for name in ways}
    for round_ in range(chosen.rounds + 1):
        once = session.cpu(lambda: [published(text) for text in every])
        for name, way in ways.items():
            ratio = session.cpu(way) / once
            if round_:  # the first loads the engines
                ratios[name].append(ratio)
    for name, found in ratios.items():
        print(f"{name:<75}{statistics.median(found):6.2f} x tokenising")


if __name__ == "__main__":
    main()
